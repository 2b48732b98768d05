// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Collection, Controller, Get, Item, Post, withSession } from 'sequitur'
import { withTenant } from 'sequitur/tenancy'
import { queue, type Run } from '../support/later.js'
import { gate } from '../support/waiting.js'
import { seed, Team, tenantApp, tenantDatabases } from './tenants.js'

/*
 * Work that requests of two tenants share reads the rows of one of them: the other one does not get them.
 */

let run: Run
let kept: Promise<Team[]> | undefined
/** The first request is there: the second one comes after it. The second one has come, and its query has run. */
let [begun, came, ran] = [gate(), gate(), gate()]

@Controller('/')
class Teams {
  @Get('/first', Collection.of(Team)) async first() {
    const answer = run(() => came.opened.then(() => Team.findAll()))
    begun.open()
    const data = await answer
    await ran.opened
    return { data: data as Team[] }
  }

  @Get('/second', Collection.of(Team)) async second() {
    const answer = run(() => Team.findAll().finally(ran.open))
    came.open()
    return { data: (await answer) as Team[] }
  }

  @Post('/first', Item.of(Team)) async create() {
    const answer = run(() => came.opened.then(() => Team.create({ name: 'first' } as never)))
    begun.open()
    return { data: (await answer) as Team }
  }

  @Post('/second', Item.of(Team)) async createToo() {
    const answer = run(async () => {
      const team = await Team.create({ name: 'second' } as never)
      await ran.opened
      return team
    })
    came.open()
    return { data: (await answer) as Team }
  }

  @Post('/answered', Item.of(Team)) async answered() {
    const data = await Team.create({ name: 'first' } as never)
    void Team.create({ name: 'not awaited' } as never)
    await new Promise(setImmediate)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100) // its answer is there, and read in the next turn
    return { data }
  }

  @Get('/kept', Collection.of(Team)) async kept() {
    return { data: await (kept ??= Team.findAll()) }
  }
}

for (const kind of tenantDatabases)
  for (const fastPath of [true, false])
    test(`${kind.name}: a tenant does not get the rows of another one from shared work (fast path: ${fastPath})`, async (t) => {
      ;[run, kept, begun, came, ran] = [queue(), undefined, gate(), gate(), gate()]
      const app = await tenantApp(t, kind, [Teams], { lifespan: { fastPath } })
      await seed(app.database)
      const get = (path: string, tenant: number) => app.fetch(path, { headers: { 'x-tenant': String(tenant) } })
      const first = get('/first', 1)
      await begun.opened
      const answers = await Promise.all([first, get('/second', 2)])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 500],
      )
      const statuses = []
      for (const tenant of [1, 1, 2]) statuses.push((await get('/kept', tenant)).status)
      assert.deepEqual(statuses, [200, 200, 500], 'a cache without the tenant in its key')
      assert.match(app.log.join('\n'), /GET \/second .*OtherSessionError: This Team.*GET \/kept .*OtherSessionError/s)
    })

for (const kind of tenantDatabases)
  test(`${kind.name}: a row that shared work writes while the request of another tenant ends is not kept, and refused to its own`, async (t) => {
    ;[run, begun, came, ran] = [queue(), gate(), gate(), gate()]
    const app = await tenantApp(t, kind, [Teams])
    const post = (path: string, tenant: number) =>
      app.fetch(path, { method: 'POST', headers: { 'x-tenant': String(tenant) } })
    const first = post('/first', 1)
    await begun.opened
    const later = post('/second', 2)
    assert.equal((await first).status, 500)
    ran.open()
    assert.equal((await later).status, 500)
    const names = (tenant: number) =>
      withTenant(tenant, () => withSession(app.database, async () => (await Team.findAll()).map(({ name }) => name)))
    assert.deepEqual([await names(1), await names(2)], [[], []])
    assert.match(
      app.log.join('\n'),
      /POST \/first .*UnawaitedQueryError: .*POST \/second .*OtherSessionError: This Team/s,
    )
  })

for (const kind of tenantDatabases)
  test(`${kind.name}: a query that runs when its handler returns, and is answered before the commit, is not kept`, async (t) => {
    const app = await tenantApp(t, kind, [Teams])
    const { status } = await app.fetch('/answered', { method: 'POST', headers: { 'x-tenant': '1' } })
    assert.equal(status, 500)
    assert.match(app.log.join('\n'), /POST \/answered .*UnawaitedQueryError: /)
    const count = () => withSession(app.database, () => Team.count())
    assert.equal(await withTenant(1, count), 0)
  })
