/** Milliseconds that a server is skipped after its first failure. Doubles with each further failure. */
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 10_000

/** Whether a server is worth a try: one that could not be reached is skipped for a while. */
export class Availability {
  /** How many times in a row it could not be reached. */
  failures = 0
  #awayUntil = 0

  get isAway(): boolean {
    return this.failures > 0 && performance.now() < this.#awayUntil
  }

  /** When it is worth a try again, on the clock of performance.now(). */
  get awayUntil(): number {
    return this.failures > 0 ? this.#awayUntil : 0
  }

  /** Call it before a connection is opened: of several requests, only one tries a server that was unavailable. */
  beforeAttempt(): void {
    if (this.failures > 0) this.#pause()
  }

  failed(): void {
    this.failures++
    this.#pause()
  }

  reached(): void {
    this.failures = 0
  }

  #pause(): void {
    const pause = Math.min(FIRST_PAUSE * 2 ** Math.max(this.failures - 1, 0), LONGEST_PAUSE)
    this.#awayUntil = performance.now() + pause
  }
}
