import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Controller, Field, type LifespanOptions, newLifespan, Post, Session, sql, withSession } from 'sequitur'
import { SessionClosedError } from 'sequitur/errors'
import { Event, FeedEvent, Feeds, On } from 'sequitur/feeds'
import { JobRecord } from 'sequitur/jobs'
import { feedDatabase } from '../../src/feeds/feed-database.js'
import { topicOf } from '../../src/feeds/topic.js'
import { databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { gate, until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * What is executed immediately before COMMIT: the session of the program is closed then, and nothing is committed without it.
 */

// Of its own: its jobs are added wherever it is published.
@Event('hero.last')
class HeroSaved {
  @Field({ type: 'integer' }) number!: number
}

class Number1 {
  @Field({ type: 'integer' }) number!: number
}

const late: unknown[] = []
let mayBeLate = gate()

async function publishLate(feeds: Feeds): Promise<void> {
  await mayBeLate.opened
  try {
    feeds.publish(HeroSaved, { number: -1 }, { topic: 'heroes' })
  } catch (error) {
    late.push(error)
  }
}

@Controller('/heroes')
class LastController {
  @Post('/')
  async publish({ number }: Number1, feeds: Feeds, session: Session) {
    await session.execute(sql`SELECT 1 AS one`)
    feeds.publish(HeroSaved, { number }, { topic: 'heroes' })
  }

  @Post('/alone')
  alone({ number }: Number1, feeds: Feeds) {
    feeds.publish(HeroSaved, { number }, { topic: 'heroes' })
  }

  @Post('/late')
  late({ number }: Number1, feeds: Feeds) {
    feeds.publish(HeroSaved, { number }, { topic: 'heroes' })
    void publishLate(feeds)
  }

  @Post('/caught')
  async caught({ number }: Number1, feeds: Feeds, session: Session) {
    await session.execute(sql`SELECT 1 AS one`)
    try {
      feeds.publish(HeroSaved, { number }, { topic: 'heroes' })
    } catch {
      // The handler goes on without the event.
    }
  }
}

class TwoJobs {
  @On(HeroSaved)
  first({ number }: HeroSaved) {
    void number
  }

  @On(HeroSaved, {
    limit: {
      by: ({ number }) => {
        if (number === 13) throw new Error('no limit for this one')
        return number
      },
      at: 1,
    },
  })
  second({ number }: HeroSaved) {
    void number
  }
}

async function start(
  t: TestContext,
  kind: TestDatabase,
  { handler, lifespan = {} }: { readonly handler?: number; readonly lifespan?: LifespanOptions } = {},
) {
  const url = await kind.url()
  const app = await databaseApp(
    t,
    { ...kind, url: () => Promise.resolve(url) },
    [FeedEvent, JobRecord],
    [LastController],
    { jobs: [TwoJobs], lifespan, ...(handler ? { timeouts: { handler } } : {}) },
  )
  const post = (path: string, number: number) => app.fetch(`/heroes${path}`, { method: 'POST', json: { number } })
  const count = async (table: 'feed_event' | 'job') => {
    const { sequelize } = app.database
    const [rows] = await sequelize.query(`SELECT count(*) AS n FROM ${table}`, { logging: false })
    return Number((rows as { n: number }[])[0]?.n)
  }
  await post('', 0) // its topic is known then
  return { app, url, post, count }
}

/** Holds the lock of the topic in a transaction of another program, until the promise of the result is awaited. */
async function holdTopic(t: TestContext, url: string): Promise<() => Promise<void>> {
  const other = newLifespan(url)
  await other.start()
  t.after(() => other.stop())
  const held = gate()
  const mayEnd = gate()
  const holding = withSession(other, async (session) => {
    const { key } = topicOf('heroes', undefined)
    const { statements, isCounted = false } = feedDatabase()
    const event = { topic: 'heroes', topicKey: key, id: crypto.randomUUID(), aggregate: 'hero', type: 'hero.saved' }
    const others = { isOrdered: true, payload: '{"number":7}', tenant: undefined, trace: undefined }
    const [lock] = statements.publish([{ ...event, ...others }], isCounted)
    if (lock) await session.execute(lock)
    session.rollback()
    held.open()
    await mayEnd.opened
  })
  await held.opened
  return async () => {
    mayEnd.open()
    await holding
  }
}

const withLocks = databases.filter(({ name }) => !name.startsWith('SQLite'))

for (const kind of withLocks) {
  test(`${kind.name}: the session is closed while the topic is waited for`, async (t) => {
    late.length = 0
    mayBeLate = gate()
    const { app, url, post, count } = await start(t, kind)
    const release = await holdTopic(t, url)
    app.log.length = 0
    const publishing = post('/late', 1)
    // The statement that waits for the topic: the handler has returned.
    await until('the topic is waited for', () => app.log.some((line) => /pg_advisory_xact_lock|feed_topic/.test(line)))
    mayBeLate.open()
    await until('it was refused', () => late.length === 1)
    await release()
    assert.equal((await publishing).status, 204)
    assert.ok(late[0] instanceof SessionClosedError)
    assert.equal(await count('feed_event'), 2)
  })
}

// On PostgreSQL the lock is waited for in the message of COMMIT, whose outcome is awaited, for lock_timeout at most.
for (const kind of withLocks.filter(
  ({ name }) => name !== 'PostgreSQL' || process.env['toolkit_fast_path'] === 'false',
))
  test(`${kind.name}: a handler that takes too long while it waits for a topic is rolled back`, async (t) => {
    const { url, post, count } = await start(t, kind, { handler: 1_500 })
    const release = await holdTopic(t, url)
    const { status } = await post('', 1)
    await release()
    assert.equal(status, 503)
    await wait(100)
    assert.equal(await count('feed_event'), 1)
  })

for (const kind of databases) {
  test(`${kind.name}: nothing is committed without the last statement, whatever keeps it from being sent`, async (t) => {
    const { app, post, count } = await start(t, kind)
    const settings = app.database.sequelize as unknown as { readonly options: { logging: unknown } } // read for each statement
    for (const part of ['feed_topic', 'pg_advisory_xact_lock', 'INSERT INTO feed_event', 'INSERT INTO job']) {
      const before = [await count('feed_event'), await count('job')]
      let hasFailed = false
      settings.options.logging = (line: string) => {
        if (!line.includes(part)) return
        hasFailed = true
        throw new Error('the log is full')
      }
      const { status } = await post('', 1)
      settings.options.logging = false
      const after = [await count('feed_event'), await count('job')]
      if (hasFailed) assert.deepEqual({ part, status, after }, { part, status: 500, after: before })
    }
  })

  test(`${kind.name}: an event that is refused adds none of its jobs`, async (t) => {
    const { post, count } = await start(t, kind)
    const before = [await count('feed_event'), await count('job')]
    assert.equal((await post('/caught', 13)).status, 204)
    assert.deepEqual([await count('feed_event'), await count('job')], before)
    assert.equal((await post('/caught', 14)).status, 204)
    assert.deepEqual([await count('feed_event'), await count('job')], [2, 4])
  })
}

test('PostgreSQL: the lock of a topic is one message with COMMIT, also for a handler that only publishes', async (t) => {
  if (process.env['toolkit_fast_path'] === 'false') return t.skip('each statement is a message there')
  const messages: string[] = []
  const url = await watchedNetwork(t, await postgres.url(), (bytes, _, upstream) => {
    messages.push(bytes.toString('latin1'))
    upstream.write(bytes)
  })
  // The text of a statement that a connection has prepared is not sent again.
  const lifespan = { preparedStatements: false }
  const { post } = await start(t, { ...postgres, url: () => Promise.resolve(url) }, { lifespan })
  messages.length = 0
  assert.equal((await post('/alone', 1)).status, 204)
  const locking = messages.filter((message) => /pg_advisory_xact_lock|INSERT INTO feed_event/.test(message))
  assert.equal(locking.length, 1)
  assert.match(locking[0] ?? '', /pg_advisory_xact_lock[^]*INSERT INTO feed_event[^]*COMMIT/)
  return undefined
})
