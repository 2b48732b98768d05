import type { JobDatabase } from '../job-database.js'
import { onWake } from '../wake.js'
import { Notices } from './notices.js'

/** Milliseconds between two looks without a ring, and those of a worker that other processes tell of their jobs. */
const PAUSE = 1_000
const PAUSE_IF_TOLD = 5_000

/** Wakes a worker: when jobs were added in this process, when one of its slots becomes free, and, on PostgreSQL, when another process tells. */
export class Doorbell {
  readonly #database: JobDatabase
  readonly notices: Notices
  #removeWaker = () => {}
  #isRinging = false
  #wake: (() => void) | undefined

  constructor(database: JobDatabase) {
    this.#database = database
    this.notices = new Notices(database, () => this.ring())
  }

  start(): void {
    this.#removeWaker = onWake(this.#database.sequelize, () => this.ring())
    this.notices.start()
    this.ring()
  }

  /** Milliseconds until the next look, with jitter: processes that were started together do not ask together. */
  get pause(): number {
    return (this.notices.isOpen ? PAUSE_IF_TOLD : PAUSE) * (0.8 + 0.2 * Math.random())
  }

  ring(): void {
    this.#isRinging = true
    this.#wake?.()
  }

  /** Returns whether it has rung: what follows answers it. */
  answer(): boolean {
    const hasRung = this.#isRinging
    this.#isRinging = false
    return hasRung
  }

  /** Resolves when it rings, or after so many milliseconds. */
  async wait(milliseconds: number): Promise<void> {
    if (this.#isRinging) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }

  stop(): void {
    this.#removeWaker()
    this.notices.stop()
    this.ring()
  }
}
