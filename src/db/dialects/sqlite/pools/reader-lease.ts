import type { Sequelize } from 'sequelize'
import type { SendDirect, TransactionEnd, TransactionNeeds } from '../../../dialect.js'
import { logStatement, mayBypassQuery, sendDirectly } from '../../../sequelize/query.js'
import { mayWrite } from '../../../sql/writes.js'
import { execute } from '../connection.js'
import { openedConnection, type SqliteConnection } from '../driver.js'
import { acceptWrites, beginStatements, type SqliteLease } from './sqlite-lease.js'

const BEGIN = 'BEGIN DEFERRED'

/** What a reader needs of the pools. */
export interface ReaderPools {
  releaseReader(connection: SqliteConnection): void
  destroyReader(connection: SqliteConnection): Promise<void>
  acquireWriter(observer: TransactionNeeds['observer']): Promise<SqliteConnection>
  releaseWriter(connection: SqliteConnection): void
}

/**
 * The idle connections whose next transaction was begun together with the end of the last one. For each statement SQLite works in another thread, and
 * changing threads takes longer than a short statement. A deferred transaction that has read nothing holds no lock and no snapshot.
 * Source: sqlite.org, Transaction, 2.1.
 */
const begun = new WeakSet<SqliteConnection>()

/** Ends a transaction that was begun ahead: what runs outside of a session commits each statement by itself. */
export function endTransactionAhead(connection: SqliteConnection): Promise<void> | undefined {
  return begun.delete(connection) ? execute(connection, 'COMMIT') : undefined
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

  constructor(sequelize: Sequelize, connection: SqliteConnection, needs: TransactionNeeds, pools: ReaderPools) {
    const hasBegun = begun.delete(connection)
    this.#sequelize = sequelize
    this.connection = connection
    this.#readOnly = needs.readOnly === true
    this.#observer = needs.observer
    this.#pools = pools
    this.begin = beginStatements(BEGIN, needs, hasBegun)
    if (hasBegun) logStatement(sequelize, BEGIN)
  }

  // Before its first write, the session acquires the write connection as a lock. It goes on with its own connection. A write that is not
  // recognised makes the handler run a second time.
  beforeStatement(sql: string): Promise<SqliteConnection> | undefined {
    return !this.#readOnly && mayWrite(sql) ? (this.#writer ??= this.#pools.acquireWriter(this.#observer)) : undefined
  }

  /** Ends a transaction that has only read, and begins the next one. */
  get end(): ((end: TransactionEnd) => Promise<unknown>) | undefined {
    return this.#writer || !mayBypassQuery(this.#sequelize) ? undefined : this.#endAndBegin
  }

  #endAndBegin(end: TransactionEnd): Promise<unknown> {
    const { connection } = this
    const request = { connection, text: end === 'commit' ? 'COMMIT' : 'ROLLBACK', values: [] }
    return sendDirectly(this.#sequelize, sendAndBegin, request, () => void begun.add(connection))
  }

  release(): Promise<void> | undefined {
    if (this.#readOnly) return acceptWrites(this.connection).then(() => this.#release())
    return this.#release()
  }

  #release(): undefined {
    this.#pools.releaseReader(this.connection)
    this.#releaseWriter()
  }

  async destroy(): Promise<void> {
    this.#releaseWriter()
    begun.delete(this.connection)
    await this.#pools.destroyReader(this.connection)
  }

  #releaseWriter(): void {
    void this.#writer?.then(
      (acquired) => this.#pools.releaseWriter(acquired),
      () => {}, // it was not acquired
    )
  }
}

const sendAndBegin: SendDirect = (connection, sql, _values, done) => {
  openedConnection(connection).exec(`${sql}; ${BEGIN}`, (error) => done(error, { rows: [] }))
}
