import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'sequelize'
import { Controller, Get, Post, select, Session, sql, Transactional, withSession } from 'sequitur'
import { withRollback } from 'sequitur/testing'
import { TenancyError, Unscoped, unscoped, withTenant } from 'sequitur/tenancy'
import { statements } from '../support/databases.js'
import { as, City, Hero, rowsOf, seed, Team, tenantApp, tenantDatabases, unscopedDatabases } from './tenants.js'

const names = (heroes: readonly Hero[]) => [...new Set(heroes.map(({ name }) => name.split(' ')[0]))].sort()
const all = async () => names(await Hero.findAll())

let runs = 0

@Controller('/')
class Sessions {
  @Get('/heroes') async heroes() {
    return { found: await all() }
  }
  @Get('/heroes/first') async first(session: Session) {
    return { found: (await session.get(Hero, 1)) === null ? 'none' : 'one' }
  }
  @Get('/cities') async cities() {
    return { found: await City.count() }
  }
  @Get('/outside') @Transactional(false) async outside() {
    return { found: await all() }
  }
  @Get('/nested') @Transactional(false) async opensSession() {
    return { found: await withTenant(2, () => withSession(all)) }
  }
  @Get('/other-tenant') async other() {
    return { found: await withTenant(2, all) }
  }
  @Post('/caught') async caught(session: Session) {
    await Hero.update({ age: 50 }, { where: {} })
    await session.execute(sql`SET ROLE NONE`).catch(() => {})
    return { found: 'caught' }
  }
  @Post('/caught-query') async caughtQuery(session: Session) {
    await Hero.update({ age: 50 }, { where: {} })
    await session.sequelize.query('RESET ROLE').catch(() => {})
    return { found: 'caught' }
  }
  @Post('/after') async after(session: Session) {
    const found: unknown[] = []
    session.afterCommit(() => void found.push('committed'))
    session.afterEnd(async () => void (await Hero.update({ age: 60 }, { where: {} })))
    await Hero.count()
    return { found }
  }
  @Transactional({ retry: 3, isolation: 'serializable' })
  @Post('/retried')
  async retried(session: Session) {
    const found = await all()
    await Hero.update({ age: 70 }, { where: {} })
    if (++runs % 3 !== 0) throw conflict(session)
    return { found }
  }
  @Post('/savepoints') async savepoints(session: Session) {
    await session.nested(() => Team.create({ name: 'kept' } as never))
    await session
      .nested(async () => {
        await Team.create({ name: 'undone' } as never)
        throw new Error('undo')
      })
      .catch(() => {})
    return { found: [await all(), await Team.count({ where: { name: ['kept', 'undone'] } })] }
  }
  @Transactional({ readOnly: true })
  @Get('/read-only')
  async readOnly() {
    return { found: await all() }
  }
}

@Unscoped()
@Controller('/all')
class All {
  @Get('/heroes') async heroes() {
    return { found: await all() }
  }
  @Get('/raw') async raw(session: Session) {
    return { found: (await session.execute(sql`SELECT DISTINCT tenant_id FROM hero`)).length }
  }
}

const CONFLICTS: Readonly<Record<string, string>> = { sqlite: 'SQLITE_BUSY', postgres: '40001' }

/** An error that the database takes for a conflict with another transaction. */
function conflict({ sequelize }: Session): DatabaseError {
  const code = CONFLICTS[sequelize.getDialect()] ?? 'ER_LOCK_DEADLOCK'
  return new DatabaseError(Object.assign(new Error('conflict'), { code, sql: '', parameters: {} }))
}

const found = async (response: Response): Promise<unknown> => ((await response.json()) as { found: unknown }).found

for (const kind of tenantDatabases) {
  test(`${kind.name}: requests of tenants take turns on the connections, and each sees its own rows`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions], { lifespan: { poolSize: 1, poolTimeout: 20_000 } })
    await seed(app.database)
    const paths = ['/heroes', '/read-only', '/heroes', '/cities']
    const requests = Array.from(
      { length: 40 },
      (_, n) => [1 + (n % 2), String(paths[n % 4 === 3 ? 3 : n % 3])] as const,
    )
    const seen = await Promise.all(
      requests.map(async ([tenant, path]) => [tenant, path, await found(await as(app, tenant)(path))] as const),
    )
    for (const [tenant, path, rows] of seen)
      assert.deepEqual(rows, path === '/cities' ? 1 : [tenant === 1 ? 'one' : 'two'], path)
  })

  test(`${kind.name}: a request without a tenant is a 403 where it uses rows of tenants, and only there`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions])
    await seed(app.database)
    for (const path of ['/heroes', '/heroes/first', '/read-only']) {
      const response = await as(app, undefined)(path)
      assert.equal(response.status, 403, path)
      assert.equal(await found(response), undefined)
    }
    assert.equal(await found(await as(app, undefined)('/cities')), 1)
    assert.equal((await as(app, 1)('/outside')).status, 500, 'a statement outside of a session')
  })

  test(`${kind.name}: a tenant that no tenant can be is a 403`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions])
    await seed(app.database)
    for (const value of ['-1', '2147483648', '9007199254740991']) {
      assert.equal((await app.fetch('/heroes', { headers: { 'x-tenant': value } })).status, 403, value)
    }
    assert.deepEqual(await found(await app.fetch('/heroes', { headers: { 'x-tenant': '3' } })), [])
  })

  test(`${kind.name}: a session that is opened for a tenant has it, and one that is opened for none is refused`, async (t) => {
    const { database } = await tenantApp(t, kind, [Sessions])
    await seed(database)
    assert.deepEqual(await withTenant(1, () => withSession(database, all)), ['one'])
    assert.deepEqual(
      await withTenant(2, () => withSession(database, (session) => session.all(select(Hero)).then(names))),
      ['two'],
    )
    await assert.rejects(withSession(database, all), TenancyError)
    await assert.rejects(withSession(database, () => Hero.create({ name: 'new' } as never)))
    await assert.rejects(withTenant(1, all), TenancyError, 'outside of a session')
    await assert.rejects(all(), TenancyError)
    await assert.rejects(Hero.update({ age: 1 }, { where: {} }), TenancyError)
    await assert.rejects(Hero.destroy({ where: {}, force: true }), TenancyError)
    assert.equal(await withSession(database, () => City.count()), 1)
  })

  test(`${kind.name}: a session inside a request may be of another tenant, a statement of the request not`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions])
    await seed(app.database)
    assert.deepEqual(await found(await as(app, 1)('/nested')), ['two'])
    assert.equal((await as(app, 1)('/other-tenant')).status, 500)
    assert.match(app.log.join('\n'), /withTenant\(\): the statement belongs to a session/)
  })

  test(`${kind.name}: raw SQL that is refused rolls the request back, though its error is caught`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions])
    await seed(app.database)
    const before = await rowsOf(app.query, 1)
    for (const path of ['/caught', '/caught-query'])
      assert.equal((await as(app, 1)(path, { method: 'POST' })).status, 500)
    assert.equal(await rowsOf(app.query, 1), before)
    assert.match(app.log.join('\n'), /Raw SQL/)
  })

  test(`${kind.name}: callbacks, retries and savepoints keep the tenant`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions])
    await seed(app.database)
    const before = await rowsOf(app.query, 1)
    assert.equal((await as(app, 2)('/after', { method: 'POST' })).status, 201)
    assert.match(await rowsOf(app.query, 2), /"age":60/)
    const retried = await as(app, 2)('/retried', { method: 'POST' })
    assert.deepEqual([retried.status, await found(retried)], [201, ['two']])
    assert.deepEqual(await found(await as(app, 2)('/savepoints', { method: 'POST' })), [['two'], 1])
    assert.equal(await rowsOf(app.query, 1), before)
  })

  test(`${kind.name}: the requests of a test that is undone have their tenants`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions])
    await seed(app.database)
    const before = [await rowsOf(app.query, 1), await rowsOf(app.query, 2)]
    await withRollback(app, async () => {
      for (const tenant of [1, 2, 1]) {
        assert.deepEqual(await found(await as(app, tenant)('/heroes')), [tenant === 1 ? 'one' : 'two'])
        assert.equal((await as(app, tenant)('/after', { method: 'POST' })).status, 201)
        assert.equal((await as(app, undefined)('/heroes')).status, 403)
      }
    })()
    assert.deepEqual([await rowsOf(app.query, 1), await rowsOf(app.query, 2)], before)
  })

  test(`${kind.name}: the tenant costs no statement`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions], { lifespan: { echo: true } })
    await seed(app.database)
    app.log.length = 0
    await as(app, 1)('/heroes')
    const sent = statements(app.log).filter((text) => !/^(?:BEGIN|COMMIT|START TRANSACTION)/.test(text))
    assert.equal(sent.length, 1, app.log.join('\n'))
    const begun = statements(app.log).filter((text) => text.includes('sequitur.tenant'))
    assert.equal(begun.length, kind.hasPolicies ? 1 : 0)
    for (const text of begun) assert.match(text, /^START TRANSACTION[^;]*; SET LOCAL sequitur\.tenant = '1'/)
  })
}

for (const kind of unscopedDatabases) {
  test(`${kind.name}: unscoped sessions and routes reach all rows, and nothing else does after them`, async (t) => {
    const app = await tenantApp(t, kind, [Sessions, All], { lifespan: { poolSize: 1, poolTimeout: 20_000 } })
    await seed(app.database)
    assert.deepEqual(await unscoped(() => withSession(app.database, all)), ['one', 'two'])
    assert.deepEqual(await unscoped(all), ['one', 'two'])
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await found(await as(app, undefined)('/all/heroes')), ['one', 'two'])
      assert.equal(await found(await as(app, 1)('/all/raw')), 2)
      assert.deepEqual(await found(await as(app, 1)('/heroes')), ['one'])
      assert.equal((await as(app, undefined)('/heroes')).status, 403)
    }
    await unscoped(() => withSession(app.database, () => Hero.update({ age: 80 }, { where: {} })))
    for (const tenant of [1, 2]) assert.match(await rowsOf(app.query, tenant), /"age":80/)
    await assert.rejects(
      unscoped(() => withSession(app.database, () => withTenant(1, all))),
      TenancyError,
    )
  })
}
