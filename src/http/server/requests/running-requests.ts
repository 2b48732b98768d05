import type { RequestRecord } from '../../../core/events/request-record.js'
import type { RequestRecorder } from '../../observation/request-recorder.js'
import type { Request } from '../../request.js'
import { shuttingDown } from '../abort-reasons.js'
import { type Linked, LinkedList } from './linked-list.js'

/** A request, with what continues after its response. */
export interface RunningRequest<Self> extends Linked<Self> {
  readonly request: Request
  /** How many of its parts have not ended: the work, sending the response, and what continues after it. */
  parts: number
  /** Until its end is published. */
  record: RequestRecord | undefined
}

/** The requests of an app that have not ended. */
export class RunningRequests<T extends RunningRequest<T>> {
  readonly #list = new LinkedList<T>()
  readonly #recorder: RequestRecorder
  /** Called when nothing runs any more. */
  #waiting: (() => void)[] = []

  constructor(recorder: RequestRecorder) {
    this.#recorder = recorder
  }

  get size(): number {
    return this.#list.size
  }

  add(running: T): void {
    this.#list.add(running)
  }

  /** Adds a part of a request, which ends when the promise is settled. */
  addPart(running: T, done: Promise<void>): void {
    running.parts++
    void done.then(() => this.endPart(running))
  }

  endPart(running: T): void {
    if (--running.parts > 0) return
    const releasing = running.request.end()
    if (releasing) void releasing.then(() => this.#end(running))
    else this.#end(running)
  }

  #end(running: T): void {
    this.#list.delete(running)
    const { record } = running
    running.record = undefined
    if (record) this.#recorder.ended(record)
    if (this.#list.size > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Whether all requests, including those that arrive during the wait, end within the limit, in milliseconds. */
  endWithin(limit: number): boolean | Promise<boolean> {
    if (this.#list.size === 0) return true
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit, false)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  abortAll(): void {
    for (const { request } of this.#list) request.abort.abort(shuttingDown())
  }
}
