import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { Controller, Get, Page, Paginate, Post, select, withSession } from 'sequitur'
import 'sequitur/feeds'
import { unscoped, withTenant } from 'sequitur/tenancy'
import { as, City, Hero, Team, tenantApp, tenantDatabases, unscopedDatabases } from '../tenancy/tenants.js'
import { heard, openEvents } from './open-events.js'

@Controller()
class Lists {
  @Get('/teams', Page.of(Team), { live: true })
  teams(paginate: Paginate<Team>) {
    return paginate(select(Team, { include: [City], order: ['id'] }))
  }

  @Post('/teams') async create() {
    await Team.create({ name: 'a' } as never)
  }

  @Post('/heros') async hero() {
    await Hero.create({ name: 'a' } as never)
  }

  @Post('/cities') async city() {
    await City.create({ name: 'Rome' } as never)
  }
}

/** Longer than the pause between two events of a client. */
const pause = () => wait(1_100)

for (const kind of tenantDatabases)
  test(`a client is told of the rows of its tenant, and of those of all (${kind.name})`, async (t) => {
    const app = await tenantApp(t, kind, [Lists])
    await heard(t, app.database)
    const clients = await Promise.all(
      [1, 2].map((tenant) => openEvents(t, `${app.url}/teams`, { 'x-tenant': String(tenant) })),
    )
    const counts = () => clients.map(({ events }) => events.length)
    const [first, second] = clients
    await Promise.all(clients.map((client) => client.count(1)))
    await pause()
    assert.equal((await as(app, 1)('/heros', { method: 'POST' })).status, 204) // which the list does not read
    assert.equal((await as(app, 1)('/teams', { method: 'POST' })).status, 204)
    await first?.count(2)
    await wait(100)
    assert.deepEqual(counts(), [2, 1])
    await withTenant(2, () => withSession(app.database, () => Team.create({ name: 'b' } as never)))
    await second?.count(2)
    await wait(100)
    assert.deepEqual(counts(), [2, 2])
    assert.equal((await as(app, 1)('/cities', { method: 'POST' })).status, 204) // which has no tenant
    await Promise.all([first?.count(3), second?.count(3)])
  })

for (const kind of unscopedDatabases)
  test(`what is written for no tenant in particular makes the lists of all stale (${kind.name})`, async (t) => {
    const { url, database } = await tenantApp(t, kind, [Lists])
    const client = await openEvents(t, `${url}/teams`, { 'x-tenant': '1' })
    await client.count(1)
    await unscoped(() => withSession(database, () => Team.create({ name: 'b', tenant: 1 } as never)))
    await client.count(2)
  })

test('a client without a tenant is refused', async (t) => {
  const [kind] = tenantDatabases
  if (!kind) return
  const { url } = await tenantApp(t, kind, [Lists])
  assert.equal((await openEvents(t, `${url}/teams`)).status, 403)
})
