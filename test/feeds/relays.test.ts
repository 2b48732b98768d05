import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, type Session, sql, withSession } from 'sequitur'
import { Event, FeedEvent, feedsOf, forward, type RelayedEvent } from 'sequitur/feeds'
import { Log } from '../../src/http/server/logger.js'
import { type DatabaseApp, databaseApp, databases, mysqls, postgres, type TestDatabase } from '../support/databases.js'
import { gate, until } from '../support/waiting.js'

@Event('note.added')
class NoteAdded {
  @Field({ type: 'integer' }) n!: number
}

@Event('note.moved', { order: 'none' })
class NoteMoved {
  @Field({ type: 'integer' }) n!: number
}

@Event('note.removed')
class NoteRemoved {
  @Field({ type: 'integer' }) n!: number
}

type Publish = (events: readonly RelayedEvent[], signal: AbortSignal) => Promise<unknown> | void

/** A relay that keeps what it has published. */
function keeping(publish: Publish = () => {}, batch = 100) {
  const events: RelayedEvent[] = []
  const relay = forward(
    { name: 'test', events: [NoteAdded, NoteMoved], batch, timeout: 5_000 },
    async (some, signal) => {
      await publish(some, signal)
      events.push(...some)
    },
  )
  return { relay, events, numbers: () => numbers(events) }
}

const numbers = (events: readonly RelayedEvent[]) => events.map(({ data }) => (data as NoteAdded).n)

/** An app with a relay that keeps what it has published. */
async function relayApp(t: TestContext, kind: TestDatabase, publish?: Publish, batch?: number) {
  const kept = keeping(publish, batch)
  const app = await databaseApp(t, kind, [FeedEvent], [], { relays: [kept.relay], work: {} })
  return { app, ...kept }
}

function publish(app: DatabaseApp, n: number, topic: string, event: typeof NoteAdded = NoteAdded): Promise<void> {
  return withSession(app.database, async (session) => feedsOf(session).publish(event, { n }, { topic }))
}

/** Keeps whoever publishes in the topic "held" between its INSERT and its COMMIT, until the session ends. */
async function hold(app: DatabaseApp, session: Session): Promise<void> {
  const isPostgres = app.database.sequelize.getDialect() === 'postgres'
  const setUp = isPostgres
    ? [
        sql`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'`,
        sql`CREATE TRIGGER hold AFTER INSERT ON feed_event FOR EACH ROW WHEN (NEW.topic = 'held') EXECUTE FUNCTION hold()`,
      ]
    : [
        sql`CREATE TRIGGER hold AFTER INSERT ON feed_event FOR EACH ROW SET @held = IF(NEW.topic = 'held', GET_LOCK(DATABASE(), 20), 0)`,
      ]
  for (const statement of setUp) await withSession(app.database, (own) => own.execute(statement))
  await session.execute(
    isPostgres ? sql`SELECT pg_advisory_xact_lock(1)` : sql`SELECT GET_LOCK(DATABASE(), 20) AS held`,
  )
}

async function release(app: DatabaseApp, session: Session): Promise<void> {
  if (app.database.sequelize.getDialect() === 'postgres') return
  await session.execute(sql`SELECT RELEASE_LOCK(DATABASE()) AS released`)
}

for (const kind of databases) {
  const named = (title: string) => `${title} on ${kind.name}`

  test(named('a relay publishes the events of its classes, those of a topic in their order'), async (t) => {
    const { app, events } = await relayApp(t, kind)
    for (let n = 1; n <= 30; n++) await publish(app, n, `topic ${n % 3}`, n % 5 === 0 ? NoteRemoved : NoteAdded)
    await until('all are published', () => events.length === 24)
    for (const rest of [0, 1, 2]) {
      const ofTopic = events.filter(({ topic }) => topic === `topic ${rest}`)
      const expected = Array.from({ length: 30 }, (_, n) => n + 1).filter((n) => n % 3 === rest && n % 5 !== 0)
      assert.deepEqual(numbers(ofTopic), expected)
    }
    assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(['note.added']))
  })

  test(named('a function that throws is called again with the same events, and then with the next'), async (t) => {
    const calls: number[][] = []
    const { app, numbers: all } = await relayApp(
      t,
      kind,
      (events) => {
        calls.push(numbers(events))
        if (calls.length === 1) throw new Error('the broker is away')
      },
      2,
    )
    await withSession(app.database, async (session) => {
      for (let n = 1; n <= 5; n++) feedsOf(session).publish(NoteAdded, { n }, { topic: 'one' })
    })
    await until('all are published', () => all().length === 5)
    assert.deepEqual(calls, [[1, 2], [1, 2], [3, 4], [5]])
    assert.match(app.log.join('\n'), /The relay test has failed to publish 2 events, from .* and tries again/)
    assert.match(app.log.join('\n'), /The relay test publishes again/)
  })

  test(named('events without an order are published, each once'), async (t) => {
    const { app, numbers: all } = await relayApp(t, kind)
    await Promise.all(Array.from({ length: 40 }, (_, n) => publish(app, n, `topic ${n % 2}`, NoteMoved)))
    await until('all are published', () => all().length >= 40)
    assert.deepEqual(
      all().toSorted((a, b) => a - b),
      Array.from({ length: 40 }, (_, n) => n),
    )
  })
}

/** Whether a transaction waits for a lock. */
async function isHeld(app: DatabaseApp): Promise<boolean> {
  const isPostgres = app.database.sequelize.getDialect() === 'postgres'
  const waiting = isPostgres
    ? sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    : sql`SELECT 1 FROM information_schema.processlist WHERE state = 'User lock' AND db = DATABASE()`
  return (await withSession(app.database, (session) => session.execute(waiting))).length > 0
}

/** Has the work run while an event is inserted, and its transaction not committed. */
async function whileHeld(app: DatabaseApp, event: typeof NoteAdded, work: () => Promise<void>): Promise<void> {
  const { opened, open } = gate()
  const holds = gate()
  const holding = withSession(app.database, async (session) => {
    await hold(app, session)
    holds.open()
    await opened
    await release(app, session)
  })
  await holds.opened
  const late = publish(app, 1, 'held', event)
  await until('it is inserted', () => isHeld(app))
  await work()
  open()
  await Promise.all([holding, late])
}

for (const kind of [postgres, ...mysqls])
  for (const event of [NoteAdded, NoteMoved])
    test(`a relay publishes an event of ${event.name} that becomes visible after a later one, on ${kind.name}`, async (t) => {
      const { app, numbers: all } = await relayApp(t, kind)
      await whileHeld(app, event, async () => {
        const looks = () =>
          app.log.filter((line) => line.includes('feed_relay_topic seen') || line.includes('pg_locks')).length
        await publish(app, 2, 'other')
        const before = looks()
        await until('the relay has looked', () => looks() > before + 1)
      })
      await until('both are published', () => all().length === 2)
      assert.deepEqual(all().toSorted(), [1, 2])
    })

test('a relay stops while it waits for the commit of an event', async (t) => {
  const app = await databaseApp(t, postgres, [FeedEvent], [])
  const { relay, numbers: all } = keeping()
  const write = (line: string) => void app.log.push(line)
  const running = await relay.start(new Log({ info: write, warn: write, error: write }, 'text'))
  await whileHeld(app, NoteAdded, async () => {
    const looks = () => app.log.filter((line) => line.includes('pg_locks')).length
    await publish(app, 2, 'other')
    const before = looks()
    await until('the relay waits', () => looks() > before + 1)
    let hasStopped = false
    void running.stop(60_000).then(() => (hasStopped = true))
    await until('it has stopped', () => hasStopped)
  })
  assert.deepEqual(all(), [])
})

test('a reader of all positions after the last one loses an event on PostgreSQL', async (t) => {
  const app = await databaseApp(t, postgres, [FeedEvent], [])
  const read = (after: number) =>
    withSession(app.database, (session) =>
      session.execute<{ topic: string; position: string }>(
        sql`SELECT topic, position FROM feed_event WHERE position > ${after} ORDER BY position`,
      ),
    )
  let last = 0
  await whileHeld(app, NoteAdded, async () => {
    await publish(app, 2, 'other')
    last = Number((await read(0)).at(-1)?.position)
  })
  assert.deepEqual(await read(last), [])
  assert.deepEqual(
    (await read(0)).map(({ topic }) => topic),
    ['held', 'other'],
  )
})

for (const kind of [postgres, ...mysqls])
  test(`a transaction that has not reached its end delays no event on ${kind.name}`, async (t) => {
    const { app, numbers: all } = await relayApp(t, kind)
    const { opened, open } = gate()
    const written = gate()
    const slow = withSession(app.database, async (session) => {
      feedsOf(session).publish(NoteAdded, { n: 2 }, { topic: 'a' })
      await session.execute(sql`INSERT INTO feed_topic (topic_key, position, deleted) VALUES ('written', 0, 0)`)
      written.open()
      await opened
    })
    await written.opened
    await publish(app, 1, 'a')
    await until('it is published', () => all().length === 1)
    open()
    await slow
    await until('both are published', () => all().length === 2)
    assert.deepEqual(all(), [1, 2])
  })
