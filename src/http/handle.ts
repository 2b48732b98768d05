import { Readable } from 'node:stream'
import { bracket } from '../core/bracket.js'
import type { Container, Scope } from '../di/container.js'
import type { Token } from '../di/token.js'
import { Reply } from './output/reply.js'
import { ServiceUnavailable } from './errors.js'
import type { Input } from './input/parameters.js'
import { ReplyHeaders } from './output/response-headers.js'
import { discard, type OutgoingResponse } from './output/outgoing-response.js'
import { Request } from './request.js'
import type { ServedRoute } from './routing/route.js'
import type { Router } from './routing/router.js'

/** What serving a request needs of the app. */
export interface Serving {
  readonly router: Router<ServedRoute>
  readonly container: Container
  /** Reports what went wrong after the reply was decided. */
  readonly report: (error: unknown, request: Request) => void
}

const inputs = new WeakMap<Request, readonly Input[]>()

/** What the route of a request takes; nothing before there is one. */
export function inputsOf(request: Request): readonly Input[] {
  return inputs.get(request) ?? []
}

/** The life of a request. Whatever it throws becomes the answer: see problem.ts. */
export async function handle({ router, container, report }: Serving, request: Request): Promise<OutgoingResponse> {
  if (request.method === 'OPTIONS') return options(router, request)
  const { route, variables } = router.match(request.method, request.path)
  inputs.set(request, route.plan.inputs)
  const values = await route.bind(request, variables)
  let scope: Scope | undefined
  const dispose = () => scope?.dispose().catch((error: unknown) => report(error, request))
  let headers = new ReplyHeaders()
  const contents = new Contents()
  try {
    return await bracket(
      route.open,
      async () => {
        await dispose() // what the attempt before this one still holds, such as a lock
        headers = new ReplyHeaders()
        const current = (scope = container.scope(given(request, headers)))
        return contents.of(
          current.run(route.plan, values(), (controller, args) => {
            request.signal.throwIfAborted() // building its arguments took too long
            return invoke(route, controller, args)
          }),
        )
      },
      (value) => {
        request.signal.throwIfAborted()
        contents.assertReadable()
        return withHeaders(route.respond(value), headers)
      },
      { guard: (work) => untilAborted(request.signal, work), report: (error) => report(error, request) },
    )
  } catch (error) {
    contents.discard()
    throw error
  } finally {
    await dispose()
  }
}

/** The stream that a handler returned, destroyed unless it is sent: also when the work is run again, or nobody waits for it any more. */
class Contents {
  #last: OutgoingResponse['body']
  #discarded = false

  async of(work: Promise<unknown>): Promise<unknown> {
    const value = await work
    discard(this.#last)
    this.#last = value instanceof Reply ? value.content : undefined
    if (this.#discarded) discard(this.#last)
    return value
  }

  /** @throws the error of a stream that has failed already: what leads to half an answer is not kept. */
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

function withHeaders(reply: OutgoingResponse, { values }: ReplyHeaders): OutgoingResponse {
  return { ...reply, headers: { ...reply.headers, ...values } }
}

async function invoke(route: ServedRoute, controller: unknown, args: unknown[]): Promise<unknown> {
  const method = (controller as Record<string, (...args: unknown[]) => unknown>)[route.member] as (
    ...args: unknown[]
  ) => unknown
  return method.apply(controller, args)
}

// A handler that never returns must not hold its transaction for ever: the abort decides, and what the handler still does is refused.
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

function options(router: Router<ServedRoute>, request: Request): OutgoingResponse {
  return { status: 204, headers: { allow: router.allowed(request.path).join(', ') } }
}

/** Why a request's signal was aborted when the handler took longer than the app allows. */
export class HandlerTimeout extends ServiceUnavailable {
  override name = 'HandlerTimeout'
  constructor(milliseconds: number) {
    super('The answer took too long.', {
      headers: { 'retry-after': '1' },
      cause: new Error(`no result after ${milliseconds} ms`),
    })
  }
}

/** Why a request's signal was aborted when the client went away. Nobody reads the answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
