import { PendingCounter } from '../session/pending-counter.js'
import { TurnTimeoutError } from './rollback-errors.js'

interface Waiting {
  begin(): void
}

/** One connection, used by one transaction after the other, in the order of their requests for it. */
export class Turns {
  readonly #milliseconds: number
  readonly #waiting: Waiting[] = []
  readonly #users = new PendingCounter()
  #isTaken = false

  /** @param milliseconds how long a transaction waits for its turn. */
  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Resolves when nothing has, or waits for, the connection. */
  empty(): Promise<void> {
    return this.#users.empty()
  }

  /** Resolves to a function that ends the turn. @throws TurnTimeoutError if the turn does not come in time. */
  async take(): Promise<() => void> {
    this.#users.enter()
    try {
      if (this.#isTaken) await this.#wait()
    } catch (error) {
      this.#users.leave()
      throw error
    }
    this.#isTaken = true
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      this.#end()
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new TurnTimeoutError(this.#milliseconds))
      }, this.#milliseconds)
      const waiting: Waiting = {
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(waiting)
    })
  }

  // The connection stays taken if another transaction waits: one that asks for it now comes after that.
  #end(): void {
    const next = this.#waiting.shift()
    if (next) next.begin()
    else this.#isTaken = false
    this.#users.leave()
  }
}
