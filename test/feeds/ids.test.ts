import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { withSession } from 'sequitur'
import { feedsOf } from 'sequitur/feeds'
import { databaseApp, databases, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { until } from '../support/waiting.js'
import { feedModels, follow, Numbered, NumberedController } from './numbered.js'

/*
 * What clients send as their last id: one of ours goes on, and any other is a 400 or begins anew, and never a 500.
 */

const TOPICS = ['one', 'two']

async function start(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, feedModels, [NumberedController], { lifespan: { echo: false } })
  const publish = (number: number, topics: readonly string[] = TOPICS) =>
    withSession(app.database, async (session) => {
      for (const topic of topics) feedsOf(session).publish(Numbered, { number, topic }, { topic })
    })
  /** The status of a stream that is asked for with this id, and of which nothing is read. */
  const statusOf = async (id: string, topics: readonly string[] = TOPICS) => {
    const leave = new AbortController()
    const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')
    const { status } = await fetch(`${app.url}/events?${query}`, {
      headers: { 'last-event-id': id },
      signal: leave.signal,
    })
    leave.abort()
    return status
  }
  return { ...app, publish, statusOf }
}

test('topics that are none, and too many, are a 400', async (t) => {
  const { url, log } = await start(t, sqliteMemory)
  const many = Array.from({ length: 9 }, (_, n) => `topic ${n}`)
  for (const topics of [[' x'], ['x '], ['x'.repeat(101)], ['one', ' x'], many]) {
    const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')
    const response = await fetch(`${url}/events?${query}`)
    assert.equal(response.status, 400)
    assert.match(((await response.json()) as { readonly detail: string }).detail, / topic/)
  }
  assert.deepEqual(log, [])
})

for (const kind of databases) {
  test(`${kind.name}: an id that is none of ours is a 400`, async (t) => {
    const { url, publish, statusOf, log } = await start(t, kind)
    const client = await follow(t, url, TOPICS)
    await publish(1)
    await client.has(1)
    const [first = '', second = ''] = client.id.split('~')
    const [key = '', position = ''] = first.split('.')
    assert.equal(await statusOf(client.id), 200)
    const forged = [
      '0',
      '-1',
      '1.1',
      '.',
      '~',
      `${client.id}~`,
      `~${client.id}`,
      `${key}.`,
      `${key}.-1`,
      `${key}.1.5`,
      `${key}.1e3`,
      `${key}.0x1`,
      `${key}. 1`,
      `${key}.${'9'.repeat(19)}`,
      `${key}.${'9'.repeat(400)}`,
      `${key}.NaN`,
      `${key}.1'; DROP TABLE feed_event; --`,
      `.${position}`,
      `${key.slice(1)}.${position}`,
      `${key}x.${position}`,
      `${first}~${first}`,
      `${first},${second}`,
      Array.from({ length: 9 }, () => first).join('~'),
      'ü',
    ]
    for (const id of forged) assert.equal(await statusOf(id), 400, id)
    assert.deepEqual(
      log.filter((line) => line.includes('500')),
      [],
    )
  })

  test(`${kind.name}: whatever was changed in an id, the answer is a stream or a 400`, async (t) => {
    const { url, publish, statusOf } = await start(t, kind)
    const client = await follow(t, url, TOPICS)
    await publish(1)
    await client.has(1)
    const numbers = random(5)
    const characters = [...'0123456789.~-_azAZ\t', "'", '"', '%', ' ', ',', '\u00e9']
    const statuses = new Map<number, number>()
    for (let run = 0; run < runs(400); run++) {
      const id = [...client.id]
      for (let changes = 1 + numbers(3); changes > 0; changes--)
        id.splice(numbers(id.length), numbers(3), ...characters.slice(numbers(characters.length)).slice(0, numbers(2)))
      const status = await statusOf(id.join('').trim())
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    t.diagnostic(JSON.stringify([...statuses]))
    assert.deepEqual(
      [...statuses.keys()].filter((status) => status !== 200 && status !== 400),
      [],
    )
    await publish(2)
    await client.has(2)
  })

  test(`${kind.name}: a client that comes back for another topic goes on with those that it has followed, and is told once of that one`, async (t) => {
    const { url, publish } = await start(t, kind)
    const client = await follow(t, url, ['one', 'two'])
    await publish(1)
    await client.has(1)
    await client.stop()
    await publish(2, ['one', 'two', 'three'])
    const other = await follow(t, url, ['two', 'three'], client.id)
    await until('it is told', () => other.others.length > 0)
    await publish(3, ['one', 'two', 'three'])
    await other.has(3)
    await publish(4, ['two'])
    await other.has(4)
    assert.deepEqual(other.numbers('two'), [2, 3, 4])
    assert.deepEqual(other.numbers('three'), [3])
    assert.deepEqual(other.numbers('one'), [])
    assert.deepEqual(
      other.others.map(({ type }) => type),
      ['reset'],
    )
  })
}
