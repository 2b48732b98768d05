import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Sqlite3, SqliteConnection } from '../../drivers/sqlite3.js'
import { close, execute } from './connection.js'

/** Milliseconds between two tries. */
const PAUSE = 100

/**
 * Locks a file for this process, by the locks of SQLite, which the system frees when the process ends. The file is created, and removed at the end.
 *
 * @param waits called once, if another process has it.
 * @returns what frees it.
 * @throws the error of sqlite3: the file cannot be created.
 */
export async function lockFile(sqlite3: Sqlite3, path: string, waits: () => void): Promise<() => Promise<void>> {
  for (let isFirst = true; ; isFirst = false) {
    closeSync(openSync(path, 'a'))
    const before = inodeOf(path)
    const connection = await open(sqlite3, path)
    if (await isLocked(connection, path, before))
      return async () => {
        remove(path)
        await close(connection)
      }
    await close(connection)
    if (isFirst) waits()
    await wait(PAUSE)
  }
}

function open(sqlite3: Sqlite3, path: string): Promise<SqliteConnection> {
  return new Promise((resolve, reject) => {
    const opened: SqliteConnection = new sqlite3.Database(path, (error) => (error ? reject(error) : resolve(opened)))
  })
}

// Who had it before may have removed the file since it was opened, on which SQLite then fails: another process locks a new one.
async function isLocked(connection: SqliteConnection, path: string, before: number | undefined): Promise<boolean> {
  try {
    await execute(connection, 'BEGIN EXCLUSIVE')
  } catch (error) {
    const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
    if (isBusy || inodeOf(path) !== before) return false
    throw error
  }
  return before !== undefined && inodeOf(path) === before
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

// Before the lock is free: the file of the next process must not be removed. Windows removes no open file, which then stays, empty.
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}
