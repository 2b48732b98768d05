import type { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import type { FindErrorStatus } from '../../core/error-status.js'
import type { Container } from '../../di/container.js'
import { HttpError } from '../errors.js'
import { handle } from '../handle.js'
import type { Input } from '../input/parameters.js'
import type { Docs } from '../openapi/docs-page.js'
import { type OutgoingResponse, writeReply } from '../output/outgoing-response.js'
import { toProblemReply } from '../problem.js'
import { Request } from '../request.js'
import type { ServedRoute } from '../routing/route.js'
import type { Router } from '../routing/router.js'
import { ClientGone, HandlerTimeout, shuttingDown } from './abort-reasons.js'
import { MOST_HEADERS } from './framing.js'
import type { Log } from './logger.js'
import { runMiddleware, type MiddlewareStep } from './middleware.js'

/** What the listener needs of the app. */
export interface ListenerParts {
  readonly router: Router<ServedRoute>
  readonly container: Container
  readonly docs: Docs
  readonly middleware: readonly MiddlewareStep[]
  /** Milliseconds. */
  readonly handlerTimeout: number
  readonly log: Log
  readonly findErrorStatus: FindErrorStatus
}

/** One request and its response. */
interface Exchange {
  readonly request: Request
  readonly response: ServerResponse
  readonly abort: AbortController
  /** The inputs of its route; empty until that is found. Errors of the database are located in them. */
  inputs: readonly Input[]
}

/** Milliseconds that requests cut off at the end of the drain have for their rollbacks. */
const GRACE = 1000

/** Answers requests, from Node's request to the written response, and knows which of them still run. */
export class Listener {
  readonly #parts: ListenerParts
  readonly #ready: () => Promise<void>
  readonly #running = new Map<Promise<void>, AbortController>()
  #refusing = false

  /** @param ready resolves when the app is started; the first request may arrive before. */
  constructor(parts: ListenerParts, ready: () => Promise<void>) {
    this.#parts = parts
    this.#ready = ready
  }

  readonly handler = (raw: IncomingMessage, response: ServerResponse): void => {
    // A pipelined request waits for the socket. Node gives the socket to one response at a time and emits 'close' on that one only: when the
    // client closes the connection, a request that had already started would never be aborted.
    if (response.socket === null) response.once('socket', () => this.#start(raw, response))
    else this.#start(raw, response)
  }

  #start(raw: IncomingMessage, response: ServerResponse): void {
    const abort = new AbortController()
    const answering = this.#answer(raw, response, abort)
      // Only the error of a logger gets here. Without an answer the client would wait until its own timeout.
      .catch(() => void response.destroy())
      .finally(() => this.#running.delete(answering))
    this.#running.set(answering, abort)
  }

  async #answer(raw: IncomingMessage, response: ServerResponse, abort: AbortController): Promise<void> {
    response.once('close', () => response.writableFinished || abort.abort(new ClientGone()))
    const exchange: Exchange = { request: new Request(raw, abort.signal), response, abort, inputs: [] }
    response.setHeader('x-request-id', exchange.request.id)
    const reply = await this.#reply(exchange)
    if (reply) await this.#write(reply, exchange)
  }

  /** Undefined when middleware answered. */
  async #reply(exchange: Exchange): Promise<OutgoingResponse | undefined> {
    const { request, response, abort } = exchange
    const { handlerTimeout, middleware } = this.#parts
    const timer = setTimeout(() => abort.abort(new HandlerTimeout(handlerTimeout)), handlerTimeout)
    try {
      if (this.#refusing) return toProblemReply(shuttingDown(), request.id, this.#parts.findErrorStatus).reply
      if (request.raw.rawHeaders.length >= 2 * MOST_HEADERS)
        throw new HttpError(431, 'The request has too many headers.')
      request.readTarget()
      await this.#ready()
      if (!(await runMiddleware(middleware, request, response, this.#report))) return undefined
      return await this.#route(exchange)
    } catch (error) {
      return this.#problem(error, exchange)
    } finally {
      clearTimeout(timer)
    }
  }

  async #route(exchange: Exchange): Promise<OutgoingResponse> {
    const { request } = exchange
    const { router, docs, container } = this.#parts
    const page = docs(request.method, request.path)
    if (page) return page
    if (request.method === 'OPTIONS')
      return { status: 204, headers: { allow: router.allowed(request.path).join(', ') } }
    const match = router.match(request.method, request.path)
    exchange.inputs = match.route.plan.inputs
    return handle(match, request, container, this.#report)
  }

  async #write(reply: OutgoingResponse, exchange: Exchange): Promise<void> {
    const { request, response } = exchange
    if ((this.#refusing || isCutOff(request)) && !response.headersSent) response.setHeader('connection', 'close')
    try {
      await writeReply(response, reply, request.raw)
    } catch (error) {
      // A header that cannot be sent, such as one with a line break.
      await writeReply(response, this.#problem(error, exchange), request.raw)
    }
  }

  #problem(error: unknown, { request, inputs }: Exchange): OutgoingResponse {
    const { reply, serverFault } = toProblemReply(error, request.id, this.#parts.findErrorStatus, inputs)
    if (serverFault && !(types.isNativeError(error) && error instanceof ClientGone)) this.#report(error, request)
    return reply
  }

  readonly #report = (error: unknown, request: Request): void => {
    this.#parts.log.error(`${request.method} ${request.path} [${request.id}]`, error)
  }

  /** Answers all further requests with 503. */
  refuse(): void {
    this.#refusing = true
  }

  /** Waits for the running requests; those that run longer than `limit` milliseconds are aborted. */
  async drain(limit: number): Promise<void> {
    if (await this.#settled(limit)) return
    this.#parts.log.warn(`${this.#running.size} request(s) still ran after ${limit} ms and were aborted`)
    for (const abort of this.#running.values()) abort.abort(shuttingDown())
    await this.#settled(GRACE)
  }

  /** Whether all requests, including those that arrive during the wait, ended in time. */
  async #settled(limit: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, limit, false)))
    let inTime = true
    while (inTime && this.#running.size > 0)
      inTime = await Promise.race([Promise.all(this.#running.keys()).then(() => true), late])
    clearTimeout(timer)
    return inTime
  }
}

// The connection cannot be used again: the rest of the body would be read before the next request.
function isCutOff({ raw, signal }: Request): boolean {
  return signal.aborted && raw.complete === false
}
