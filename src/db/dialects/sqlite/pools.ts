import { ConnectionAcquireTimeoutError } from 'sequelize'
import { Pool, TimeoutError } from 'sequelize-pool'
import type { Lease, TransactionNeeds } from '../../dialect.js'
import { WaitsForItselfError } from '../../errors.js'
import type { ConnectionManager } from '../../sequelize/internals.js'
import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import type { SqliteConfig } from '../../config/url.js'
import { close, MEMORY, openConnection, run } from './connection.js'
import { type SqliteConnection, sqlite3Of } from './driver.js'

/** How long a session waits for its turn to write. Longer than for a server's pool: in one process all writers queue here. */
const TURN_TIMEOUT = 10_000
const READERS = 3

interface SqliteLease extends Lease {
  readonly connection: SqliteConnection
}

export class SqlitePools {
  readonly #inMemory: boolean
  readonly #writers: Pool<SqliteConnection>
  readonly #readers: Pool<SqliteConnection>
  readonly #leases = new WeakMap<SqliteConnection, SqliteLease>()

  constructor(manager: ConnectionManager, config: SqliteConfig) {
    this.#inMemory = config.storage === MEMORY
    const wait = config.options.poolTimeout ?? TURN_TIMEOUT
    const sqlite3 = sqlite3Of(manager.lib)
    const open = () => openConnection(sqlite3, config)
    this.#writers = newPool('writer', 1, wait, open)
    this.#readers = this.#inMemory ? this.#writers : newPool('readers', config.options.poolSize ?? READERS, wait, open)
    this.#replace(manager)
  }

  // What runs outside of any session: a query at start-up, a transaction of the program's own.
  #replace(manager: ConnectionManager): void {
    manager.getConnection = async (options = {}) => {
      const reader = options.type === 'SELECT' && options.useMaster !== true
      const lease = await this.lease({ reader })
      this.#leases.set(lease.connection, lease)
      return lease.connection
    }
    manager.releaseConnection = (connection: SqliteConnection) => void this.#leases.get(connection)?.release()
    manager.destroyConnection = async (connection: SqliteConnection) => this.#leases.get(connection)?.destroy()
    manager._onProcessExit = () => this.#close()
  }

  lease(needs: TransactionNeeds): Promise<SqliteLease> {
    const reads = needs.reader || needs.readOnly
    return reads && this.#readers !== this.#writers ? this.#leaseReader(needs) : this.#leaseWriter(needs)
  }

  async #leaseWriter({ readOnly, reader, outer }: TransactionNeeds): Promise<SqliteLease> {
    const connection = await takeTurn(this.#writers, outer)
    return withReadOnly(readOnly, {
      connection,
      holdsTurn: () => true,
      begin: [reader || readOnly ? 'BEGIN DEFERRED' : 'BEGIN IMMEDIATE'],
      release: () => this.#endTurn(connection),
      destroy: () => this.#abandon(connection),
    })
  }

  // The next writer begins in another turn of the event loop, so that a queue of writers does not keep new requests waiting.
  #endTurn(connection: SqliteConnection): undefined {
    setImmediate(() => this.#writers.release(connection))
  }

  // A statement that still runs is ended first: closing would wait for it.
  async #abandon(connection: SqliteConnection): Promise<void> {
    connection.interrupt()
    await (this.#inMemory ? this.#recover(connection) : this.#writers.destroy(connection))
  }

  // Closing the one connection to a database in memory would lose the database.
  async #recover(connection: SqliteConnection): Promise<void> {
    await run(connection, 'ROLLBACK').catch(() => {}) // no transaction: nothing to undo
    await run(connection, 'PRAGMA query_only = 0').catch(() => {})
    this.#writers.release(connection)
  }

  async #leaseReader({ readOnly, outer }: TransactionNeeds): Promise<SqliteLease> {
    const connection = await acquire(this.#readers)
    let turn: Promise<SqliteConnection> | undefined
    // Where no turn was had, there is none to end.
    const endTurn = () =>
      void turn?.then(
        (writer) => this.#endTurn(writer),
        () => {},
      )
    return withReadOnly(readOnly, {
      connection,
      begin: ['BEGIN DEFERRED'],
      holdsTurn: () => turn !== undefined,
      // Who holds the writing connection has the turn to write, though this session goes on using its own.
      beforeStatement: (sql) => (!readOnly && isWrite(sql) ? (turn ??= takeTurn(this.#writers, outer)) : undefined),
      release: () => {
        this.#readers.release(connection)
        endTurn()
        return undefined
      },
      destroy: async () => {
        endTurn()
        connection.interrupt()
        await this.#readers.destroy(connection)
      },
    })
  }

  async #close(): Promise<void> {
    for (const pool of new Set([this.#readers, this.#writers])) {
      await pool.drain()
      await pool.destroyAllNow()
    }
  }
}

// PRAGMA query_only makes SQLite itself refuse writes; it is no part of the transaction and is taken back before the connection's next use.
function withReadOnly(readOnly: boolean | undefined, lease: SqliteLease): SqliteLease {
  if (!readOnly) return lease
  const { connection, begin, release } = lease
  return {
    ...lease,
    begin: ['PRAGMA query_only = 1', ...begin],
    release: async () => {
      await run(connection, 'PRAGMA query_only = 0')
      await release()
    },
  }
}

function newPool(
  name: string,
  max: number,
  wait: number,
  create: () => Promise<SqliteConnection>,
): Pool<SqliteConnection> {
  return new Pool({
    name,
    min: 0,
    max,
    acquireTimeoutMillis: wait,
    // A connection to a database in memory holds the data: it must never be reaped.
    idleTimeoutMillis: Number.MAX_SAFE_INTEGER,
    reapIntervalMillis: 2 ** 30,
    create,
    destroy: close,
    validate: () => true,
  })
}

async function takeTurn(writers: Pool<SqliteConnection>, outer: TransactionNeeds['outer']): Promise<SqliteConnection> {
  try {
    return await acquire(writers)
  } catch (error) {
    throw error instanceof ConnectionAcquireTimeoutError && outer?.holdsTurn ? new WaitsForItselfError(error) : error
  }
}

async function acquire(pool: Pool<SqliteConnection>): Promise<SqliteConnection> {
  try {
    return await pool.acquire()
  } catch (error) {
    throw error instanceof TimeoutError ? new ConnectionAcquireTimeoutError(error) : error
  }
}

const isRead = startsWithKeyword('SELECT', 'PRAGMA', 'EXPLAIN', 'VALUES', 'SAVEPOINT', 'RELEASE', 'ROLLBACK')
const isWith = startsWithKeyword('WITH')
const WRITING = /\b(?:INSERT|UPDATE|DELETE|REPLACE)\b/i

/** Whether a statement may write. Taking a turn too often costs time, too seldom costs a second run of the handler. */
export function isWrite(sql: string): boolean {
  return !isRead(sql) && !(isWith(sql) && !WRITING.test(sql))
}
