import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConnectionError } from 'sequelize'
import type { SqliteConfig } from '../../config/url.js'

/** Milliseconds between two checks for readers. A writer, whose commit takes longer than a check, checks each time. */
const INTERVAL = 100

/** The file that the connections of a database have opened. Its path may later lead to another file, or to none; SQLite does not notice it. */
export class OpenedFile {
  readonly #path: string
  /** Otherwise the log is that of another program, which may remove it. */
  readonly #keepsLog: boolean
  #opened: string | undefined
  #isThere = true
  #next = -Infinity
  #connections = 0
  #opening = Promise.resolve()
  #closing = Promise.resolve()
  /** The write-ahead log and its index, which SQLite removes when the last connection is closed; undefined before they were seen. */
  #log: string | undefined
  #isLogThere = true
  #nextLog = -Infinity

  constructor({ storage, mode }: SqliteConfig) {
    this.#path = resolve(storage) // the program may change its directory
    this.#keepsLog = mode !== 'ro'
  }

  /** Whether the path leads to the opened file, and its log exists. @param always also if the first was checked a moment ago. */
  isThere(always: boolean): boolean {
    const now = performance.now()
    if (this.#isThere && this.#isLogThere && !always && now < this.#next) return true
    this.#next = now + INTERVAL
    this.#isThere = this.#opened === undefined || identityOf(this.#path) === this.#opened
    return this.#isThere && this.#hasLog(now)
  }

  // Rows that are written to a log that was removed are not lost as long as the app runs: looked for less often.
  #hasLog(now: number): boolean {
    if (this.#log === undefined) this.#log = this.#foundLog()
    else if (!this.#isLogThere || now >= this.#nextLog) {
      this.#nextLog = now + INTERVAL
      this.#isLogThere = this.#foundLog() === this.#log
    }
    return this.#isLogThere
  }

  #foundLog(): string | undefined {
    if (!this.#keepsLog || this.#connections === 0) return undefined
    const [log, index] = [identityOf(`${this.#path}-wal`), identityOf(`${this.#path}-shm`)]
    return log && index && `${log} ${index}`
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

  /**
   * Opens a connection, to no other file than those before. Not while one is closed, which may be the last one: SQLite would remove the log, and make
   * another one.
   *
   * @throws ConnectionError when the path leads to another file, or to none.
   */
  open<T>(open: () => Promise<T>, close: (connection: T) => Promise<void>): Promise<T> {
    const opened = this.#closing.then(() => this.#open(open, close))
    this.#opening = settled(this.#opening, opened)
    return opened
  }

  async #open<T>(open: () => Promise<T>, close: (connection: T) => Promise<void>): Promise<T> {
    if (!this.isThere(true)) throw this.missing()
    const before = identityOf(this.#path)
    const connection = await open()
    const after = identityOf(this.#path)
    if (after !== undefined && after === (this.#opened ?? before ?? after)) {
      this.#opened = after
      this.#connections++
      this.#log ??= this.#foundLog()
      return connection
    }
    await close(connection)
    throw this.missing()
  }

  /** Closes a connection. Not while one is opened: see {@link open}. */
  close(close: () => Promise<void>): Promise<void> {
    const closed = this.#opening.then(close).finally(() => this.#closed())
    this.#closing = settled(this.#closing, closed)
    return closed
  }

  #closed(): void {
    if (--this.#connections === 0) this.#forgetLog()
  }

  #forgetLog(): void {
    this.#log = undefined
    this.#isLogThere = true
  }

  /** The next connection may open another file. Called when all connections are closed. */
  forget(): void {
    this.#opened = undefined
    this.#isThere = true
    this.#forgetLog()
  }

  missing(): ConnectionError {
    return new ConnectionError(new Error(`The database file ${this.#path} ${this.#whatIsMissing()}.`))
  }

  #whatIsMissing(): string {
    if (!this.exists)
      return 'was removed, or moved. What was written after that may be lost. Put the file back, or start the app again: while it runs, it creates no new file'
    if (this.#isThere)
      return 'has lost its write-ahead log, the file -wal next to it, or the index -shm, which was removed while the app runs. The app writes the log that it still has into the database file as soon as no request uses it. Remove neither -wal nor -shm of a database in use'
    return 'was replaced by another file, and the app uses that one as soon as no request uses the old one. What was written after the replacement is not in it. Stop the app before you replace its file'
  }
}

/** Resolves when both have settled; to nothing, because the results of all earlier connections would be kept. */
async function settled(before: Promise<void>, last: Promise<unknown>): Promise<void> {
  await Promise.allSettled([before, last])
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
