import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Field, select, withSession } from 'sequitur'
import { Attempt, Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { databaseApp, databases } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { Effect } from './ledger.js'

class Charge {
  @Field({ type: 'integer' }) account!: number
  @Field({ type: 'integer' }) number!: number
}

const running = new Map<number, number>()
const most = new Map<number, number>()

class ChargeJobs {
  @Job({ name: 'charge', limit: { by: (input: Charge) => input.account, at: 2 } })
  async charge(input: Charge, attempt: Attempt) {
    const now = (running.get(input.account) ?? 0) + 1
    running.set(input.account, now)
    most.set(input.account, Math.max(now, most.get(input.account) ?? 0))
    try {
      await wait(5 + Math.random() * 10)
      if (input.number % 7 === 0 && attempt.number === 1) attempt.retryIn(0)
      await Effect.create({ number: input.number })
    } finally {
      running.set(input.account, (running.get(input.account) ?? 0) - 1)
    }
  }

  @Job({ name: 'charge.free' })
  async free(input: Charge) {
    await Effect.create({ number: input.number })
  }
}

const order: number[] = []

class OrderedJobs {
  @Job({ name: 'ordered', limit: { by: (input: Charge) => input.account, at: 1 } })
  async ordered(input: Charge) {
    order.push(input.number)
    await wait(2)
  }
}

for (const kind of databases) {
  test(`${kind.name}: jobs of a limit of one run in the order in which they are due`, async (t) => {
    order.length = 0
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [OrderedJobs], work: { default: 4 } })
    for (let number = 0; number < 40; number++)
      await withSession(app.database, (session) => jobsOf(session).add(OrderedJobs, 'ordered', { account: 1, number }))
    await until('all have run', () => order.length === 40)
    assert.deepEqual(
      order,
      Array.from({ length: 40 }, (_, number) => number),
    )
  })

  test(`${kind.name}: no more jobs of a limit run at once than may, and none waits for ever`, async (t) => {
    running.clear()
    most.clear()
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [ChargeJobs], work: { default: 8 } })
    await withSession(app.database, async (session) => {
      for (let number = 0; number < 60; number++)
        await jobsOf(session).add(ChargeJobs, 'charge', { account: number % 3, number })
      await jobsOf(session).add(ChargeJobs, 'free', { account: 0, number: 60 })
    })
    const count = () => withSession(app.database, (session) => session.count(select(Effect)))
    await until('all have run', async () => (await count()) === 61, 20, 20_000)
    assert.deepEqual([...most.values()], [2, 2, 2])
  })

  test(`${kind.name}: jobs that wait for a limit whose last job ended with its process run again`, async (t) => {
    running.clear()
    process.env['toolkit_job_lease'] = '600'
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [ChargeJobs], work: { default: 8 } })
    delete process.env['toolkit_job_lease']
    await withSession(app.database, (session) =>
      jobsOf(session).add(ChargeJobs, 'charge', { account: 1, number: 1 }, { delay: 60_000 }),
    )
    // As a process leaves it that is killed after its job has ended, and before it has made the next one ready.
    await withSession(app.database, () => JobRecord.update({ state: 'limited', due: '0' }, { where: {} }))
    const count = () => withSession(app.database, (session) => session.count(select(Effect)))
    await until('it has run', async () => (await count()) === 1)
  })
}
