import type { OutgoingResponse } from '../../output/outgoing-response.js'
import type { Request } from '../../request.js'
import type { Interception, Interceptor, ReportLate } from './interceptor.js'

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

  async beforeCommit(response: OutgoingResponse): Promise<void> {
    for (const call of this.#beforeCommit) await call(response)
  }
}
