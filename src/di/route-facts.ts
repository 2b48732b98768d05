import type { Constructor, Token } from './token.js'

/** What the database side may know of a route when it decides how to serve it. */
export interface RouteFacts {
  readonly controller: Constructor
  readonly member: string
  /** GET and HEAD: may be run again. */
  readonly safe: boolean
  /** What the handler, and all that it injects, inject. */
  readonly tokens: readonly Token[]
}
