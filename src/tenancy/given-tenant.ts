import { AsyncLocalStorage } from 'node:async_hooks'
import { ignoreRejections } from '../core/promises.js'
import { MetadataKey } from '../di/metadata.js'
import { refuseMissingCall } from '../core/options.js'
import { addHandlerDecorator } from '../di/route-facts.js'
import type { Constructor } from '../di/token.js'
import { TenancyError } from './errors.js'
import type { Tenant } from './tenant.js'

/** The tenant that the program has named itself; `unscoped` for all rows. One object for each call. */
export type GivenTenant = { readonly kind: 'tenant'; readonly tenant: Tenant } | { readonly kind: 'unscoped' }

const given = new AsyncLocalStorage<GivenTenant>()

/** The choices whose work has ended. */
const ended = new WeakSet<GivenTenant>()

/** The choice that {@link withTenant} or {@link unscoped} has set for the calling code. */
export function givenTenant(): GivenTenant | undefined {
  return given.getStore()
}

/**
 * @throws TenancyError if the work of withTenant() or unscoped() has ended: who runs in its asynchronous context is likely to be the next job of a queue,
 *   of another tenant.
 */
export function refuseEnded(tenant: GivenTenant | undefined): void {
  if (tenant && ended.has(tenant)) throw new TenancyError(ENDED)
}

const ENDED =
  'The work of withTenant() or unscoped() has ended, but a statement runs in it: a queue starts each job in the asynchronous context of the one before. ' +
  'Name the tenant inside the job: queue.add(() => withTenant(tenant, () => withSession(work))). If the work continues, await it.'

function runAs<T>(tenant: GivenTenant, work: () => T): T {
  const result = given.run(tenant, work)
  return result instanceof Promise ? (result.finally(() => ended.add(tenant)) as T) : result
}

/** The work, which runs later for the tenant that is set now. */
export function keepGivenTenant<T>(work: () => T): () => T {
  const now = givenTenant()
  return now ? () => runAs({ ...now }, work) : work
}

/**
 * Forgets it for the rest of a request: a server that was started inside {@link unscoped} must not serve its requests there.
 */
export function forgetGivenTenant(): void {
  if (given.getStore() !== undefined) given.enterWith(undefined as never) // as outside of run()
}

/**
 * Runs the work for one tenant: sessions that it opens reach only the rows of this tenant.
 *
 * @example
 * await withTenant(7, () => withSession(lifespan, (session) => session.all(select(Invoice))))
 */
export function withTenant<T>(tenant: Tenant, work: () => T): T {
  ignoreRejections(tenant) // of an asynchronous function, which the first session refuses
  return runAs({ kind: 'tenant', tenant }, work)
}

/**
 * Runs the work without the limits of a tenant: for migrations, statistics and raw SQL that names the tenant itself. On PostgreSQL, a session that
 * has begun for a tenant keeps the limits of the database.
 *
 * @example
 * await unscoped(() => session.execute(sql`SELECT count(*) FROM invoice WHERE tenant_id = ${user.tenant}`))
 */
export function unscoped<T>(work: () => T): T {
  return runAs({ kind: 'unscoped' }, work)
}

const unscopedRoutes = new MetadataKey<true>()

/**
 * A handler, or every handler of a controller, that reaches the rows of all tenants: for administrators. Its `requires` should check who asks.
 *
 * @example
 * @Unscoped()
 * @Controller('/admin', { requires: [Administrator] })
 * class Statistics { ... }
 */
export function Unscoped(): MethodDecorator & ClassDecorator {
  refuseMissingCall('@Unscoped()', arguments)
  return (target: object, member?: string | symbol) => {
    unscopedRoutes.write(target, true, member)
    const handler = member === undefined ? undefined : String(member)
    addHandlerDecorator(target, { name: '@Unscoped()', member: handler, needsDatabase: true })
  }
}

export function isUnscoped(controller: Constructor, member: string): boolean {
  return (unscopedRoutes.inherited(controller.prototype, member) ?? unscopedRoutes.inherited(controller)) === true
}
