import type { RequestRecord } from '../../../core/events/request-record.js'
import type { RequestRecorder } from '../../observation/request-recorder.js'
import type { Request } from '../../request.js'
import { shuttingDown } from '../abort-reasons.js'
import { type Link, LinkedList } from './linked-list.js'

/** A request, with what goes on behind its response. */
export class RunningRequest {
  readonly request: Request
  /** How many of its parts have not ended: the work, sending the response, and what goes on behind it. */
  parts: number
  /** Until its end is published. */
  record: RequestRecord | undefined

  constructor(request: Request, record: RequestRecord | undefined, parts: number) {
    this.request = request
    this.record = record
    this.parts = parts
  }
}

/** The requests of an app that have not ended. */
export class RunningRequests {
  readonly #list = new LinkedList<RunningRequest>()
  readonly #recorder: RequestRecorder
  /** Called when nothing runs any more. */
  #waiting: (() => void)[] = []

  constructor(recorder: RequestRecorder) {
    this.#recorder = recorder
  }

  get size(): number {
    return this.#list.size
  }

  /** @param parts how many parts of it have to end. */
  add(request: Request, record: RequestRecord | undefined, parts: number): Link<RunningRequest> {
    return this.#list.add(new RunningRequest(request, record, parts))
  }

  /** Adds a part of a request, which ends when the promise is settled. */
  addPart(running: Link<RunningRequest>, end: Promise<void>): void {
    running.value.parts++
    void end.then(() => this.endPart(running))
  }

  endPart(running: Link<RunningRequest>): void {
    if (--running.value.parts > 0) return
    const releasing = running.value.request.end()
    if (releasing) void releasing.then(() => this.#end(running))
    else this.#end(running)
  }

  #end(running: Link<RunningRequest>): void {
    this.#list.delete(running)
    const { record } = running.value
    running.value.record = undefined
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
