import type { BeginListener } from './beginning-query.js'

interface HeldStatement {
  send(): void
  fail(error: Error): void
}

/** The statements of a connection that wait for the answer to BEGIN: without BEGIN they would be executed on their own. */
export class HeldStatements implements BeginListener {
  /** Undefined unless BEGIN is sent and not answered. */
  #held: HeldStatement[] | undefined
  #beginError: Error | undefined
  #hasBegun = false

  /** Called when the connection was taken from the pool. */
  startLease(): void {
    this.#hasBegun = false
  }

  /** Called with BEGIN: what follows is held. */
  sendsBegin(): void {
    this.#held = []
  }

  /** Whether a statement must not be sent now. */
  get isHolding(): boolean {
    return this.#held !== undefined || this.#beginError !== undefined
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Sends a statement once BEGIN has succeeded, or fails it with the error of BEGIN. */
  hold(send: () => void, fail: (error: Error) => void): void {
    if (this.#beginError) process.nextTick(fail, this.#beginError)
    else this.#held?.push({ send, fail })
  }

  begun(): void {
    this.#hasBegun = true
    for (const { send, fail } of this.#take()) {
      try {
        send()
      } catch (error) {
        fail(error as Error) // of a value of the program
      }
    }
  }

  failed(error: Error): void {
    this.#beginError = error
    for (const { fail } of this.#take()) fail(error)
  }

  #take(): readonly HeldStatement[] {
    const held = this.#held ?? []
    this.#held = undefined
    return held
  }
}
