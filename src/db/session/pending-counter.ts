/** Counts what is pending. Cheaper than a set of promises, as waiting for these costs another promise for each. */
export class PendingCounter {
  #count = 0
  /** Undefined if nothing waits: most counters are never waited for. */
  #waiting: (() => void)[] | undefined

  get isEmpty(): boolean {
    return this.#count === 0
  }

  enter(): void {
    this.#count++
  }

  leave(): void {
    if (--this.#count > 0) return
    const waiting = this.#waiting
    if (!waiting) return
    this.#waiting = undefined
    for (const resolve of waiting) resolve()
  }

  /** Resolves when nothing is pending. */
  empty(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => (this.#waiting ??= []).push(resolve))
  }
}
