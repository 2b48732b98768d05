import { ConnectionAcquireTimeoutError } from 'sequelize'
import type { Pool } from 'sequelize-pool'
import { loadLater } from '../../../core/load-later.js'
import type { Lease, TransactionNeeds } from '../../dialect.js'
import type { ConnectionManager } from '../../sequelize/internals.js'
import { mayWrite } from '../../sql/writes.js'
import type { SqliteConfig } from '../../config/url.js'
import { close, configure, execute, MEMORY, openConnection } from './connection.js'
import { openedConnection, type SqliteConnection, sqlite3Of } from './driver.js'

const pools = loadLater<typeof import('sequelize-pool')>('sequelize-pool')

/** Milliseconds that a session waits for the write connection. Longer than for a server's pool: all writers of the process share it. */
const WRITER_TIMEOUT = 10_000
/** Read connections, unless the URL has pool_size. */
const READERS = 3

interface SqliteLease extends Lease {
  readonly connection: SqliteConnection
}

export class SqlitePools {
  readonly #isInMemory: boolean
  readonly #writers: Pool<SqliteConnection>
  readonly #readers: Pool<SqliteConnection>
  readonly #leases = new WeakMap<SqliteConnection, SqliteLease>()

  constructor(manager: ConnectionManager, config: SqliteConfig) {
    this.#isInMemory = config.storage === MEMORY
    const wait = config.options.poolTimeout ?? WRITER_TIMEOUT
    const sqlite3 = sqlite3Of(manager.lib)
    const memory = this.#isInMemory ? takeMemory(manager) : undefined
    const open = () => (memory ? configure(sqlite3, memory, config) : openConnection(sqlite3, config))
    this.#writers = newPool('writer', 1, wait, open)
    this.#readers = this.#isInMemory
      ? this.#writers
      : newPool('readers', config.options.poolSize ?? READERS, wait, open)
    this.#replaceMethods(manager)
  }

  // Sequelize opens connections for what runs outside of a session: queries at startup, transactions of the program.
  #replaceMethods(manager: ConnectionManager): void {
    manager.getConnection = async (options = {}) => {
      const reader = options.type === 'SELECT' && options.useMaster !== true
      const lease = await this.lease({ reader })
      this.#leases.set(lease.connection, lease)
      return lease.connection
    }
    manager.releaseConnection = (connection: SqliteConnection) => void this.#leases.get(connection)?.release()
    manager.destroyConnection = async (connection: SqliteConnection) => this.#leases.get(connection)?.destroy()
    // The program may have opened connections to a file before the start.
    const closeOthers = manager._onProcessExit.bind(manager)
    manager._onProcessExit = async () => {
      await this.#close()
      await closeOthers()
    }
  }

  lease(needs: TransactionNeeds): Promise<SqliteLease> {
    const reads = needs.reader || needs.readOnly
    return reads && this.#readers !== this.#writers ? this.#leaseReader(needs) : this.#leaseWriter(needs)
  }

  #leaseWriter({ readOnly, reader }: TransactionNeeds): Promise<SqliteLease> {
    return acquire(this.#writers, (connection) =>
      withReadOnly(readOnly, {
        connection,
        begin: [reader || readOnly ? 'BEGIN DEFERRED' : 'BEGIN IMMEDIATE'],
        release: () => this.#releaseWriter(connection),
        destroy: () => this.#destroyWriter(connection),
      }),
    )
  }

  // The next writer begins at once. Its statements are executed in another thread: new requests are received while they are.
  #releaseWriter(connection: SqliteConnection): undefined {
    this.#writers.release(connection)
  }

  // Interrupts the running statement first: close() would wait for it.
  async #destroyWriter(connection: SqliteConnection): Promise<void> {
    connection.interrupt()
    await (this.#isInMemory ? this.#reset(connection) : this.#writers.destroy(connection))
  }

  // A database in memory exists as long as its only connection: it is reset instead of closed.
  async #reset(connection: SqliteConnection): Promise<void> {
    await execute(connection, 'ROLLBACK').catch(() => {}) // fails if there is no transaction
    await execute(connection, 'PRAGMA query_only = 0').catch(() => {})
    this.#writers.release(connection)
  }

  #leaseReader({ readOnly }: TransactionNeeds): Promise<SqliteLease> {
    return acquire(this.#readers, (connection) => {
      let writer: Promise<SqliteConnection> | undefined
      const releaseWriter = () =>
        void writer?.then(
          (acquired) => this.#releaseWriter(acquired),
          () => {}, // it was not acquired
        )
      return withReadOnly(readOnly, {
        connection,
        begin: ['BEGIN DEFERRED'],
        // Before its first write, the session acquires the write connection as a lock. It goes on with its own connection. A write that is not
        // recognised makes the handler run a second time.
        beforeStatement: (sql) =>
          !readOnly && mayWrite(sql) ? (writer ??= acquire(this.#writers, (acquired) => acquired)) : undefined,
        release: () => {
          this.#readers.release(connection)
          releaseWriter()
          return undefined
        },
        destroy: async () => {
          releaseWriter()
          connection.interrupt()
          await this.#readers.destroy(connection)
        },
      })
    })
  }

  async #close(): Promise<void> {
    for (const pool of new Set([this.#readers, this.#writers])) {
      await pool.drain()
      await pool.destroyAllNow()
    }
  }
}

/** The connection with the database in memory, if the program has used it before the start, as by sequelize.sync(). */
function takeMemory({ connections }: ConnectionManager): SqliteConnection | undefined {
  const memory = connections['1']
  delete connections['1']
  return memory === undefined ? undefined : openedConnection(memory)
}

// With PRAGMA query_only, SQLite rejects writes. It is a setting of the connection, so it is turned off at release.
function withReadOnly(readOnly: boolean | undefined, lease: SqliteLease): SqliteLease {
  if (!readOnly) return lease
  const { connection, begin, release } = lease
  return {
    ...lease,
    begin: ['PRAGMA query_only = 1', ...begin],
    release: async () => {
      await execute(connection, 'PRAGMA query_only = 0')
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
  return new (pools().Pool)({
    name,
    min: 0,
    max,
    acquireTimeoutMillis: wait,
    // No connection is closed when idle: a database in memory would be lost.
    idleTimeoutMillis: Number.MAX_SAFE_INTEGER,
    reapIntervalMillis: 2 ** 30,
    create,
    destroy: close,
    validate: () => true,
  })
}

function acquire<T>(pool: Pool<SqliteConnection>, use: (connection: SqliteConnection) => T): Promise<T> {
  return pool.acquire().then(use, (error: unknown) => {
    throw error instanceof pools().TimeoutError ? new ConnectionAcquireTimeoutError(error) : error
  })
}
