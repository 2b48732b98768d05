/** How many requests must have read once before a route reads without a transaction. */
const ENOUGH = 10

/**
 * How the handler of a route has read so far, for databases on which a transaction has one snapshot: while it always reads once, its only statement needs no
 * transaction. Once it was seen to do more, it always has one.
 */
export class RouteReads {
  #requests = 0
  #hasDoneMore = false

  /** Whether the next request is expected to read once. */
  get areSingle(): boolean {
    return !this.#hasDoneMore && this.#requests >= ENOUGH
  }

  /** Counts a request that has committed. */
  countRequest(): void {
    if (this.#requests < ENOUGH) this.#requests++
  }

  /** Called for a second statement of a request, for one that is no read of a table, and for a result that needs a transaction. */
  didMore(): void {
    this.#hasDoneMore = true
  }
}
