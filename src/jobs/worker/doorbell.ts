import type { JobDatabase } from '../job-database.js'
import { onWake } from '../wake.js'

/** Milliseconds between two looks without a ring. */
const PAUSE = 1_000

/** Wakes a worker: when jobs were added in this process, when one of its slots becomes free, and, on PostgreSQL, when another process tells. */
export class Doorbell {
  readonly #database: JobDatabase
  readonly #report: (error: unknown) => void
  #removeWaker = () => {}
  #isRinging = false
  #wake: (() => void) | undefined

  constructor(database: JobDatabase, report: (error: unknown) => void) {
    this.#database = database
    this.#report = report
  }

  async start(): Promise<void> {
    this.#removeWaker = onWake(this.#database.sequelize, () => this.ring())
    void this.#report
  }

  /** Milliseconds until the next look, with jitter: processes that were started together do not ask together. */
  get pause(): number {
    return PAUSE * (0.8 + 0.4 * Math.random())
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
    this.ring()
  }
}
