import type { ServerResponse } from 'node:http'
import type { RequestRecord } from '../../../core/events/request-record.js'
import type { RequestTokens } from '../../client-tokens/client-tokens.js'
import type { HandleOptions } from '../../handle.js'
import type { Input } from '../../input/parameters.js'
import { tagOf, traceFields } from '../../observation/log-entry.js'
import { NotesOfRequest, type RequestLogger } from '../../observation/request-logger.js'
import type { Request } from '../../request.js'
import type { Log } from '../logger.js'
import type { Deadline } from './deadlines.js'
import type { RunningRequest, RunningRequests } from './running-requests.js'

/** One request and its response. */
export class Exchange implements HandleOptions, RunningRequest<Exchange> {
  readonly request: Request
  readonly response: ServerResponse
  /** Exists if something listens. */
  record: RequestRecord | undefined
  /** Whether only this package sees the headers of the response: they are set when it is written. */
  isUnseen: boolean
  tokens: RequestTokens | undefined
  /** The inputs of its route; empty until that is found. Errors of the database are located in them. */
  inputs: readonly Input[] = []
  /** Aborts the request; undefined while nothing is waited for. */
  deadline: Deadline | undefined
  parts: number
  previous: Exchange | undefined
  next: Exchange | undefined
  readonly #log: Log
  readonly #running: RunningRequests<Exchange>

  constructor(
    request: Request,
    response: ServerResponse,
    record: RequestRecord | undefined,
    isUnseen: boolean,
    log: Log,
    running: RunningRequests<Exchange>,
  ) {
    this.request = request
    this.response = response
    this.record = record
    this.isUnseen = isUnseen
    this.parts = response.destroyed ? 1 : 2
    this.#log = log
    this.#running = running
  }

  /** How the log names the request. */
  get title(): string {
    const { method, path, id, trace } = this.request
    return `${method} ${path} ${tagOf(id, trace)}`
  }

  /** The fields of its log entries. */
  get logFields(): Readonly<Record<string, unknown>> {
    return traceFields(this.request.trace)
  }

  report(error: unknown): void {
    this.#log.error(this.title, error, this.logFields)
  }

  inBackground(done: Promise<void>): void {
    this.#running.addPart(this, done)
  }

  newLogger(route: string): RequestLogger {
    return new NotesOfRequest(this.#log, this.request, route)
  }

  /** The headers of every response: names and values. */
  get firstHeaders(): readonly string[] {
    return ['x-request-id', this.request.id, 'x-content-type-options', 'nosniff']
  }

  setFirstHeaders(): void {
    const headers = this.firstHeaders
    for (let at = 0; at < headers.length; at += 2)
      this.response.setHeader(headers[at] as string, headers[at + 1] as string) // pairs
  }

  // A request that is followed by bytes that are not HTTP has got `connection: close` meanwhile, which comes after the first headers.
  setFirstHeadersLate(): void {
    const { response } = this
    const connection = response.getHeader('connection')
    if (connection !== undefined) response.removeHeader('connection')
    this.setFirstHeaders()
    if (connection !== undefined) response.setHeader('connection', connection)
  }
}
