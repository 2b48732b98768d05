/** Counts what is pending. Cheaper than a set of promises, as waiting for these costs another promise for each. */
export class PendingCounter {
  #count = 0
  #waiting: (() => void)[] = []

  get isEmpty(): boolean {
    return this.#count === 0
  }

  enter(): void {
    this.#count++
  }

  leave(): void {
    if (--this.#count > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when nothing is pending. */
  empty(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
