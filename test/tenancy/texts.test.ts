import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, type Database, Get, newLifespan, Request, withSession } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { NoTenantError, tenancy, TenancyError, unscoped, withTenant } from 'sequitur/tenancy'
import { databases, postgres } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { hostile } from '../support/hostile-texts.js'
import { as } from './tenants.js'

/* Tenants whose column is a text: a client may have written it, as a part of the host name. */

@Table({ tableName: 'page', timestamps: false })
class PageOfTenant extends Base<PageOfTenant> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING(120), allowNull: false }) declare tenant_id: string
  @Column({ type: DataType.STRING(40), unique: true }) declare path: string | null
}

@Controller('/')
class Pages {
  @Get('/pages') async pages() {
    const pages = await PageOfTenant.findAll()
    return { found: [...new Set(pages.map(({ tenant_id }) => tenant_id))] }
  }
}

const ofHost = (request: Request) => [request.headers['x-tenant']].flat()[0]

const withConditions = databases.filter((kind) => kind !== postgres)

/** Stands for a promise, which is made when it is used. */
const REJECTED = Symbol('rejected')

for (const kind of withConditions) {
  const open = async (): Promise<Database> =>
    newLifespan(await kind.url(), {
      sync: true,
      models: [PageOfTenant],
      boundary: tenancy({ of: ofHost, column: 'tenant_id' }),
    })

  test(`${kind.name}: whatever text a client names as its tenant, it reaches the rows of this text alone`, async (t) => {
    const database = await open()
    const app = await testApp({ controllers: [Pages], lifespan: database, logger: false })
    t.after(app.close)
    const tenants = ['acme', 'ACME', 'Acme', 'acmé', 'acme-1', 'a'.repeat(100), '7', '07', 'a.b', 'a_b', 'a%b']
    await unscoped(() =>
      withSession(database, () => PageOfTenant.bulkCreate(tenants.map((tenant_id) => ({ tenant_id })) as never)),
    )
    const pick = random(3)
    const characters = [...'abcACME017.-_:@+=/%\'"`\\$;#()*? \t']
    const generated = Array.from({ length: runs(300) }, () =>
      Array.from({ length: 1 + pick(8) }, () => characters[pick(characters.length)]).join(''),
    )
    const sendable = hostile.filter((text) => /^[\x20-\x7e]+$/.test(text))
    for (const tenant of [...tenants.filter((text) => text !== 'acmé'), ...sendable, ...generated, 'a'.repeat(101)]) {
      const name = tenant.trim() // as HTTP does with the value of a header
      const response = await as(app, undefined)('/pages', { headers: { 'x-tenant': name } })
      if (response.status === 403) continue
      assert.equal(response.status, 200, name)
      const { found } = (await response.json()) as { found: string[] }
      assert.deepEqual(found, tenants.includes(name) ? [name] : [], name)
    }
    for (const tenant of ['acme', 'ACME', 'a.b', '7', '07', 'a'.repeat(100)])
      assert.equal((await as(app, undefined)('/pages', { headers: { 'x-tenant': tenant } })).status, 200, tenant)
  })

  test(`${kind.name}: what is no text and no number is a mistake of the program`, async (t) => {
    const database = await open()
    await database.start()
    t.after(() => database.stop())
    const later = async () => Promise.reject(new Error('An asynchronous function fails.'))
    const read = (tenant: unknown) =>
      withTenant(tenant as never, () => withSession(database, () => PageOfTenant.count()))
    const refused = [{}, [], true, Number.NaN, 1.5, Infinity, Promise.resolve('acme'), () => 'acme', 7n, REJECTED]
    for (const tenant of refused)
      await assert.rejects(
        read(tenant === REJECTED ? later() : tenant),
        (error) => error instanceof TypeError && error.message.includes('the tenant is'),
      )
    for (const tenant of [
      '',
      ' ',
      'a b',
      "a'",
      'a\\',
      'a\n',
      'a\0',
      '\ud800',
      '-a',
      'acm\u00e9',
      'acme\u0301',
      '\uff41cme',
    ])
      await assert.rejects(read(tenant), NoTenantError)
    assert.equal(await read('acme'), 0)
  })

  test(`${kind.name}: an upsert by a key without the tenant is refused`, async (t) => {
    const database = await open()
    await database.start()
    t.after(() => database.stop())
    const inTenant = <T>(tenant: string, work: () => Promise<T>) =>
      withTenant(tenant, () => withSession(database, work))
    await inTenant('one', () => PageOfTenant.create({ id: 1, path: '/' } as never))
    const upserts: readonly (() => Promise<unknown>)[] = [
      () => PageOfTenant.upsert({ id: 1, path: '/stolen' } as never),
      () => PageOfTenant.upsert({ path: '/' } as never),
      () => PageOfTenant.bulkCreate([{ id: 1, path: '/stolen' }] as never, { updateOnDuplicate: ['path'] }),
      () => PageOfTenant.bulkCreate([{ path: '/' }] as never, { updateOnDuplicate: ['path', 'tenant_id'] }),
    ]
    for (const upsert of upserts)
      await assert.rejects(
        inTenant('two', upsert),
        (error) => error instanceof TenancyError && /An upsert of PageOfTenant/.test(error.message),
      )
    const rows = await unscoped(() => withSession(database, () => PageOfTenant.findAll({ raw: true })))
    assert.deepEqual(rows, [{ id: 1, tenant_id: 'one', path: '/' }])
    await inTenant('two', () => PageOfTenant.bulkCreate([{ path: '/' }] as never, { ignoreDuplicates: true }))
    assert.equal(await inTenant('two', () => PageOfTenant.count()), 0)
  })

  test(`${kind.name}: an app that is started inside unscoped() has the tenants of its requests`, async (t) => {
    const database = await open()
    const app = await unscoped(() => testApp({ controllers: [Pages], lifespan: database, logger: false }))
    t.after(app.close)
    await withTenant('one', () => withSession(database, () => PageOfTenant.create({} as never)))
    assert.equal((await app.fetch('/pages')).status, 403)
    assert.deepEqual(await (await app.fetch('/pages', { headers: { 'x-tenant': 'two' } })).json(), { found: [] })
    assert.deepEqual(await (await app.fetch('/pages', { headers: { 'x-tenant': 'one' } })).json(), { found: ['one'] })
  })
}
