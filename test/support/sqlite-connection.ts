import { once } from 'node:events'
import type { TestContext } from 'node:test'
import sqlite3 from 'sqlite3'

/** Executes a statement, or several. */
export type Execute = (statement: string) => Promise<void>

/** Another connection to the SQLite file of a URL, as of another process. It does not wait for locks. */
export async function anotherConnection(t: TestContext, url: string): Promise<Execute> {
  const connection = new sqlite3.Database(url.replace(/^[^:]*:\/\/\//, ''))
  await once(connection, 'open')
  connection.configure('busyTimeout', 0)
  t.after(() => new Promise((resolve) => connection.close(resolve)))
  return (statement) =>
    new Promise((resolve, reject) => connection.exec(statement, (error) => (error ? reject(error) : resolve())))
}
