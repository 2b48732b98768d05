import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Controller, Get, type LifespanOptions, Post, Session, sql } from 'sequitur'
import { Entry } from '../support/apps/entries.js'
import { type DatabaseApp, databaseApp, postgres } from '../support/databases.js'
import { assertWhole, said } from '../support/faults.js'
import { until } from '../support/waiting.js'

/*
 * Errors with which PostgreSQL ends a connection, of the server itself: of its timeouts, and of a database that is dropped under its users.
 */

const post = { method: 'POST' }
const UNAVAILABLE = '503, again in 1 s: The database is not available.'
/** Milliseconds of the timeout, and how long a handler does nothing, or a statement takes. */
const TIMEOUT = 1_000
const LONGER = 2_000

@Controller('/')
class Slow {
  @Post('/idle') async idle() {
    await Entry.create({ request: 'idle' })
    await setTimeout(LONGER)
    await Entry.create({ request: 'idle' })
  }
  @Post('/idle-at-end') async idleAtEnd() {
    await Entry.create({ request: 'idle' })
    await setTimeout(LONGER)
  }
  @Post('/busy') async busy(session: Session) {
    await Entry.create({ request: 'busy' })
    await session.execute(sql`SELECT pg_sleep(${LONGER / 1_000})`)
  }
  @Get('/whole') async whole() {
    return { entries: await Entry.count() }
  }
}

async function open(t: TestContext, lifespan: LifespanOptions = {}, setting?: string) {
  const url = await postgres.url()
  const admin = new Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
  await admin.connect()
  t.after(() => admin.end())
  const name = new URL(url).pathname.slice(1)
  if (setting !== undefined) await admin.query(`ALTER DATABASE ${name} SET ${setting}`)
  const through = { ...postgres, url: () => Promise.resolve(url) }
  const options = { lifespan: { echo: false, ...lifespan }, health: true }
  return { app: await databaseApp(t, through, [Entry], [Slow], options), admin, name }
}

async function assertNothingKept(app: DatabaseApp): Promise<void> {
  assert.deepEqual(await (await app.fetch('/whole')).json(), { entries: 0 })
  await assertWhole(app)
}

for (const route of ['/idle', '/idle-at-end']) {
  test(`25P03: a transaction that does nothing for too long is refused: ${route}`, async (t) => {
    const { app } = await open(t, { idleInTransactionTimeout: TIMEOUT })
    assert.equal(await said(app.fetch(route, post)), UNAVAILABLE)
    assert.match(app.log.join('\n'), /not queryable: terminating connection due to idle-in-transaction timeout/)
    await assertNothingKept(app)
  })

  test(`25P04: a transaction that takes too long is refused: ${route}`, async (t) => {
    const { app } = await open(t, {}, `transaction_timeout = ${TIMEOUT}`)
    assert.equal(await said(app.fetch(route, post)), UNAVAILABLE)
    assert.match(app.log.join('\n'), /not queryable: terminating connection due to transaction timeout/)
    await assertNothingKept(app)
  })
}

test('25P04: a transaction that takes too long is refused in a statement', async (t) => {
  const { app } = await open(t, {}, `transaction_timeout = ${TIMEOUT}`)
  assert.equal(await said(app.fetch('/busy', post)), '504: The database took too long.')
  await assertNothingKept(app)
})

test('a database that is dropped under its users, and created again', async (t) => {
  const { app, admin, name } = await open(t)
  const busy = said(app.fetch('/busy', post))
  const isBusy = async () =>
    (await admin.query(`SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND query ~ 'pg_slee[p]'`, [name])).rows
      .length > 0
  await until('the statement runs', isBusy)
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  assert.equal(await busy, UNAVAILABLE)
  for (const route of ['/idle', '/busy']) assert.match(await said(app.fetch(route, post)), /^503, again in 1 s: /)
  assert.equal((await app.fetch('/readyz')).status, 503)
  await admin.query(`CREATE DATABASE ${name}`)
  await app.database.sequelize.sync()
  assert.equal((await app.fetch('/readyz')).status, 200)
  assert.equal(await said(app.fetch('/idle', post)), '204: ')
})
