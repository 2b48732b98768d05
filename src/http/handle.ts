import { Readable } from 'node:stream'
import { bracket } from '../core/bracket.js'
import type { Container, Scope } from '../di/container.js'
import type { Token } from '../di/token.js'
import { discard, type OutgoingResponse } from './output/outgoing-response.js'
import { Reply, ReplyHeaders } from './output/reply.js'
import { Request } from './request.js'
import type { ServedRoute } from './routing/route.js'
import type { Match } from './routing/router.js'

/** Logs an error that happens too late to change the response. */
export type LateErrorReport = (error: unknown, request: Request) => void

/**
 * The life of a request, from its route to its reply: bind the inputs, open the units of work, build the arguments, call the handler, write
 * the result as JSON, commit. Throws whatever fails; problem.ts turns that into the response.
 */
export async function handle(
  { route, variables }: Match<ServedRoute>,
  request: Request,
  container: Container,
  report: LateErrorReport,
): Promise<OutgoingResponse> {
  const values = await route.bind(request, variables)
  let scope: Scope | undefined
  const dispose = () => scope?.dispose().catch((error: unknown) => report(error, request))
  let headers = new ReplyHeaders()
  const streams = new ReturnedStreams()
  try {
    return await bracket(
      route.open,
      async () => {
        await dispose() // the previous attempt may still hold something, such as a lock
        headers = new ReplyHeaders()
        const current = (scope = container.scope(given(request, headers)))
        return streams.of(
          current.run(route.plan, values(), (controller, args) => {
            request.signal.throwIfAborted() // building its arguments took too long
            return invoke(route, controller, args)
          }),
        )
      },
      (value) => {
        request.signal.throwIfAborted()
        streams.assertReadable()
        return withHeaders(route.respond(value), headers)
      },
      { guard: (work) => untilAborted(request.signal, work), report: (error) => report(error, request) },
    )
  } catch (error) {
    streams.discard()
    throw error
  } finally {
    await dispose()
  }
}

/** The stream that a handler returned. It is destroyed unless it is sent: also when the handler runs again, or returns after the abort. */
class ReturnedStreams {
  #last: OutgoingResponse['body']
  #discarded = false

  async of(work: Promise<unknown>): Promise<unknown> {
    const value = await work
    discard(this.#last)
    this.#last = value instanceof Reply ? value.content : undefined
    if (this.#discarded) discard(this.#last)
    return value
  }

  /** @throws the error of a stream that has already failed: a transaction whose response cannot be sent is rolled back. */
  assertReadable(): void {
    if (this.#last instanceof Readable && this.#last.errored) throw this.#last.errored
  }

  discard(): void {
    this.#discarded = true
    discard(this.#last)
  }
}

function given(request: Request, headers: ReplyHeaders): ReadonlyMap<Token, unknown> {
  return new Map<Token, unknown>([
    [Request, request],
    [ReplyHeaders, headers],
    [AbortSignal, request.signal],
  ])
}

function withHeaders(response: OutgoingResponse, { values }: ReplyHeaders): OutgoingResponse {
  return { ...response, headers: { ...response.headers, ...values } }
}

async function invoke({ name, member }: ServedRoute, controller: unknown, args: unknown[]): Promise<unknown> {
  // The planner has checked that this class has the method; an instance may still hide it.
  const method = (controller as Readonly<Record<string, (...args: unknown[]) => unknown>>)[member]
  if (!method) throw new TypeError(`${name} is not a method.`)
  return method.apply(controller, args)
}

// A handler that never returns must not hold its transaction for ever. After the abort its result is ignored, and its scope refuses to run more.
async function untilAborted<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const work = start()
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}
