/** Counts what is under way, and tells when nothing is: a set of promises to wait for would cost another promise for each. */
export class PendingCounter {
  #count = 0
  #told: (() => void)[] = []

  get isEmpty(): boolean {
    return this.#count === 0
  }

  enter(): void {
    this.#count++
  }

  leave(): void {
    if (--this.#count > 0) return
    for (const tell of this.#told.splice(0)) tell()
  }

  /** Resolves once nothing is under way. */
  empty(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => this.#told.push(resolve))
  }
}
