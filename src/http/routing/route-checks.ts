import { MetadataKey } from '../../di/metadata.js'
import type { Plan } from '../../di/plan.js'
import { NamedToken } from '../../di/token.js'
import type { Shape } from '../../schema/shape/shape.js'

/** A route whose handler has a parameter that receives the value of a token. */
export interface CheckedRoute {
  /** `HeroController.list` */
  readonly name: string
  readonly handler: (...args: never[]) => unknown
  readonly response: Shape | undefined
}

/** @param parameter the position of the parameter that takes the value. @throws BootError */
type RouteCheck = (route: CheckedRoute, parameter: number) => void

const routeChecks = new MetadataKey<RouteCheck>()

/** Checks at startup each route whose handler takes the value of this token. Subclasses inherit the check. */
export function checkRoutes(type: object, check: RouteCheck): void {
  routeChecks.write(type, check)
}

/** @throws the BootError of a check. */
export function runRouteChecks({ arguments: taken, steps }: Plan<unknown>, route: CheckedRoute): void {
  for (const [parameter, { kind, index }] of taken.entries()) {
    const token = kind === 'request' ? steps[index]?.token : undefined
    if (token !== undefined && !(token instanceof NamedToken)) routeChecks.inherited(token)?.(route, parameter)
  }
}
