import { AsyncLocalStorage } from 'node:async_hooks'
import { MetadataKey } from '../di/metadata.js'
import { refuseMissingCall } from '../core/options.js'
import { addHandlerDecorator } from '../di/route-facts.js'
import type { Constructor } from '../di/token.js'
import type { Tenant } from './tenant.js'

/** The tenant that the program has named itself; `unscoped` for all rows. */
export type GivenTenant = { readonly kind: 'tenant'; readonly tenant: Tenant } | { readonly kind: 'unscoped' }

const given = new AsyncLocalStorage<GivenTenant>()

/** What {@link withTenant} or {@link unscoped} has set for the calling code. */
export function givenTenant(): GivenTenant | undefined {
  return given.getStore()
}

/**
 * Forgets it for the rest of a request: a server that was started inside {@link unscoped} must not serve its requests there.
 */
export function forgetGivenTenant(): void {
  if (given.getStore() !== undefined) given.enterWith(undefined as never) // as outside of run()
}

/**
 * Runs the work for one tenant: sessions that it opens reach the rows of this tenant alone.
 *
 * @example
 * await withTenant(7, () => withSession(lifespan, (session) => session.all(select(Invoice))))
 */
export function withTenant<T>(tenant: Tenant, work: () => T): T {
  return given.run({ kind: 'tenant', tenant }, work)
}

/**
 * Runs the work without the limits of a tenant: for migrations, statistics and raw SQL that names the tenant itself. On PostgreSQL, a session that
 * has begun for a tenant keeps the limits of the database.
 *
 * @example
 * await unscoped(() => session.execute(sql`SELECT count(*) FROM invoice WHERE tenant_id = ${user.tenant}`))
 */
export function unscoped<T>(work: () => T): T {
  return given.run({ kind: 'unscoped' }, work)
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
