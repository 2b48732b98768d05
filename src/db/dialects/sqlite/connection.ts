import { ConnectionError } from 'sequelize'
import type { SqliteConfig } from '../../config/url.js'
import type { SqliteMode } from '../../config/url-options.js'
import { cacheColumns } from './column-cache.js'
import { prepareFile } from './database-file.js'
import { type Sqlite3, type SqliteConnection, statementClassOf } from '../../drivers/sqlite3.js'
import { readExactIntegers } from './exact-integers.js'
import { preparedStatementsOf, prepareStatementsOf } from './prepared-statements.js'

export const MEMORY = ':memory:'

/** Milliseconds that SQLite waits for a lock of another process. Sessions of this process wait in a queue instead: SQLite blocks a thread. */
const BUSY_TIMEOUT = 5_000

/** With its first read a connection opens the write-ahead log, which SQLite keeps as long as one connection has it open. */
const OPEN_LOG = '; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA schema_version'

export async function openConnection(sqlite3: Sqlite3, config: SqliteConfig): Promise<SqliteConnection> {
  const { storage, mode, options } = config
  if (storage !== MEMORY) prepareFile(storage, mode, options.fileMode)
  const connection = await new Promise<SqliteConnection>((resolve, reject) => {
    const opened: SqliteConnection = new sqlite3.Database(storage, flags(sqlite3, mode), (error) =>
      error ? reject(new ConnectionError(error)) : resolve(opened),
    )
  })
  return configure(sqlite3, connection, config)
}

/** Sets what each connection of this package has. @throws ConnectionError; the connection is closed then. */
export async function configure(
  sqlite3: Sqlite3,
  connection: SqliteConnection,
  { storage, mode, options }: SqliteConfig,
): Promise<SqliteConnection> {
  connection.configure('busyTimeout', options.busyTimeout ?? BUSY_TIMEOUT)
  const wal = storage !== MEMORY && mode !== 'ro' ? OPEN_LOG : ''
  try {
    await execute(connection, `PRAGMA foreign_keys = ON${wal}`)
  } catch (error) {
    await close(connection)
    throw new ConnectionError(error as Error) // execute() rejects with sqlite3's errors
  }
  cacheColumns(connection)
  readExactIntegers(connection)
  prepareStatementsOf(connection, statementClassOf(sqlite3))
  return connection
}

function flags(sqlite3: Sqlite3, mode: SqliteMode): number {
  switch (mode) {
    case 'ro':
      return sqlite3.OPEN_READONLY
    case 'rw':
      return sqlite3.OPEN_READWRITE
    case 'rwc':
      return sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
  }
}

export function execute(connection: SqliteConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => connection.exec(sql, (error) => (error ? reject(error) : resolve())))
}

/** Resolves when no statement of the connection is running. */
export function whenIdle(connection: SqliteConnection): Promise<void> {
  return new Promise((resolve) => connection.wait(() => resolve()))
}

/** Closes a connection when its running statement has ended. */
export function close(connection: SqliteConnection): Promise<void> {
  return new Promise((resolve, reject) =>
    connection.wait(() => {
      preparedStatementsOf(connection)?.finalize()
      connection.close((error) => (error ? reject(error) : resolve()))
    }),
  )
}
