import type { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import type { FindErrorStatus } from '../../core/error-status.js'
import type { Docs } from '../openapi/docs-page.js'
import { HttpError, ServiceUnavailable } from '../errors.js'
import { ClientGone, handle, HandlerTimeout, inputsOf, type Serving } from '../handle.js'
import { MOST_HEADERS } from './framing.js'
import type { Log } from './logger.js'
import { runMiddleware, type Step } from './middleware.js'
import { toProblemReply } from '../problem.js'
import { type OutgoingResponse, writeReply } from '../output/outgoing-response.js'
import { Request } from '../request.js'

/** What answering needs of the app. */
export interface ListenerParts {
  readonly serving: Omit<Serving, 'report'>
  readonly docs: Docs
  readonly middleware: readonly Step[]
  /** Milliseconds. */
  readonly handlerTimeout: number
  readonly log: Log
  readonly findErrorStatus: FindErrorStatus
  /** Resolves when requests may be answered: the first one may find the app not yet started. */
  readonly ready: () => Promise<void>
}

/** Milliseconds that requests cut off at the end of the drain have for their rollbacks. */
const GRACE = 1000

/** Answers requests, from Node's two objects to the reply, and knows which of them still run. */
export class Listener {
  readonly #parts: ListenerParts
  readonly #serving: Serving
  readonly #running = new Map<Promise<void>, AbortController>()
  #refusing = false

  constructor(parts: ListenerParts) {
    this.#parts = parts
    this.#serving = { ...parts.serving, report: (error, request) => this.#report(error, request) }
  }

  readonly handler = (raw: IncomingMessage, response: ServerResponse): void => {
    // A request that came before the answer to an earlier one of its connection was out. Node gives the socket to one answer at a time, and
    // closes no other: a request that had begun would never end when the client goes away.
    if (response.socket === null) response.once('socket', () => this.#start(raw, response))
    else this.#start(raw, response)
  }

  #start(raw: IncomingMessage, response: ServerResponse): void {
    const abort = new AbortController()
    const answering = this.#answer(raw, response, abort)
      // Only a logger that throws gets here; the client must not wait for an answer that never comes.
      .catch(() => void response.destroy())
      .finally(() => this.#running.delete(answering))
    this.#running.set(answering, abort)
  }

  async #answer(raw: IncomingMessage, response: ServerResponse, abort: AbortController): Promise<void> {
    response.once('close', () => response.writableFinished || abort.abort(new ClientGone('The client went away.')))
    const request = new Request(raw, abort.signal)
    response.setHeader('x-request-id', request.id)
    const reply = await this.#reply(request, response, abort)
    if (reply) await this.#write(reply, request, response)
  }

  /** Undefined when middleware answered. */
  async #reply(
    request: Request,
    response: ServerResponse,
    abort: AbortController,
  ): Promise<OutgoingResponse | undefined> {
    const { docs, handlerTimeout, middleware, ready } = this.#parts
    const timer = setTimeout(() => abort.abort(new HandlerTimeout(handlerTimeout)), handlerTimeout)
    try {
      if (this.#refusing) return toProblemReply(shuttingDown(), request.id, this.#parts.findErrorStatus).reply
      if (request.raw.rawHeaders.length >= 2 * MOST_HEADERS)
        throw new HttpError(431, 'The request has too many headers.')
      request.readTarget()
      await ready()
      if (!(await runMiddleware(middleware, request, response, this.#serving.report))) return undefined
      return docs(request.method, request.path) ?? (await handle(this.#serving, request))
    } catch (error) {
      return this.#problem(error, request)
    } finally {
      clearTimeout(timer)
    }
  }

  async #write(reply: OutgoingResponse, request: Request, response: ServerResponse): Promise<void> {
    if ((this.#refusing || isCutOff(request)) && !response.headersSent) response.setHeader('connection', 'close')
    try {
      await writeReply(response, reply, request.raw)
    } catch (error) {
      // A header that cannot be sent, such as one with a line break.
      await writeReply(response, this.#problem(error, request), request.raw)
    }
  }

  #problem(error: unknown, request: Request): OutgoingResponse {
    const { reply, serverFault } = toProblemReply(error, request.id, this.#parts.findErrorStatus, inputsOf(request))
    if (serverFault && !(types.isNativeError(error) && error instanceof ClientGone)) this.#report(error, request)
    return reply
  }

  #report(error: unknown, request: Request): void {
    this.#parts.log.error(`${request.method} ${request.path} [${request.id}]`, error)
  }

  /** From now on new requests are answered with 503. */
  refuse(): void {
    this.#refusing = true
  }

  /** Waits for the running requests; those that outlast `limit` milliseconds are aborted. */
  async drain(limit: number): Promise<void> {
    if (await this.#settled(limit)) return
    this.#parts.log.warn(`${this.#running.size} request(s) still ran after ${limit} ms and were cut off`)
    for (const abort of this.#running.values()) abort.abort(shuttingDown())
    await this.#settled(GRACE)
  }

  /** Whether all requests, also those that come while it waits, ended in time. */
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

// What is still to come of its body would keep the connection from its next request.
function isCutOff({ raw, signal }: Request): boolean {
  return signal.aborted && raw.complete === false
}

function shuttingDown(): ServiceUnavailable {
  return new ServiceUnavailable('The server is shutting down.', { headers: { 'retry-after': '1' } })
}
