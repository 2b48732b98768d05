import { ConnectionError } from 'sequelize'
import type { SqliteConfig } from '../../config/url.js'
import type { SqliteMode } from '../../config/url-options.js'
import { rememberColumns } from './column-cache.js'
import { prepareFile } from './database-file.js'
import type { Sqlite3, SqliteConnection } from './driver.js'
import { tellExactIntegers } from './exact-integers.js'

export const MEMORY = ':memory:'

/** How long SQLite waits for another process. Waiting blocks a thread, so that it is never used among our own sessions. */
const BUSY_TIMEOUT = 5_000

export async function openConnection(
  lib: Sqlite3,
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

function flags(lib: Sqlite3, mode: SqliteMode): number {
  switch (mode) {
    case 'ro':
      return lib.OPEN_READONLY
    case 'rw':
      return lib.OPEN_READWRITE
    case 'rwc':
      return lib.OPEN_READWRITE | lib.OPEN_CREATE
  }
}

export function run(connection: SqliteConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => connection.exec(sql, (error) => (error ? reject(error) : resolve())))
}

export function close(connection: SqliteConnection): Promise<void> {
  return new Promise((resolve, reject) => connection.close((error) => (error ? reject(error) : resolve())))
}
