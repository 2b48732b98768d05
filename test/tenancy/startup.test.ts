import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, type Database, Get, newLifespan, withSession } from 'sequitur'
import { BootError } from 'sequitur/errors'
import { tenancy, Unscoped, withTenant } from 'sequitur/tenancy'
import type { Constructor } from '../../src/di/token.js'
import { postgresUrl } from '../support/postgres.js'

@Table({ tableName: 'invoice', timestamps: false })
class Invoice extends Base<Invoice> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number
}

@Table({ tableName: 'letter', timestamps: false })
class Letter extends Base<Letter> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.UUID, allowNull: false }) declare tenant_id: string
}

@Table({ tableName: 'date', timestamps: false })
class DateRow extends Base<DateRow> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.DATE, allowNull: false }) declare tenant_id: Date
}

@Table({ tableName: 'invoice_view', timestamps: false })
class InvoiceView extends Base<InvoiceView> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare tenant_id: number | null
}

const of = () => 1

const wrong: readonly (readonly [what: string, start: () => unknown, message: RegExp])[] = [
  [
    'of is no function',
    () => tenancy({ of: 'x-tenant' as never, column: 'tenant_id' }),
    /of is 'x-tenant'\. Write a function/,
  ],
  [
    'column is missing',
    () => tenancy({ of } as never),
    /column is undefined\. Write the name of the column: 'tenant_id'/,
  ],
  ['column is empty', () => tenancy({ of, column: '' }), /Write the name of the column/],
  ['an option is misspelt', () => tenancy({ of, colum: 'tenant_id' } as never), /colum/],
  [
    'role is no text',
    () => tenancy({ of, column: 'tenant_id', role: 1 as never }),
    /role is of type number\. Write the name of a role/,
  ],
  [
    'boundary has the options',
    () => newLifespan('sqlite://', { boundary: { of } as never }),
    /boundary is .*Write tenancy\(\{ of, column \}\)/,
  ],
  ['no model has the column', () => opened([Invoice], 'tenant'), /no model has the column tenant\. Add it/],
  [
    'columns have different types',
    () => opened([Invoice, Letter]),
    /Invoice\.tenant_id and Letter\.tenant_id have different types/,
  ],
  ['the column is a date', () => opened([DateRow]), /DateRow\.tenant_id has another type than INTEGER/],
  ['role on SQLite', () => opened([Invoice], 'tenant_id', 'tenants'), /role is for PostgreSQL only\. Remove it/],
]

async function opened(models: readonly Constructor[], column = 'tenant_id', role?: string): Promise<void> {
  const boundary = tenancy({ of, column, ...(role === undefined ? {} : { role }) })
  const database = newLifespan('sqlite://', { models: models as never, sync: true, boundary })
  await database.start()
  await database.stop()
}

for (const [what, start, message] of wrong)
  test(`the app does not start if ${what}`, async () => {
    await assert.rejects(
      async () => start(),
      (error) => error instanceof BootError && message.test(error.message),
    )
  })

/** A database with the table, and a role that owns nothing. */
async function setup(
  t: TestContext,
): Promise<{ readonly admin: Client; readonly url: string; readonly role: string; readonly asRole: string }> {
  const url = await postgresUrl()
  const role = `tenants_${randomBytes(4).toString('hex')}`
  const admin = new Client({ connectionString: url })
  await admin.connect()
  t.after(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).finally(() => admin.end()))
  await admin.query(`
    CREATE TABLE invoice (id integer PRIMARY KEY, tenant_id integer NOT NULL);
    CREATE ROLE ${role} LOGIN PASSWORD 'tenants';
    GRANT SELECT, INSERT, UPDATE, DELETE ON invoice TO ${role}`)
  return { admin, url, role, asRole: Object.assign(new URL(url), { username: role, password: 'tenants' }).href }
}

function databaseAt(url: string, role?: string, model: Constructor = Invoice): Database {
  const boundary = tenancy({ of, column: 'tenant_id', ...(role === undefined ? {} : { role }) })
  return newLifespan(url, { models: [model] as never, boundary })
}

/** The message of the start; '' if it succeeds. */
async function messageAt(url: string, role?: string, model?: Constructor): Promise<string> {
  const database = databaseAt(url, role, model)
  try {
    await database.start()
    await database.stop()
    return ''
  } catch (error) {
    assert.ok(error instanceof BootError, String(error))
    return error.message
  }
}

/** The lines of SQL in a message. */
const sqlIn = (message: string) =>
  [...message.matchAll(/^ {2}((?:ALTER|CREATE|DROP) .*;)/gm)].map(([, sql = '']) => sql)

const OWN = `tenant_id = nullif(current_setting('sequitur.tenant', true), '')::integer`
const LIMITED = `
  ALTER TABLE invoice ENABLE ROW LEVEL SECURITY;
  ALTER TABLE invoice FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenancy ON invoice USING (${OWN}) WITH CHECK (${OWN});`

const gaps: readonly (readonly [what: string, sql: string, message: RegExp])[] = [
  [
    'there is no policy',
    '',
    /ENABLE ROW LEVEL SECURITY;\n.*FORCE ROW LEVEL SECURITY;\n.*CREATE POLICY tenancy ON "invoice" USING/,
  ],
  ['row security is off', `${LIMITED} ALTER TABLE invoice DISABLE ROW LEVEL SECURITY`, /ALTER TABLE "invoice" ENABLE/],
  [
    'row security is not forced',
    `${LIMITED} ALTER TABLE invoice NO FORCE ROW LEVEL SECURITY`,
    /ALTER TABLE "invoice" FORCE/,
  ],
  [
    'another policy allows all rows',
    `${LIMITED} CREATE POLICY open ON invoice USING (true)`,
    /DROP POLICY "open" ON "invoice";/,
  ],
  [
    'another policy allows to read all rows',
    `${LIMITED} CREATE POLICY open ON invoice FOR SELECT USING (true)`,
    /DROP POLICY "open"/,
  ],
  [
    'another policy allows to insert any row',
    `${LIMITED} CREATE POLICY open ON invoice FOR INSERT WITH CHECK (true)`,
    /DROP POLICY "open"/,
  ],
  [
    'the policy allows to write any row',
    `ALTER TABLE invoice ENABLE ROW LEVEL SECURITY; ALTER TABLE invoice FORCE ROW LEVEL SECURITY; CREATE POLICY half ON invoice USING (${OWN}) WITH CHECK (true)`,
    /DROP POLICY "half".*\n.*CREATE POLICY tenancy/,
  ],
]

for (const [what, sql, message] of gaps)
  test(`PostgreSQL: the app does not start if ${what}, and the SQL of the message closes the gap`, async (t) => {
    const { admin, asRole } = await setup(t)
    if (sql !== '') await admin.query(sql)
    const found = await messageAt(asRole)
    assert.match(found, message)
    for (const line of sqlIn(found)) await admin.query(line)
    assert.equal(await messageAt(asRole), '')
    const database = databaseAt(asRole)
    for (const tenant of [1, 2])
      await withTenant(tenant, () => withSession(database, () => Invoice.create({ id: tenant } as never)))
    assert.equal(await withTenant(1, () => withSession(database, () => Invoice.count())), 1)
  })

test('PostgreSQL: restrictive policies may be added', async (t) => {
  const { admin, asRole } = await setup(t)
  await admin.query(`${LIMITED} CREATE POLICY more ON invoice AS RESTRICTIVE USING (id > 0)`)
  assert.equal(await messageAt(asRole), '')
})

test('PostgreSQL: the app does not start as a role that no policy limits', async (t) => {
  const { admin, url, role, asRole } = await setup(t)
  await admin.query(LIMITED)
  assert.match(await messageAt(url), /is a superuser or has BYPASSRLS.*tenancy\(\{ role: 'tenants' \}\)/)
  assert.equal(await messageAt(url, role), '')
  assert.match(await messageAt(url, 'nobody'), /there is no role nobody\. Create it: CREATE ROLE "nobody"/)
  const other = `${role}_b`
  await admin.query(`CREATE ROLE ${other} NOLOGIN; GRANT SELECT ON invoice TO ${other}`)
  const refused = await messageAt(asRole, other)
  await admin.query(`DROP OWNED BY ${other}; DROP ROLE ${other}`)
  assert.match(refused, /may not become .*GRANT "tenants_\w+_b" TO "tenants_\w+";/)
  await admin.query(`ALTER ROLE ${role} BYPASSRLS`)
  assert.match(await messageAt(asRole), /has BYPASSRLS/)
})

test('PostgreSQL: a view needs security_invoker', async (t) => {
  const { admin, asRole, role } = await setup(t)
  await admin.query(
    `${LIMITED} CREATE VIEW invoice_view AS SELECT * FROM invoice; GRANT SELECT ON invoice_view TO ${role}`,
  )
  const message = await messageAt(asRole, undefined, InvoiceView)
  assert.match(message, /ALTER VIEW "invoice_view" SET \(security_invoker = true\);/)
  for (const line of sqlIn(message)) await admin.query(line)
  assert.equal(await messageAt(asRole, undefined, InvoiceView), '')
})

test('PostgreSQL: a route for all tenants needs a role for the others', async (t) => {
  @Controller('/')
  class Statistics {
    @Unscoped()
    @Get('/count')
    async count() {
      return { found: await Invoice.count() }
    }
  }
  const { admin, url, role, asRole } = await setup(t)
  await admin.query(LIMITED)
  const without = createApp({ controllers: [Statistics], lifespan: databaseAt(asRole), logger: false })
  await assert.rejects(without.start(), /GET \/count \(Statistics\.count\) has @Unscoped\(\), but the policies/)
  const app = createApp({ controllers: [Statistics], lifespan: databaseAt(url, role), logger: false })
  await app.start()
  t.after(() => app.close())
  assert.equal((await app.inject('/count')).statusCode, 200)
})
