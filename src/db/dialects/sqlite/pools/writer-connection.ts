import type { Sequelize } from 'sequelize'
import type { NextStatement } from '../../../connection.js'
import type { TransactionNeeds } from '../../../dialect.js'
import { logStatement } from '../../../sequelize/query.js'
import type { SqliteConnection } from '../../../drivers/sqlite3.js'
import { forgetState } from '../left-state.js'
import { SqliteTransactionConnection, acceptWrites, beginImmediate, takeTransactionAhead } from './sqlite-connection.js'

/** The part of the pools that a writer needs. */
export interface WriterPool {
  releaseWriter(connection: SqliteConnection): void
  destroyWriter(connection: SqliteConnection): Promise<void>
  /** Whether its only connection serves all sessions, as with a database in memory. */
  readonly isShared: boolean
  /** Whether the next user of the connection meets what the last one has set. */
  readonly keepsState: boolean
}

/** The write connection. A transaction that was begun ahead continues with a write at once, and is begun again as a writer before any other statement. */
export class WriterConnection extends SqliteTransactionConnection {
  readonly #pool: WriterPool
  readonly #isAhead: boolean

  constructor(sequelize: Sequelize, raw: SqliteConnection, needs: TransactionNeeds, pool: WriterPool) {
    super(sequelize, raw, needs)
    this.#pool = pool
    this.#isAhead = takeTransactionAhead(raw)
  }

  protected override get beginning(): readonly string[] {
    const { reader, readOnly } = this.needs
    return [reader || readOnly ? 'BEGIN DEFERRED' : 'BEGIN IMMEDIATE', ...this.refusingWrites]
  }

  // The first statement takes the lock of a writer if it writes, and waits for it like BEGIN IMMEDIATE. Source: sqlite3BtreeBeginTrans() in btree.c.
  override begin(first?: NextStatement): Promise<void> | undefined {
    if (!this.#isAhead || first?.kind !== 'write') return super.begin(first)
    logStatement(this.sequelize, 'BEGIN IMMEDIATE')
    this.begun()
    return undefined
  }

  protected override async sendBeginning(): Promise<void> {
    if (this.#isAhead && !this.hasBegun) await beginImmediate(this.sequelize, this.raw)
    else await super.sendBeginning()
  }

  protected get mayBeginNext(): boolean {
    return !this.#pool.isShared && !this.isChanged
  }

  // The next writer begins at once. Its statements are executed in another thread: new requests are received while they are.
  release(): Promise<void> | undefined {
    if (this.isChanged && !this.#pool.keepsState) return this.destroy()
    if (!this.isReadOnly && !this.isChanged) return this.#release()
    if (this.#pool.isShared) forgetState(this.raw)
    return acceptWrites(this.raw).then(() => this.#release())
  }

  #release(): undefined {
    this.#pool.releaseWriter(this.raw)
  }

  destroy(): Promise<void> {
    return this.#pool.destroyWriter(this.raw)
  }
}
