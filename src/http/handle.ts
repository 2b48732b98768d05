import { Readable } from 'node:stream'
import type { Abort } from '../core/abort.js'
import { bracket, type BracketOptions, type Leftover, type Unit, untilAborted } from '../core/bracket.js'
import { requestWithoutSession, type RequestRecord } from '../core/events/request-record.js'
import { isThenable } from '../core/promises.js'
import { type Container, Scope } from '../di/container.js'
import type { Token } from '../di/token.js'
import type { RequestTokens } from './client-tokens.js'
import { NO_INPUTS, type RequestInputs } from './input/staged-inputs.js'
import { LateCallbacks, LateDisposal } from './late-work.js'
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
 * Returns a promise only if something has to be waited for.
 */
export function handle(
  { route, variables }: Match<ServedRoute>,
  request: Request,
  container: Container,
  options: HandleOptions,
): OutgoingResponse | Promise<OutgoingResponse> {
  const { record } = options
  const call = new HandlerCall(route, request, container, options)
  const run =
    record && route.openers.length === 0
      ? (inputs: RequestInputs) => requestWithoutSession.run(record, () => call.run(inputs))
      : call.run
  const inputs = route.bind(request, variables)
  return inputs instanceof Promise ? inputs.then(run) : run(inputs)
}

/** The call of a handler for one request, with all of its attempts. Its functions are called by `bracket` and by the scope of an attempt. */
class HandlerCall implements BracketOptions {
  readonly abort: Abort
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
    if (route.interceptors.length > 0) this.#intercepted = new InterceptedCall(route.interceptors, request, this.report)
  }

  readonly run = (inputs: RequestInputs): OutgoingResponse | Promise<OutgoingResponse> => {
    this.#inputs = inputs
    const { lateBody } = inputs
    const intercepted = this.#intercepted
    const attempt = lateBody ? () => lateBody.during(this.#attempt) : this.#attempt
    const beforeCommit = intercepted && ((response: OutgoingResponse) => intercepted.beforeCommit(response))
    const response = bracket(this.#open, attempt, this.#respond, this, beforeCommit)
    if (response instanceof Promise) return response.then(this.#succeed, this.#fail)
    const ending = this.#end()
    return ending ? ending.then(() => response) : response
  }

  readonly #open = (attempt: number): readonly Unit[] => {
    const { record, tokens } = this.#options
    const units: Unit[] = []
    for (const { lifespan, open } of this.#route.openers) {
      const unit = open(attempt, record, tokens?.get(lifespan), this.#request)
      if (unit) units.push(unit)
    }
    return this.#inputs.lateBody?.holdBack(units) ?? units
  }

  readonly #attempt = (): unknown => {
    const previous = this.#scope
    this.#scope = undefined
    const disposing = previous?.dispose()?.catch(this.report) // it may still hold something, such as a lock
    if (disposing) return disposing.then(this.#attempt)
    const intercepted = this.#intercepted
    const around = intercepted && ((handler: () => unknown) => intercepted.run(handler))
    this.#headers = new ReplyHeaders()
    this.#scope = new Scope(this.#container, this.#given)
    const running = this.#scope.run(this.#route.plan, this.#inputs, this.#callMember, around)
    // The handler may return an object of another library with a then() of its own.
    return isThenable(running) ? Promise.resolve(running).then(this.#keepContent) : this.#keepContent(running)
  }

  /** The values of the tokens that build-app.ts declares. */
  readonly #given = (token: Token): unknown => {
    if (token === Request) return this.#request
    if (token === ReplyHeaders) return this.#headers
    return token === RequestLogger ? this.#options.newLogger(this.#route.pattern) : this.#request.signal
  }

  readonly #callMember = (controller: unknown, args: unknown[]): unknown => {
    if (this.abort.isAborted) throw this.abort.reason // building its arguments took too long
    const { around, name, member } = this.#route
    // The planner has checked that this class has the method; an instance may still hide it.
    const method = (controller as Readonly<Record<string, (...args: unknown[]) => unknown>>)[member]
    if (!method) throw new TypeError(`${name} is not a method.`)
    return around.length > 0
      ? callAround(around, this.#request, () => method.apply(controller, args))
      : method.apply(controller, args)
  }

  // Also of an attempt that returns after the abort, or before the handler runs again.
  readonly #keepContent = (value: unknown): unknown => {
    if (this.#content) discard(this.#content)
    this.#content = value instanceof Reply ? value.content : undefined
    if (this.#hasFailed) discard(this.#content)
    return value
  }

  /** Makes the response, before COMMIT: a transaction whose response cannot be sent is rolled back. */
  readonly #respond = (value: unknown): OutgoingResponse => {
    if (this.abort.isAborted) throw this.abort.reason
    if (this.#content instanceof Readable) refuseUnreadable(this.#content)
    if (this.#intercepted?.response) return this.#intercepted.response
    const { status, headers, body } = this.#route.respond(value, this.#request)
    return { status, headers, body, added: this.#headers.values }
  }

  readonly #succeed = (response: OutgoingResponse): OutgoingResponse | Promise<OutgoingResponse> => {
    const { tokens } = this.#options
    const ending = this.#end()
    const sent = tokens ? tokens.addTo(response) : response
    return ending ? ending.then(() => sent) : sent
  }

  readonly #fail = async (error: Error): Promise<never> => {
    this.#hasFailed = true
    discard(this.#content)
    this.#inputs.lateBody?.giveUp(error)
    await this.#end()
    throw this.#route.isKeptUnfinished && error === this.abort.reason ? withUnknownOutcome(error) : error
  }

  /** Disposes of what was built for the request, until the abort; afterwards, and after leftovers, in the background. */
  #end(): Promise<void> | undefined {
    if (this.#leftover) {
      this.#options.inBackground(this.#leftover.then(() => this.#scope?.dispose()?.catch(this.report)))
      return undefined
    }
    const disposing = this.#scope?.dispose()?.catch(this.report)
    return disposing && untilAborted(disposing, this.abort, (done) => this.#disposeLate(done))
  }

  #disposeLate(disposing: Promise<void>): void {
    const { reason } = this.abort
    if (!(reason instanceof ClientGone)) this.report(new LateDisposal(this.#scope?.disposing, reason))
    this.#options.inBackground(disposing)
  }

  readonly report = (error: unknown): void => this.#options.report(error)

  readonly onLeftover = (kind: Leftover, done: Promise<void>): void => {
    const { reason } = this.abort
    if (kind === 'callbacks' && !(reason instanceof ClientGone)) this.report(new LateCallbacks(reason))
    this.#leftover = done
  }
}
