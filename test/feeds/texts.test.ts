import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Sequelize } from 'sequelize'
import { Controller, Events, Field, Get, Query, withSession } from 'sequitur'
import { createFeedTables, Event, Feed, FeedEvent, feedsOf, InvalidEventData } from 'sequitur/feeds'
import { databaseApp, databases, mysqls, type TestDatabase } from '../support/databases.js'
import { EventClient } from '../support/event-client.js'
import { hostile } from '../support/hostile-texts.js'
import { mariadbOptions } from '../support/mariadb.js'
import { until } from '../support/waiting.js'

/*
 * Whatever texts and numbers the data of events and their topics have, clients receive the same; or they are refused where they are published.
 */

@Event('law.text')
class Text {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
  @Field({ type: Number, default: 0 }) value!: number
}

@Controller('/texts')
class TextController {
  @Get('/', Events.of(Text))
  follow(feed: Feed, @Query({ type: [String] }) topic: string[]) {
    return feed.follow([Text], { topics: topic })
  }
}

const TEXTS = [
  ...hostile,
  '',
  ' ',
  'data: x\n\nid: 7\n\n',
  'a\rb\r\nc\u0085d\u2028e\u2029f',
  '\u0001\u001f\u007f\u0080',
  '\ufeffbom',
  'ümläut Ünicode 漢字 🦸‍♀️',
  'e\u0301 \u00e9',
  'x'.repeat(20_000),
  '🦸'.repeat(5_000),
]
const NUMBERS = [0, -1, 0.1, 1e21, -1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 123456789.12345679]
const TOPICS = ['a', 'A', 'ä', 'Ä', 'a\u0308', "topic ' OR 1=1 --", '🦸'.repeat(50), 'x'.repeat(100)]

async function start(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, [FeedEvent], [TextController], { lifespan: { echo: false } })
  const publish = (events: readonly Partial<Text>[], topic: string) =>
    withSession(app.database, async (session) => {
      for (const { number = 0, text = '', value = 0 } of events)
        feedsOf(session).publish(Text, { number, text, value }, { topic })
    })
  const follow = async (topic: string) => {
    const received: Text[] = []
    const client = new EventClient({
      url: () => `${app.url}/texts?topic=${encodeURIComponent(topic)}`,
      receive: ({ data }) => received.push(JSON.parse(data) as Text), // as the route declares
    })
    t.after(() => client.stop())
    await until('it is connected', () => client.id !== '')
    return { client, received }
  }
  return { publish, follow }
}

for (const kind of databases) {
  test(`${kind.name}: texts and numbers are received as they were published`, async (t) => {
    const { publish, follow } = await start(t, kind)
    const { client, received } = await follow('a')
    const events = [
      ...TEXTS.map((text, number) => ({ number, text, value: 0 })),
      ...NUMBERS.map((value, number) => ({ number: TEXTS.length + number, text: 'n', value })),
    ]
    for (const event of events) await publish([event], 'a')
    await until('all are received', () => received.length === events.length)
    assert.deepEqual(received, events)
    assert.deepEqual(client.errors, [])
  })

  test(`${kind.name}: data that a database or a stream cannot have is refused where it is published`, async (t) => {
    const { publish, follow } = await start(t, kind)
    const { received } = await follow('a')
    for (const text of ['\0', 'a\0b', '\ud800', 'x\udc00y', 'x'.repeat(70_000)])
      await assert.rejects(publish([{ text }], 'a'), InvalidEventData, JSON.stringify(text.slice(0, 10)))
    for (const value of [NaN, Infinity]) await assert.rejects(publish([{ value }], 'a'), InvalidEventData)
    await publish([{ number: 1, text: '\\u0000 \\ud800' }], 'a')
    await until('the last one is received', () => received.length > 0)
    assert.deepEqual(
      received.map(({ text }) => text),
      ['\\u0000 \\ud800'],
    )
  })

  test(`${kind.name}: topics whose names look alike are different ones`, async (t) => {
    const { publish, follow } = await start(t, kind)
    const clients = await Promise.all(TOPICS.map(follow))
    for (const [number, topic] of TOPICS.entries()) await publish([{ number, text: topic }], topic)
    for (const [number, { received }] of clients.entries()) {
      await until('its event is received', () => received.length > 0)
      assert.deepEqual(received, [{ number, text: TOPICS[number], value: 0 }])
    }
  })

  test(`${kind.name}: hundreds of events of one transaction are in the order of their calls`, async (t) => {
    const { publish, follow } = await start(t, kind)
    const { received } = await follow('a')
    const events = Array.from({ length: 350 }, (_, number) => ({ number }))
    await publish(events, 'a')
    await until('all are received', () => received.length === events.length)
    assert.deepEqual(
      received.map(({ number }) => number),
      events.map(({ number }) => number),
    )
  })
}

for (const kind of mysqls)
  for (const byMigration of [true, false])
    test(`${kind.name}: events have every character in a database of latin1, with tables of ${byMigration ? 'a migration' : 'sync'}`, async (t) => {
      const url = await kind.url()
      const sequelize = new Sequelize(mariadbOptions(url))
      await sequelize.query(`ALTER DATABASE CHARACTER SET latin1`)
      if (byMigration) await createFeedTables(sequelize.getQueryInterface())
      await sequelize.close()
      const { publish, follow } = await start(t, { ...kind, url: () => Promise.resolve(url) })
      const { received } = await follow('Łódź 🦸')
      await publish([{ number: 1, text: 'Łódź 🦸' }], 'Łódź 🦸')
      await until('it is received', () => received.length > 0)
      assert.deepEqual(received, [{ number: 1, text: 'Łódź 🦸', value: 0 }])
    })
