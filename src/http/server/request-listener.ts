import { IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { types } from 'node:util'
import { Abort } from '../../core/abort.js'
import { isThenable } from '../../core/promises.js'
import type { Container } from '../../di/container.js'
import { HttpError } from '../errors.js'
import { handle } from '../handle.js'
import type { Input } from '../input/parameters.js'
import type { Docs } from '../openapi/docs-page.js'
import { EventStream } from '../output/event-stream.js'
import { type OutgoingResponse, writeReply } from '../output/outgoing-response.js'
import { isUnobserved, writeWhole } from '../output/whole-response.js'
import { limitUnreadBody } from '../output/unread-body.js'
import { type ErrorRules, toProblemReply } from '../problem.js'
import { Request } from '../request.js'
import type { MiddlewareStep } from '../routing/middleware.js'
import type { ServedRoute } from '../routing/route.js'
import type { Match, Router } from '../routing/router.js'
import { ClientGone, HandlerTimeout, shuttingDown } from './abort-reasons.js'
import { Deadlines } from './deadlines.js'
import { faultOf } from './framing.js'
import { type Link, LinkedList } from './linked-list.js'
import type { Log } from './logger.js'
import { runMiddleware } from './run-middleware.js'
import { RefusalLog } from './refusal-log.js'
import { withLog } from './unhandled-http-errors.js'

/** What the listener needs of the app. */
export interface ListenerParts {
  readonly router: Router<ServedRoute>
  readonly container: Container
  readonly docs: Docs
  readonly middleware: readonly MiddlewareStep[]
  /** Milliseconds. */
  readonly handlerTimeout: number
  readonly log: Log
  readonly errorRules: ErrorRules
}

/** One request and its response. */
interface Exchange {
  readonly request: Request
  readonly response: ServerResponse
  readonly running: Link<Running>
  /** Whether nobody but this package sees the headers of the response: they are set when it is written. */
  isUnseen: boolean
  /** The inputs of its route; empty until that is found. Errors of the database are located in them. */
  inputs: readonly Input[]
}

/** A request, with what goes on behind its response. */
interface Running {
  readonly abort: Abort
  /** How many of its parts have not ended: the work, sending the response, and what goes on behind it. */
  parts: number
  request?: Request
}

/** Milliseconds that requests cut off at the end of the drain have for their rollbacks, which wait up to a second for a running statement. */
const GRACE = 1_500

/** Answers requests, from Node's request to the written response, and knows which of them still run. */
export class Listener {
  readonly #parts: ListenerParts
  readonly #start: () => Promise<void>
  #isStarted = false
  /** The requests, and what goes on behind their responses. */
  readonly #running = new LinkedList<Running>()
  /** Called when nothing runs any more. */
  #waiting: (() => void)[] = []
  readonly #deadlines: Deadlines
  readonly #refusals: RefusalLog
  /** The streams of events that are being sent, with what aborts the signals of their requests. */
  readonly #events = new Map<EventStream, Abort>()
  #refusing = false

  /** @param start resolves when the app is started; the first request may arrive before. */
  constructor(parts: ListenerParts, start: () => Promise<void>) {
    this.#parts = parts
    this.#deadlines = new Deadlines(parts.handlerTimeout)
    this.#refusals = new RefusalLog(parts.log)
    this.#start = start
  }

  /** Answers a request of any server. */
  readonly handler = (raw: IncomingMessage, response: ServerResponse): void => this.#accept(raw, response, false)

  /** Answers a request of this package's own server: only middleware, and tools that observe the process, see its response. */
  readonly ownHandler = (raw: IncomingMessage, response: ServerResponse): void => this.#accept(raw, response, true)

  #accept(raw: IncomingMessage, response: ServerResponse, isOwn: boolean): void {
    // A pipelined request waits for the socket. Node gives the socket to one response at a time and emits 'close' on that one only: when the
    // client closes the connection, a request that had already started would never be aborted.
    if (response.socket === null) response.once('socket', () => this.#receive(raw, response, isOwn))
    else this.#receive(raw, response, isOwn)
  }

  #receive(raw: IncomingMessage, response: ServerResponse, isOwn: boolean): void {
    const isUnseen = isOwn && this.#parts.middleware.length === 0 && isUnobserved(response)
    // Behind such a request, Node drops the bytes that came with it, and would read the next ones as a request: the body of a dropped one.
    if (raw.headers.upgrade !== undefined) response.shouldKeepAlive = false
    limitUnreadBody(raw, response)
    const running = this.#add(new Abort(), response.destroyed ? 1 : 2)
    response.on('close', () => {
      if (!response.writableFinished) running.value.abort.abort(new ClientGone())
      this.#endPart(running)
    })
    void withLog(this.#parts.log, () => this.#answer(raw, response, running, isUnseen))
  }

  #add(abort: Abort, parts: number): Link<Running> {
    return this.#running.add({ abort, parts })
  }

  #endPart(running: Link<Running>): void {
    if (--running.value.parts > 0) return
    const releasing = running.value.request?.end()
    if (releasing) void releasing.then(() => this.#end(running))
    else this.#end(running)
  }

  #end(running: Link<Running>): void {
    this.#running.delete(running)
    if (this.#running.size > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #answer(
    raw: IncomingMessage,
    response: ServerResponse,
    running: Link<Running>,
    isUnseen: boolean,
  ): Promise<void> {
    try {
      const request = new Request(raw, running.value.abort)
      running.value.request = request
      const exchange: Exchange = { request, response, running, isUnseen, inputs: [] }
      if (!isUnseen) setFirstHeaders(exchange)
      const replying = this.#reply(exchange)
      // Also for a reply that is there: until this microtask, Node has not read to the end of the request, nor seen whether what follows it is HTTP.
      const reply = await replying
      const sending = reply && this.#write(reply, exchange)
      if (sending) await sending
    } catch {
      // Only the error of a logger gets here. Without an answer the client would wait until its own timeout.
      response.destroy()
    } finally {
      this.#endPart(running)
    }
  }

  /** Undefined when middleware answered. A promise only if something has to be waited for. */
  #reply(exchange: Exchange): OutgoingResponse | undefined | PromiseLike<OutgoingResponse | undefined> {
    const { request } = exchange
    const start = performance.now()
    try {
      const refusal = this.#refusing ? shuttingDown() : framingError(request.raw)
      if (refusal) return this.#replyToRefused(refusal, request)
      request.readTarget()
      const isReady = this.#isStarted && this.#parts.middleware.length === 0
      const reply = isReady ? this.#route(exchange) : this.#prepareAndRoute(exchange)
      return isThenable(reply) ? this.#inTime(reply, exchange, start) : reply
    } catch (error) {
      return this.#problem(error, exchange)
    }
  }

  async #replyToRefused(refusal: HttpError, { id }: Request): Promise<OutgoingResponse> {
    await turn() // if the bytes that follow are not HTTP, 'clientError' is emitted first and responds to that
    return toProblemReply(refusal, id, this.#parts.errorRules).reply
  }

  /** Undefined when middleware answered. */
  async #prepareAndRoute(exchange: Exchange): Promise<OutgoingResponse | undefined> {
    const { request, response } = exchange
    const { middleware } = this.#parts
    if (!this.#isStarted) {
      await this.#start()
      this.#isStarted = true
    }
    if (middleware.length > 0 && !(await runMiddleware(middleware, request, response, this.#report))) return undefined
    return this.#route(exchange)
  }

  /** Aborts the request at its deadline. What returns its reply at once has none: a timer could not interrupt it. */
  #inTime<R>(replying: PromiseLike<R>, exchange: Exchange, start: number): PromiseLike<R | OutgoingResponse> {
    const { abort } = exchange.request
    const deadline = this.#deadlines.add(abort, start)
    return replying.then(
      (reply) => {
        this.#deadlines.delete(deadline)
        return reply
      },
      (error: unknown) => {
        this.#deadlines.delete(deadline)
        return this.#problem(error, exchange)
      },
    )
  }

  #route(exchange: Exchange): OutgoingResponse | PromiseLike<OutgoingResponse | undefined> {
    const { request } = exchange
    const { router, docs } = this.#parts
    const page = docs(request.method, request.path)
    if (page) return page
    if (request.method === 'OPTIONS')
      return { status: 204, headers: { allow: router.allowed(request.path).join(', ') } }
    const match = router.match(request.method, request.path)
    exchange.inputs = match.route.plan.inputs
    return match.route.middleware.length > 0
      ? this.#handleBehindMiddleware(match, exchange)
      : this.#handle(match, exchange)
  }

  #handle(match: Match<ServedRoute>, { request, running }: Exchange): OutgoingResponse | PromiseLike<OutgoingResponse> {
    return handle(match, request, this.#parts.container, {
      report: this.#report,
      inBackground: (end) => {
        running.value.parts++
        void end.then(() => this.#endPart(running))
      },
    })
  }

  /** Undefined when the middleware of the controller answered. */
  async #handleBehindMiddleware(match: Match<ServedRoute>, exchange: Exchange): Promise<OutgoingResponse | undefined> {
    const { request, response } = exchange
    if (exchange.isUnseen) setFirstHeadersLate(exchange)
    exchange.isUnseen = false
    if (!(await runMiddleware(match.route.middleware, request, response, this.#report))) return undefined
    return this.#handle(match, exchange)
  }

  /** A promise for a stream. */
  #write(reply: OutgoingResponse, exchange: Exchange): Promise<void> | undefined {
    const { request, response, isUnseen } = exchange
    const closes = this.#refusing || isCutOff(request)
    if (isUnseen) {
      if (!closes && writeWhole(response, reply, request.raw, firstHeaders(request))) return undefined
      if (!response.headersSent) setFirstHeadersLate(exchange)
    }
    if (closes && !response.headersSent) response.setHeader('connection', 'close')
    if (reply.body instanceof EventStream) this.#endsWithApp(reply.body, request.abort)
    // A header that cannot be sent, such as one with a line break; or a stream that fails.
    const writeProblem = (error: unknown) => writeReply(response, this.#problem(error, exchange), request.raw)
    try {
      return writeReply(response, reply, request.raw)?.catch(writeProblem)
    } catch (error) {
      return writeProblem(error)
    }
  }

  #problem(error: unknown, { request, inputs }: Exchange): OutgoingResponse {
    const { errorRules } = this.#parts
    const { reply, serverFault, refusal, failure } = toProblemReply(error, request.id, errorRules, inputs, request)
    if (failure !== undefined) this.#report(failure, request)
    const known = types.isNativeError(error) ? error : undefined // `instanceof` may throw for a Proxy
    if (!serverFault || known instanceof ClientGone) return reply
    if (known instanceof HandlerTimeout) this.#parts.log.error(describe(request), known.logEntry)
    else if (refusal === undefined) this.#report(error, request)
    else this.#refusals.add(describe(request), error, refusal)
    return reply
  }

  readonly #report = (error: unknown, request: Request): void => {
    this.#parts.log.error(describe(request), error)
  }

  #endsWithApp(stream: EventStream, abort: Abort): void {
    if (this.#refusing) return endEvents(stream, abort)
    this.#events.set(stream, abort)
    stream.once('close', () => this.#events.delete(stream))
  }

  /** Answers all further requests with 503, and ends streams of events, whose clients connect again. */
  refuse(): void {
    this.#refusing = true
    for (const [stream, abort] of this.#events) endEvents(stream, abort)
  }

  /** Waits for the running requests; those that run longer than `limit` milliseconds are aborted. */
  async drain(limit: number): Promise<void> {
    if (!(await this.#settled(limit))) {
      this.#parts.log.warn(`${this.#running.size} request(s) still ran after ${limit} ms and were aborted`)
      for (const { abort } of this.#running) abort.abort(shuttingDown())
      await this.#settled(GRACE)
    }
    this.#refusals.flush()
  }

  /** Whether all requests, including those that arrive during the wait, ended in time. */
  #settled(limit: number): boolean | Promise<boolean> {
    if (this.#running.size === 0) return true
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit, false)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}

// The signal ends a source that waits for its next event.
function endEvents(stream: EventStream, abort: Abort): void {
  stream.finish()
  abort.abort(shuttingDown())
}

/** The headers of every response: names and values. */
function firstHeaders({ id }: Request): readonly string[] {
  return ['x-request-id', id, 'x-content-type-options', 'nosniff']
}

function setFirstHeaders({ request, response }: Exchange): void {
  const headers = firstHeaders(request)
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] as string, headers[at + 1] as string) // pairs
}

// A request that is followed by bytes that are not HTTP has got `connection: close` meanwhile, which comes after the first headers.
function setFirstHeadersLate(exchange: Exchange): void {
  const { response } = exchange
  const connection = response.getHeader('connection')
  if (connection !== undefined) response.removeHeader('connection')
  setFirstHeaders(exchange)
  if (connection !== undefined) response.setHeader('connection', connection)
}

function describe({ method, path, id }: Request): string {
  return `${method} ${path} [${id}]`
}

// The connection cannot be used again: the rest of the body would be read before the next request.
function isCutOff({ raw, abort }: Request): boolean {
  return abort.isAborted && raw.complete === false
}

// Also for the server of another program, whose checks are Node's. A request of app.inject() or of HTTP/2 has no framing.
function framingError(raw: IncomingMessage): HttpError | undefined {
  const fault = raw instanceof IncomingMessage ? faultOf(raw) : undefined
  return fault && new HttpError(fault.status, fault.detail, { headers: { connection: 'close' } })
}
