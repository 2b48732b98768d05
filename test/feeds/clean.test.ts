import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, sql, withSession } from 'sequitur'
import { Event, FeedEvent, feedsOf, forward } from 'sequitur/feeds'
import { type DatabaseApp, databaseApp, mysqls, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { gate, until } from '../support/waiting.js'

@Event('note.added')
class NoteAdded {
  @Field({ type: 'integer' }) n!: number
}

const DAY = 24 * 60 * 60_000

async function publish(app: DatabaseApp, count: number, topic: string): Promise<void> {
  await withSession(app.database, async (session) => {
    for (let n = 1; n <= count; n++) feedsOf(session).publish(NoteAdded, { n }, { topic })
  })
}

async function countOf(app: DatabaseApp, topic: string): Promise<number> {
  const rows = await withSession(app.database, (session) =>
    session.execute<{ n: string | number }>(sql`SELECT count(*) AS n FROM feed_event WHERE topic = ${topic}`),
  )
  return Number(rows[0]?.n)
}

/** A database with 450 events of the topic "a", and 5 of "b", that are eight days old; what opens an app on it. */
async function withOldEvents(t: TestContext, kind: TestDatabase) {
  const url = await kind.url()
  const same = { name: kind.name, url: () => Promise.resolve(url) }
  const open = (options: Parameters<typeof databaseApp>[4] = {}) => databaseApp(t, same, [FeedEvent], [], options)
  const first = await open()
  for (const count of [250, 200]) await publish(first, count, 'a')
  await publish(first, 5, 'b')
  await cleaningOf(first) // which would delete some of them, once they are old
  await withSession(first.database, (session) =>
    session.execute(sql`UPDATE feed_event SET created = created - ${8 * DAY}`),
  )
  const last = await lastOf(first, 'a')
  await first.close()
  return { open, last }
}

async function lastOf(app: DatabaseApp, topic: string): Promise<number> {
  const rows = await withSession(app.database, (session) =>
    session.execute<{ last: string | number | null }>(
      sql`SELECT max(position) AS last FROM feed_event WHERE topic = ${topic}`,
    ),
  )
  return Number(rows[0]?.last)
}

async function deletedOf(app: DatabaseApp, position: number): Promise<boolean> {
  const rows = await withSession(app.database, (session) =>
    session.execute(sql`SELECT topic_key FROM feed_topic WHERE deleted = ${position}`),
  )
  return rows.length === 1
}

/** The statements of a cleaning that has ended, and of what else is executed meanwhile. */
async function cleaningOf({ log }: DatabaseApp): Promise<readonly string[]> {
  let ended: readonly string[] = []
  await until('the cleaning has ended', () => {
    const first = log.findIndex((line) => line.includes('FROM feed_event WHERE created <'))
    const end = log.findIndex((line, index) => first >= 0 && index > first && line.includes('COMMIT'))
    ended = log.slice(first, end)
    return end >= 0
  })
  return ended
}

for (const kind of [sqliteFile, postgres, ...mysqls]) {
  const named = (title: string) => `${title} on ${kind.name}`

  test(
    named('events are deleted after seven days, and each topic has the last position that was deleted'),
    async (t) => {
      const { open, last } = await withOldEvents(t, kind)
      const app = await open()
      await publish(app, 1, 'a')
      await until('the old ones are deleted', async () => (await countOf(app, 'a')) === 1)
      assert.equal(await countOf(app, 'b'), 0)
      assert.ok(await deletedOf(app, last))
      assert.ok((await lastOf(app, 'a')) > last)
    },
  )

  test(named('events that a relay has not published are kept'), async (t) => {
    const { open } = await withOldEvents(t, kind)
    const seen: number[] = []
    let isAway = true
    const relay = forward({ name: 'slow', events: [NoteAdded], batch: 300, timeout: 5_000 }, async (events) => {
      if (isAway) throw new Error('the broker is away')
      seen.push(...events.map(({ data }) => data.n))
    })
    const app = await open({ relays: [relay], work: {} })
    await until('the relay has failed', () => app.log.some((line) => line.includes('has failed to publish')))
    await publish(app, 1, 'a')
    await until('the cleaning has looked', () => app.log.some((line) => line.includes('FROM feed_relay relay')))
    assert.equal(await countOf(app, 'a'), 451)
    isAway = false
    await until('all are published', () => seen.length === 456)
    await app.close()
    const again = await open({ relays: [relay], work: {} })
    await publish(again, 1, 'a')
    await until('the old ones are deleted', async () => (await countOf(again, 'a')) === 2)
  })
}

// There, a DELETE waits for rows of others that it does not delete.
for (const kind of mysqls)
  test(`events are left to the process that deletes them already, on ${kind.name}`, async (t) => {
    const { open } = await withOldEvents(t, kind)
    const app = await open()
    const { opened, open: release } = gate()
    const locked = gate()
    const other = withSession(app.database, async (session) => {
      const first = sql`SELECT position FROM feed_event ORDER BY created, topic_key, position LIMIT 1 FOR UPDATE`
      assert.equal((await session.execute(first)).length, 1)
      locked.open()
      await opened
    })
    await locked.opened
    await publish(app, 1, 'a')
    const cleaning = await cleaningOf(app)
    release()
    await other
    assert.deepEqual(
      cleaning.filter((line) => line.includes('DELETE')),
      [],
    )
    await app.close()
    const again = await open()
    await publish(again, 1, 'a')
    await until('they are deleted', async () => (await countOf(again, 'a')) === 2)
  })
