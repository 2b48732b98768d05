import { listen, type Listening } from '../../db/dialects/postgres/listen.js'
import { type Sql, sql } from '../../db/statements/statement.js'
import type { JobDatabase } from '../job-database.js'
import { CHANNEL } from '../notify.js'

const PING = sql`SELECT 1`
/** Milliseconds between two pings of a connection, and those that an answer may take. */
const PING_PAUSE = 30_000
const ANSWER_TIMEOUT = 5_000
/** Milliseconds until the next try after a failure: of the first, and at most. */
const FIRST_PAUSE = 1_000
const MOST_PAUSE = 30_000

/** Listens for the notices of other processes that jobs were added. Without a connection workers look once a second; nothing is lost. */
export class Notices {
  readonly #database: JobDatabase
  readonly #ring: () => void
  #listening: Listening | undefined
  #timer: NodeJS.Timeout | undefined
  #pause = FIRST_PAUSE
  #isStopped = false

  /** @param ring called for each notice, and when a connection was made: notices may have been missed before. */
  constructor(database: JobDatabase, ring: () => void) {
    this.#database = database
    this.#ring = ring
  }

  /** Whether notices arrive. */
  get isOpen(): boolean {
    return this.#listening !== undefined
  }

  /**
   * Executes a statement on the connection that listens, which no job can hold. Undefined if there is none.
   *
   * @throws the error of the server, or ConnectionError.
   */
  execute(statement: Sql): Promise<void> | undefined {
    return this.#listening?.execute(statement, ANSWER_TIMEOUT)
  }

  start(): void {
    if (this.#database.statements.dialect === 'postgres') void this.#open()
  }

  async #open(): Promise<void> {
    try {
      const listening = await listen(this.#database.sequelize, CHANNEL, {
        onNotice: this.#ring,
        onEnd: () => this.#lost(),
      })
      if (!listening) return // behind a pooler
      if (this.#isStopped) return listening.close()
      this.#listening = listening
      this.#pause = FIRST_PAUSE
      this.#ring()
      this.#after(PING_PAUSE, () => this.#ping(listening))
    } catch {
      this.#lost() // a server without LISTEN, or one that is gone: the worker itself reports that
    }
  }

  async #ping(listening: Listening): Promise<void> {
    await listening.execute(PING, ANSWER_TIMEOUT).catch(() => {}) // of a connection that was lost, which ends it
    if (this.#listening === listening) this.#after(PING_PAUSE, () => this.#ping(listening))
  }

  #lost(): void {
    this.#listening = undefined
    this.#pause = Math.min(2 * this.#pause, MOST_PAUSE)
    this.#after(this.#pause * (0.5 + Math.random() / 2), () => this.#open())
  }

  #after(milliseconds: number, work: () => Promise<void>): void {
    clearTimeout(this.#timer)
    if (!this.#isStopped) this.#timer = setTimeout(() => void work(), milliseconds)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#listening?.close()
  }
}
