import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { BelongsTo, BelongsToMany, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import type { NonAttribute } from 'sequelize'
import {
  type AppOptions,
  Base,
  type Database,
  type LifespanOptions,
  newLifespan,
  type Request,
  withSession,
} from 'sequitur'
import { testApp, type TestApp } from 'sequitur/testing'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { JobRecord } from 'sequitur/jobs'
import { tenancy, unscoped, withTenant } from 'sequitur/tenancy'
import type { Constructor } from '../../src/di/token.js'
import { databases, postgres, type TestDatabase } from '../support/databases.js'

/*
 * Models of two tenants, and databases with their tables. Tenant 1 has names that begin with `one`, tenant 2 with `two`.
 */

@Table({ tableName: 'city', timestamps: false })
export class City extends Base<City> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @HasMany(() => Team, 'city_id') declare teams?: NonAttribute<Team[]>
}

@Table({ tableName: 'team', timestamps: false })
export class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenant: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @ForeignKey(() => City) @Column({ type: DataType.INTEGER }) declare city_id: number | null
  @BelongsTo(() => City, 'city_id') declare city?: NonAttribute<City>
  @HasMany(() => Hero, 'team_id') declare heroes?: NonAttribute<Hero[]>
}

@Table({ tableName: 'hero', timestamps: true, paranoid: true, version: true })
export class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenant: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare age: number
  @ForeignKey(() => Team) @Column({ type: DataType.INTEGER }) declare team_id: number | null
  @BelongsTo(() => Team, 'team_id') declare team?: NonAttribute<Team>
  @BelongsToMany(() => Power, () => HeroPower) declare powers?: NonAttribute<Power[]>
}

@Table({ tableName: 'power', timestamps: false })
export class Power extends Base<Power> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenant: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @BelongsToMany(() => Hero, () => HeroPower) declare heroes?: NonAttribute<Hero[]>
}

@Table({ tableName: 'hero_power', timestamps: false })
export class HeroPower extends Base<HeroPower> {
  @ForeignKey(() => Hero) @Column({ type: DataType.INTEGER, primaryKey: true }) declare hero_id: number
  @ForeignKey(() => Power) @Column({ type: DataType.INTEGER, primaryKey: true }) declare power_id: number
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenant: number
}

/** Its key has the tenant. */
@Table({ tableName: 'setting', timestamps: false })
export class Setting extends Base<Setting> {
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'tenant_id' }) declare tenant: number
  @Column({ type: DataType.STRING(40), primaryKey: true }) declare name: string
  @Column({ type: DataType.STRING }) declare value: string
}

export const models = [City, Team, Hero, Power, HeroPower, Setting]
export const limited = [Team, Hero, Power, HeroPower, Setting]

interface OpenedDatabase {
  readonly url: string
  readonly role?: string
  /** Where no policy limits the rows. */
  readonly adminUrl?: string
}

/** A database whose tables are there, and how an app is limited on it. */
export interface TenantDatabase {
  readonly name: string
  readonly hasPolicies: boolean
  open(t: TestContext): Promise<OpenedDatabase>
}

/** On PostgreSQL as a role that owns nothing; and as a superuser whose sessions take such a role. */
export const tenantDatabases: readonly TenantDatabase[] = databases.flatMap((kind): readonly TenantDatabase[] =>
  kind === postgres
    ? [
        { name: 'PostgreSQL', hasPolicies: true, open: (t: TestContext) => openPostgres(t, kind, { ownRole: false }) },
        {
          name: 'PostgreSQL with a role',
          hasPolicies: true,
          open: (t: TestContext) => openPostgres(t, kind, { ownRole: true }),
        },
      ]
    : [{ name: kind.name, hasPolicies: false, open: async () => ({ url: await kind.url() }) }],
)

/** The databases on which unscoped() reaches all rows. */
export const unscopedDatabases: readonly TenantDatabase[] = tenantDatabases.filter(({ name }) => name !== 'PostgreSQL')

async function openPostgres(
  t: TestContext,
  kind: TestDatabase,
  { ownRole }: { readonly ownRole: boolean },
): Promise<OpenedDatabase> {
  const url = await kind.url()
  const setup = newLifespan(url, { models: [...models, IdempotencyRecord, JobRecord], sync: true })
  await setup.start()
  await setup.stop()
  const role = `tenants_${randomBytes(4).toString('hex')}`
  const admin = new Client({ connectionString: url })
  await admin.connect()
  t.after(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).finally(() => admin.end()))
  await admin.query(`
    CREATE ROLE ${role} LOGIN PASSWORD 'tenants';
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role};`)
  for (const model of limited) await admin.query(policyOf(String(model.getTableName())))
  if (ownRole) return { url, role, adminUrl: url }
  return { adminUrl: url, url: Object.assign(new URL(url), { username: role, password: 'tenants' }).href }
}

/** The migration that docs/tenancy.md shows. */
export function policyOf(table: string, type = 'integer', column = 'tenant_id'): string {
  const own = `${column} = nullif(current_setting('sequitur.tenant', true), '')::${type}`
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenancy ON ${table} USING (${own}) WITH CHECK (${own});`
}

/** The tests trust a header; an app must not. */
export function tenantOfHeader(request: Request): number | undefined {
  const [value] = [request.headers['x-tenant']].flat()
  return value === undefined || value === '' ? undefined : Number(value)
}

export interface TenantApp extends TestApp {
  readonly database: Database
  readonly log: string[]
  readonly query: Query
}

export async function tenantApp(
  t: TestContext,
  kind: TenantDatabase,
  controllers: readonly Constructor[],
  { lifespan = {}, ...options }: Omit<Partial<AppOptions>, 'lifespan'> & { readonly lifespan?: LifespanOptions } = {},
): Promise<TenantApp> {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const { url, role, adminUrl } = await kind.open(t)
  const boundary = tenancy({ of: tenantOfHeader, column: 'tenant_id', ...(role === undefined ? {} : { role }) })
  const database = newLifespan(url, { sync: !kind.hasPolicies, boundary, ...lifespan })
  const app = await testApp({
    controllers,
    models,
    lifespan: database,
    logger: { info: write, warn: write, error: write },
    ...options,
  })
  t.after(app.close)
  const query = adminUrl === undefined ? queryUnscoped(database) : await queryAsAdmin(t, adminUrl)
  return { ...app, database, log, query }
}

/** The rows of raw SQL, whatever their tenant. */
type Query = (sql: string) => Promise<readonly object[]>

function queryUnscoped(database: Database): Query {
  return async (sql) => (await unscoped(() => database.sequelize.query(sql)))[0] as object[]
}

async function queryAsAdmin(t: TestContext, url: string): Promise<Query> {
  const admin = new Client({ connectionString: url })
  await admin.connect()
  t.after(() => admin.end())
  return async (sql) => (await admin.query(sql)).rows as object[]
}

/** Creates the same kinds of rows for both tenants, whose names begin with `one` and `two`. Of the second there are more. */
export async function seed(database: Database): Promise<void> {
  const city = await withSession(database, () => City.create({ name: 'Rome' } as never)) // of no tenant
  for (const [index, word] of ['one', 'two'].entries())
    await withTenant(index + 1, () =>
      withSession(database, async () => {
        const name = (what: string, n: number) => `${word} ${what} ${n}`
        for (let n = 1; n <= 2 + index; n++) {
          const team = await Team.create({ name: name('team', n), city_id: city.id } as never)
          for (let m = 1; m <= 2; m++) {
            const hero = await Hero.create({ name: name('hero', m), team_id: team.id } as never)
            await hero.$add('powers', await Power.create({ name: name('power', m) } as never))
          }
        }
        await Setting.bulkCreate(
          [
            { name: 'color', value: `${word} color` },
            { name: 'size', value: `${word} size` },
          ] as never,
          { ignoreDuplicates: true },
        )
      }),
    )
}

const KEYS = [
  ['team', 'id'],
  ['hero', 'id'],
  ['power', 'id'],
  ['hero_power', 'hero_id, power_id'],
  ['setting', 'name'],
] as const

/** The rows of a tenant, in all tables. */
export async function rowsOf(query: Query, tenant: number): Promise<string> {
  const tables: (readonly object[])[] = []
  for (const [table, key] of KEYS)
    tables.push(await query(`SELECT * FROM ${table} WHERE tenant_id = ${tenant} ORDER BY ${key}`))
  return JSON.stringify(tables)
}

/** The `fetch` of an app, as a tenant. */
export function as(app: TestApp, tenant: number | undefined) {
  const headers: Record<string, string> = tenant === undefined ? {} : { 'x-tenant': String(tenant) }
  return (path: string, init: RequestInit = {}) =>
    app.fetch(path, { ...init, headers: { ...headers, ...(init.headers as object) } })
}
