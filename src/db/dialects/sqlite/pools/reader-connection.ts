import type { Sequelize } from 'sequelize'
import type { NextStatement } from '../../../connection.js'
import type { TransactionNeeds } from '../../../dialect.js'
import { logStatement } from '../../../sequelize/query.js'
import { mayWrite } from '../../../sql/writes.js'
import type { SqliteConnection } from '../../../drivers/sqlite3.js'
import { SqliteTransactionConnection, acceptWrites, takeTransactionAhead } from './sqlite-connection.js'

/** The part of the pools that a reader needs. */
export interface ReaderPools {
  releaseReader(connection: SqliteConnection): void
  destroyReader(connection: SqliteConnection): Promise<void>
  acquireWriter(observer: TransactionNeeds['observer']): Promise<SqliteConnection>
  releaseWriter(connection: SqliteConnection): void
}

/** A read connection. Its transaction was begun together with the end of the last one, or begins before its first statement. */
export class ReaderConnection extends SqliteTransactionConnection {
  readonly #pools: ReaderPools
  readonly #isAhead: boolean
  #writer: Promise<SqliteConnection> | undefined

  constructor(sequelize: Sequelize, raw: SqliteConnection, needs: TransactionNeeds, pools: ReaderPools) {
    super(sequelize, raw, needs)
    this.#pools = pools
    this.#isAhead = takeTransactionAhead(raw)
    if (!this.#isAhead) return
    logStatement(sequelize, 'BEGIN DEFERRED')
    if (!this.isReadOnly) this.begun()
  }

  protected override get beginning(): readonly string[] {
    return [...(this.#isAhead ? [] : ['BEGIN DEFERRED']), ...this.refusingWrites]
  }

  override begin(first?: NextStatement): Promise<void> | undefined {
    return this.hasBegun ? undefined : super.begin(first)
  }

  // Before its first write, the session acquires the write connection as a lock, and continues with its own connection. A write that is not
  // recognised makes the handler run a second time.
  override prepare(next?: NextStatement): Promise<unknown> | undefined {
    if (next?.kind === 'read') return undefined // compiled from a model: it writes nothing, and leaves nothing on the connection
    super.prepare(next)
    if (this.isReadOnly || !next || !mayWrite(next.sql)) return undefined
    return (this.#writer ??= this.#pools.acquireWriter(this.needs.observer))
  }

  protected get mayBeginNext(): boolean {
    return !this.#writer && !this.isChanged
  }

  release(): Promise<void> | undefined {
    if (this.isChanged) return this.destroy()
    if (this.isReadOnly) return acceptWrites(this.raw).then(() => this.#release())
    return this.#release()
  }

  #release(): undefined {
    this.#pools.releaseReader(this.raw)
    this.#releaseWriter()
  }

  async destroy(): Promise<void> {
    this.#releaseWriter()
    await this.#pools.destroyReader(this.raw)
  }

  #releaseWriter(): void {
    void this.#writer?.then(
      (acquired) => this.#pools.releaseWriter(acquired),
      () => {}, // it was not acquired
    )
  }
}
