import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Get, newLifespan, type Lifespan, sql, withSession } from 'sequitur'
import { BootError } from 'sequitur/errors'
import { testApp } from 'sequitur/testing'
import { databases } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { gate, until } from '../support/waiting.js'

/*
 * Apps and jobs that use one database: it is started once, and stopped when neither needs it any more.
 */

const models = [Team, Hero]

@Controller('/')
class Counting {
  @Get() count() {
    return Hero.count()
  }
}

/** An app without a log. */
function newApp(lifespan: Lifespan | Lifespan[], given: object = {}) {
  return createApp({ controllers: [Counting], lifespan, logger: false, ...given })
}

for (const kind of databases) {
  test(`${kind.name}: a job that runs before, while and after an app starts uses the app's database, and the app goes on after it`, async (t) => {
    const database = newLifespan(await kind.url(), { sync: true, models })
    const free = gate()
    const job = (name: string) =>
      withSession(database, async () => {
        await free.opened
        return Hero.create({ name })
      })
    const before = job('before')
    const app = newApp(database)
    t.after(() => app.close())
    const starting = app.start()
    const meanwhile = job('meanwhile')
    await starting
    const { sequelize } = database
    const after = job('after')
    free.open()
    await Promise.all([before, meanwhile, after])
    assert.equal((await app.inject('/')).json(), 3)
    assert.equal(database.sequelize, sequelize)
    await app.close()
    assert.equal(database.isRunning, false)
  })

  test(`${kind.name}: an app that starts while a job runs without the app's models starts after the job`, async (t) => {
    const url = await kind.url()
    const database = newLifespan(url, { sync: true })
    const [opened, free] = [gate(), gate()]
    const job = withSession(database, async (session) => {
      opened.open()
      await free.opened
      return session.execute(sql`SELECT 1 AS one`)
    })
    await opened.opened
    const app = newApp(database, { models })
    t.after(() => app.close())
    const starting = app.start()
    free.open()
    assert.deepEqual(await job, [{ one: 1 }])
    await starting
    assert.equal((await app.inject('/')).json(), 0)
  })

  test(`${kind.name}: an app that starts while another one closes keeps its database`, async (t) => {
    const database = newLifespan(await kind.url(), { sync: true, models })
    const [opened, free] = [gate(), gate()]
    const first = newApp(database, { models })
    await first.start()
    const job = withSession(database, async () => {
      opened.open()
      await free.opened
    })
    await opened.opened
    const closing = first.close()
    const second = newApp(database, { models })
    t.after(() => second.close())
    let starting: Promise<unknown> = Promise.resolve()
    await until('the first no longer owns the database', async () => {
      starting = second.start()
      const refused = starting.then(
        () => false,
        () => true,
      )
      return !(await Promise.race([refused, new Promise<false>((resolve) => setTimeout(resolve, 100, false))]))
    })
    free.open()
    await Promise.all([job, closing, starting])
    assert.equal((await second.inject('/')).statusCode, 200)
  })

  test(`${kind.name}: an app does not wait for ever for a job without its models`, async (t) => {
    const database = newLifespan(await kind.url(), { sync: true, startTimeout: 1 })
    const [opened, free] = [gate(), gate()]
    const job = withSession(database, async (session) => {
      opened.open()
      await free.opened
      return session.execute(sql`SELECT 1 AS one`)
    })
    await opened.opened
    const app = newApp(database, { models })
    t.after(() => app.close())
    await assert.rejects(app.start(), {
      name: 'BootError',
      message:
        /withSession\(\) has opened this database without the models of the app, and still runs\. Start the app first/,
    })
    free.open()
    assert.deepEqual(await job, [{ one: 1 }])
    await app.start()
    assert.equal((await app.inject('/')).json(), 0)
  })

  test(`${kind.name}: of two starts at once one is refused, and no connection is left`, async () => {
    const database = newLifespan(await kind.url(), { sync: true, models })
    const apps = [newApp(database), newApp(database)]
    const starts = [...apps.map((app) => app.start()), database.start(), database.start()]
    const refused = (await Promise.allSettled(starts)).flatMap((start) =>
      start.status === 'rejected' ? [start.reason] : [],
    )
    assert.equal(refused.length, 3)
    for (const reason of refused) assert.ok(reason instanceof BootError && /already running/.test(reason.message))
    await apps[1]?.close() // it has not started, so that the first goes on
    assert.equal((await apps[0]?.inject('/'))?.json(), 0)
    await apps[0]?.close()
    assert.equal(database.isRunning, false)
  })

  test(`${kind.name}: an app that closes waits for a job, and rolls back one that never ends`, async () => {
    const database = newLifespan(await kind.url(), { sync: true, models })
    const app = newApp(database, { timeouts: { drain: 5_000 } })
    await app.start()
    const [begun, free] = [gate(), gate()]
    const ending = withSession(database, async () => {
      await Hero.create({ name: 'Robin' })
      begun.open()
      await free.opened
      return Hero.count()
    })
    await begun.opened
    const closing = app.close()
    free.open()
    assert.equal(await ending, 1)
    await closing

    const other = newApp(database, { timeouts: { drain: 0 } })
    await other.start()
    const started = gate()
    const late = gate()
    const endless = withSession(database, async () => {
      await Hero.create({ name: 'Batman' })
      started.open()
      await late.opened
      await Hero.create({ name: 'Thor' })
    })
    await started.opened
    await other.close()
    assert.equal(database.isRunning, false)
    late.open()
    await assert.rejects(endless, /already rolled back/)
  })
}

test('a job in the start of another lifespan, and withSession() without a database, wait for the start of the app', async (t) => {
  const url = 'sqlite+sqlite3:///:memory:'
  const database = newLifespan(url, { sync: true, models })
  const seeding: Lifespan = {
    provisions: [],
    adopt() {},
    start: async () => void (await withSession(database, () => Hero.create({ name: 'Robin' }))),
    stop: async () => {},
    unitOpenerOf: () => undefined,
    findErrorStatus: () => undefined,
  }
  const app = newApp([database, seeding])
  t.after(() => app.close())
  const starting = app.start()
  const job = withSession(() => Hero.create({ name: 'Batman' }))
  await Promise.all([starting, job])
  assert.equal((await app.inject('/')).json(), 2)
})

test('an app that cannot start leaves its jobs the error, and can be started again', async (t) => {
  const database = newLifespan('sqlite+sqlite3:///:memory:', { models })
  const app = newApp(database)
  t.after(() => app.close())
  const starting = app.start()
  const job = withSession(database, () => Hero.count())
  await assert.rejects(starting, /table hero is missing/)
  await assert.rejects(job, /table hero is missing/)
  await assert.rejects(app.start(), /table hero is missing/)
  assert.equal(database.isRunning, false)
})

test('app.start() inside a job that has started the database without the models of the app is refused', async () => {
  const database = newLifespan('sqlite+sqlite3:///:memory:', { sync: true })
  await withSession(database, () =>
    assert.rejects(newApp(database, { models }).start(), /app\.start\(\) was called inside withSession\(\)/),
  )
  const api = await testApp({ controllers: [Counting], lifespan: database })
  await api.close()
})
