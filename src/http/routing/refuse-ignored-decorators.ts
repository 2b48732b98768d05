import { BootError } from '../../core/boot-error.js'
import type { Step } from '../../di/plan.js'
import { type HandlerDecorator, handlerDecoratorsOf } from '../../di/route-facts.js'
import type { Constructor } from '../../di/token.js'
import type { Route } from './route.js'
import { authenticates } from './security.js'

/**
 * Refuses decorators that would be ignored: on a method of a controller that is not a route, of a class of jobs that is not a job, on an injected class, in an app without a database,
 * `@Security` on a class that no request creates.
 *
 * @param jobs the methods of classes that run jobs.
 * @param shared how the values that live as long as the app are built.
 * @throws BootError
 */
export function refuseIgnoredDecorators(
  routes: readonly Route[],
  jobs: ReadonlyMap<Constructor, readonly string[]> | undefined,
  shared: readonly Step[],
  hasDatabase: boolean,
): void {
  const controllers = membersByController(routes)
  for (const [type, members] of jobs ?? []) controllers.set(type, new Set(members))
  for (const [controller, members] of controllers) refuseOnController(controller, members, hasDatabase)
  for (const { provider } of [...routes.flatMap(({ plan }) => plan.steps), ...shared])
    if (provider.kind === 'class' && !controllers.has(provider.type)) refuseOnService(provider.type)
  // A token that authenticates may have a provider without a request, as in tests.
  for (const { token, provider } of shared)
    if (provider.kind === 'class' && provider.type === token && authenticates(token))
      throw uselessSecurity(provider.type, controllers.has(provider.type))
}

function uselessSecurity({ name }: Constructor, isController: boolean): BootError {
  return new BootError(
    `${name} has @Security, but is created once for the app, so that it checks no request, and OpenAPI would not document it. ` +
      (isController
        ? `Put it on a class whose constructor reads the request, such as class User, and inject that: constructor(user: User) in ${name}, or as a parameter of the handlers.`
        : `Read the request in its constructor, constructor(@Header({ optional: true }) authorization?: string) { ... }, and remove its lifetime.`),
  )
}

function membersByController(routes: readonly Route[]): Map<Constructor, ReadonlySet<string>> {
  const members = new Map<Constructor, Set<string>>()
  for (const { controller, member } of routes) {
    const known = members.get(controller) ?? new Set()
    members.set(controller, known.add(member))
  }
  return members
}

function refuseOnController(controller: Constructor, members: ReadonlySet<string>, hasDatabase: boolean): void {
  for (const decorator of handlerDecoratorsOf(controller)) {
    const place = placeOf(controller, decorator)
    if (decorator.member !== undefined && !members.has(decorator.member))
      throw new BootError(
        `${place}, but is not a route, so it would be ignored. Put it on the route that calls this method, or @Get() or the like on this one.`,
      )
    if (decorator.needsDatabase && !hasDatabase)
      throw new BootError(
        `${place}, but the app has no database. Write createApp({ lifespan }), or remove the decorator.`,
      )
  }
}

function refuseOnService(type: Constructor): void {
  for (const decorator of handlerDecoratorsOf(type))
    throw new BootError(
      `${placeOf(type, decorator)}, but is not a handler of a controller, so it would be ignored: injected classes work in the transaction of the handler. ` +
        `Put it on the handler. For work whose failure must not undo the rest, call session.nested(...).`,
    )
}

function placeOf({ name }: Constructor, decorator: HandlerDecorator): string {
  return `${decorator.member === undefined ? name : `${name}.${decorator.member}`} has ${decorator.name}`
}
