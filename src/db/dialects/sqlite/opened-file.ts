import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConnectionError } from 'sequelize'
import type { SqliteConfig } from '../../config/url.js'

/** Milliseconds between two checks for readers. A writer, whose commit takes longer than a check, checks each time. */
const INTERVAL = 100

/** The file that the connections of a database have opened. Its path may later lead to another file, or to none; SQLite does not notice it. */
export class OpenedFile {
  readonly #path: string
  #opened: string | undefined
  #isThere = true
  #next = -Infinity

  constructor(path: string) {
    this.#path = resolve(path) // the program may change its directory
  }

  /** Whether the path leads to the opened file. @param always also if that was checked a moment ago. */
  isThere(always: boolean): boolean {
    const now = performance.now()
    if (this.#isThere && !always && now < this.#next) return true
    this.#next = now + INTERVAL
    return (this.#isThere = this.#opened === undefined || identityOf(this.#path) === this.#opened)
  }

  /** How further connections are opened: a running app creates no file, since an empty one would hide that the file was removed. */
  again(config: SqliteConfig): SqliteConfig {
    const { mode } = config
    return this.#opened === undefined ? config : { ...config, storage: this.#path, mode: mode === 'ro' ? mode : 'rw' }
  }

  /** Whether the path leads to a file, the opened one or another. */
  get exists(): boolean {
    return identityOf(this.#path) !== undefined
  }

  /** Opens a connection, to no other file than those before. @throws ConnectionError when the path leads to another one, or to none. */
  async open<T>(open: () => Promise<T>, close: (connection: T) => Promise<void>): Promise<T> {
    if (!this.isThere(true)) throw this.missing()
    const before = identityOf(this.#path)
    const connection = await open()
    const after = identityOf(this.#path)
    if (after !== undefined && after === (this.#opened ?? before ?? after)) {
      this.#opened = after
      return connection
    }
    await close(connection)
    throw this.missing()
  }

  /** The next connection may open another file. Called when all connections are closed. */
  forget(): void {
    this.#opened = undefined
    this.#isThere = true
  }

  missing(): ConnectionError {
    const what = this.exists
      ? 'was replaced by another file, and the app uses that one as soon as no request uses the old one. What was written after the replacement is not in it. Stop the app before you replace its file'
      : 'was removed, or moved. What was written after that may be lost. Put the file back, or start the app again: while it runs, it creates no new file'
    return new ConnectionError(new Error(`The database file ${this.#path} ${what}.`))
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
