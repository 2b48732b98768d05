import { IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { types } from 'node:util'
import { Abort } from '../../core/abort.js'
import type { ErrorStatus } from '../../core/error-status.js'
import { requestStart, type Shutdown, shutdown } from '../../core/events/channels.js'
import type { Container } from '../../di/container.js'
import { HttpError } from '../errors.js'
import { handle } from '../handle.js'
import type { AppTokens } from '../client-tokens.js'
import type { Health } from '../health/health.js'
import type { RequestRecorder } from '../observation/request-recorder.js'
import type { Docs } from '../openapi/docs-page.js'
import { EventStream } from '../output/events.js'
import { type OutgoingResponse, writeReply } from '../output/outgoing-response.js'
import { breakOff, SlowClient } from '../output/break-off.js'
import { isUnobserved, writeWhole } from '../output/whole-response.js'
import { limitUnreadBody } from '../output/unread-body.js'
import { type ErrorRules, toProblemReply } from '../problem.js'
import { Request } from '../request.js'
import type { MiddlewareStep } from '../routing/middleware.js'
import type { ServedRoute } from '../routing/route.js'
import type { Match, Router } from '../routing/router.js'
import { ClientGone, HandlerTimeout, shuttingDown } from './abort-reasons.js'
import { Exchange, RunningExchanges } from './exchanges.js'
import { faultOf } from '../ambiguous-requests.js'
import { OpenEventStreams } from './open-event-streams.js'
import type { Log } from './logger.js'
import { runMiddleware } from './run-middleware.js'
import { RefusalLog } from './refusal-log.js'
import { hasSeveralApps, inLog } from './unhandled-http-errors.js'

/** The parts of the app that the listener needs. */
export interface ListenerParts {
  readonly router: Router<ServedRoute>
  readonly container: Container
  /** The tokens that databases leave with the clients. */
  readonly tokens: AppTokens
  readonly docs: Docs
  readonly health: Health | undefined
  readonly middleware: readonly MiddlewareStep[]
  /** Milliseconds. */
  readonly handlerTimeout: number
  readonly log: Log
  readonly recorder: RequestRecorder
  readonly errorRules: ErrorRules
}

/** Milliseconds that requests cut off at the end of the drain have for their rollbacks, which wait up to a second for a running statement. */
const GRACE = 1_500

/** Answers requests, from Node's request to the written response, and knows which of them still run. */
export class Listener {
  readonly #parts: ListenerParts
  readonly #start: () => Promise<void>
  #isStarted = false
  readonly #running: RunningExchanges
  readonly #refusals: RefusalLog
  readonly #recorder: RequestRecorder
  readonly #events = new OpenEventStreams()
  #closesConnections = false
  #isRefusing = false

  /** @param start resolves when the app is started; the first request may arrive before. */
  constructor(parts: ListenerParts, start: () => Promise<void>) {
    this.#parts = parts
    this.#refusals = new RefusalLog(parts.log)
    this.#recorder = parts.recorder
    this.#running = new RunningExchanges(parts.recorder, parts.handlerTimeout)
    this.#start = start
  }

  /** Answers a request of another server. */
  readonly handler = (raw: IncomingMessage, response: ServerResponse): void => this.accept(raw, response, false)

  /**
   * Answers a request.
   *
   * @param isOwn whether its server is the one of this package: only middleware, and tools that observe the process, see its response.
   * @param closed called when its response is closed.
   */
  accept(raw: IncomingMessage, response: ServerResponse, isOwn: boolean, closed?: () => void): void {
    // A pipelined request waits for the socket. Node gives the socket to one response at a time and emits 'close' on that one only: when the
    // client closes the connection, a request that had already started would never be aborted.
    if (response.socket === null) {
      response.once('socket', () => this.accept(raw, response, isOwn, closed))
      return
    }
    const isUnseen = isOwn && this.#parts.middleware.length === 0 && isUnobserved(response)
    // After such a request, Node drops the bytes that came with it, and would read the next ones as a request: the body of a dropped one.
    if (raw.headers.upgrade !== undefined) response.shouldKeepAlive = false
    if (!isUnseen) limitUnreadBody(raw, response)
    const abort = new Abort()
    const request = new Request(raw, abort)
    const record = this.#recorder.record(request, response)
    const exchange = new Exchange(request, response, record, isUnseen, this.#parts.log, this.#running)
    this.#running.add(exchange)
    // The only listener of this event: from two, Node makes an array in code that all emitters of a process share. As those of startup live long,
    // V8 may move each array to the old space at once, and it keeps its request in memory until the next collection of that space.
    response.on('close', () => {
      closed?.()
      if (!response.writableFinished) abort.abort(new ClientGone())
      if (record) this.#recorder.closed(record, response)
      exchange.isClosed = true
      if (exchange.afterResponse) exchange.startAfterResponse()
      this.#running.endPart(exchange)
    })
    if (record && response.destroyed) this.#recorder.closed(record, response)
    if (hasSeveralApps || (record && requestStart.hasSubscribers)) this.#answerInContext(exchange)
    else this.#answer(exchange)
  }

  /** Answers a request in the asynchronous contexts that belong to it. */
  #answerInContext(exchange: Exchange): void {
    const { record } = exchange
    const answer = () =>
      hasSeveralApps ? inLog(this.#parts.log, () => this.#answer(exchange)) : this.#answer(exchange)
    if (record && requestStart.hasSubscribers) requestStart.runStores(record, () => record.answer(answer))
    else answer()
  }

  // Not an async function: its promises would cost every request time.
  #answer(exchange: Exchange): void {
    const start = performance.now()
    try {
      if (!exchange.isUnseen) exchange.setFirstHeaders()
      const reply = this.#reply(exchange)
      // A finished reply waits, too: until then, Node has not read to the end of the request, nor seen whether what follows it is HTTP.
      if (!(reply instanceof Promise)) return process.nextTick(() => this.#send(reply, exchange))
      // A reply that is made at once has no deadline: a timer could not interrupt the code that makes it.
      this.#running.setDeadline(exchange, start)
      void reply.then(
        (later) => this.#send(later, exchange),
        (error: unknown) => this.#sendProblem(error, exchange),
      )
    } catch {
      this.#giveUp(exchange)
    }
  }

  /** @param reply undefined when middleware answered. */
  #send(reply: OutgoingResponse | undefined, exchange: Exchange): void {
    this.#running.removeDeadline(exchange)
    let sending: Promise<void> | undefined
    try {
      sending = reply && this.#write(reply, exchange)
    } catch {
      return this.#giveUp(exchange)
    }
    if (!sending) return this.#running.endPart(exchange)
    void sending.then(
      () => this.#running.endPart(exchange),
      () => this.#giveUp(exchange),
    )
  }

  #sendProblem(error: unknown, exchange: Exchange): void {
    this.#running.removeDeadline(exchange)
    let problem: OutgoingResponse
    try {
      problem = this.#problem(error, exchange)
    } catch {
      return this.#giveUp(exchange)
    }
    this.#send(problem, exchange)
  }

  /** After an error of the response to an error. Without an answer the client would wait until its own timeout. */
  #giveUp(exchange: Exchange): void {
    breakOff(exchange.response)
    this.#running.endPart(exchange)
  }

  /** Undefined when middleware answered. A promise only if something must be awaited. */
  #reply(exchange: Exchange): OutgoingResponse | undefined | Promise<OutgoingResponse | undefined> {
    const { request } = exchange
    try {
      // Also for the server of another program, whose checks are Node's. A request of app.inject() or of HTTP/2 has no framing.
      const fault = request.raw instanceof IncomingMessage ? faultOf(request.raw) : undefined
      if (fault) return this.#replyToRefused(framingError(fault), exchange)
      request.readTarget()
      const probed = this.#parts.health?.answer(request.method, request.path, this.#start)
      if (probed) return probed
      if (this.#isRefusing) return this.#replyToRefused(shuttingDown(), exchange)
      const isReady = this.#isStarted && this.#parts.middleware.length === 0
      return isReady ? this.#route(exchange) : this.#prepareAndRoute(exchange)
    } catch (error) {
      return this.#problem(error, exchange)
    }
  }

  async #replyToRefused(refusal: HttpError, { request: { id }, record }: Exchange): Promise<OutgoingResponse> {
    await turn() // if the bytes that follow are not HTTP, 'clientError' is emitted first and responds to that
    if (record) this.#recorder.failed(record, refusal, refusal.status)
    return toProblemReply(refusal, id, this.#parts.errorRules).reply
  }

  /** Undefined when middleware answered. */
  async #prepareAndRoute(exchange: Exchange): Promise<OutgoingResponse | undefined> {
    const { request, response } = exchange
    const { middleware } = this.#parts
    if (!this.#isStarted) {
      try {
        await this.#start()
      } catch (error) {
        if (this.#isRefusing) return this.#replyToRefused(shuttingDown(), exchange)
        throw error
      }
      this.#isStarted = true
    }
    if (
      middleware.length > 0 &&
      !(await runMiddleware(middleware, request, response, (error) => exchange.report(error)))
    )
      return undefined
    return this.#route(exchange)
  }

  #route(exchange: Exchange): OutgoingResponse | Promise<OutgoingResponse | undefined> {
    const { request, record } = exchange
    const { method, path } = request
    const { router, docs, tokens, container } = this.#parts
    const page = docs.get(path)
    if (page) {
      const response = page(method)
      if (record) record.route = path // one of a few that the app serves
      return response
    }
    if (method === 'OPTIONS') return { status: 204, headers: { allow: router.allowed(path).join(', ') } }
    const match = router.match(method, path)
    const { route } = match
    exchange.inputs = route.plan.inputs
    if (record) this.#recorder.matched(record, route)
    if (tokens.isUsed) exchange.tokens = tokens.of(request)
    return route.middleware.length > 0
      ? this.#handleAfterMiddleware(match, exchange)
      : handle(match, request, container, exchange)
  }

  /** Undefined when the middleware of the controller answered. */
  async #handleAfterMiddleware(match: Match<ServedRoute>, exchange: Exchange): Promise<OutgoingResponse | undefined> {
    const { request, response } = exchange
    if (exchange.isUnseen) {
      limitUnreadBody(request.raw, response)
      exchange.setFirstHeadersLate()
    }
    exchange.isUnseen = false
    const { middleware } = match.route
    if (!(await runMiddleware(middleware, request, response, (error) => exchange.report(error)))) return undefined
    return handle(match, request, this.#parts.container, exchange)
  }

  /** A promise for a stream. */
  #write(reply: OutgoingResponse, exchange: Exchange): Promise<void> | undefined {
    const { request, response, isUnseen, record } = exchange
    if (record?.queries.isExceeded) this.#recorder.exceeded(record)
    // A connection whose request is cut off cannot be used again: the rest of the body would be read before the next request.
    const closes = this.#closesConnections || (request.abort.isAborted && request.raw.complete === false)
    if (isUnseen) {
      if (!closes && writeWhole(response, reply, request.raw, exchange.firstHeaders)) return undefined
      limitUnreadBody(request.raw, response)
      if (!response.headersSent) exchange.setFirstHeadersLate()
    }
    if (closes && !response.headersSent) response.setHeader('connection', 'close')
    if (reply.body instanceof EventStream) this.#events.add(reply.body, request.abort)
    // A header that cannot be sent, such as one with a line break; or a stream that fails.
    const writeProblem = (error: unknown) => writeReply(response, this.#problem(error, exchange), request.raw)
    try {
      return writeReply(response, reply, request.raw)?.catch(writeProblem)
    } catch (error) {
      return writeProblem(error)
    }
  }

  #problem(error: unknown, exchange: Exchange): OutgoingResponse {
    const { request, inputs, record } = exchange
    const { errorRules } = this.#parts
    const { reply, serverFault, refusal, failure } = toProblemReply(error, request.id, errorRules, inputs, request)
    if (record) this.#recorder.failed(record, error, reply.status)
    if (failure !== undefined) exchange.report(failure)
    // After the head, whatever a source throws has no status that a client could see.
    this.#log(error, serverFault || exchange.response.headersSent, refusal, exchange)
    return reply
  }

  #log(error: unknown, isServerFault: boolean, refusal: string | undefined, exchange: Exchange): void {
    const { log } = this.#parts
    const known = types.isNativeError(error) ? error : undefined // `instanceof` may throw for a Proxy
    if (known instanceof SlowClient) return log.warn(`${exchange.title} ${known.message}`)
    if (!isServerFault || known instanceof ClientGone) return
    if (known instanceof HandlerTimeout) log.error(exchange.title, known.logEntry, exchange.logFields)
    else if (refusal === undefined) exchange.report(error)
    else this.#refusals.add(exchange.title, error, refusal, exchange.logFields)
  }

  /** Closes each connection after the next response on it: a client that stays connected would not notice other servers. */
  closeConnections(): void {
    this.#closesConnections = true
  }

  /** Answers all further requests with 503, and ends streams of events, whose clients connect again. */
  refuse(): void {
    this.#closesConnections = this.#isRefusing = true
    this.#publishShutdown('draining')
    this.#events.endAll()
  }

  /** Waits for the running requests; those that run longer than `limit` milliseconds are aborted. */
  async drain(limit: number): Promise<void> {
    if (!(await this.#running.endWithin(limit))) {
      this.#parts.log.warn(`${this.#running.size} request(s) still ran after ${limit} ms and were aborted`)
      this.#running.abortAll()
      await this.#running.endWithin(GRACE)
    }
    this.#refusals.flush()
  }

  /** Everything that requests could use is closed. */
  closed(): void {
    this.#publishShutdown('closed')
  }

  #publishShutdown(state: Shutdown['state']): void {
    if (shutdown.hasSubscribers) shutdown.publish({ state, requests: this.#running.size })
  }
}

function framingError({ status, detail }: ErrorStatus): HttpError {
  return new HttpError(status, detail, { headers: { connection: 'close' } })
}
