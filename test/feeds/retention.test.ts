import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Op } from 'sequelize'
import { withSession } from 'sequitur'
import { FeedEvent, feedsOf } from 'sequitur/feeds'
import { FeedTopic } from '../../src/feeds/tables.js'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { until } from '../support/waiting.js'
import { feedModels, follow, Numbered, NumberedClient, NumberedController } from './numbered.js'

/*
 * Old events are deleted, and positions go on: a client whose last event is still there, or was the last one, misses nothing, and one that would miss something is told so.
 */

async function start(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, feedModels, [NumberedController], { lifespan: { echo: false } })
  const publish = (number: number, topic: string) =>
    withSession(app.database, async (session) => feedsOf(session).publish(Numbered, { number, topic }, { topic }))
  /** Deletes the first events of a topic, as the cleaning does; all, if no count is given. */
  const clean = (topic: string, count?: number) =>
    withSession(app.database, async () => {
      const events = await FeedEvent.findAll({
        where: { topic },
        order: ['position'],
        ...(count ? { limit: count } : {}),
      })
      const last = events.at(-1)
      if (!last) return
      const { topic_key, position } = last
      await FeedEvent.destroy({ where: { topic_key, position: { [Op.lte]: position } } })
      const row = await FeedTopic.findByPk(topic_key)
      if (row) await row.update({ deleted: position })
      else await FeedTopic.create({ topic_key, position: '0', deleted: position } as never)
    })
  return { ...app, publish, clean }
}

const resetsOf = ({ others }: NumberedClient) => others.map(({ type }) => type)

for (const kind of databases) {
  test(`${kind.name}: after all events of a topic were deleted, positions go on, and a client that was up to date misses nothing`, async (t) => {
    const { url, publish, clean } = await start(t, kind)
    const live = await follow(t, url, ['a', 'b'])
    for (const number of [1, 2, 3]) await publish(number, 'a')
    await live.has(3)
    const away = live.id
    await clean('a')
    await publish(4, 'a')
    await live.has(4)
    const back = await follow(t, url, ['a', 'b'], away)
    await publish(5, 'a')
    for (const client of [live, back]) await client.has(5)
    assert.deepEqual(live.numbers(), [1, 2, 3, 4, 5])
    assert.deepEqual(back.numbers(), [4, 5])
    assert.deepEqual([...resetsOf(live), ...resetsOf(back)], [])
  })

  test(`${kind.name}: a client that would miss deleted events is told so, and goes on with what is there`, async (t) => {
    const { url, publish, clean } = await start(t, kind)
    const early = await follow(t, url, ['a'])
    await publish(1, 'a')
    await early.has(1)
    const id = early.id
    for (const number of [2, 3, 4]) await publish(number, 'a')
    await early.has(4)
    await clean('a', 2)
    const late = await follow(t, url, ['a'], id)
    await until('it is told', () => resetsOf(late).length > 0) // what it loads then has everything that was committed before
    await publish(5, 'a')
    await late.has(5)
    assert.deepEqual(resetsOf(late), ['reset'])
    assert.equal(late.numbers().at(-1), 5)
    assert.deepEqual(resetsOf(early), [])
    const again = await follow(t, url, ['a'], late.id)
    await publish(6, 'a')
    await again.has(6)
    assert.deepEqual(resetsOf(again), [], 'it is told once')
    assert.deepEqual(again.numbers(), [6])
  })

  test(`${kind.name}: whatever is deleted meanwhile, clients that come and go miss nothing without a reset`, async (t) => {
    const { url, publish, clean } = await start(t, kind)
    const numbers = random(23)
    const topics = ['a', 'b']
    const last = new Map(topics.map((topic) => [topic, 0]))
    const live = await follow(t, url, topics)
    /** Clients that went away, with the last number of each topic that they have. */
    const away: { readonly id: string; readonly has: ReadonlyMap<string, number> }[] = []
    let resets = 0
    for (let step = 0; step < runs(240); step++) {
      const topic = topics[numbers(2)] as string // of two
      const number = Number(last.get(topic)) + 1
      await publish(number, topic)
      last.set(topic, number)
      const isCleaned = numbers(6) === 0
      if (isCleaned || numbers(4) === 0) {
        await until('the live client has it', () => live.numbers(topic).at(-1) === number)
        if (topics.every((one) => Number(last.get(one)) === (live.numbers(one).at(-1) ?? 0)))
          away.push({ id: live.id, has: new Map(last) })
      }
      if (isCleaned) await (numbers(5) === 0 ? clean(topic) : clean(topic, 1 + numbers(6)))
      const back = numbers(5) === 0 ? away.splice(numbers(away.length), 1)[0] : undefined
      if (back) resets += await comeBack(t, url, topics, back, last)
    }
    for (const topic of topics) {
      await until('the live client has all', () => live.numbers(topic).at(-1) === last.get(topic))
      assert.deepEqual(
        live.numbers(topic),
        Array.from({ length: Number(last.get(topic)) }, (_, index) => index + 1),
      )
    }
    assert.deepEqual(resetsOf(live), [], 'a client that is up to date is never reset')
    t.diagnostic(`${resets} resets`)
  })
}

/** It receives all that it has missed, or is told that it cannot. Returns the number of resets. */
async function comeBack(
  t: TestContext,
  url: string,
  topics: readonly string[],
  { id, has }: { readonly id: string; readonly has: ReadonlyMap<string, number> },
  last: ReadonlyMap<string, number>,
): Promise<number> {
  const client = await follow(t, url, topics, id)
  const isMissing = (topic: string) => last.get(topic) !== has.get(topic)
  await until(
    'it has what it has missed, or is told',
    () =>
      client.others.length > 0 ||
      topics.every((topic) => !isMissing(topic) || client.numbers(topic).at(-1) === last.get(topic)),
  )
  await client.stop()
  if (client.others.length > 0) {
    assert.deepEqual(resetsOf(client), ['reset'])
    return 1
  }
  for (const topic of topics)
    assert.deepEqual(
      client.numbers(topic),
      Array.from(
        { length: Number(last.get(topic)) - Number(has.get(topic)) },
        (_, index) => Number(has.get(topic)) + 1 + index,
      ),
    )
  return 0
}
