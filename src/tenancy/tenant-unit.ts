import type { Model, ModelStatic } from 'sequelize'
import type { UnitBoundary } from '../db/boundary.js'
import { startsOnlyWithKeyword } from '../db/sql/starts-with-keyword.js'
import { NoTenantError, TenancyError } from './errors.js'
import { type GivenTenant, givenTenant, keepGivenTenant, refuseEnded } from './given-tenant.js'
import { refuseLeaving } from './own-sql.js'
import type { TenantTables } from './tenant-tables.js'
import { tenantText } from './tenant.js'

/** The settings that all units of one database share. */
export interface UnitSettings {
  readonly tables: TenantTables
  /** The role of the database that units of tenants have. Only PostgreSQL. */
  readonly role: string | undefined
  /** Whether the policies of the database limit the rows, and not conditions in the statements. */
  readonly hasPolicies: boolean
  /** False while the database is opened, or only examined. */
  isEnforced: boolean
}

/** Whose rows a statement reaches. */
export type Reach = { readonly kind: 'tenant'; readonly text: string } | { readonly kind: 'all' }

/** The context of a unit of work. */
export interface UnitOrigin {
  readonly kind: 'request' | 'job' | 'outside'
  /** Returns the tenant, if there is one. Called until it does. */
  find(): unknown
  /** The choice of the program itself: a tenant, or unscoped. */
  readonly given: GivenTenant | undefined
}

/** How many statements may be generated, but not sent: a program may ask Sequelize only for the SQL. */
const MAX_UNSENT = 1_000

/** The limits of one unit of work. */
export class TenantUnit implements UnitBoundary {
  readonly #settings: UnitSettings
  readonly #origin: UnitOrigin
  #text: string | undefined
  #isUsed = false
  /** The setting that was sent to the connection with BEGIN. */
  #begun: { readonly text: string | undefined } | undefined
  /** How often SQL was generated within the limits, and not sent yet. */
  readonly #generated = new Map<string, number>()

  constructor(settings: UnitSettings, origin: UnitOrigin) {
    this.#settings = settings
    this.#origin = origin
  }

  get isEnforced(): boolean {
    return this.#settings.isEnforced
  }

  get isUnscoped(): boolean {
    return (this.#now ?? this.#origin.given)?.kind === 'unscoped'
  }

  /** The choice that is set for the calling code. That with which the unit was opened lasts as long as the unit. */
  get #now(): GivenTenant | undefined {
    const now = givenTenant()
    if (now !== this.#origin.given || !this.#isUsed) refuseEnded(now)
    this.#isUsed = true
    return now
  }

  keepContext<T>(work: () => T): () => T {
    return this.#now === this.#origin.given ? work : keepGivenTenant(work)
  }

  /** The tenant, as text; undefined for none. */
  get #tenant(): string | undefined {
    if (this.#text !== undefined) return this.#text
    const { given, find } = this.#origin
    if (!this.#isUsed) refuseEnded(given)
    const tenant = given?.kind === 'tenant' ? given.tenant : find()
    if (tenant === undefined || tenant === null) return undefined
    const { kind, longest } = this.#settings.tables
    const text = tenantText(tenant, kind)
    if (text.length > longest) throw new NoTenantError() // shortened, it would be another tenant
    return (this.#text = text)
  }

  /**
   * Whose rows a statement with a table of tenants reaches.
   *
   * @throws NoTenantError for a request without a tenant. TenancyError for a job without one, and if the calling code runs for another tenant than its
   *   session.
   */
  reach(): Reach {
    if (this.isUnscoped) {
      this.#assertSeesAll()
      return { kind: 'all' }
    }
    const text = this.#tenant
    if (this.#origin.kind !== 'outside') this.#refuseOther(text)
    if (text === undefined) throw noTenant(this.#origin.kind)
    if (this.#settings.hasPolicies && this.#begun && this.#begun.text !== text)
      throw new TenancyError(
        'tenancy(): the tenant became known after the first statement of the session, with which it is sent to PostgreSQL. Determine it earlier, or in a separate session.',
      )
    return { kind: 'tenant', text }
  }

  #assertSeesAll(): void {
    const { hasPolicies, role } = this.#settings
    if (!hasPolicies) return
    if (role === undefined)
      throw new TenancyError(
        'unscoped(): the policies of PostgreSQL hide the rows of all tenants. Write tenancy({ role }) with a role for the sessions of tenants, and connect as a role that has BYPASSRLS; or use a second database with such a role.',
      )
    if (this.#origin.kind !== 'outside' && this.#origin.given?.kind !== 'unscoped')
      throw new TenancyError(
        'unscoped(): the policies of PostgreSQL limit this session. Open another one inside: unscoped(() => withSession(work)).',
      )
  }

  // withTenant() inside a session would otherwise have no effect on it.
  #refuseOther(text: string | undefined): void {
    const now = this.#now
    const isOther = now?.kind === 'tenant' && tenantText(now.tenant, this.#settings.tables.kind) !== text
    if (isOther || this.#origin.given?.kind === 'unscoped')
      throw new TenancyError(
        'withTenant(): the statement belongs to a session that was not opened for this tenant. Open one inside: withTenant(tenant, () => withSession(work)).',
      )
  }

  owner(): string | undefined {
    return this.#origin.given?.kind === 'unscoped' ? undefined : this.#tenant
  }

  settings(): string | undefined {
    const { hasPolicies, role } = this.#settings
    if (!hasPolicies) return undefined
    if (!this.#isUsed) refuseEnded(this.#origin.given)
    const isUnscoped = this.#origin.given?.kind === 'unscoped'
    const text = isUnscoped ? undefined : this.#tenant
    this.#begun = { text }
    const setRole = role === undefined ? '' : `; SET LOCAL ROLE ${isUnscoped ? 'NONE' : quoted(role)}`
    return `; SET LOCAL sequitur.tenant = '${text ?? ''}'${setRole}` // a tenant has no quotes: see tenant.ts
  }

  /** Marks SQL as generated within the limits: it may be sent once. */
  addGenerated(sql: string): void {
    if (this.#generated.size >= MAX_UNSENT) this.#generated.clear()
    this.#generated.set(sql, (this.#generated.get(sql) ?? 0) + 1)
  }

  #takeGenerated(sql: string): boolean {
    const count = this.#generated.get(sql)
    if (count === undefined) return false
    if (count === 1) this.#generated.delete(sql)
    else this.#generated.set(sql, count - 1)
    return true
  }

  assertStatement(sql: string): void {
    if (!this.isEnforced || this.#takeGenerated(sql) || this.isUnscoped) return
    if (isAboutTransaction(sql) && isOneStatement(sql)) return
    if (!this.#refusesRawSql) return refuseLeaving(sql)
    throw new TenancyError(
      'Raw SQL is not limited to a tenant, and was refused. Use models; or name the tenant in the SQL, and write unscoped(() => session.execute(sql`...`)), imported from sequitur/tenancy.',
    )
  }

  // With policies the database limits it, unless the role of the session is not set.
  get #refusesRawSql(): boolean {
    const { hasPolicies, role } = this.#settings
    return !hasPolicies || (role !== undefined && this.#origin.kind === 'outside')
  }

  allowsCompiled(model: ModelStatic<Model>, kind: 'read' | 'write'): boolean {
    if (!this.#settings.tables.of(model.getTableName()) || this.reach().kind === 'all') return true
    return this.#settings.hasPolicies && kind === 'read'
  }

  ownerIn(table: string): string | undefined {
    return this.isUnscoped || !this.#settings.tables.of(table) ? undefined : this.#tenant
  }

  rowOwner(model: ModelStatic<Model>): string | undefined {
    const { kind, given } = this.#origin
    if (!this.isEnforced || kind !== 'request' || given || this.isUnscoped) return undefined
    return this.#settings.tables.of(model.getTableName()) && this.#tenant
  }
}

function noTenant(kind: UnitOrigin['kind']): Error {
  switch (kind) {
    case 'request':
      return new NoTenantError()
    case 'job':
      return new TenancyError(
        'This session belongs to no tenant. Write withTenant(tenant, () => withSession(work)), or unscoped() for the rows of all.',
      )
    case 'outside':
      return new TenancyError(
        'A statement outside of a session belongs to no tenant. Use the session of the request, or withTenant(tenant, () => withSession(work)).',
      )
  }
}

/** Statements that Sequelize sends for transactions of the program. */
const isAboutTransaction = startsOnlyWithKeyword(
  'SAVEPOINT',
  'RELEASE',
  'ROLLBACK',
  'START\\s+TRANSACTION',
  'BEGIN',
  'COMMIT',
  'SET\\s+(?:SESSION\\s+)?TRANSACTION',
)

function isOneStatement(sql: string): boolean {
  const semicolon = sql.indexOf(';')
  return semicolon < 0 || semicolon === sql.trimEnd().length - 1
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
