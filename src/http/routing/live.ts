import { BootError } from '../../core/boot-error.js'
import type { InterceptableRoute, Interceptor } from './interceptor.js'

/** Makes the interceptor of a route with `live: true`. @throws BootError for a route that cannot be live. */
export type PlanLive = (route: InterceptableRoute) => Interceptor

let planLive: PlanLive | undefined

/** Called by the door that serves these routes, when it is imported. */
export function serveLiveRoutes(plan: PlanLive): void {
  planLive = plan
}

/** The interceptors of the option `live`. @throws BootError without the door, and for a route that cannot be live. */
export function liveInterceptors(live: boolean | undefined, route: InterceptableRoute): readonly Interceptor[] {
  if (!live) return []
  if (planLive) return [planLive(route)]
  throw new BootError(
    `${route.name} has live: true, and the app does not import what serves it. Write import 'sequitur/feeds' in the file of its controller.`,
  )
}
