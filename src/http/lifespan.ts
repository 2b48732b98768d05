import type { OpenUnits, Unit } from '../core/bracket.js'
import type { FindErrorStatus } from '../core/error-status.js'
import type { Provision } from '../di/provider.js'
import type { RouteFacts } from '../di/route-facts.js'
import type { Constructor } from '../di/token.js'

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
  modelsWithoutDatabase?(classes: readonly unknown[]): readonly Constructor[]
  /** The status of an error of this resource. */
  readonly findErrorStatus: FindErrorStatus
}

/** The units of one route, over all lifespans of the app. */
export function openUnits(lifespans: readonly Lifespan[], route: RouteFacts): OpenUnits {
  const openers = lifespans.flatMap((lifespan) => lifespan.unitsOf(route) ?? [])
  return (attempt) => openers.map((open) => open(attempt))
}
