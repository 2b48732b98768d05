import { AsyncResource } from 'node:async_hooks'
import { Readable } from 'node:stream'
import type { Abort } from '../core/abort.js'
import { bracket, type BracketWork, type Leftover, type Unit, untilAborted } from '../core/bracket.js'
import type { RequestRecord } from '../core/events/request-record.js'
import { recordWithoutSession } from '../core/events/work-record.js'
import { isThenable } from '../core/promises.js'
import { type Container, Scope, type ScopeCaller } from '../di/container.js'
import type { Token } from '../di/token.js'
import type { RequestTokens } from './client-tokens.js'
import { NO_INPUTS, type RequestInputs } from './input/staged-inputs.js'
import { LateCallbacks, LateDisposal } from './late-work.js'
import { callingTrace } from './observation/calling-trace.js'
import { RequestLogger } from './observation/request-logger.js'
import { discard, type OutgoingResponse, refuseUnreadable } from './output/outgoing-response.js'
import { type Content, Reply, ReplyHeaders } from './output/reply.js'
import { Request } from './request.js'
import { callAround } from './routing/around.js'
import { InterceptedCall } from './routing/interceptor.js'
import type { ServedRoute } from './routing/route.js'
import type { Match } from './routing/router.js'
import { ClientGone, withUnknownOutcome } from './server/abort-reasons.js'

/** Callbacks for work that outlives the response, and what belongs to the request in addition to its inputs. */
export interface HandleOptions {
  /** Logs an error that happens too late to change the response. */
  report(error: unknown): void
  /** Receives what continues after the response. The promise never rejects. */
  inBackground(done: Promise<void>): void
  /** Runs the work when the response is closed; at once if it is. It never rejects. */
  runAfterResponse(work: () => Promise<void>): void
  /** The logger of the request. @param route its path. */
  newLogger(route: string): RequestLogger
  /** Exists if something listens to what happens to requests. */
  readonly record: RequestRecord | undefined
  /** The tokens that databases leave with the client; undefined if none does. */
  readonly tokens: RequestTokens | undefined
}

/**
 * The life of a request, from its route to its reply: bind the inputs, open the units of work, build the arguments, call the handler, write
 * the result as JSON, commit. Throws, or rejects with, whatever fails; problem.ts turns that into the response. When the signal of the request is
 * aborted, nothing but a COMMIT is waited for: the rollback of the work, or callbacks after the COMMIT, continue in the background.
 *
 * Returns a promise only if something must be awaited.
 */
export function handle(
  { route, variables }: Match<ServedRoute>,
  request: Request,
  container: Container,
  options: HandleOptions,
): OutgoingResponse | Promise<OutgoingResponse> {
  const call = new HandlerCall(route, request, container, options)
  const inputs = route.bind(request, variables)
  return inputs instanceof Promise ? inputs.then((bound) => call.start(bound)) : call.start(inputs)
}

/**
 * The call of a handler for one request, with all of its attempts. `bracket` and the scope of an attempt call its methods. They are no fields with functions:
 * V8 keeps the objects of a request for longer if one of them has many functions of its own. The peak of memory was a half more with them on Node 20,
 * and two thirds more on Node 24.
 */
class HandlerCall implements BracketWork<unknown, OutgoingResponse>, ScopeCaller {
  readonly abort: Abort
  readonly beforeCommit: ((response: OutgoingResponse) => Promise<void>) | undefined
  readonly #route: ServedRoute
  readonly #request: Request
  readonly #container: Container
  readonly #options: HandleOptions
  readonly #intercepted: InterceptedCall | undefined
  #inputs: RequestInputs = NO_INPUTS
  /** The scope of the current attempt. */
  #scope: Scope | undefined
  #headers = new ReplyHeaders()
  /** The content that the last attempt has returned to be sent unchanged. A stream is destroyed unless it is sent. */
  #content: Content | undefined
  #hasFailed = false
  /** Still uses the values of the scope. */
  #leftover: Promise<void> | undefined

  constructor(route: ServedRoute, request: Request, container: Container, options: HandleOptions) {
    this.abort = request.abort
    this.#route = route
    this.#request = request
    this.#container = container
    this.#options = options
    if (route.interceptors.length === 0) return
    const intercepted = new InterceptedCall(route.interceptors, request, (error) => this.report(error))
    this.#intercepted = intercepted
    this.beforeCommit = (response) => intercepted.beforeCommit(response)
  }

  start(inputs: RequestInputs): OutgoingResponse | Promise<OutgoingResponse> {
    this.#inputs = inputs
    return bracket(this)
  }

  /** Runs a part of the handler's work: its statements find the record in the asynchronous context, unless sessions have it. */
  #recorded<T>(work: () => T): T {
    const { record } = this.#options
    return record && this.#route.openers.length === 0 ? recordWithoutSession.run(record, work) : work()
  }

  open(attempt: number, previous?: readonly Unit[]): readonly Unit[] {
    const { record, tokens } = this.#options
    const units: Unit[] = []
    for (const { lifespan, open } of this.#route.openers) {
      const unit = open(attempt, record, tokens?.get(lifespan), this.#request, previous)
      if (unit) units.push(unit)
    }
    return this.#inputs.lateBody?.holdBack(units) ?? units
  }

  /** One attempt. */
  run(): unknown {
    return this.#recorded(() => this.#run())
  }

  #run(): unknown {
    const previous = this.#scope
    this.#scope = undefined
    const disposing = previous?.dispose() // it may still hold something, such as a lock
    if (disposing) return disposing.then(() => this.#run())
    const { plan } = this.#route
    const inputs = this.#inputs
    const { lateBody } = inputs
    const intercepted = this.#intercepted
    const around = intercepted && ((handler: () => unknown) => intercepted.run(handler))
    this.#headers = new ReplyHeaders()
    const scope = (this.#scope = new Scope(this.#container, this))
    const running = lateBody ? lateBody.during(() => scope.run(plan, inputs, around)) : scope.run(plan, inputs, around)
    return isThenable(running) ? this.#keepContentOf(running) : this.#keepContent(running)
  }

  /** The values of the tokens that build-app.ts declares. */
  given(token: Token): unknown {
    if (token === Request) return this.#request
    if (token === ReplyHeaders) return this.#headers
    if (token === callingTrace) return this.#request.traceparent
    return token === RequestLogger ? this.#options.newLogger(this.#route.pattern) : this.#request.signal
  }

  call(controller: unknown, args: unknown[]): unknown {
    if (this.abort.isAborted) throw this.abort.reason // building its arguments took too long
    const { around, name, member } = this.#route
    // The planner has checked that this class has the method; an instance may still hide it.
    const method = (controller as Readonly<Record<string, (...args: unknown[]) => unknown>>)[member]
    if (!method) throw new TypeError(`${name} is not a method.`)
    if (around.length > 0) return callAround(around, this.#request, () => method.apply(controller, args))
    const result: unknown = method.apply(controller, args)
    // Only then: what a request refers to is kept in memory for longer.
    if (this.#route.mayEndWithPage) this.#request.result = result
    return result
  }

  // The handler may return an object of another library with a then() of its own.
  async #keepContentOf(running: PromiseLike<unknown>): Promise<unknown> {
    return this.#keepContent(await running)
  }

  // Also of an attempt that returns after the abort, or before the handler runs again.
  #keepContent(value: unknown): unknown {
    if (this.#content) discard(this.#content)
    this.#content = value instanceof Reply ? value.content : undefined
    if (this.#hasFailed) discard(this.#content)
    return value
  }

  /** Makes the response, before COMMIT: a transaction whose response cannot be sent is rolled back. */
  finish(value: unknown): OutgoingResponse {
    return this.#recorded(() => this.#finish(value))
  }

  #finish(value: unknown): OutgoingResponse {
    if (this.#route.mayEndWithPage) this.#request.result = undefined // it need not live as long as the response
    if (this.abort.isAborted) throw this.abort.reason
    if (this.#content instanceof Readable) refuseUnreadable(this.#content)
    if (this.#intercepted?.response) return this.#intercepted.response
    const made = this.#route.respond(value, this.#request)
    const { status, headers, body } = this.#intercepted?.respond(made) ?? made
    return { status, headers, body, added: this.#headers.values }
  }

  afterSuccess(response: OutgoingResponse): OutgoingResponse | Promise<OutgoingResponse> {
    const { tokens } = this.#options
    const ending = this.#end()
    const sent = tokens ? tokens.addTo(response) : response
    return ending ? ending.then(() => sent) : sent
  }

  async afterFailure(error: unknown): Promise<never> {
    this.#hasFailed = true
    discard(this.#content)
    this.#inputs.lateBody?.giveUp(error)
    await this.#end()
    throw this.#route.isKeptUnfinished && error === this.abort.reason ? withUnknownOutcome(error) : error
  }

  /** Disposes of what was built for the request, until the abort; afterwards, and after leftovers, in the background. */
  #end(): Promise<void> | undefined {
    if (this.#leftover) {
      this.#options.inBackground(this.#leftover.then(() => this.#scope?.dispose()))
      return undefined
    }
    const disposing = this.#scope?.dispose()
    return disposing && untilAborted(disposing, this.abort, (done) => this.#disposeLate(done))
  }

  #disposeLate(disposing: Promise<void>): void {
    const { reason } = this.abort
    if (!(reason instanceof ClientGone)) this.report(new LateDisposal(this.#scope?.disposing, reason))
    this.#options.inBackground(disposing)
  }

  report(error: unknown): void {
    this.#options.report(error)
  }

  // The end of the response is an event of its socket: in the asynchronous context of the first request of this connection.
  runAfterResponse(work: () => Promise<void>): void {
    this.#options.runAfterResponse(AsyncResource.bind(work))
  }

  onLeftover(kind: Leftover, done: Promise<void>): void {
    const { reason } = this.abort
    if (kind === 'callbacks' && !(reason instanceof ClientGone)) this.report(new LateCallbacks(reason))
    this.#leftover = done
  }
}
