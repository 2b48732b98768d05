import { ConnectionAcquireTimeoutError, ConnectionError, type Options, type Sequelize } from 'sequelize'
import { Pool, TimeoutError } from 'sequelize-pool'
import type { Database as SqliteConnection } from 'sqlite3'
import { codeOf, type Dialect, type Lease, type TransactionNeeds } from '../../dialect.js'
import { WaitsForItselfError } from '../../errors.js'
import { type ConnectionManager, sequelizeInternals } from '../../sequelize/internals.js'
import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import type { SqliteConfig } from '../../config/url.js'
import type { SqliteMode } from '../../config/url-options.js'
import { keepBounds } from './column-bounds.js'
import { prepareFile } from './database-file.js'
import { tellExactIntegers } from './exact-integers.js'
import { readRowsAlike } from './query.js'

const MEMORY = ':memory:'

/** How long a session waits for its turn to write. Longer than for a server's pool: in one process all writers queue here. */
const TURN_TIMEOUT = 10_000
/** How long SQLite waits for another process. Waiting blocks a thread, so that it is never used among our own sessions. */
const BUSY_TIMEOUT = 5_000
const READERS = 3

/**
 * SQLite through sqlite3. One connection writes, and those who want to write queue for it; a few others read beside it (WAL).
 * A database in memory has one connection, which its sessions use in turns.
 */
export function sqliteDialect(config: SqliteConfig): Dialect {
  const pools = new WeakMap<Sequelize, SqlitePools>()
  return {
    prepare(sequelize) {
      pools.set(sequelize, new SqlitePools(sequelizeInternals(sequelize).connectionManager, config))
      readRowsAlike(sequelize)
      keepBounds(sequelize)
    },
    lease: (sequelize, needs) => (pools.get(sequelize) as SqlitePools).lease(needs),
    isKept: () => true,
    isStale: isBusy,
    isConflict: isBusy,
    isUndoing: (error) => UNDOING.has(codeOf(error)),
    oneAtATime: true,
    isLost: () => false,
  }
}

/** After these SQLite may have rolled back. Source: sqlite.org, Transaction, "Response To Errors Within A Transaction". */
const UNDOING: ReadonlySet<string> = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_NOMEM',
  'SQLITE_BUSY',
  'SQLITE_INTERRUPT',
])

// sqlite3 tells SQLITE_BUSY_SNAPSHOT and a lock held by another process by the same code; both are cured by beginning again as a writer.
function isBusy(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY'
}

/** What Sequelize needs to know to connect. Its own retries of a busy database are off: who waits here waits in a queue. */
export function sqliteOptions({ storage }: SqliteConfig): Options {
  return { dialect: 'sqlite', storage, retry: { max: 1 } }
}

class SqlitePools {
  readonly #inMemory: boolean
  readonly #writers: Pool<SqliteConnection>
  readonly #readers: Pool<SqliteConnection>
  readonly #leases = new WeakMap<object, Lease>()

  constructor(manager: ConnectionManager, config: SqliteConfig) {
    this.#inMemory = config.storage === MEMORY
    const wait = config.options.poolTimeout ?? TURN_TIMEOUT
    const open = () => openConnection(manager.lib as typeof import('sqlite3'), config)
    this.#writers = newPool('writer', 1, wait, open)
    this.#readers = this.#inMemory ? this.#writers : newPool('readers', config.options.poolSize ?? READERS, wait, open)
    this.#replace(manager)
  }

  // What runs outside of any session: a query at start-up, a transaction of the program's own.
  #replace(manager: ConnectionManager): void {
    manager.getConnection = async (options = {}) => {
      const reader = options.type === 'SELECT' && options.useMaster !== true
      const lease = await this.lease({ reader })
      this.#leases.set(lease.connection as object, lease)
      return lease.connection
    }
    manager.releaseConnection = (connection) => void this.#leases.get(connection as object)?.release()
    manager.destroyConnection = async (connection) => this.#leases.get(connection as object)?.destroy()
    manager._onProcessExit = () => this.#close()
  }

  lease(needs: TransactionNeeds): Promise<Lease> {
    const reads = needs.reader || needs.readOnly
    return reads && this.#readers !== this.#writers ? this.#leaseReader(needs) : this.#leaseWriter(needs)
  }

  async #leaseWriter({ readOnly, reader, outer }: TransactionNeeds): Promise<Lease> {
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

  async #leaseReader({ readOnly, outer }: TransactionNeeds): Promise<Lease> {
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
function withReadOnly(readOnly: boolean | undefined, lease: Lease): Lease {
  if (!readOnly) return lease
  const { connection, begin, release } = lease
  return {
    ...lease,
    begin: ['PRAGMA query_only = 1', ...begin],
    release: async () => {
      await run(connection as SqliteConnection, 'PRAGMA query_only = 0')
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

async function openConnection(
  lib: typeof import('sqlite3'),
  { storage, mode, options }: SqliteConfig,
): Promise<SqliteConnection> {
  if (storage !== MEMORY) prepareFile(storage, mode, options.fileMode)
  const connection = await new Promise<SqliteConnection>((resolve, reject) => {
    const opened: SqliteConnection = new lib.Database(storage, flags(lib, mode), (error) =>
      error ? reject(new ConnectionError(error)) : resolve(opened),
    )
  })
  connection.configure('busyTimeout', options.busyTimeout ?? BUSY_TIMEOUT)
  const wal = storage !== MEMORY && mode !== 'ro' ? '; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL' : ''
  try {
    await run(connection, `PRAGMA foreign_keys = ON${wal}`)
  } catch (error) {
    await close(connection)
    throw new ConnectionError(error as Error) // the library rejects with its own class of Error
  }
  rememberColumns(connection)
  tellExactIntegers(connection)
  return connection
}

type RowsCallback = (error: Error | null, rows: unknown[]) => void

const TABLE_INFO = /^PRAGMA table_info\(/
const changesTables = startsWithKeyword('CREATE', 'ALTER', 'DROP')

/** Counts up whenever this process changes a table: what connections remember of columns is then forgotten. */
let generation = 0

// Sequelize asks for a table's columns before every SELECT, to know their types. The answer is the same until a table changes.
function rememberColumns(connection: SqliteConnection): void {
  const all = connection.all.bind(connection) as (...args: unknown[]) => SqliteConnection
  const run = connection.run.bind(connection) as (...args: unknown[]) => SqliteConnection
  let [known, since] = [new Map<string, unknown[]>(), generation]
  const columns = (sql: string, callback: RowsCallback): SqliteConnection => {
    if (since !== generation) [known, since] = [new Map(), generation]
    const rows = known.get(sql)
    if (rows) return (process.nextTick(callback, null, rows), connection)
    const learning = known
    return all(sql, (error: Error | null, answer: unknown[]) => {
      if (!error && answer.length > 0) learning.set(sql, answer)
      callback(error, answer)
    })
  }
  const noticing = (sql: unknown) => void (typeof sql === 'string' && changesTables(sql) && generation++)
  Object.assign(connection, {
    all: (sql: unknown, ...rest: unknown[]) => {
      noticing(sql)
      return typeof sql === 'string' && TABLE_INFO.test(sql) && typeof rest[0] === 'function'
        ? columns(sql, rest[0] as RowsCallback)
        : all(sql, ...rest)
    },
    run: (sql: unknown, ...rest: unknown[]) => {
      noticing(sql)
      return run(sql, ...rest)
    },
  })
}

function flags(lib: typeof import('sqlite3'), mode: SqliteMode): number {
  switch (mode) {
    case 'ro':
      return lib.OPEN_READONLY
    case 'rw':
      return lib.OPEN_READWRITE
    case 'rwc':
      return lib.OPEN_READWRITE | lib.OPEN_CREATE
  }
}

function run(connection: SqliteConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => connection.exec(sql, (error) => (error ? reject(error) : resolve())))
}

function close(connection: SqliteConnection): Promise<void> {
  return new Promise((resolve, reject) => connection.close((error) => (error ? reject(error) : resolve())))
}

const isRead = startsWithKeyword('SELECT', 'PRAGMA', 'EXPLAIN', 'VALUES', 'SAVEPOINT', 'RELEASE', 'ROLLBACK')
const isWith = startsWithKeyword('WITH')
const WRITING = /\b(?:INSERT|UPDATE|DELETE|REPLACE)\b/i

/** Whether a statement may write. Taking a turn too often costs time, too seldom costs a second run of the handler. */
export function isWrite(sql: string): boolean {
  return !isRead(sql) && !(isWith(sql) && !WRITING.test(sql))
}
