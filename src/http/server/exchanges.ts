import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { RequestRecord } from '../../core/events/request-record.js'
import type { RequestTokens } from '../client-tokens.js'
import type { HandleOptions } from '../handle.js'
import type { Input } from '../input/parameters.js'
import { UnfinishedWork } from '../late-work.js'
import { tagOf, traceFields } from '../observation/log-entry.js'
import { NotesOfRequest, type RequestLogger } from '../observation/request-logger.js'
import type { RequestRecorder } from '../observation/request-recorder.js'
import type { Request } from '../request.js'
import { HandlerTimeout, shuttingDown } from './abort-reasons.js'
import type { Log } from './logger.js'

/** One request and its response. */
export class Exchange implements HandleOptions {
  readonly request: Request
  readonly response: ServerResponse
  /** Exists if something listens, until the end of the request is published. */
  record: RequestRecord | undefined
  /** Whether only this package sees the headers of the response: they are set when it is written. */
  isUnseen: boolean
  tokens: RequestTokens | undefined
  /** The inputs of its route; empty until that is found. Errors of the database are located in them. */
  inputs: readonly Input[] = []
  /** When the request is aborted, in milliseconds of the process; undefined while nothing is waited for. */
  deadline: number | undefined
  /** Whether the response is closed. */
  isClosed: boolean
  /** The work that begins then. */
  afterResponse: (() => Promise<void>)[] | undefined
  /** How many of its parts have not ended: the work, sending the response, and what continues after it. */
  parts: number
  previous: Exchange | undefined
  next: Exchange | undefined
  /** The headers of every response: names and values. */
  readonly firstHeaders: readonly string[]
  readonly #log: Log
  readonly #running: RunningExchanges
  /** How much of the work after the response runs. */
  #working = 0

  constructor(
    request: Request,
    response: ServerResponse,
    record: RequestRecord | undefined,
    isUnseen: boolean,
    log: Log,
    running: RunningExchanges,
  ) {
    this.request = request
    this.response = response
    this.record = record
    this.isUnseen = isUnseen
    this.isClosed = response.destroyed
    this.parts = response.destroyed ? 1 : 2
    this.firstHeaders = ['x-request-id', request.id, 'x-content-type-options', 'nosniff']
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
    this.parts++
    void done.then(() => this.#running.endPart(this))
  }

  runAfterResponse(work: () => Promise<void>): void {
    if (this.isClosed) this.#work(work)
    else (this.afterResponse ??= []).push(work)
  }

  /** The response is closed: it is sent, or its client is gone. */
  startAfterResponse(): void {
    for (const work of this.afterResponse?.splice(0) ?? []) this.#work(work)
  }

  #work(work: () => Promise<void>): void {
    this.#working++
    this.inBackground(work().then(() => void this.#working--))
  }

  /** The app stops, and no longer waits for it. */
  abort(): void {
    if (this.#working > 0) this.report(new UnfinishedWork())
    this.request.abort.abort(shuttingDown())
  }

  newLogger(route: string): RequestLogger {
    return new NotesOfRequest(this.#log, this.request, route)
  }

  setFirstHeaders(): void {
    const headers = this.firstHeaders
    for (let at = 0; at < headers.length; at += 2)
      this.response.setHeader(headers[at] as string, headers[at + 1] as string) // pairs
  }

  // A request that is followed by bytes that are not HTTP has got `connection: close` in the meantime, which comes after the first headers.
  setFirstHeadersLate(): void {
    const { response } = this
    const connection = response.getHeader('connection')
    if (connection !== undefined) response.removeHeader('connection')
    this.setFirstHeaders()
    if (connection !== undefined) response.setHeader('connection', connection)
  }
}

/**
 * The exchanges of an app that have not ended, in the order of their arrival. In a list of their own: a Set through which all requests pass makes a new
 * table again and again, to which the last one refers, so that what was in the tables is kept until the next collection of the old space.
 */
export class RunningExchanges {
  size = 0
  #first: Exchange | undefined
  #last: Exchange | undefined
  readonly #recorder: RequestRecorder
  readonly #limit: number
  /** How many have a deadline. One timer serves all of them: the oldest is the next one to be late. */
  #limited = 0
  #timer: NodeJS.Timeout | undefined
  /** The deadline that the timer waits for. */
  #next = 0
  /** The timer must not run in the asynchronous context of the request that happens to start it. */
  readonly #context = new AsyncResource('sequitur.Deadlines')
  /** Called when nothing runs any more. */
  #waiting: (() => void)[] = []

  /** @param limit milliseconds that a request may take. */
  constructor(recorder: RequestRecorder, limit: number) {
    this.#recorder = recorder
    this.#limit = limit
  }

  add(exchange: Exchange): void {
    exchange.previous = this.#last
    if (this.#last) this.#last.next = exchange
    else this.#first = exchange
    this.#last = exchange
    this.size++
  }

  endPart(exchange: Exchange): void {
    if (--exchange.parts > 0) return
    const { releases } = exchange.request
    if (releases.length === 0) this.#end(exchange)
    else void Promise.all(releases.splice(0).map((release) => release())).then(() => this.#end(exchange))
  }

  #end(exchange: Exchange): void {
    const { record, previous, next } = exchange
    if (!previous && this.#first !== exchange) return // it has ended: its response was destroyed before it arrived, and closed after the work
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    exchange.previous = exchange.next = exchange.record = undefined
    this.size--
    if (record) this.#recorder.ended(record)
    if (this.size === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** @param start when the request started, by `performance.now()`. */
  setDeadline(exchange: Exchange, start: number): void {
    exchange.deadline = start + this.#limit
    this.#limited++
    if (this.#timer === undefined) this.#waitFor(exchange.deadline, performance.now())
    else if (this.#limited === 1) this.#timer.ref()
  }

  removeDeadline(exchange: Exchange): void {
    if (exchange.deadline === undefined) return
    exchange.deadline = undefined
    // Without a request the timer must not keep the process running. It is not cleared, because that would cost every request time.
    if (--this.#limited === 0) this.#timer?.unref()
  }

  #waitFor(end: number, now: number): void {
    this.#next = end
    this.#context.runInAsyncScope(
      () => (this.#timer = setTimeout(() => this.#abortLate(), Math.max(1, Math.ceil(end - now)))),
    )
  }

  #abortLate(): void {
    this.#timer = undefined
    const now = performance.now()
    // A timer counts from the begin of a turn of the event loop: by this clock it may be early.
    const latest = Math.max(now, this.#next)
    const late: Exchange[] = []
    for (let exchange = this.#first; exchange; exchange = exchange.next) {
      const { deadline } = exchange
      if (deadline !== undefined && deadline > latest) {
        this.#waitFor(deadline, now)
        break // those that arrived later have more time
      }
      if (deadline !== undefined) late.push(exchange)
    }
    for (const exchange of late) {
      this.removeDeadline(exchange)
      exchange.request.abort.abort(new HandlerTimeout(this.#limit))
    }
  }

  /** Those that run now. */
  #all(): readonly Exchange[] {
    const all: Exchange[] = []
    for (let exchange = this.#first; exchange; exchange = exchange.next) all.push(exchange)
    return all
  }

  /** Whether all exchanges, including those that arrive during the wait, end within the limit, in milliseconds. */
  endWithin(limit: number): boolean | Promise<boolean> {
    if (this.size === 0) return true
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit, false)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  abortAll(): void {
    for (const exchange of this.#all()) exchange.abort()
  }
}
