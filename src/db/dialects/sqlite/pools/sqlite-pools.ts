import { ConnectionAcquireTimeoutError, type Sequelize } from 'sequelize'
import type { Pool } from 'sequelize-pool'
import { loadLater } from '../../../../core/memo.js'
import type { TransactionNeeds } from '../../../dialect.js'
import { observePools } from '../../../events/session-observer.js'
import { sequelizeInternals } from '../../../sequelize/internals.js'
import type { SqliteConfig } from '../../../config/url.js'
import { hasSpare } from '../../dialect-connection.js'
import { MEMORY, close, configure, execute, openConnection, whenIdle } from '../connection.js'
import { type SqliteConnection, openedConnection, sqlite3Of } from '../../../drivers/sqlite3.js'
import { OpenedFile } from '../opened-file.js'
import { type SqliteTransactionConnection, acceptWrites, endTransactionAhead } from './sqlite-connection.js'
import { ReaderConnection, type ReaderPools } from './reader-connection.js'
import { WriterConnection, type WriterPool } from './writer-connection.js'
import type { ConnectionManager } from '../../../sequelize/connection-manager.js'

const pools = loadLater<typeof import('sequelize-pool')>('sequelize-pool')

/** Milliseconds that a session waits for the write connection. Longer than for a server's pool: all writers of the process share it. */
const WRITER_TIMEOUT = 10_000
/** Read connections, unless the URL has pool_size. */
const READERS = 3

export class SqlitePools implements ReaderPools, WriterPool {
  readonly #sequelize: Sequelize
  readonly #isInMemory: boolean
  readonly #file: OpenedFile | undefined
  readonly #isReadOnly: boolean
  #leaving: Promise<never> | undefined
  #keeping = 0
  readonly #writers: Pool<SqliteConnection>
  readonly #readers: Pool<SqliteConnection>
  readonly #taken = new WeakMap<SqliteConnection, SqliteTransactionConnection>()

  constructor(sequelize: Sequelize, config: SqliteConfig) {
    const { connectionManager: manager } = sequelizeInternals(sequelize)
    this.#sequelize = sequelize
    this.#isInMemory = config.storage === MEMORY
    this.#isReadOnly = config.mode === 'ro'
    const wait = config.options.poolTimeout ?? WRITER_TIMEOUT
    const sqlite3 = sqlite3Of(manager.lib)
    const memory = this.#isInMemory ? takeMemory(manager) : undefined
    const file = this.#isInMemory ? undefined : new OpenedFile(config)
    this.#file = file
    const openFile = () => openConnection(sqlite3, file?.again(config) ?? config)
    const openMemory = () => (memory ? configure(sqlite3, memory, config) : openConnection(sqlite3, config))
    const open = file ? () => file.open(openFile, close) : openMemory
    const closeFile = async (connection: SqliteConnection) => {
      await whenIdle(connection)
      await (file ? file.close(() => close(connection)) : close(connection))
    }
    this.#writers = newPool('writer', 1, wait, open, closeFile)
    this.#readers = this.#isInMemory
      ? this.#writers
      : newPool('readers', config.options.poolSize ?? READERS, wait, open, closeFile)
    this.#replaceMethods(manager)
    aroundForeignKeysOff(sequelize, (work) => this.#keepState(work))
    keepers.set(sequelize, (work) => this.#keepState(work))
    observePools(manager, { writer: this.#writers, readers: this.#isInMemory ? undefined : this.#readers })
  }

  // Sequelize opens connections for what runs outside of a session: queries at startup, transactions of the program.
  #replaceMethods(manager: ConnectionManager): void {
    manager.getConnection = async (options = {}) => {
      const reader = options.type === 'SELECT' && options.useMaster !== true
      const taken = await this.#acquireAlone(reader)
      this.#taken.set(taken.raw, taken)
      return taken.raw
    }
    manager.releaseConnection = (connection: SqliteConnection) => {
      this.#taken
        .get(connection)
        ?.release()
        ?.catch(() => {}) // it is closed
    }
    manager.destroyConnection = async (connection: SqliteConnection) => this.#taken.get(connection)?.destroy()
    // The program may have opened connections to a file before the start.
    const closeOthers = manager._onProcessExit.bind(manager)
    manager._onProcessExit = async () => {
      await this.#close()
      await closeOthers()
    }
  }

  acquire(needs: TransactionNeeds): Promise<SqliteTransactionConnection> {
    const use = (raw: SqliteConnection) => this.#connection(raw, needs)
    return this.#reads(needs) ? this.#acquire(this.#readers, use, false) : this.#acquireWriter(needs.observer, use)
  }

  #connection(raw: SqliteConnection, needs: TransactionNeeds): SqliteTransactionConnection {
    return this.#reads(needs)
      ? new ReaderConnection(this.#sequelize, raw, needs, this)
      : new WriterConnection(this.#sequelize, raw, needs, this)
  }

  #reads({ reader, readOnly }: TransactionNeeds): boolean {
    return (reader === true || readOnly === true) && !this.isShared
  }

  get isShared(): boolean {
    return this.#isInMemory
  }

  get keepsState(): boolean {
    return this.#isInMemory || this.#keeping > 0
  }

  async #keepState<T>(work: () => Promise<T>): Promise<T> {
    this.#keeping++
    try {
      return await work()
    } finally {
      this.#keeping--
      if (this.#writers.available > 0) await this.#closeIfChanged()
    }
  }

  // After an error, foreign keys may be off. An error of the release does not replace the outcome of the work.
  async #closeIfChanged(): Promise<void> {
    try {
      await (await this.#acquireAlone(false)).release()
    } catch {} // the connection is closed
  }

  /** Undefined while all readers are in use, or for a database in memory. */
  async acquireIdleReader(): Promise<SqliteTransactionConnection | undefined> {
    const { waiting, available, size, maxSize } = this.#readers
    if (this.#isInMemory) return undefined
    if (waiting > 0 || (available === 0 && size >= maxSize)) {
      this.#requireFile()
      return undefined
    }
    return this.#acquireAlone()
  }

  /** A read connection while one is idle and another is left for requests; in memory the only one. Undefined otherwise. */
  async acquireIdle(): Promise<SqliteTransactionConnection | undefined> {
    const { waiting, available } = this.#readers
    const isIdle = this.#isInMemory ? waiting === 0 && available > 0 : hasSpare(this.#readers)
    return isIdle ? this.#acquireAlone() : undefined
  }

  /** For statements outside of sessions, each of which commits itself. */
  async #acquireAlone(reader = true): Promise<SqliteTransactionConnection> {
    const needs = { reader }
    const pool = this.#reads(needs) ? this.#readers : this.#writers
    const connection = await this.#acquire(pool, (acquired) => acquired)
    try {
      await endTransactionAhead(connection)
    } catch (error) {
      await pool.destroy(connection)
      throw error
    }
    return this.#connection(connection, needs)
  }

  acquireWriter(observer: TransactionNeeds['observer']): Promise<SqliteConnection> {
    return this.#acquireWriter(observer, (connection) => connection)
  }

  #acquireWriter<T>(observer: TransactionNeeds['observer'], use: (connection: SqliteConnection) => T): Promise<T> {
    const { waiting } = this.#writers
    const acquiring = this.#acquire(this.#writers, use)
    return observer ? observer.writerTurn(acquiring, waiting) : acquiring
  }

  // Checked when it is acquired: the file may have been removed while the session waited.
  #acquire<T>(pool: Pool<SqliteConnection>, use: (connection: SqliteConnection) => T, always = true): Promise<T> {
    const file = this.#file
    if (!file) return pool.acquire().then(use, refuse)
    const useIfThere = (connection: SqliteConnection) => {
      if (file.isThere(always)) return use(connection)
      pool.release(connection)
      return this.#leaveOnce(file)
    }
    return pool
      .acquire()
      .then(useIfThere, (error: unknown) => (file.isThere(true) ? refuse(error) : this.#leaveOnce(file)))
  }

  #leaveOnce(file: OpenedFile): Promise<never> {
    return (this.#leaving ??= this.#leave(file).finally(() => (this.#leaving = undefined)))
  }

  /** Closes the connections to a file that was replaced, unless one is in use. @throws ConnectionError always: what was answered before may be lost. */
  async #leave(file: OpenedFile): Promise<never> {
    await new Promise(setImmediate) // sessions that waited in a queue have returned their connections then
    const error = file.missing()
    if (!file.exists || this.#writers.using + this.#readers.using > 0) throw error
    await this.#emptyLog()
    await this.#readers.destroyAllNow()
    await this.#writers.destroyAllNow()
    file.forget()
    throw error
  }

  // The new file has the same path for its write-ahead log: what is left of the old log would be written into it.
  async #emptyLog(): Promise<void> {
    const pool = [this.#writers, this.#readers].find(({ available }) => available > 0)
    if (!pool || this.#isReadOnly) return
    const connection = await pool.acquire()
    try {
      await endTransactionAhead(connection)
      await execute(connection, 'PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      pool.release(connection)
    }
  }

  #requireFile(): void {
    if (this.#file && !this.#file.isThere(true)) throw this.#file.missing()
  }

  releaseWriter(connection: SqliteConnection): void {
    this.#writers.release(connection)
  }

  // Interrupts the running statement first: close() would wait for it.
  async destroyWriter(connection: SqliteConnection): Promise<void> {
    connection.interrupt()
    await (this.#isInMemory ? this.#reset(connection) : this.#writers.destroy(connection))
  }

  // A database in memory exists as long as its only connection: it is reset instead of closed.
  async #reset(connection: SqliteConnection): Promise<void> {
    await execute(connection, 'ROLLBACK').catch(() => {}) // fails if there is no transaction
    await acceptWrites(connection).catch(() => {})
    this.#writers.release(connection)
  }

  releaseReader(connection: SqliteConnection): void {
    this.#readers.release(connection)
  }

  async destroyReader(connection: SqliteConnection): Promise<void> {
    connection.interrupt()
    await this.#readers.destroy(connection)
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

function newPool(
  name: string,
  max: number,
  wait: number,
  create: () => Promise<SqliteConnection>,
  destroy: (connection: SqliteConnection) => Promise<void>,
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
    destroy,
    validate: () => true,
  })
}

/** @throws always, as Sequelize does for its pool. */
function refuse(error: unknown): never {
  throw error instanceof pools().TimeoutError ? new ConnectionAcquireTimeoutError(error) : error
}

const keepers = new WeakMap<Sequelize, <T>(work: () => Promise<T>) => Promise<T>>()

/**
 * Runs the work while foreign keys are not enforced by the connection that writes: SQLite would delete the rows that refer to a table that is dropped, and cannot
 * turn them off within a transaction.
 */
export async function withoutForeignKeys<T>(sequelize: Sequelize, work: () => Promise<T>): Promise<T> {
  const keep = keepers.get(sequelize)
  if (!keep) return work()
  return keep(async () => {
    await sequelize.query('PRAGMA foreign_keys = OFF')
    try {
      return await work()
    } finally {
      await sequelize.query('PRAGMA foreign_keys = ON')
    }
  })
}

/** Calls `around` with each work of Sequelize that turns foreign keys off, sends statements outside of a transaction, and turns them on again. */
export function aroundForeignKeysOff(sequelize: Sequelize, around: <T>(work: () => Promise<T>) => Promise<T>): void {
  const sync = sequelize.sync.bind(sequelize)
  const drop = sequelize.drop.bind(sequelize)
  const truncate = sequelize.truncate.bind(sequelize)
  const queries = sequelize.getQueryInterface()
  const dropAllTables = queries.dropAllTables.bind(queries)
  sequelize.sync = (options) => around(() => sync(options))
  sequelize.drop = (options) => around(() => drop(options))
  sequelize.truncate = (options) => around(() => truncate(options))
  queries.dropAllTables = (options) => around(() => dropAllTables(options))
}
