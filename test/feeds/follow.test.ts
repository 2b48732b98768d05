import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql, withSession } from 'sequitur'
import { FeedEvent, feedsOf, subscribe, type SubscribedEvent } from 'sequitur/feeds'
import { databaseApp, databases, sqliteFile, type TestDatabase } from '../support/databases.js'
import { EventClient } from '../support/event-source.js'
import { until } from '../support/waiting.js'
import { feedDatabase } from '../../src/feeds/feed-database.js'
import { readerOf } from '../../src/feeds/follow/feed-reader.js'
import { HeroController, HeroSaved } from './programs.js'

async function start(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, [FeedEvent], [HeroController])
  const publish = (numbers: readonly number[], topic = 'heroes') =>
    withSession(app.database, (session) => {
      for (const number of numbers) feedsOf(session).publish(HeroSaved, { number }, { topic })
      return Promise.resolve()
    })
  const client = (query = '', lastId = '') => {
    const made = new EventClient(`${app.url}/heroes/events${query}`, { lastId, retry: 20 })
    t.after(() => made.close())
    return made
  }
  return { app, publish, client }
}

const numbersOf = ({ received }: EventClient) =>
  received.map(({ event, data }) => (event === 'hero.saved' ? (JSON.parse(data) as { number: number }).number : event))

for (const kind of databases) {
  test(`${kind.name}: a client receives what is committed while it is connected, and what was while it was not`, async (t) => {
    const { publish, client } = await start(t, kind)
    await publish([0])
    const first = client()
    await until('it is connected', () => first.lastId !== '')
    await publish([1, 2])
    await until('both arrive', () => first.received.length === 2)
    first.cut()
    await publish([3])
    await publish([4], 'others')
    await publish([5])
    await until('the others arrive', () => first.received.length === 4)
    await publish([6])
    await until('the last arrives', () => first.received.length === 5)
    assert.deepEqual(numbersOf(first), [1, 2, 3, 5, 6])
    assert.deepEqual(
      first.received.map(({ event }) => event),
      Array.from({ length: 5 }, () => 'hero.saved'),
    )
  })

  test(`${kind.name}: a client that lost its connection before its first event misses none`, async (t) => {
    const { publish, client } = await start(t, kind)
    const one = client()
    await until('it is connected', () => one.lastId !== '')
    one.cut()
    await publish([1])
    await until('it arrives', () => one.received.length === 1)
    assert.deepEqual(numbersOf(one), [1])
  })

  test(`${kind.name}: one stream has several topics, each from its own place`, async (t) => {
    const { publish, client } = await start(t, kind)
    await publish([1], 'a')
    await publish([1], 'b')
    const one = client('?topics=a,b')
    await until('it is connected', () => one.lastId !== '')
    await publish([2], 'a')
    await publish([3], 'b')
    await until('both arrive', () => one.received.length === 2)
    assert.match(one.lastId, /^[\w-]{22}\.\d+~[\w-]{22}\.\d+$/)
    one.cut()
    await publish([4], 'b')
    await until('the next arrives', () => one.received.length === 3)
    assert.deepEqual(numbersOf(one).sort(), [2, 3, 4])
  })

  test(`${kind.name}: after a long absence, everything arrives in its order`, async (t) => {
    const { publish, client } = await start(t, kind)
    const one = client()
    await until('it is connected', () => one.lastId !== '')
    const { lastId } = one
    await one.close()
    for (let n = 0; n < 1_200; n += 100) await publish(Array.from({ length: 100 }, (_, index) => n + index))
    const again = client('', lastId)
    await until('all have arrived', () => again.received.length === 1_200)
    assert.deepEqual(
      numbersOf(again),
      Array.from({ length: 1_200 }, (_, index) => index),
    )
  })

  test(`${kind.name}: a stream ends at its greatest age, and the client goes on`, async (t) => {
    const { publish, client } = await start(t, kind)
    const one = client('?age=200')
    for (let number = 0; number < 10; number++) {
      await until('it is connected', () => one.lastId !== '')
      await publish([number])
      await wait(100)
    }
    await until('all have arrived', () => one.received.length === 10)
    assert.deepEqual(
      numbersOf(one),
      Array.from({ length: 10 }, (_, index) => index),
    )
    await until('it has ended more than once', () => one.statuses.length > 2)
  })

  test(`${kind.name}: a client that follows another topic than before, or whose events are deleted, is told to load again`, async (t) => {
    const { publish, client, app } = await start(t, kind)
    await publish([1, 2, 3])
    const one = client()
    await until('it is connected', () => one.lastId !== '')
    const { lastId } = one
    await one.close()
    await publish([4])
    const other = client('?topics=others', lastId)
    await until('it is told', () => other.received.length === 1)
    await publish([5], 'others')
    await until('the next arrives', () => other.received.length === 2)
    assert.deepEqual(numbersOf(other), ['reset', 5])
    await withSession(app.database, async (session) => {
      const [last] = await session.execute<{ topic_key: string; position: number }>(
        sql`SELECT topic_key, position FROM feed_event WHERE topic = 'heroes' ORDER BY position DESC`,
      )
      await session.execute(sql`DELETE FROM feed_event WHERE topic_key = ${last?.topic_key}`)
      await session.execute(sql`DELETE FROM feed_topic WHERE topic_key = ${last?.topic_key}`)
      await session.execute(
        sql`INSERT INTO feed_topic (topic_key, position, deleted) VALUES (${last?.topic_key}, ${last?.position}, ${last?.position})`,
      )
    })
    const late = client('', lastId)
    await until('it is told', () => late.received.length === 1)
    await publish([6])
    await until('the next arrives', () => late.received.length === 2)
    assert.deepEqual(numbersOf(late), ['reset', 6])
  })

  test(`${kind.name}: a program subscribes, goes on after a cursor, and ends by a signal`, async (t) => {
    const { publish, app } = await start(t, kind)
    const ending = new AbortController()
    const received: SubscribedEvent<HeroSaved>[] = []
    const options = { topics: ['heroes'], signal: ending.signal }
    const events = await withSession(app.database, (session) => subscribe(session, [HeroSaved], options))
    const reading = (async () => {
      for await (const event of events) received.push(event)
    })()
    await publish([1, 2])
    await until('both arrive', () => received.length === 2)
    ending.abort()
    await reading
    await publish([3])
    const [first] = received
    assert.ok(first?.data instanceof HeroSaved)
    const after = { topics: ['heroes'], after: first.cursor }
    const rest = await withSession(app.database, (session) => subscribe(session, [HeroSaved], after))
    const numbers: unknown[] = []
    for await (const { data } of rest) if (numbers.push(data?.number) === 2) break
    assert.deepEqual(numbers, [2, 3])
  })

  test(`${kind.name}: an id that is none is a 400`, async (t) => {
    const { app } = await start(t, kind)
    for (const id of ['7', 'x', `${'a'.repeat(22)}.1~`, `${'a'.repeat(22)}.9999999999999999`, 'a'.repeat(10_000)]) {
      const response = await app.fetch('/heroes/events', { headers: { 'last-event-id': id } })
      assert.equal(response.status, 400, id)
    }
  })
}

test('an event that its class cannot read any more is a reset, and those behind it arrive', async (t) => {
  const { app, publish, client } = await start(t, sqliteFile)
  const one = client()
  await until('it is connected', () => one.lastId !== '')
  const { lastId } = one
  await publish([1])
  await publish([2])
  // As an older version of the program has published it.
  await withSession(app.database, (session) =>
    session.execute(sql`UPDATE feed_event SET payload = '{"id":1}' WHERE position = 1`),
  )
  const again = client('', lastId)
  const other = client('', lastId)
  for (const late of [again, other]) {
    await until('the next arrives', () => late.received.length === 2)
    assert.deepEqual(numbersOf(late), ['reset', 2])
    assert.equal(late.statuses.length, 1)
  }
  assert.ok(app.log.some((line) => /is left out: its followers load again/.test(line)))
  const events = await withSession(app.database, (session) =>
    subscribe(session, [HeroSaved], { topics: ['heroes'], after: lastId }),
  )
  const types: string[] = []
  for await (const { type } of events) if (types.push(type) === 2) break
  assert.deepEqual(types, ['reset', 'hero.saved'])
})

for (const kind of databases)
  test(`${kind.name}: after a promotion that lost the last commits, a connected client is told to load again`, async (t) => {
    const { app, publish, client } = await start(t, kind)
    await publish([1, 2])
    const one = client()
    await until('it is connected', () => one.lastId !== '')
    await publish([3, 4])
    await until('it has all', () => one.received.length === 2)
    // What the server has committed last is not there any more; its sequence may be further, or not.
    await withSession(app.database, async (session) => {
      await session.execute(sql`DELETE FROM feed_event WHERE position > 2`)
      await session.execute(sql`UPDATE feed_topic SET position = 2`)
    })
    await until('it is told', () => numbersOf(one).includes('reset'))
    await publish([5])
    await until('the next arrives', () => numbersOf(one).includes(5))
    assert.deepEqual(numbersOf(one), [3, 4, 'reset', 5])
  })

test('a subscription ends by its signal also while the database does not answer, and with the database', async (t) => {
  const { app } = await start(t, sqliteFile)
  const ending = new AbortController()
  const options = { topics: ['heroes'], signal: ending.signal }
  const events = await withSession(app.database, (session) => subscribe(session, [HeroSaved], options))
  const reading = app.database.sequelize.query('SELECT 1') // any
  const next = events.next()
  ending.abort()
  assert.equal((await next).done, true)
  await reading
  const others = await withSession(app.database, (session) => subscribe(session, [HeroSaved], { topics: ['heroes'] }))
  const last = others.next()
  await app.close()
  assert.equal((await last).done, true)
  const closed = await others.next()
  assert.equal(closed.done, true)
})

test('a client receives what was committed while it was behind, also if the database cannot be read then', async (t) => {
  const { publish, client } = await start(t, sqliteFile)
  const reading = client()
  await until('it is connected', () => reading.lastId !== '')
  await publish([1])
  await until('it arrives', () => reading.received.length === 1)
  const { lastId } = reading
  await publish([2])
  await until('it arrives, too', () => reading.received.length === 2)
  const reader = readerOf(feedDatabase())
  const readPages = reader.readPages.bind(reader)
  let reads = 0
  reader.readPages = async (...args) => {
    reads++
    if (reads === 2) throw new Error('The connection to the database is lost')
    const pages = await readPages(...args)
    if (reads > 1) return pages
    await publish([3])
    await until('it is offered to those who have read all', () => reading.received.length === 3)
    return pages
  }
  const behind = client('', lastId)
  await until('it has read what was not offered to it', () => numbersOf(behind).includes(3))
  assert.ok(reads > 2)
  await publish([4])
  await until('it has the last one', () => numbersOf(behind).includes(4))
  assert.deepEqual(numbersOf(behind), [2, 3, 4])
})
