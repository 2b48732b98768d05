import { MetadataKey } from '../../di/metadata.js'
import type { Plan } from '../../di/plan.js'
import type { TransactionDescription } from '../../di/route-facts.js'
import type { Constructor } from '../../di/token.js'
import type { Input } from '../input/parameters.js'
import type { OutgoingResponse } from '../output/outgoing-response.js'
import type { Request } from '../request.js'
import type { Refusals } from './refusals.js'

/** The decision of an interceptor about a request. */
export type Interception =
  /** This response is sent. The handler does not run, and none of its injected values are built. */
  | { readonly kind: 'response'; readonly response: OutgoingResponse }
  | {
      readonly kind: 'handler'
      /**
       * Called with the response of the handler, when all that it has written was sent, and before COMMIT: what this writes is committed, or rolled
       * back, with the handler's work. What it throws rolls all back.
       */
      readonly beforeCommit?: (response: OutgoingResponse) => void | Promise<void>
    }

/** An error that is too late for the response: it is logged. */
export type ReportLate = (error: unknown) => void

/**
 * Stands between a route and its handler, inside the transaction of each attempt: after authentication, `requires` and the validation of all inputs,
 * before anything else is built for the handler. What it throws refuses the request.
 */
export interface Interceptor {
  /** Called in each attempt. */
  intercept(request: Request, reportLate: ReportLate): Interception | Promise<Interception>
  /** Makes the response that is sent of that of the handler. Called in each attempt, before COMMIT: what it throws rolls all back. */
  respond?(response: OutgoingResponse, request: Request): OutgoingResponse
  /** Whether it needs `request.bodyBytes`. */
  readonly readsBody?: boolean
  /** Models that it uses: the app does not start if they belong to no database. */
  readonly models?: readonly Constructor[]
  readonly documents?: InterceptorDocuments
}

/** The part of a route's documentation in OpenAPI that an interceptor adds. */
export interface InterceptorDocuments {
  /** Request headers. */
  readonly headers?: readonly DocumentedHeader[]
  /** Error responses, by their status. */
  readonly refusals?: Refusals
  /** Headers of the successful responses: their descriptions by their names. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** Other media types of its usual response, with their descriptions. */
  readonly media?: Readonly<Record<string, string>>
}

export interface DocumentedHeader {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly maxLength?: number
  /** Whether each client makes its own value: `x-generated` tells generators of clients. */
  readonly generated?: boolean
}

/** The facts that an interceptor may know of a route at startup. */
export interface InterceptableRoute {
  /** `HeroController.list` */
  readonly name: string
  readonly method: string
  /** As it is declared: `/heros/:hero_id`. */
  readonly pattern: string
  readonly controller: Constructor
  readonly member: string
  readonly plan: Plan<Input>
  readonly sendsEvents: boolean
  /** Whether its usual response is JSON. */
  readonly sendsJson: boolean
  /** That of its usual response. */
  readonly status: number
  /** One for each database in which its requests have a transaction. */
  readonly transactions: readonly TransactionDescription[]
  /** Whether the app has a database. */
  readonly hasDatabase: boolean
}

/** Makes the interceptor of a route; undefined if the route needs none. @throws BootError for a route that it cannot serve. */
export type PlanInterceptor = (route: InterceptableRoute) => Interceptor | undefined

const planned = new MetadataKey<ReadonlySet<PlanInterceptor>>()

/**
 * Adds an interceptor to the routes of a controller, or to one of them; called by decorators. A function that is added twice is called once for each route.
 *
 * @param target the class, or the prototype of a method.
 */
export function addInterceptor(target: object, plan: PlanInterceptor, member?: string | symbol): void {
  planned.write(target, new Set([...(planned.own(target, member) ?? []), plan]), member)
}

/** The interceptors of a route: those of its controller come first. */
export function interceptorsOf(route: InterceptableRoute): readonly Interceptor[] {
  const { controller, member } = route
  const plans = new Set([
    ...(planned.inherited(controller) ?? []),
    ...(planned.inherited(controller.prototype as object, member) ?? []),
  ])
  return [...plans].flatMap((plan) => plan(route) ?? [])
}

type BeforeCommit = Extract<Interception, { kind: 'handler' }>['beforeCommit'] & {}

/** One request of a route with interceptors. */
export class InterceptedCall {
  readonly #interceptors: readonly Interceptor[]
  readonly #request: Request
  readonly #reportLate: ReportLate
  /** The callbacks of the current attempt, the innermost first. */
  #beforeCommit: BeforeCommit[] = []
  #response: OutgoingResponse | undefined

  constructor(interceptors: readonly Interceptor[], request: Request, reportLate: ReportLate) {
    this.#interceptors = interceptors
    this.#request = request
    this.#reportLate = reportLate
  }

  /** Begins an attempt: calls the interceptors, then `handler`, unless one of them has the response. */
  async run(handler: () => unknown): Promise<unknown> {
    this.#beforeCommit = []
    this.#response = undefined
    for (const interceptor of this.#interceptors) {
      const interception = await interceptor.intercept(this.#request, this.#reportLate)
      if (interception.kind === 'response') {
        this.#response = interception.response
        return undefined
      }
      if (interception.beforeCommit) this.#beforeCommit.unshift(interception.beforeCommit)
    }
    return handler()
  }

  /** The response of an interceptor; undefined if the handler makes it. */
  get response(): OutgoingResponse | undefined {
    return this.#response
  }

  /** The response of the handler as it is sent, the outermost interceptor last. */
  respond(response: OutgoingResponse): OutgoingResponse {
    return this.#interceptors.reduceRight((inner, one) => one.respond?.(inner, this.#request) ?? inner, response)
  }

  async beforeCommit(response: OutgoingResponse): Promise<void> {
    for (const call of this.#beforeCommit) await call(response)
  }
}
