import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, newLifespan, Post, sql, Transactional, withSession } from 'sequitur'
import { FeedEvent, Feeds, feedsOf } from 'sequitur/feeds'
import { databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'
import { isDistributed } from '../../src/db/startup/distributed.js'
import { feedDatabase } from '../../src/feeds/feed-database.js'
import { HeroController, HeroSaved } from './programs.js'

async function start(t: TestContext, kind: TestDatabase, fastPath: boolean) {
  const app = await databaseApp(t, kind, [FeedEvent], [HeroController], { lifespan: { fastPath } })
  const publish = (numbers: readonly number[], how?: string, topic = 'heroes') =>
    app.fetch('/heroes', { method: 'POST', json: { numbers, topic, ...(how === undefined ? {} : { how }) } })
  const published = async (topic = 'heroes') => {
    const rows = await withSession(app.database, (session) =>
      session.execute<{ payload: unknown }>(
        sql`SELECT payload FROM feed_event WHERE topic = ${topic} ORDER BY position`,
      ),
    )
    return rows.map(({ payload }) => {
      const data: { number: number } = typeof payload === 'string' ? JSON.parse(payload) : payload
      return data.number
    })
  }
  return { app, publish, published }
}

for (const kind of databases)
  for (const fastPath of [true, false]) {
    const path = fastPath ? 'the fast path' : 'the reference path'
    test(`${kind.name}: an event is published if, and only if, it is committed, on ${path}`, async (t) => {
      const { publish, published, app } = await start(t, kind, fastPath)
      await publish([1, 2])
      await publish([3], 'throws')
      await publish([4, 5], 'rolls back')
      await publish([6, 7], 'in a savepoint')
      await publish([8, 9], 'in a savepoint that fails')
      await publish([10], undefined, 'others')
      await withSession(app.database, (session) => {
        feedsOf(session).publish(HeroSaved, { number: 11, at: new Date(0) }, { topic: 'heroes' })
        return Promise.resolve()
      })
      assert.deepEqual(await published(), [1, 2, 6, 7, 8, 11])
      assert.deepEqual(await published('others'), [10])
    })
  }

test('on PostgreSQL, events are one message with COMMIT, after all else, and their topics are locked in one order', async (t) => {
  const messages: string[] = []
  const url = await watchedNetwork(t, await postgres.url(), (bytes, _, upstream) => {
    messages.push(bytes.toString('latin1'))
    upstream.write(bytes)
  })
  const { app, publish } = await start(t, { ...postgres, url: () => Promise.resolve(url) }, true)
  await publish([0]) // the first of a process asks which server it is
  messages.length = app.log.length = 0
  await publish([1])
  const single = messages.filter((message) => message.includes('"number":1')) // the statement may be a prepared one
  assert.equal(single.length, 1)
  assert.match(single[0] ?? '', /"number":1[^]*COMMIT/)
  assert.match(app.log.join('\n'), /pg_advisory_xact_lock[^]*INSERT INTO feed_event/)
  messages.length = app.log.length = 0
  await withSession(app.database, async (session) => {
    await session.execute(sql`SELECT 1 AS one`)
    for (const topic of ['b', 'a', 'c', 'a']) feedsOf(session).publish(HeroSaved, { number: 1 }, { topic })
  })
  const whole = messages.filter((message) => /INSERT INTO feed_event/.test(message))
  assert.equal(whole.length, 1)
  assert.match(whole[0] ?? '', /pg_advisory_xact_lock[^]*INSERT INTO feed_event[^]*COMMIT/)
  const order = app.log.flatMap((line) => /pg_advisory_xact_lock|INSERT INTO feed_event/.exec(line)?.[0] ?? [])
  const lock = 'pg_advisory_xact_lock'
  assert.deepEqual(order, [lock, lock, lock, 'INSERT INTO feed_event'])
  const locks = [...(whole[0] ?? '').matchAll(/24223[^]{4}(-?\d+)/g)].map(([, lock]) => Number(lock))
  assert.equal(locks.length, 3)
  assert.deepEqual(
    locks,
    locks.toSorted((a, b) => a - b),
  )
})

test('on distributed servers with the protocol of PostgreSQL, the row of the topic counts its positions', async (t) => {
  assert.equal(isDistributed('CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)'), true)
  assert.equal(isDistributed('PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu'), true)
  assert.equal(isDistributed('PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu'), false)
  const { app, publish, published } = await start(t, postgres, true)
  feedDatabase().isCounted = true
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => publish([2 * n, 2 * n + 1], n % 3 === 0 ? 'throws' : undefined)),
  )
  const committed = Array.from({ length: 20 }, (_, n) => n).filter((n) => n % 3 !== 0)
  const numbers = await published()
  assert.deepEqual(
    [...numbers].sort((a, b) => a - b),
    committed.flatMap((n) => [2 * n, 2 * n + 1]),
  )
  await publish([100], undefined, 'others')
  const rows = await withSession(app.database, (session) =>
    session.execute<{ topic: string; position: string }>(sql`SELECT topic, position FROM feed_event ORDER BY position`),
  )
  const positionsOf = (name: string) => rows.flatMap(({ topic, position }) => (topic === name ? Number(position) : []))
  assert.deepEqual(
    positionsOf('heroes'),
    numbers.map((_, index) => index + 1),
  )
  assert.deepEqual(positionsOf('others'), [1])
})

test('on distributed servers with the protocol of PostgreSQL, handlers that publish have to be run again', async (t) => {
  const url = await postgres.url()
  await withSession(newLifespan(url), async ({ sequelize }) => {
    await sequelize.query(
      `CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB CCL v25.2.1' $$`,
    )
    await sequelize.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`,
    )
  })
  const kind = { ...postgres, url: () => Promise.resolve(url) }
  await assert.rejects(
    start(t, kind, true),
    /BootError: HeroController\.\w+(?:, HeroController\.\w+)* publishes events, .*@Transactional\(\{ retry: 5 \}\) on HeroController\./,
  )
  const others = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
  await withSession(newLifespan(url), ({ sequelize }) =>
    until('its connections are closed', async () => (await sequelize.query(others))[0].length === 0),
  )

  @Transactional({ retry: 5 })
  @Controller('/again')
  class AgainController {
    @Post('/', { status: 204 })
    publish(feeds: Feeds) {
      feeds.publish(HeroSaved, { number: 1, at: new Date(0) }, { topic: 'heroes' })
    }
  }
  const app = await databaseApp(t, kind, [FeedEvent], [AgainController])
  assert.equal((await app.fetch('/again', { method: 'POST' })).status, 204)
  assert.equal(feedDatabase().isCounted, true)
})
