import type { ServerResponse } from 'node:http'
import { budgetExceeded, inputRefused, REQUEST_CHANNELS, requestEnd } from '../../core/events/channels.js'
import type { QueryLimits } from '../../core/events/query-counter.js'
import { RequestRecord } from '../../core/events/request-record.js'
import { HttpError, type InputIssue } from '../errors.js'
import type { Request } from '../request.js'
import { type BudgetOfApp, reportExcesses } from './query-budget.js'
import type { RequestLog } from './request-log.js'

interface RecordedRoute {
  readonly pattern: string
  readonly name: string
  readonly limits: QueryLimits
}

/** Makes the record of each request that has a subscriber, and publishes and logs its beginning and its end. */
export class RequestRecorder {
  readonly #log: RequestLog | undefined
  readonly #onStatement: RequestRecord['onStatement']
  readonly #budget: BudgetOfApp

  /** @param log undefined if the app does not log requests. */
  constructor(log: RequestLog | undefined, budget: BudgetOfApp) {
    this.#log = log
    this.#budget = budget
    this.#onStatement = log?.isTimed ? (record, statement) => log.addStatement(record, statement) : undefined
  }

  /** Undefined if no one listens. Call it before the first header of the response is set. */
  record(request: Request, response: ServerResponse): RequestRecord | undefined {
    let isObserved = this.#log !== undefined
    for (const { hasSubscribers } of REQUEST_CHANNELS) isObserved ||= hasSubscribers
    if (!isObserved && !this.#budget.report) return undefined
    const record = new RequestRecord(request.id, request.raw)
    record.onStatement = this.#onStatement
    record.keepsValues = this.#log?.explains === true
    request.record = record
    if (isObserved) countBytes(response, record)
    return record
  }

  /** The route was found. */
  matched(record: RequestRecord, { pattern, name, limits }: RecordedRoute): void {
    record.route = pattern
    record.handler = name
    if (this.#budget.report || budgetExceeded.hasSubscribers) record.queries.limits = limits
  }

  /** Its statements have exceeded their budget. The response is not sent yet. */
  exceeded(record: RequestRecord): void {
    reportExcesses(record, this.#budget.report)
  }

  /** The response was sent, or its connection was closed. */
  closed(record: RequestRecord, response: ServerResponse): void {
    record.milliseconds = performance.now() - record.startedAt
    record.isAborted = !response.writableFinished
    record.status = response.headersSent ? response.statusCode : undefined
  }

  /** The request was refused, or its handler has failed. @param status of its response. */
  failed(record: RequestRecord, error: unknown, status: number): void {
    record.error ??= error
    if (status >= 500 || !inputRefused.hasSubscribers) return // `instanceof` may throw for a Proxy, whose status is 500
    const issues = issuesOf(error)
    if (issues.length > 0)
      inputRefused.publish({
        request: record,
        status,
        issues: issues.map(({ in: place, path }) => ({ in: place, path })),
      })
  }

  /** Nothing of the request runs any more. */
  ended(record: RequestRecord): void {
    try {
      this.#log?.add(record)
    } catch {
      // Nothing awaits the end of a request: an error, as of a query plan, would end the process.
    }
    if (requestEnd.hasSubscribers) requestEnd.publish(record)
  }
}

function issuesOf(error: unknown): readonly InputIssue[] {
  return error instanceof HttpError ? error.errors : []
}

/**
 * Adds the bytes of the body to the record. Replaces methods of this one response: what middleware puts around them, such as a compression, is
 * outside, so that its result is counted.
 */
function countBytes(response: ServerResponse, record: RequestRecord): void {
  if (record.method === 'HEAD') return
  const { write, end } = response
  const add = (chunk: unknown, encoding: unknown) => void (record.bytes += sizeOf(chunk, encoding))
  response.write = function (this: ServerResponse, ...args: unknown[]) {
    add(args[0], args[1])
    return Reflect.apply(write, this, args)
  }
  response.end = function (this: ServerResponse, ...args: unknown[]) {
    if (!this.writableEnded) add(args[0], args[1])
    return Reflect.apply(end, this, args)
  }
}

function sizeOf(chunk: unknown, encoding: unknown): number {
  if (typeof chunk === 'string')
    return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8') // unknown ones count as utf8
  return chunk instanceof Uint8Array ? chunk.byteLength : 0
}
