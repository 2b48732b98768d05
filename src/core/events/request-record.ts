import type { IncomingMessage } from 'node:http'
import { type Trace, traceOf } from './trace.js'
import { WorkRecord } from './work-record.js'

/**
 * What is known of one request. `sequitur.request.start` and `sequitur.request.end` have the same object, and the database events
 * of the request refer to it, so that subscribers can keep their own data in a WeakMap. It exists only while a subscriber listens.
 */
export class RequestRecord extends WorkRecord {
  readonly method: string
  /** Node's request. */
  readonly raw: IncomingMessage
  /** The path as it was sent, without its query. It is the client's text: escape it before you write it somewhere. */
  readonly path: string
  /** The path of the route, with the app's prefix: `/heros/:hero_id`. Undefined before routing, and for requests without a route, such as a 404. */
  route: string | undefined
  /** Undefined until the response is sent, and if the connection was closed before its status was sent. */
  status: number | undefined
  /** The size of the response body in bytes, after middleware has changed it. */
  bytes = 0
  /** Whether the connection was closed before the response was complete. */
  isAborted = false
  #trace: Trace | undefined

  /** @param id the request id, as in the response and the log. */
  constructor(id: string, raw: IncomingMessage) {
    super(id)
    this.method = raw.method ?? 'GET'
    this.raw = raw
    this.path = (raw.url ?? '/').split('?', 1)[0] ?? '/'
  }

  /**
   * The trace that the request belongs to, as in the log: that of `openTelemetry()`, else that of the header `traceparent`. Undefined without one. A
   * subscriber of `sequitur.request.start` that traces requests itself may set it.
   */
  get trace(): Trace | undefined {
    return (this.#trace ??= traceOf(this.raw.headers))
  }

  set trace(trace: Trace | undefined) {
    this.#trace = trace
  }

  /** @internal */
  get title(): string {
    return `${this.method} ${this.route} (${this.handler})`
  }

  /** @internal */
  get place(): string | undefined {
    return this.route
  }
}
