import type { Sequelize } from 'sequelize'
import type { Lease, TransactionNeeds } from '../../../dialect.js'
import { logStatement } from '../../../sequelize/query.js'
import { mayWrite } from '../../../sql/writes.js'
import type { SqliteConnection } from '../driver.js'
import { assertStaysReadOnly, leavesState } from '../left-state.js'
import { acceptWrites, beginStatements, type SqliteLease } from './sqlite-lease.js'
import { endAndBegin, takeTransactionAhead } from './transaction-ahead.js'

/** What a reader needs of the pools. */
export interface ReaderPools {
  releaseReader(connection: SqliteConnection): void
  destroyReader(connection: SqliteConnection): Promise<void>
  acquireWriter(observer: TransactionNeeds['observer']): Promise<SqliteConnection>
  releaseWriter(connection: SqliteConnection): void
}

/** A read connection for one transaction. A class for the reason that PooledLease gives, in src/db/dialects/pool-lease.ts. */
export class ReaderLease implements SqliteLease {
  readonly connection: SqliteConnection
  readonly begin: readonly string[]
  readonly #sequelize: Sequelize
  readonly #readOnly: boolean
  readonly #observer: TransactionNeeds['observer']
  readonly #pools: ReaderPools
  #writer: Promise<SqliteConnection> | undefined
  #isChanged = false

  constructor(sequelize: Sequelize, connection: SqliteConnection, needs: TransactionNeeds, pools: ReaderPools) {
    const hasBegun = takeTransactionAhead(connection)
    this.#sequelize = sequelize
    this.connection = connection
    this.#readOnly = needs.readOnly === true
    this.#observer = needs.observer
    this.#pools = pools
    this.begin = beginStatements('BEGIN DEFERRED', needs, hasBegun)
    if (hasBegun) logStatement(sequelize, 'BEGIN DEFERRED')
  }

  // Before its first write, the session acquires the write connection as a lock. It goes on with its own connection. A write that is not
  // recognised makes the handler run a second time.
  beforeStatement(sql: string): Promise<SqliteConnection> | undefined {
    if (this.#readOnly) assertStaysReadOnly(sql)
    this.#isChanged ||= leavesState(sql)
    return !this.#readOnly && mayWrite(sql) ? (this.#writer ??= this.#pools.acquireWriter(this.#observer)) : undefined
  }

  /** Ends a transaction that has only read, and begins the next one. */
  get end(): Lease['end'] {
    return this.#writer || this.#isChanged ? undefined : endAndBegin(this.#sequelize, this.connection)
  }

  // What a session has left on a connection would be there for the next one.
  release(): Promise<void> | undefined {
    if (this.#isChanged) return this.destroy()
    if (this.#readOnly) return acceptWrites(this.connection).then(() => this.#release())
    return this.#release()
  }

  #release(): undefined {
    this.#pools.releaseReader(this.connection)
    this.#releaseWriter()
  }

  async destroy(): Promise<void> {
    this.#releaseWriter()
    await this.#pools.destroyReader(this.connection)
  }

  #releaseWriter(): void {
    void this.#writer?.then(
      (acquired) => this.#pools.releaseWriter(acquired),
      () => {}, // it was not acquired
    )
  }
}
