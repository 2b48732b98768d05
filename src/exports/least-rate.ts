/**
 * How much a client must read: this many bytes within each window in which the server waits for it. Time in which nothing waits for the client, as while the
 * database reads rows, does not count.
 */
export class LeastRate {
  readonly #window: number
  readonly #quota: number
  readonly #onSlow: () => void
  readonly #now: () => number
  /** The bytes that are missing in the present window, and the milliseconds that are left of it. */
  #missing: number
  #left: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  /**
   * @param window milliseconds.
   * @param bytesPerSecond 0: whatever it takes within a window is enough.
   * @param onSlow called when a window has ended in which the client has taken less.
   */
  constructor(window: number, bytesPerSecond: number, onSlow: () => void, now = () => performance.now()) {
    this.#window = this.#left = window
    this.#quota = this.#missing = Math.max(1, (bytesPerSecond * window) / 1000)
    this.#onSlow = onSlow
    this.#now = now
  }

  /** Something waits for the client from now on. */
  waits(): void {
    this.#since = this.#now()
    this.#timer = setTimeout(this.#onSlow, this.#left)
  }

  /** The client has taken all that waited. */
  took(bytes: number): void {
    this.stop()
    this.#missing -= bytes
    if (this.#missing > 0) this.#left -= this.#now() - this.#since
    else {
      this.#missing = this.#quota
      this.#left = this.#window
    }
  }

  /** The client is no longer waited for. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}
