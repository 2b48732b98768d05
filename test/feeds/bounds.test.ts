// The same on both query paths: it tests what is kept of events that were read.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Controller, Events, Field, Get, Query, withSession } from 'sequitur'
import { Event, Feed, feedsOf, subscribe, type SubscribedEvent } from 'sequitur/feeds'
import { connection } from '../support/connection.js'
import { databaseApp, type DatabaseApp, sqliteFile } from '../support/databases.js'
import { EventClient } from '../support/event-client.js'
import { MEBIBYTE, usedMemory } from '../support/used-memory.js'
import { until } from '../support/waiting.js'
import { feedModels } from './numbered.js'

/*
 * What clients that read too slowly may cost.
 */

const TOPIC = 'big'
const TEXT = 'x'.repeat(10_000)
/** More than 1 MiB, and what the kernel and Node.js keep of a connection besides. */
const TOO_MANY = 1_600
/** Less than 1 MiB. */
const NOT_TOO_MANY = 80
/** Clients that never read. */
const SLEEPERS = 12

@Event('law.big')
class Big {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
}

@Controller('/events')
class BigController {
  @Get('/', Events.of(Big))
  follow(
    feed: Feed,
    @Query({ type: 'integer', default: 600_000 }) max_age: number,
    @Query({ type: [String], default: [TOPIC] }) topic: string[],
  ) {
    return feed.follow([Big], { topics: topic, maxAge: max_age })
  }

  @Get('/beating', Events.of(Big))
  beat(feed: Feed) {
    return feed.follow([Big], { topics: [TOPIC], heartbeat: 10 })
  }
}

const start = (t: TestContext) => databaseApp(t, sqliteFile, feedModels, [BigController], { lifespan: { echo: false } })

async function follow(t: TestContext, url: string, maxAge: () => number = () => 600_000, query = '', id = '') {
  const numbers: number[] = []
  const client = new EventClient({
    url: () => `${url}/events?max_age=${maxAge()}&${query}`,
    id,
    receive: ({ type, data }) => {
      assert.equal(type, 'law.big')
      numbers.push((JSON.parse(data) as Big).number) // as the route declares
    },
  })
  t.after(() => client.stop())
  await until('it is connected', () => client.id !== '')
  return { client, numbers, firstId: client.id }
}

/** Some in each transaction. */
async function publish(
  { database }: DatabaseApp,
  first: number,
  count: number,
  text: string,
  topic = TOPIC,
): Promise<void> {
  for (let number = first; number < first + count; number += 20)
    await withSession(database, async (session) => {
      for (let n = number; n < Math.min(number + 20, first + count); n++)
        feedsOf(session).publish(Big, { number: n, text }, { topic })
    })
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test('a client that stops reading is cut off when its buffer is full, and goes on with its last id; others receive everything at once', async (t) => {
  const app = await start(t)
  const slow = await follow(t, app.url)
  const fast = await follow(t, app.url)
  slow.client.pause()
  for (let first = 0; first < TOO_MANY; first += NOT_TOO_MANY) {
    await publish(app, first, NOT_TOO_MANY, TEXT)
    const count = first + NOT_TOO_MANY
    await until('the other client has all', () => fast.numbers.length === count) // a busy process may let it wait
  }
  assert.equal(fast.client.connections, 1)
  assert.ok(slow.numbers.length < TOO_MANY)
  slow.client.readOn()
  await until('it has the last event', () => slow.numbers.at(-1) === TOO_MANY - 1)
  assert.deepEqual(slow.numbers, upTo(TOO_MANY))
  assert.ok(slow.client.connections > 1, 'it was cut off')
  assert.deepEqual(slow.client.errors, [])
})

test('a client that is slow for a moment is not cut off', async (t) => {
  const app = await start(t)
  const { client, numbers } = await follow(t, app.url)
  client.pause()
  await publish(app, 0, 900, 'x')
  client.readOn()
  await until('it has the last event', () => numbers.at(-1) === 899)
  assert.deepEqual(numbers, upTo(900))
  assert.equal(client.connections, 1)
})

test('clients that come back, and never read, cost one page of their topics each', async (t) => {
  const app = await start(t)
  const topics = Array.from({ length: 8 }, (_, number) => `topic ${number}`)
  const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')
  const early = await follow(t, app.url, undefined, query)
  for (const topic of topics) await publish(app, 0, 100, TEXT, topic)
  await until('one that reads has all', () => early.numbers.length === 8 * 100)
  const before = usedMemory()
  const sleepers = Array.from({ length: SLEEPERS }, () => connect(Number(new URL(app.url).port), '127.0.0.1').pause())
  for (const socket of sleepers)
    socket.write(`GET /events?${query} HTTP/1.1\r\nHost: a\r\nLast-Event-ID: ${early.firstId}\r\n\r\n`)
  const late = await follow(t, app.url, undefined, query, early.firstId)
  await until('one that comes last has all', () => late.numbers.length === 8 * 100, 20, 30_000)
  const most = (usedMemory() - before) / MEBIBYTE / SLEEPERS
  for (const socket of sleepers) socket.destroy() // an app that closes would wait for them
  t.diagnostic(`${most.toFixed(2)} MiB each`)
  assert.ok(most < 1.5)
})

test('a stream that ends because of its age loses nothing, however slow its client is', async (t) => {
  const app = await start(t)
  const clients = await Promise.all(
    Array.from({ length: 12 }, () => follow(t, app.url, () => 200 + Math.floor(Math.random() * 900))),
  )
  // Each connection is read for a moment, and then only when its stream has ended.
  const connections = new Map<EventClient, number>()
  const reading = setInterval(() => {
    for (const { client } of clients) {
      if (connections.get(client) === client.connections) continue
      connections.set(client, client.connections)
      client.pause()
      setTimeout(() => client.readOn(), 1_200)
    }
  }, 20)
  t.after(() => clearInterval(reading))
  await publish(app, 0, TOO_MANY, TEXT)
  clearInterval(reading)
  for (const { client, numbers } of clients) {
    await until('it has the last event', () => numbers.at(-1) === TOO_MANY - 1)
    assert.deepEqual(numbers, upTo(TOO_MANY))
    assert.deepEqual(client.errors, [])
  }
  assert.ok(clients.reduce((sum, { client }) => sum + client.connections, 0) > 2 * clients.length)
})

test('a stream without events has heartbeats', async (t) => {
  const app = await start(t)
  const reading = connection(t, app.url)
  reading.send('GET /events/beating HTTP/1.1\nHost: a\n\n')
  await reading.received(/(:\n\n[^]*){5}/)
})

test('a program that takes events slowly has at most 1,000 of them in memory, and receives all', async (t) => {
  const app = await start(t)
  const end = new AbortController()
  t.after(() => end.abort())
  const events = await withSession(app.database, (session) =>
    subscribe(session, [Big], { topics: [TOPIC], signal: end.signal }),
  )
  const numbers: number[] = []
  const take = async () => {
    const { value } = (await events.next()) as IteratorYieldResult<SubscribedEvent<Big>> // it has no end
    numbers.push(Number(value.data?.number))
  }
  await publish(app, 0, 1, 'x')
  await take()
  const before = usedMemory()
  await publish(app, 1, 4_000, TEXT)
  const most = (usedMemory() - before) / MEBIBYTE
  t.diagnostic(`${most.toFixed(1)} MiB`)
  assert.ok(most < 15)
  while (numbers.length <= 4_000) await take()
  assert.deepEqual(numbers, upTo(4_001))
})
