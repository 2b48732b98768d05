import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Post, select, Session, Transactional, withSession } from 'sequitur'
import { TenancyError, unscoped, withTenant } from 'sequitur/tenancy'
import * as later from '../support/later.js'
import { until } from '../support/waiting.js'
import { as, Hero, rowsOf, seed, tenantApp, tenantDatabases, unscopedDatabases } from './tenants.js'

/*
 * What a request, or a job, leaves to run later for another tenant: its callbacks, and jobs of queues that all share.
 */

const names = (heroes: readonly Hero[]) => [...new Set(heroes.map(({ name }) => name.split(' ')[0]))].sort()
const all = async (session: Session) => names(await session.all(select(Hero)))
const setAge = (age: number) => Hero.update({ age }, { where: {} })

let seen: unknown[] = []

@Controller('/')
class Callbacks {
  @Post('/after-end') async afterEnd(session: Session) {
    await withTenant(2, async () => session.afterEnd(() => setAge(61)))
  }
  @Post('/after-response') async afterResponse(session: Session) {
    await withTenant(1, async () => session.afterResponse(async (later) => void seen.push(await all(later))))
    await Hero.count()
  }
  @Post('/after-commit') async afterCommit(session: Session) {
    await withTenant(2, async () =>
      session.afterCommit(() => withSession(async (own) => void seen.push(await all(own)))),
    )
    await Hero.count()
  }
  @Post('/inside') async inside(session: Session) {
    session.afterCommit(() => withTenant(2, () => withSession(() => setAge(62))))
    session.afterCommit(() => withSession(() => setAge(63)))
    await Hero.count()
  }
  @Get('/outside') @Transactional(false) outside() {
    return Hero.count()
  }
}

/** For each tenant a job of a queue that they share; the outcome of each. */
async function jobsOf(run: later.Run, job: (tenant: number, work: later.Run) => Promise<unknown>): Promise<unknown[]> {
  const outcomes = [1, 2, 1, 2].map((tenant) => job(tenant, run).catch((error: Error) => error.constructor.name))
  return Promise.all(outcomes)
}

const queues = { 'p-queue': later.queue, fastq: later.callbackQueue, 'p-limit since 4': later.limit }

for (const kind of tenantDatabases) {
  test(`${kind.name}: a callback has the tenant with which it was queued, or is refused`, async (t) => {
    const app = await tenantApp(t, kind, [Callbacks])
    await seed(app.database)
    const before = [await rowsOf(app.query, 1), await rowsOf(app.query, 2)]
    const post = (path: string) => as(app, 1)(path, { method: 'POST' })
    assert.ok((await post('/after-end')).ok)
    assert.match(app.log.join('\n'), /withTenant\(\): the statement belongs to a session/)
    assert.deepEqual([await rowsOf(app.query, 1), await rowsOf(app.query, 2)], before)
    seen = []
    assert.ok((await post('/after-commit')).ok)
    assert.deepEqual(seen, [['two']])
    seen = []
    assert.ok((await post('/after-response')).ok)
    await until('the work has run', () => seen.length === 1)
    assert.deepEqual(seen, [['one']])
    app.log.length = 0
    assert.ok((await post('/inside')).ok)
    assert.match(app.log.join('\n'), /This session belongs to no tenant/)
    assert.equal(await rowsOf(app.query, 1), before[0])
    assert.match(await rowsOf(app.query, 2), /"age":62/)
  })

  for (const [queue, run] of Object.entries(queues))
    test(`${kind.name}: a job of ${queue} never has the tenant of the job before it`, async (t) => {
      const { database } = await tenantApp(t, kind, [Callbacks])
      await seed(database)
      const work = () => withSession(database, all)
      const inJob = await jobsOf(run(), (tenant, add) => add(() => withTenant(tenant, work)))
      assert.deepEqual(inJob, [['one'], ['two'], ['one'], ['two']])
      const ways: ((tenant: number, add: later.Run) => Promise<unknown>)[] = [
        (tenant, add) => withTenant(tenant, () => add(work)),
        (tenant, add) => withTenant(tenant, async () => await add(work)),
        (tenant, add) => withTenant(tenant, async () => (await add(async () => await work())) as unknown),
      ]
      for (const way of ways) {
        const around = await jobsOf(run(), way)
        for (const [index, outcome] of around.entries())
          if (outcome !== TenancyError.name) assert.deepEqual(outcome, [index % 2 ? 'two' : 'one'])
      }
    })
}

for (const kind of unscopedDatabases) {
  test(`${kind.name}: a job never is without limits because the one before it is`, async (t) => {
    const { database } = await tenantApp(t, kind, [Callbacks])
    await seed(database)
    const run = later.queue()
    const work = () => withSession(database, all)
    const [every, one] = await Promise.allSettled([unscoped(() => run(work)), withTenant(1, () => run(work))])
    assert.deepEqual(every, { status: 'fulfilled', value: ['one', 'two'] })
    if (one?.status === 'fulfilled') assert.deepEqual(one.value, ['one'])
    else assert.ok(one?.reason instanceof TenancyError)
  })

  test(`${kind.name}: an app that was started without limits has them in its requests`, async (t) => {
    const app = await unscoped(() => tenantApp(t, kind, [Callbacks]))
    await seed(app.database)
    assert.equal((await as(app, 1)('/outside')).status, 500)
  })
}
