import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { callback, checkOptions, fitting, type OptionChecks, text } from '../core/option-checks.js'
import type { Boundary, BoundaryStatement, UnitBoundary } from '../db/boundary.js'
import type { RouteFacts } from '../di/route-facts.js'
import type { Request } from '../http/request.js'
import { forgetGivenTenant, givenTenant, isUnscoped, refuseEnded, unscoped, withTenant } from './given-tenant.js'
import { limitReads } from './limit-reads.js'
import { limitWrites } from './limit-writes.js'
import { checkRowSecurity, missingRowSecurity } from './row-security.js'
import { StatementLimits } from './statement-limits.js'
import { TenantTables } from './tenant-tables.js'
import { warningsOf } from './shared-keys.js'
import { type UnitOrigin, type UnitSettings, TenantUnit } from './tenant-unit.js'
import type { Tenant } from './tenant.js'

/** The options of `tenancy(options)`. */
export interface TenancyOptions {
  /**
   * Returns the tenant of a request; undefined for one that belongs to none, to which the rows of tenants are a 403. Called with the first statement
   * that needs the tenant, so that what authenticates the request has been built. It must not trust what a client can write itself.
   */
  readonly of: (request: Request) => Tenant | undefined
  /** The column of the tenant: every mapped table that has it belongs to tenants. */
  readonly column: string
  /** PostgreSQL: the role that sessions of tenants have, by SET LOCAL ROLE. Default: that of the connection. */
  readonly role?: string
}

const OPTIONS: OptionChecks<TenancyOptions> = {
  of: callback('(request) => accountOf(request)?.tenant'),
  column: fitting((column) => typeof column === 'string' && column !== '', `the name of the column: 'tenant_id'`),
  role: text(`the name of a role, such as 'tenants'`),
}

/** The result of {@link tenancy}, for `newLifespan(url, { boundary })`. */
export type Tenancy = Boundary

/**
 * Limits the sessions of a database to the rows of one tenant: on PostgreSQL by row-level security, on other databases by a condition in each
 * statement of a model.
 *
 * @throws BootError for options that are wrong.
 * @example
 * const lifespan = newLifespan(url, { boundary: tenancy({ of: (request) => accountOf(request)?.tenant, column: 'tenant_id' }) })
 */
export function tenancy(options: TenancyOptions): Tenancy {
  checkOptions('tenancy()', options, OPTIONS, ['of', 'column'])
  return new TenantBoundary(options)
}

const DIALECTS: ReadonlySet<string> = new Set(['sqlite', 'postgres', 'mysql', 'mariadb'])

class TenantBoundary implements Boundary {
  readonly columns: readonly string[]
  readonly #options: TenancyOptions
  readonly #databases = new WeakMap<Sequelize, UnitSettings>()
  /** Units of statements outside of sessions. */
  readonly #outside = new WeakMap<Sequelize, TenantUnit>()
  readonly #unscopedRoutes: string[] = []

  constructor(options: TenancyOptions) {
    this.columns = [options.column]
    this.#options = options
  }

  prepare(sequelize: Sequelize, models: readonly ModelStatic<Model>[]): void {
    const { column, role } = this.#options
    const dialect = sequelize.getDialect()
    if (!DIALECTS.has(dialect))
      throw new BootError(`tenancy(): ${dialect} is not supported. Use SQLite, PostgreSQL, MySQL or MariaDB.`)
    const hasPolicies = dialect === 'postgres'
    if (role !== undefined && !hasPolicies) throw new BootError('tenancy(): role is for PostgreSQL only. Remove it.')
    const tables = new TenantTables(sequelize, models, column)
    const settings: UnitSettings = { tables, role, hasPolicies, isEnforced: false }
    this.#databases.set(sequelize, settings)
    this.#outside.set(sequelize, new TenantUnit(settings, { kind: 'outside', find: noTenant, given: undefined }))
    const limits = new StatementLimits(sequelize, tables, hasPolicies)
    limitReads(limits)
    limitWrites(limits)
  }

  async check(sequelize: Sequelize, warn?: (line: string) => void): Promise<void> {
    const { tables, role, hasPolicies } = this.#settingsOf(sequelize)
    await tables.readFacts({ hasPolicies })
    if (warn) for (const line of warningsOf(tables)) warn(line)
    if (!hasPolicies) return
    const [route] = this.#unscopedRoutes
    if (route !== undefined && role === undefined)
      throw new BootError(
        `${route} has @Unscoped(), but the policies of PostgreSQL limit every session. Write tenancy({ role }) with a role for the sessions of tenants, and connect as a role that has BYPASSRLS.`,
      )
    await checkRowSecurity(sequelize, tables, role)
  }

  async checkAgain(sequelize: Sequelize): Promise<void> {
    const { tables, role, hasPolicies } = this.#settingsOf(sequelize)
    if (hasPolicies) await unscoped(() => checkRowSecurity(sequelize, tables, role))
  }

  async missingStatements(sequelize: Sequelize): Promise<readonly BoundaryStatement[]> {
    const { tables, hasPolicies } = this.#settingsOf(sequelize)
    return hasPolicies ? missingRowSecurity(sequelize, tables) : []
  }

  enforce(sequelize: Sequelize): void {
    this.#settingsOf(sequelize).isEnforced = true
  }

  ofRoute(
    sequelize: () => Sequelize,
    { controller, member, name }: RouteFacts,
  ): (request: object | undefined) => UnitBoundary {
    const { of } = this.#options
    const unscopedRoute = isUnscoped(controller, member)
    if (unscopedRoute) this.#unscopedRoutes.push(name)
    const given = unscopedRoute ? ({ kind: 'unscoped' } as const) : undefined
    return (request) => {
      if (!request)
        return given ? this.#unit(sequelize(), { kind: 'job', find: noTenant, given }) : this.ofJob(sequelize())
      forgetGivenTenant()
      return this.#unit(sequelize(), { kind: 'request', find: () => of(request as Request), given }) // of the app
    }
  }

  enterRequest(): void {
    forgetGivenTenant()
  }

  ofJob(sequelize: Sequelize): UnitBoundary {
    const given = givenTenant()
    refuseEnded(given)
    return this.#unit(sequelize, { kind: 'job', find: noTenant, given })
  }

  runAs<T>(owner: string, work: () => T): T {
    return withTenant(owner, work)
  }

  outside(sequelize: Sequelize): UnitBoundary {
    return this.#outside.get(sequelize) ?? this.#unit(sequelize, { kind: 'outside', find: noTenant, given: undefined })
  }

  #unit(sequelize: Sequelize, origin: UnitOrigin): TenantUnit {
    return new TenantUnit(this.#settingsOf(sequelize), origin)
  }

  #settingsOf(sequelize: Sequelize): UnitSettings {
    const settings = this.#databases.get(sequelize)
    if (!settings) throw new Error('tenancy(): the database is not open.')
    return settings
  }
}

function noTenant(): undefined {
  return undefined
}
