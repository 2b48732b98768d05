import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Column, DataType, ForeignKey, Sequelize, Table } from 'sequelize-typescript'
import { Base, Controller, type Database, Field, newLifespan, Post, withSession } from 'sequitur'
import { BootError } from 'sequitur/errors'
import { testApp } from 'sequitur/testing'
import { NoTenantError, tenancy, TenancyError, unscoped, withTenant } from 'sequitur/tenancy'
import type { Constructor } from '../../src/di/token.js'
import { databases, mysqls, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { postgresUrl } from '../support/postgres.js'
import { policyOf } from './tenants.js'

/* Databases that take texts for equal which differ: by their case, by what a number makes of them, or once they are shortened. */

@Table({ tableName: 'setting', timestamps: false })
class Setting extends Base<Setting> {
  @Column({ type: DataType.STRING(40), primaryKey: true }) declare tenant_id: string
  @Column({ type: DataType.STRING(40), primaryKey: true }) declare name: string
  @Column({ type: DataType.STRING }) declare value: string
}

@Table({ tableName: 'counter', timestamps: false })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number
}

const boundary = (role?: string) =>
  tenancy({ of: () => undefined, column: 'tenant_id', ...(role === undefined ? {} : { role }) })

const as = <T>(database: Database, tenant: string | number, work: () => Promise<T>): Promise<T> =>
  withTenant(tenant, () => withSession(database, work))

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const database = newLifespan(url)
  await withSession(database, async () => {
    for (const statement of statements) await database.sequelize.query(statement)
  })
}

async function started(t: TestContext, url: string, model: Constructor, warnings: string[] = []): Promise<Database> {
  const database = newLifespan(url, { models: [model] as never, boundary: boundary() })
  await database.start(
    () => {},
    () => {},
    (line) => void warnings.push(line.replace(/^The database \(.*?\): /, '')),
  )
  t.after(() => database.stop())
  return database
}

const COLUMNS = 'name VARCHAR(40) NOT NULL, value VARCHAR(255), PRIMARY KEY (tenant_id, name)'

const loose: readonly (readonly [kind: TestDatabase, column: string, migration: string | undefined])[] = [
  [sqliteFile, 'tenant_id VARCHAR(40) COLLATE NOCASE NOT NULL', undefined],
  ...mysqls.map(
    (kind) =>
      [
        kind,
        'tenant_id VARCHAR(40) NOT NULL',
        'ALTER TABLE setting MODIFY tenant_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL',
      ] as const,
  ),
]

for (const [kind, column, migration] of databases.includes(postgres) ? loose : [])
  test(`${kind.name}: a tenant neither reads nor writes rows of one whose name differs by case, whatever the collation`, async (t) => {
    const url = await kind.url()
    await execute(url, `CREATE TABLE setting (${column}, ${COLUMNS})`)
    const warnings: string[] = []
    const database = await started(t, url, Setting, warnings)
    assert.equal(warnings.length, 1)
    assert.match(
      warnings[0] ?? '',
      /^tenancy\(\): the key .* of table setting compares tenant_id by the collation (?:NOCASE|utf8mb4_\w+_ci)/,
    )
    await as(database, 'acme', () => Setting.create({ name: 'color', value: 'red' } as never))
    const writes: readonly (() => Promise<unknown>)[] = [
      () => Setting.upsert({ name: 'color', value: 'stolen' } as never),
      () => Setting.bulkCreate([{ name: 'color', value: 'stolen' }] as never, { updateOnDuplicate: ['value'] }),
    ]
    for (const write of writes)
      await assert.rejects(
        as(database, 'ACME', write),
        (error) => error instanceof TenancyError && /whose name differs only by case/.test(error.message),
      )
    assert.deepEqual(await as(database, 'ACME', () => Setting.update({ value: 'stolen' } as never, { where: {} })), [0])
    assert.equal(await as(database, 'ACME', () => Setting.destroy({ where: {} })), 0)
    assert.equal(await as(database, 'ACME', () => Setting.count()), 0)
    const rows = await unscoped(() => withSession(database, () => Setting.findAll({ raw: true })))
    assert.deepEqual(rows, [{ tenant_id: 'acme', name: 'color', value: 'red' }])
    if (migration === undefined) return
    assert.ok(warnings[0]?.endsWith(`Write a migration: ${migration}.`), warnings[0])
    await database.stop()
    await execute(url, migration)
    const exact: string[] = []
    const mended = await started(t, url, Setting, exact)
    for (const write of writes) await as(mended, 'ACME', write)
    assert.deepEqual([await as(mended, 'acme', () => Setting.findAll({ raw: true })), exact], [rows, []])
  })

for (const kind of [sqliteFile, ...mysqls])
  test(`${kind.name}: the app does not start if the column has another kind of type than the model`, async () => {
    const message = async (model: Constructor, ...statements: readonly string[]): Promise<string> => {
      const url = await kind.url()
      await execute(url, ...statements)
      const database = newLifespan(url, { models: [model] as never, boundary: boundary() })
      try {
        await withSession(database, () => Promise.resolve())
        return ''
      } catch (error) {
        return error instanceof BootError ? error.message : String(error)
      }
    }
    for (const type of ['VARCHAR(20)', 'DOUBLE', 'DECIMAL(20,2)'])
      assert.match(
        await message(Counter, `CREATE TABLE counter (id INTEGER PRIMARY KEY, tenant_id ${type} NOT NULL)`),
        /the column tenant_id of table counter has the type \w+.*, and Counter\.tenant_id another one/,
        type,
      )
    for (const type of ['INTEGER', 'DOUBLE'])
      assert.match(
        await message(Setting, `CREATE TABLE setting (tenant_id ${type} NOT NULL, ${COLUMNS})`),
        /and Setting\.tenant_id another one/,
        type,
      )
    for (const type of ['INTEGER', 'BIGINT', 'SMALLINT'])
      assert.equal(
        await message(Counter, `CREATE TABLE counter (id INTEGER PRIMARY KEY, tenant_id ${type} NOT NULL)`),
        '',
      )
  })

for (const kind of mysqls)
  test(`${kind.name}: a tenant that its column would shorten is none, also where the server is not strict`, async (t) => {
    const url = await kind.url()
    await execute(url, `CREATE TABLE setting (tenant_id VARCHAR(4) COLLATE utf8mb4_bin NOT NULL, ${COLUMNS})`)
    const { hostname: host, username, port } = new URL(url.replace(/^[^:]+/, 'http'))
    const sequelize = new Sequelize(new URL(url).pathname.slice(1), username, '', {
      dialect: kind.name === 'MariaDB' ? 'mariadb' : 'mysql',
      host,
      port: Number(port || 3306),
      logging: false,
      hooks: {
        afterConnect: (connection) =>
          new Promise<void>((resolve, reject) => {
            const query = (connection as { query: (...given: unknown[]) => unknown }).query(
              "SET sql_mode = ''",
              (error: unknown) => (error ? reject(error as Error) : resolve()),
            )
            if (query instanceof Promise) query.then(() => resolve(), reject)
          }),
      },
    })
    sequelize.addModels([Setting])
    const database = newLifespan(sequelize, { boundary: boundary() })
    await database.start()
    t.after(() => database.stop())
    const create = () => Setting.create({ name: 'color', value: 'blue' } as never)
    await assert.rejects(as(database, 'acmeco', create), NoTenantError)
    await as(database, 'acme', create)
    assert.equal(await as(database, 'acme', () => Setting.count()), 1)
  })

for (const type of ['varchar(40) COLLATE ignoring', 'citext'])
  test(`PostgreSQL: the app does not start with ${type}, and the SQL of the message mends it`, async (t) => {
    const url = await postgresUrl()
    const role = `tenants_${randomBytes(4).toString('hex')}`
    const admin = new Client({ connectionString: url })
    await admin.connect()
    t.after(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).finally(() => admin.end()))
    const own = `tenant_id = nullif(current_setting('sequitur.tenant', true), '')${type === 'citext' ? '::citext' : ''}`
    await admin.query(`
      ${type === 'citext' ? 'CREATE EXTENSION citext' : `CREATE COLLATION ignoring (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`};
      CREATE TABLE setting (tenant_id ${type}, ${COLUMNS});
      ALTER TABLE setting ENABLE ROW LEVEL SECURITY;
      ALTER TABLE setting FORCE ROW LEVEL SECURITY;
      CREATE POLICY own ON setting USING (${own}) WITH CHECK (${own});
      CREATE ROLE ${role} NOLOGIN;
      GRANT SELECT, INSERT, UPDATE, DELETE ON setting TO ${role}`)
    const database = newLifespan(url, { models: [Setting], boundary: boundary(role) })
    const message = await database.start().then(
      () => '',
      (error: unknown) => (error instanceof BootError ? error.message : String(error)),
    )
    assert.match(message, /ALTER COLUMN "tenant_id" TYPE (?:character varying\(40\)|text) COLLATE "C";/)
    for (const [, line = ''] of message.matchAll(/^ {2}((?:ALTER|CREATE|DROP) .*)/gm)) await admin.query(line)
    await database.start()
    t.after(() => database.stop())
    await as(database, 'acme', () => Setting.create({ name: 'color', value: 'red' } as never))
    assert.equal(await as(database, 'ACME', () => Setting.count()), 0)
    await as(database, 'ACME', () => Setting.upsert({ name: 'color', value: 'blue' } as never))
    assert.deepEqual(
      (await as(database, 'acme', () => Setting.findAll())).map(({ value }) => value),
      ['red'],
    )
  })

@Table({ tableName: 'account', timestamps: false, indexes: [{ unique: true, fields: ['tenant_id', 'phone'] }] })
class Account extends Base<Account> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number
  @Column({ type: DataType.STRING(40), unique: true }) declare email: string
  @Column({ type: DataType.STRING(40) }) declare phone: string
  @Column({ type: DataType.UUID, unique: true }) declare token: string
}

@Table({ tableName: 'profile', timestamps: false })
class Profile extends Base<Profile> {
  @ForeignKey(() => Account)
  @Column({ type: DataType.INTEGER, primaryKey: true, references: { model: 'account', key: 'id' } })
  declare account_id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number
}

for (const kind of databases)
  test(`${kind.name}: the start warns of each key by which a 409 tells of rows of other tenants`, async (t) => {
    const url = await kind.url()
    const role = `tenants_${randomBytes(4).toString('hex')}`
    if (kind === postgres) {
      const setup = newLifespan(url, { models: [Account, Profile], sync: true })
      await setup.start()
      await setup.stop()
      const policies = ['account', 'profile'].map((table) => policyOf(table))
      await execute(url, ...policies, `CREATE ROLE ${role} NOLOGIN`)
      t.after(() => execute(url, `DROP ROLE ${role}`))
    }
    const warnings: string[] = []
    const database = newLifespan(url, {
      models: [Account, Profile],
      sync: kind !== postgres,
      boundary: boundary(kind === postgres ? role : undefined),
    })
    await database.start(
      () => {},
      () => {},
      (line) => void warnings.push(line),
    )
    t.after(() => database.stop())
    const found = warnings.filter((line) => line.includes('tenancy()'))
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(
      found[0] ?? '',
      /: tenancy\(\): the values of email in table account are unique among all tenants \(.*\), so a 409 reveals to a tenant which of them others have\. Add tenant_id to the key: UNIQUE \(tenant_id, email\)\.$/,
    )
  })

class AccountInput {
  @Field() phone!: string
}

@Controller('/')
class Accounts {
  @Post('/', { status: 204 }) async create({ phone }: AccountInput) {
    await Account.create({ phone } as never)
  }
}

for (const kind of databases)
  test(`${kind.name}: a key of the tenant's rows names the field of the client, and not the column of the tenant`, async (t) => {
    const url = await kind.url()
    const role = `tenants_${randomBytes(4).toString('hex')}`
    if (kind === postgres) {
      const setup = newLifespan(url, { models: [Account], sync: true })
      await setup.start()
      await setup.stop()
      // With policies, the server leaves the key out of its errors.
      await execute(
        url,
        policyOf('account'),
        `CREATE ROLE ${role} NOLOGIN`,
        `GRANT ALL ON account, account_id_seq TO ${role}`,
      )
      t.after(() => execute(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`))
    }
    const app = await testApp({
      controllers: [Accounts],
      models: [Account],
      lifespan: newLifespan(url, {
        sync: kind !== postgres,
        boundary: tenancy({ of: () => 1, column: 'tenant_id', ...(kind === postgres ? { role } : {}) }),
      }),
      logger: false,
    })
    t.after(app.close)
    const post = () => app.fetch('/', { method: 'POST', json: { phone: '7' } })
    assert.equal((await post()).status, 204)
    const { detail, errors } = (await (await post()).json()) as { detail: string; errors: unknown }
    assert.equal(detail, 'It exists already: another one has the same phone.')
    assert.deepEqual(errors, [{ in: 'body', path: '/phone', message: 'phone must be unique' }])
  })
