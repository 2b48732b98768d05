import { PendingCounter } from './pending-counter.js'

/**
 * The order of the queries and savepoints of one transaction scope. A query that is started while a savepoint is open runs after it,
 * because ROLLBACK TO SAVEPOINT would undo the query too.
 */
export class QueryOrder {
  /** The running queries of this scope, without those of its savepoints. */
  readonly running = new PendingCounter()
  /** Also counts the queries that wait for a savepoint. */
  readonly #pending: PendingCounter
  #lastSavepoint: Promise<void> | undefined

  constructor(pending: PendingCounter) {
    this.#pending = pending
  }

  /** Resolves when the last savepoint of this scope is closed; undefined if none is open. */
  get lastSavepoint(): Promise<void> | undefined {
    return this.#lastSavepoint
  }

  /** Runs a query after the open savepoints. */
  query<T>(run: () => Promise<T>): Promise<T> {
    return this.#lastSavepoint ? this.#after(this.#lastSavepoint, run) : run()
  }

  async #after<T>(savepoint: Promise<void>, run: () => Promise<T>): Promise<T> {
    this.#pending.enter()
    try {
      await savepoint
      return await run()
    } finally {
      this.#pending.leave()
    }
  }

  /** Runs a savepoint after the queries and savepoints that were started before it. */
  async savepoint<T>(run: () => Promise<T>): Promise<T> {
    const previous = this.#lastSavepoint
    let close: () => void = () => {}
    const closed = new Promise<void>((resolve) => (close = resolve))
    this.#lastSavepoint = closed
    try {
      await previous
      await this.running.empty()
      return await run()
    } finally {
      if (this.#lastSavepoint === closed) this.#lastSavepoint = undefined
      close()
    }
  }
}
