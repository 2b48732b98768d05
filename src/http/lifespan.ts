import type { OpenUnits, Unit } from '../di/bracket.js'
import type { Provision } from '../di/provider.js'
import type { Constructor, Token } from '../di/token.js'
import type { Explain } from './problem.js'

/** What a lifespan may know of a route when it decides how to serve it. */
export interface RouteFacts {
  readonly controller: Constructor
  readonly member: string
  /** GET and HEAD: may be run again. */
  readonly safe: boolean
  /** What the handler, and all that it asks for, ask for. */
  readonly tokens: readonly Token[]
}

/**
 * Something that lives as long as the app and that requests work in: a database. The HTTP side knows only this shape of it;
 * `newLifespan` of the database side makes one.
 */
export interface Lifespan {
  /** What it lets parameters ask for. */
  readonly provisions: readonly Provision[]
  /** Takes over the models given to `createApp`. */
  adopt(models: readonly Constructor[]): void
  /**
   * @param report told of errors that are nobody's to catch, and of what they are.
   * @throws when it cannot be reached, or does not fit the models: the app then does not start.
   */
  start(log: (line: string) => void, report: (what: string, error: unknown) => void): Promise<void>
  stop(): Promise<void>
  /** How each attempt of a route opens its unit of work; undefined when the route wants none. */
  unitsOf(route: RouteFacts): ((attempt: number) => Unit) | undefined
  /** Once all are started: which of the classes that routes show belong to a resource of this kind, and to none of those that run. */
  homeless?(classes: readonly unknown[]): readonly Constructor[]
  /** What a client may be told of an error of this resource. */
  readonly explain: Explain
}

/** The units of one route, over all lifespans of the app. */
export function openUnits(lifespans: readonly Lifespan[], route: RouteFacts): OpenUnits {
  const openers = lifespans.flatMap((lifespan) => lifespan.unitsOf(route) ?? [])
  return (attempt) => openers.map((open) => open(attempt))
}
