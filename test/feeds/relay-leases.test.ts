import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, type Session, sql, withSession } from 'sequitur'
import { Event, FeedEvent, feedsOf, forward, LostRelayError, type RelayedEvent, RelayTimeout } from 'sequitur/feeds'
import { databaseApp, mysqls, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { gate, until } from '../support/waiting.js'

@Event('note.added')
class NoteAdded {
  @Field({ type: 'integer' }) n!: number
}

type Publish = (events: readonly RelayedEvent[], signal: AbortSignal) => Promise<unknown> | void

/** Opens apps with the same relay on one database. @param lease milliseconds: far more than a renewal takes on a busy machine. */
async function opener(t: TestContext, kind: TestDatabase, lease = 1_500) {
  const url = await kind.url()
  const same = { name: kind.name, url: () => Promise.resolve(url) }
  return async (publish: Publish, { timeout = 30_000, ownLease = lease } = {}) => {
    process.env['toolkit_job_lease'] = String(ownLease) // read by the start
    const relays = [forward({ name: 'test', events: [NoteAdded], timeout }, publish)]
    const app = await databaseApp(t, same, [FeedEvent], [], { relays, work: {} })
    delete process.env['toolkit_job_lease']
    return {
      ...app,
      publish: (n: number, topic = 'a') =>
        withSession(app.database, async (session) => feedsOf(session).publish(NoteAdded, { n }, { topic })),
      execute: <Row>(work: (session: Session) => Promise<Row>) => withSession(app.database, work),
    }
  }
}

const numbers = (events: readonly RelayedEvent[]) => events.map(({ data }) => (data as NoteAdded).n)

for (const kind of [sqliteFile, postgres, ...mysqls]) {
  const named = (title: string) => `${title} on ${kind.name}`

  test(named('a relay is left to the process that has it until its lease ends, or it is closed'), async (t) => {
    const open = await opener(t, kind)
    const seen: number[] = []
    const keep = (events: readonly RelayedEvent[]) => void seen.push(...numbers(events))
    const app = await open(keep)
    await app.publish(1)
    const offset = sql`SELECT position FROM feed_relay WHERE position > 0 UNION SELECT position FROM feed_relay_topic`
    await until('it is published', async () => (await app.execute((session) => session.execute(offset))).length > 0)
    const far = Date.now() + 3_600_000
    await app.execute((session) =>
      session.execute(sql`UPDATE feed_relay SET taken_by = 'another', valid_until = ${far}`),
    )
    const tries = () => app.log.filter((line) => line.includes('taken_by IS NULL OR')).length
    const before = tries()
    await until('it is lost', () => tries() > before + 1)
    await app.publish(2)
    await until('it is tried again', () => tries() > before + 3)
    assert.deepEqual(seen, [1])
    await app.execute((session) => session.execute(sql`UPDATE feed_relay SET valid_until = 0`))
    await until('it is published', () => seen.length === 2)
    await app.close()
    const again = await open(keep, { ownLease: 30_000 }) // it is tried seldom then
    await again.publish(3)
    await until('it goes on', () => seen.length === 3)
    assert.deepEqual(seen, [1, 2, 3])
    assert.ok(again.log.filter((line) => line.includes('taken_by IS NULL OR')).length <= 1) // it is free at once
  })

  test(named('a process that has lost its relay is aborted, and does not write the offset'), async (t) => {
    const open = await opener(t, kind)
    const { opened, open: release } = gate()
    const calls: { readonly numbers: number[]; readonly signal: AbortSignal }[] = []
    const app = await open(async (events, signal) => {
      calls.push({ numbers: numbers(events), signal })
      if (calls.length === 1) await opened
    })
    t.after(release)
    await app.publish(1)
    await until('it publishes', () => calls.length === 1)
    const far = Date.now() + 3_600_000
    await app.execute((session) =>
      session.execute(sql`UPDATE feed_relay SET taken_by = 'another', valid_until = ${far}`),
    )
    await until('it is aborted', () => calls[0]?.signal.aborted === true)
    assert.ok(calls[0]?.signal.reason instanceof LostRelayError)
    release()
    await app.execute((session) => session.execute(sql`UPDATE feed_relay SET taken_by = NULL`))
    await until('it is published again', () => calls.length === 2)
    assert.deepEqual(calls[1]?.numbers, [1])
  })
}

for (const kind of [postgres, ...mysqls])
  test(`a relay is aborted when its lease has ended, while its renewal is not answered, on ${kind.name}`, async (t) => {
    const open = await opener(t, kind, 3_000)
    const signals: AbortSignal[] = []
    const { opened, open: release } = gate()
    const app = await open(async (_, signal) => {
      signals.push(signal)
      if (signals.length === 1) await opened
    })
    t.after(release)
    await app.publish(1)
    await until('it publishes', () => signals.length === 1)
    await app.execute(async (session) => {
      const locked = sql<{ valid_until: string | number }>`SELECT valid_until FROM feed_relay FOR UPDATE`
      const [row] = await session.execute(locked)
      assert.equal(signals[0]?.aborted, false)
      await until('another process may take it', () => Date.now() > Number(row?.valid_until) + 1)
      await until('it is aborted', () => signals[0]?.aborted === true) // a timer of the same millisecond
      assert.ok(signals[0]?.reason instanceof LostRelayError)
    })
    // The renewal is answered now: this process has the row, and takes it at once.
    release()
    await until('it is published again', () => signals.length === 2)
    assert.equal(signals[1]?.aborted, false)
  })

for (const kind of mysqls) {
  const looks = (log: readonly string[]) => log.filter((line) => line.includes('feed_relay_topic seen'))

  test(`a relay looks at topics with recent events, and seldom at all topics, on ${kind.name}`, async (t) => {
    const open = await opener(t, kind, 30_000)
    const seen: number[] = []
    const app = await open((events) => void seen.push(...numbers(events)))
    for (const n of [1, 2, 3]) {
      await app.publish(n)
      await until('it is published', () => seen.length === n)
    }
    const all = looks(app.log).filter((line) => !line.includes('created >'))
    assert.ok(looks(app.log).length >= 3)
    assert.ok(all.length <= 2, all.join('\n')) // the second one is after the last topic of the first one
  })

  test(`a relay publishes an event whose transaction has taken an hour, on ${kind.name}`, async (t) => {
    const open = await opener(t, kind)
    const seen: number[] = []
    const app = await open((events) => void seen.push(...numbers(events)))
    await app.publish(1)
    await until('it is published', () => seen.length === 1)
    const early = sql`CREATE TRIGGER early BEFORE INSERT ON feed_event FOR EACH ROW SET NEW.created = NEW.created - 3600000`
    await app.execute((session) => session.execute(early))
    await app.publish(2, 'b')
    await until('it is published, too', () => seen.length === 2)
    assert.deepEqual(seen, [1, 2])
  })
}

test('a function that takes too long is aborted, and called again', async (t) => {
  const open = await opener(t, postgres)
  const reasons: unknown[] = []
  let calls = 0
  const app = await open(
    async (_, signal) => {
      if (++calls > 1) return
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          reject(new Error('aborted'))
        })
      })
    },
    { timeout: 50 },
  )
  await app.publish(1)
  await until('it is called again', () => calls === 2)
  assert.ok(reasons[0] instanceof RelayTimeout)
})
