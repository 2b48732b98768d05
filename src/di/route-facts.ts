import type { Constructor, Token } from './token.js'

/** What a database may know of a route when it decides which unit of work, if any, its requests need. */
export interface RouteFacts {
  readonly controller: Constructor
  readonly member: string
  /** GET and HEAD, which may run again. */
  readonly safe: boolean
  /** All tokens that the handler injects, directly or through others. */
  readonly tokens: readonly Token[]
}
