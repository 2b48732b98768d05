import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field, select, type Session, sql, withSession } from 'sequitur'
import { Attempt, Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { Effect } from './ledger.js'

class Order {
  @Field({ type: 'integer' }) number!: number
}

const seen: unknown[] = []

class OrderJobs {
  @Job({ name: 'order.ship' })
  async ship(input: Order, attempt: Attempt) {
    const charge = await attempt.step('charge', async () => {
      await Effect.create({ number: input.number })
      return { at: new Date(0), paid: input.number }
    })
    seen.push(charge)
    await attempt.step('nothing', async (session: Session) => void (await session.execute(sql`SELECT 1`)))
    if (attempt.number < 3) attempt.retryIn(0)
    await Effect.create({ number: input.number + 1 })
  }

  @Job({ name: 'order.fails', attempts: 2 })
  async fails(_: Order, attempt: Attempt) {
    await attempt.step('wrong', async () => {
      await Effect.create({ number: 9 })
      throw new Error('not charged')
    })
  }
}

class LateJobs {
  @Job({ name: 'order.late', attempts: 1 })
  async late(input: Order, attempt: Attempt) {
    await Effect.create({ number: input.number })
    await attempt.step('charge', async () => {})
  }
}

test('a step after a statement of the job itself is an error that says what to write', async (t) => {
  const app = await databaseApp(t, sqliteMemory, [Effect, JobRecord], [], { jobs: [LateJobs], work: { default: 2 } })
  await withSession(app.database, (session) => jobsOf(session).add(LateJobs, 'late', { number: 1 }))
  await until('it is dead', () => app.log.some((line) => /is dead/.test(line)))
  assert.ok(
    app.log.some((line) =>
      /The job order\.late 1 calls attempt\.step\('charge'\) when its own transaction has begun/.test(line),
    ),
  )
  assert.equal(await withSession(app.database, (session) => session.count(select(Effect))), 0)
})

const ran: string[] = []
const NAMES = ['charge-a', 'charge-A', 'charge-\u00e1']

class NamedJobs {
  @Job({ name: 'order.named', attempts: 1 })
  async named(_: Order, attempt: Attempt) {
    for (const name of ['', ' a', 'a ', 'a'.repeat(101)])
      await assert.rejects(
        attempt.step(name, async () => {}),
        TypeError,
      )
    for (const name of NAMES) ran.push(await attempt.step(name, async () => `result of ${name}`))
  }
}

for (const kind of databases)
  test(`${kind.name}: names of steps that differ in case or accents are those of different steps`, async (t) => {
    ran.length = 0
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [NamedJobs], work: { default: 2 } })
    await withSession(app.database, (session) => jobsOf(session).add(NamedJobs, 'named', { number: 1 }))
    await until('it has run', () => ran.length === NAMES.length)
    assert.deepEqual(
      ran,
      NAMES.map((name) => `result of ${name}`),
    )
  })

for (const kind of databases)
  test(`${kind.name}: a step runs once, however often its job does, and its result is kept in its commit`, async (t) => {
    seen.length = 0
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [OrderJobs], work: { default: 2 } })
    await withSession(app.database, async (session) => {
      await jobsOf(session).add(OrderJobs, 'ship', { number: 1 })
      await jobsOf(session).add(OrderJobs, 'fails', { number: 1 })
    })
    const jobs = () => withSession(app.database, (session) => session.all(select(JobRecord, { order: ['id'] })))
    await until('the first has ended, and the second failed', async () => {
      const [first, second] = await jobs()
      // It is delayed for a random time, and dead after its second attempt.
      return first?.state === 'done' && ['delayed', 'dead'].includes(second?.state ?? '')
    })
    const effects = await withSession(app.database, (session) => session.all(select(Effect, { order: ['number'] })))
    assert.deepEqual(
      effects.map(({ number }) => number),
      [1, 2],
    )
    const charge = { at: '1970-01-01T00:00:00.000Z', paid: 1 }
    assert.deepEqual(seen, [charge, charge, charge]) // also the first time, as it was stored
  })
