import { AsyncResource } from 'node:async_hooks'
import type { Abort } from '../../core/abort.js'
import { HandlerTimeout } from './abort-reasons.js'

/** Aborts the requests that take longer than the limit. One timer serves all of them: the oldest is the next one to be late. */
export class Deadlines {
  readonly #limit: number
  /** When each is late, in milliseconds of the process; the oldest first. */
  readonly #ends = new Map<Abort, number>()
  #timer: NodeJS.Timeout | undefined
  /** The end that the timer waits for. */
  #next = 0
  /** The timer must not run in the asynchronous context of the request that happens to start it. */
  readonly #context = new AsyncResource('sequitur.Deadlines')

  /** @param limit milliseconds. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** @param start when the request started, by `performance.now()`. */
  add(abort: Abort, start: number): void {
    this.#ends.set(abort, start + this.#limit)
    if (this.#timer === undefined) this.#waitFor(start + this.#limit, performance.now())
    else if (this.#ends.size === 1) this.#timer.ref()
  }

  delete(abort: Abort): void {
    // Without a request the timer must not keep the process running. It is not cleared, as that would cost every request time.
    if (this.#ends.delete(abort) && this.#ends.size === 0) this.#timer?.unref()
  }

  #waitFor(end: number, now: number): void {
    this.#next = end
    this.#context.runInAsyncScope(
      () => (this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(end - now)))),
    )
  }

  #check(): void {
    this.#timer = undefined
    const now = performance.now()
    // A timer counts from the begin of a turn of the event loop: by this clock it may be early.
    const latest = Math.max(now, this.#next)
    for (const [abort, end] of this.#ends) {
      if (end > latest) return this.#waitFor(end, now)
      this.#ends.delete(abort)
      abort.abort(new HandlerTimeout(this.#limit))
    }
  }
}
