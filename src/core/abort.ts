type Listener = (reason: unknown) => void

/**
 * Ends the wait for some work, with a reason. An AbortController of its own would cost every request time: its signal is made when the program
 * asks for it.
 */
export class Abort {
  #reason: { readonly value: unknown } | undefined
  #controller: AbortController | undefined
  #listeners: Listener[] | undefined
  isAborted = false

  /** Undefined until the abort. */
  get reason(): unknown {
    return this.#reason?.value
  }

  /** The signal for the program, which is aborted with the same reason. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason.value)
    }
    return this.#controller.signal
  }

  /** Only the first abort counts. */
  abort(reason: unknown): void {
    if (this.#reason) return
    this.isAborted = true
    this.#reason = { value: reason }
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = undefined
    for (const listener of listeners ?? []) listener(reason)
  }

  /** Calls the listener at the abort; at once, if that has happened. */
  onAbort(listener: Listener): void {
    if (this.#reason) listener(this.#reason.value)
    else (this.#listeners ??= []).push(listener)
  }

  /** The outcome of the work, or the reason of an abort that comes first: work that never ends must not be waited for without end. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onAbort(reject)
      work.then(
        (value) => {
          this.offAbort(reject)
          return resolve(value)
        },
        (error: Error) => {
          this.offAbort(reject)
          reject(error)
        },
      )
    })
  }

  offAbort(listener: Listener): void {
    const listeners = this.#listeners
    const index = listeners?.indexOf(listener) ?? -1
    if (index >= 0) listeners?.splice(index, 1)
  }
}
