/** Counts what is pending. Cheaper than a set of promises, as waiting for these costs another promise for each. */
export class PendingCounter {
  /** This one, and those that it is a part of. */
  readonly #counters: readonly PendingCounter[]
  #count = 0
  /** Undefined if nothing waits: most counters are never waited for. */
  #waiting: (() => void)[] | undefined

  /** @param whole also counts what this one counts. */
  constructor(whole?: PendingCounter) {
    this.#counters = whole ? [this, ...whole.#counters] : [this]
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  enter(): void {
    for (const counter of this.#counters) counter.#count++
  }

  leave(): void {
    for (const counter of this.#counters)
      if (--counter.#count === 0 && counter.#waiting) counter.#wake(counter.#waiting)
  }

  #wake(waiting: readonly (() => void)[]): void {
    this.#waiting = undefined
    for (const resolve of waiting) resolve()
  }

  /** Resolves when nothing is pending. */
  empty(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => (this.#waiting ??= []).push(resolve))
  }
}
