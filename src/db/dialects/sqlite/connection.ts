import { ConnectionError } from 'sequelize'
import type { SqliteConfig } from '../../config/url.js'
import type { SqliteMode } from '../../config/url-options.js'
import { cacheColumns } from './column-cache.js'
import { type Sqlite3, type SqliteConnection, statementClassOf } from '../../drivers/sqlite3.js'
import { readExactIntegers } from './exact-integers.js'
import { prepareStatementsOf, preparedStatementsOf } from './prepared-statements.js'
import { chmodSync, closeSync, existsSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

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
  const { busyTimeout = BUSY_TIMEOUT } = options
  connection.configure('busyTimeout', busyTimeout)
  const wal = storage !== MEMORY && mode !== 'ro' ? OPEN_LOG : ''
  try {
    await executeWhenFree(connection, `PRAGMA foreign_keys = ON${wal}`, busyTimeout)
  } catch (error) {
    await close(connection)
    throw new ConnectionError(error as Error) // execute() rejects with sqlite3's errors
  }
  cacheColumns(connection)
  readExactIntegers(connection)
  prepareStatementsOf(connection, statementClassOf(sqlite3))
  return connection
}

/** Milliseconds between two attempts. */
const PAUSE = 10

/** SQLite does not wait until a file can get its write-ahead log: where another process gives it one, or writes, SQLITE_BUSY comes at once. */
async function executeWhenFree(connection: SqliteConnection, sql: string, timeout: number): Promise<void> {
  for (const end = performance.now() + timeout; ; await pause(PAUSE)) {
    try {
      return await execute(connection, sql)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || performance.now() > end) throw error
    }
  }
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

/** Read and write, only for the owner. */
const OWNER_ONLY = 0o600

/**
 * Creates the database file, empty, and its folder. If the parent of that folder is missing too, the path is probably misspelt or relative
 * to another directory, so nothing is created.
 *
 * @param fileMode the permissions of the new file; SQLite uses the same for the files next to it, -wal and -shm.
 * @throws Error that names what is missing.
 */
export function prepareFile(storage: string, mode: SqliteMode, fileMode = OWNER_ONLY): void {
  if (existsSync(storage)) {
    if (statSync(storage).isDirectory())
      throw new Error(`${storage} is a folder. Write the path of a file in it, such as ${storage}/app.sqlite.`)
    return
  }
  if (mode !== 'rwc')
    throw new Error(
      `there is no file ${storage}, and mode=${mode} creates none. Correct the path, or leave out the mode.`,
    )
  createFolder(dirname(storage), fileMode)
  createFile(storage, fileMode)
}

function createFolder(folder: string, fileMode: number): void {
  if (existsSync(folder)) return
  if (!existsSync(dirname(folder)))
    throw new Error(
      `neither ${folder} nor its parent folder exists. Correct the path, or create them: mkdir -p ${folder}`,
    )
  const mode = fileMode | ((fileMode & 0o444) >> 2) // read permission for the file needs execute permission for the folder
  try {
    mkdirSync(folder, { mode })
    chmodSync(folder, mode)
  } catch (error) {
    // Another process may have created it at the same time.
    if (!existsSync(folder)) throw error
  }
}

function createFile(storage: string, mode: number): void {
  try {
    const file = openSync(storage, 'wx', mode)
    fchmodSync(file, mode) // openSync() has applied the umask of the process
    closeSync(file)
  } catch (error) {
    if (!existsSync(storage)) throw error
  }
}
