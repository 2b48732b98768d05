import type { Sequelize } from 'sequelize'
import type { FirstStatement, Lease, TransactionNeeds } from '../../../dialect.js'
import { logStatement } from '../../../sequelize/query.js'
import type { SqliteConnection } from '../driver.js'
import { assertStaysReadOnly, leavesState } from '../left-state.js'
import { acceptWrites, beginStatements, type SqliteLease } from './sqlite-lease.js'
import { beginImmediate, endAndBegin, takeTransactionAhead } from './transaction-ahead.js'

/** What a writer needs of the pools. */
export interface WriterPool {
  releaseWriter(connection: SqliteConnection): void
  destroyWriter(connection: SqliteConnection): Promise<void>
  /** Whether its only connection serves all sessions, as that of a database in memory. */
  readonly isShared: boolean
}

/** The write connection for one transaction. A class for the reason that PooledLease gives, in src/db/dialects/pool-lease.ts. */
export class WriterLease implements SqliteLease {
  readonly connection: SqliteConnection
  readonly begin: readonly string[]
  readonly #sequelize: Sequelize
  readonly #readOnly: boolean
  readonly #isAhead: boolean
  readonly #pool: WriterPool
  #isChanged = false

  constructor(sequelize: Sequelize, connection: SqliteConnection, needs: TransactionNeeds, pool: WriterPool) {
    this.#sequelize = sequelize
    this.connection = connection
    this.#isAhead = takeTransactionAhead(connection)
    this.begin = beginStatements(needs.reader || needs.readOnly ? 'BEGIN DEFERRED' : 'BEGIN IMMEDIATE', needs)
    this.#readOnly = needs.readOnly === true
    this.#pool = pool
  }

  // The first statement takes the lock of a writer if it writes, and waits for it like BEGIN IMMEDIATE. Source: sqlite3BtreeBeginTrans() in btree.c.
  beginsWith({ kind }: FirstStatement): boolean {
    if (!this.#isAhead || kind !== 'write') return false
    logStatement(this.#sequelize, 'BEGIN IMMEDIATE')
    return true
  }

  get sendBegin(): Lease['sendBegin'] {
    return this.#isAhead ? () => beginImmediate(this.#sequelize, this.connection) : undefined
  }

  beforeStatement(sql: string): undefined {
    if (this.#readOnly) assertStaysReadOnly(sql)
    this.#isChanged ||= leavesState(sql)
  }

  get end(): Lease['end'] {
    return this.#pool.isShared || this.#isChanged ? undefined : endAndBegin(this.#sequelize, this.connection)
  }

  // The next writer begins at once. Its statements are executed in another thread: new requests are received while they are.
  release(): Promise<void> | undefined {
    if (this.#isChanged && !this.#pool.isShared) return this.destroy()
    if (!this.#readOnly && !this.#isChanged) return this.#release()
    return acceptWrites(this.connection).then(() => this.#release())
  }

  #release(): undefined {
    this.#pool.releaseWriter(this.connection)
  }

  destroy(): Promise<void> {
    return this.#pool.destroyWriter(this.connection)
  }
}
