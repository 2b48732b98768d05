import { AsyncResource } from 'node:async_hooks'
import type { Abort } from '../../../core/abort.js'
import { HandlerTimeout } from '../abort-reasons.js'
import { type Linked, LinkedList } from './linked-list.js'

/** The deadline of a request. */
export interface Deadline extends Linked<Deadline> {
  readonly abort: Abort
  /** In milliseconds of the process. */
  readonly end: number
}

/** Aborts the requests that take longer than the limit. One timer serves all of them: the oldest is the next one to be late. */
export class Deadlines {
  readonly #limit: number
  /** The oldest first. */
  readonly #running = new LinkedList<Deadline>()
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
  add(abort: Abort, start: number): Deadline {
    const end = start + this.#limit
    const deadline = { abort, end, previous: undefined, next: undefined }
    this.#running.add(deadline)
    if (this.#timer === undefined) this.#waitFor(end, performance.now())
    else if (this.#running.size === 1) this.#timer.ref()
    return deadline
  }

  delete(deadline: Deadline): void {
    // Without a request the timer must not keep the process running. It is not cleared, as that would cost every request time.
    if (this.#running.delete(deadline) && this.#running.size === 0) this.#timer?.unref()
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
    for (let oldest = this.#running.first; oldest; oldest = this.#running.first) {
      const { abort, end } = oldest
      if (end > latest) return this.#waitFor(end, now)
      this.#running.delete(oldest)
      abort.abort(new HandlerTimeout(this.#limit))
    }
  }
}
