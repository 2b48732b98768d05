import { Readable } from 'node:stream'
import { bracket, type OpenUnits, untilAborted } from '../core/bracket.js'
import { requestWithoutSession } from '../core/events/current-request.js'
import type { RequestRecord } from '../core/events/request-record.js'
import { andThen, isThenable } from '../core/promises.js'
import type { Container, Scope } from '../di/container.js'
import type { Token } from '../di/token.js'
import type { RequestTokens } from './client-tokens/client-tokens.js'
import type { LateBody, RequestInputs } from './input/staged-inputs.js'
import { RequestLogger } from './observation/request-logger.js'
import { discard, type OutgoingResponse, refuseUnreadable } from './output/outgoing-response.js'
import { type Content, Reply, ReplyHeaders } from './output/reply.js'
import { Request } from './request.js'
import { NO_UNITS } from './lifespan.js'
import { ClientGone, withUnknownOutcome } from './server/abort-reasons.js'
import type { Around } from './routing/around.js'
import { InterceptedCall } from './routing/interceptors/intercepted-call.js'
import type { ServedRoute } from './routing/route.js'
import type { Match } from './routing/router.js'

/** What becomes of a request besides its response. */
export interface Aftermath {
  /** Logs an error that happens too late to change the response. */
  report(error: unknown, request: Request): void
  /** Receives what continues after the response. The promise never rejects. */
  inBackground(end: Promise<void>): void
  /** The logger of the request. @param route its path. */
  newLogger(request: Request, route: string): RequestLogger
  /** Exists if something listens to what happens to requests. */
  readonly record?: RequestRecord | undefined
  /** What databases leave with the client; undefined if none does. */
  readonly tokens?: RequestTokens | undefined
}

/**
 * The life of a request, from its route to its reply: bind the inputs, open the units of work, build the arguments, call the handler, write
 * the result as JSON, commit. Throws, or rejects with, whatever fails; problem.ts turns that into the response. When the signal of the request is
 * aborted, nothing but a COMMIT is waited for: the rollback of the work, or callbacks after the COMMIT, go on in the background.
 *
 * Returns a promise only if something has to be waited for.
 */
export function handle(
  { route, variables }: Match<ServedRoute>,
  request: Request,
  container: Container,
  aftermath: Aftermath,
): OutgoingResponse | PromiseLike<OutgoingResponse> {
  const { interceptors } = route
  const call =
    interceptors.length > 0
      ? new InterceptedCall(interceptors, request, (error) => aftermath.report(error, request))
      : undefined
  return andThen(route.bind(request, variables), (inputs) => {
    const { record } = aftermath
    return record && route.open === NO_UNITS
      ? requestWithoutSession.run(record, runHandler, route, inputs, request, container, aftermath, call)
      : runHandler(route, inputs, request, container, aftermath, call)
  })
}

function runHandler(
  route: ServedRoute,
  inputs: RequestInputs,
  request: Request,
  container: Container,
  { report, inBackground, newLogger, record, tokens }: Aftermath,
  call: InterceptedCall | undefined,
): OutgoingResponse | PromiseLike<OutgoingResponse> {
  const { abort } = request
  let scope: Scope | undefined
  const dispose = () => scope?.dispose()?.catch((error: unknown) => report(error, request))
  let headers = new ReplyHeaders()
  const disposeLate = (disposing: Promise<void>) => {
    if (!(abort.reason instanceof ClientGone)) report(new LateDisposal(scope?.disposing, abort.reason), request)
    inBackground(disposing)
  }
  const streams = new ReturnedStreams()
  let rest: Promise<void> | undefined
  const { lateBody } = inputs
  const response = bracket(
    opened(route, request, record, tokens, lateBody),
    () => {
      const run = () => {
        headers = new ReplyHeaders()
        scope = container.scope(givenBy(request, headers, () => newLogger(request, route.pattern)))
        return streams.of(
          scope.run(
            route.plan,
            inputs,
            (controller, args) => {
              abort.throwIfAborted() // building its arguments took too long
              return route.around.length > 0
                ? around(route, request, controller, args)
                : invoke(route, controller, args)
            },
            call && ((handler) => call.run(handler)),
          ),
        )
      }
      if (lateBody) return lateBody.during(() => andThen(dispose(), run))
      return andThen(dispose(), run) // the previous attempt may still hold something, such as a lock
    },
    (value) => {
      abort.throwIfAborted()
      streams.assertReadable()
      if (call?.response) return call.response
      return withHeaders(route.respond(value, request), headers)
    },
    {
      abort,
      report: (error) => report(error, request),
      inBackground: (what, end) => {
        if (what === 'callbacks' && !(abort.reason instanceof ClientGone))
          report(new LateCallbacks(abort.reason), request)
        rest = end
      },
    },
    call && ((made) => call.beforeCommit(made)),
  )
  const end = (): Promise<void> | undefined => {
    if (rest) inBackground(rest.then(dispose))
    const disposing = rest ? undefined : dispose()
    return disposing && untilAborted(disposing, abort, disposeLate)
  }
  // Not an async function: its promises would cost every request time.
  const endLater = (running: PromiseLike<OutgoingResponse>) =>
    running.then(
      (sent) => andThen(end(), () => (tokens ? tokens.addTo(sent) : sent)),
      (error: Error) => {
        streams.discard()
        lateBody?.giveUp(error)
        const isGivenUp = route.isKeptUnfinished && error === abort.reason
        return andThen(end(), () => Promise.reject<OutgoingResponse>(isGivenUp ? withUnknownOutcome(error) : error))
      },
    )
  if (isThenable(response)) return endLater(response)
  const disposing = end()
  return disposing ? disposing.then(() => response) : response
}

function opened(
  { open, opensWithRequest }: ServedRoute,
  request: Request,
  record: RequestRecord | undefined,
  tokens: RequestTokens | undefined,
  lateBody: LateBody | undefined,
): OpenUnits {
  if (lateBody) return (attempt) => lateBody.holdBack(open(attempt, record, tokens, request))
  return record || tokens || opensWithRequest ? (attempt) => open(attempt, record, tokens, request) : open
}

class LateCallbacks extends Error {
  override name = 'LateCallbacks'

  constructor(cause: unknown) {
    super(
      'A callback of session.afterCommit() or session.afterEnd() has not ended in time; the response is sent without waiting for it. ' +
        'Callbacks count into timeouts.handler. Give long work to a queue, or set a limit to it.',
      { cause },
    )
  }
}

class LateDisposal extends Error {
  override name = 'LateDisposal'

  constructor(what: string | undefined, cause: unknown) {
    super(
      `The disposer of ${what ?? 'a service of the request'} has not ended in time; the response is sent without waiting for it. ` +
        'Disposers count into timeouts.handler. Set a limit to what it waits for.',
      { cause },
    )
  }
}

/** The stream that a handler returned. It is destroyed unless it is sent: also when the handler runs again, or returns after the abort. */
class ReturnedStreams {
  #last: Content | undefined
  #discarded = false

  of(work: unknown): unknown {
    return andThen(work, (value) => this.#keep(value))
  }

  #keep(value: unknown): unknown {
    discard(this.#last)
    this.#last = value instanceof Reply ? value.content : undefined
    if (this.#discarded) discard(this.#last)
    return value
  }

  /** @throws for a stream that can no longer be read: a transaction whose response cannot be sent is rolled back. */
  assertReadable(): void {
    if (this.#last instanceof Readable) refuseUnreadable(this.#last)
  }

  discard(): void {
    this.#discarded = true
    discard(this.#last)
  }
}

function givenBy(request: Request, headers: ReplyHeaders, newLogger: () => RequestLogger): (token: Token) => unknown {
  return (token) => {
    if (token === Request) return request
    if (token === RequestLogger) return newLogger()
    return token === ReplyHeaders ? headers : request.signal // the tokens that build-app.ts declares
  }
}

function withHeaders({ status, headers, body }: OutgoingResponse, { values }: ReplyHeaders): OutgoingResponse {
  return { status, headers, body, added: values }
}

/** Calls the handler within the functions that wrap it. */
function around(route: ServedRoute, request: Request, controller: unknown, args: unknown[]): unknown {
  const call = () => invoke(route, controller, args)
  return route.around.reduceRight<() => unknown>((next, wrap) => () => wrapped(wrap, next, request), call)()
}

// A call that the wrapping function has not awaited is waited for: nothing of a handler may go on behind its COMMIT, or fail unhandled.
async function wrapped(wrap: Around, next: () => unknown, request: Request): Promise<unknown> {
  const running = new Set<Promise<unknown>>()
  const called = (): Promise<unknown> => {
    const call = (async () => next())()
    running.add(call)
    const settled = () => void running.delete(call)
    call.then(settled, settled)
    return call
  }
  const value = await wrap(called, request)
  await Promise.all(running)
  return value
}

function invoke({ name, member }: ServedRoute, controller: unknown, args: unknown[]): unknown {
  // The planner has checked that this class has the method; an instance may still hide it.
  const method = (controller as Readonly<Record<string, (...args: unknown[]) => unknown>>)[member]
  if (!method) throw new TypeError(`${name} is not a method.`)
  return method.apply(controller, args)
}
