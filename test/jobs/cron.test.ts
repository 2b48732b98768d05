import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp, select, withSession } from 'sequitur'
import { Attempt, Cron, JobRecord } from 'sequitur/jobs'
import { memoryDatabase } from 'sequitur/testing'
import { instantsOf } from '../../src/jobs/cron.js'
import { jobDatabase } from '../../src/jobs/job-database.js'
import { addInstant } from '../../src/jobs/worker/schedule.js'
import { databaseApp, databases } from '../support/databases.js'
import { until } from '../support/waiting.js'

const instants: (Date | undefined)[] = []

class ClockJobs {
  @Cron('* * * * * *', { name: 'clock.tick' })
  async tick(attempt: Attempt) {
    instants.push(attempt.instant)
  }
}

for (const kind of databases) {
  test(`${kind.name}: a job of a schedule runs at each instant, and one that was missed is made up for once`, async (t) => {
    instants.length = 0
    const app = await databaseApp(t, kind, [JobRecord], [], { jobs: [ClockJobs], work: { default: 1 } })
    await until('it has run three times', () => instants.length >= 3)
    const times = instants.map((instant) => instant?.getTime() ?? NaN)
    assert.deepEqual(times, [...new Set(times)].sort())
    assert.ok(times.every((time) => time % 1_000 === 0))
    await app.close()
  })

  test(`${kind.name}: five rivals add one job for each of 200 instants`, async (t) => {
    const app = await databaseApp(t, kind, [JobRecord], [], { jobs: [ClockJobs] })
    const database = jobDatabase()
    const job = { name: 'night', queue: 'default', priority: 0 }
    await database.transaction((session) => session.executeOwn(database.statements.beginCron(job.name)))
    const begun = Date.now() + 1_000_000
    let added = 0
    for (let n = 0; n < 200; n++) {
      const rivals = await Promise.all([0, 0, 0, 0, 0].map(() => addInstant(database, job, begun + n)))
      added += rivals.filter(Boolean).length
      assert.equal(await addInstant(database, job, begun + n - 1), false) // a clock that is behind
    }
    const rows = await withSession(app.database, (session) => session.count(select(JobRecord)))
    assert.deepEqual([added, rows], [200, 200])
  })
}

test('the instants of a schedule follow its time zone, also when the clock is changed', () => {
  const { next, last } = instantsOf({ expression: '30 2 * * *', timezone: 'Europe/Berlin' }, 'Jobs.night')
  const at = (text: string) => Date.parse(text)
  assert.equal(next(at('2026-07-01T00:00:00Z')), at('2026-07-01T00:30:00Z'))
  assert.equal(next(at('2026-12-01T00:00:00Z')), at('2026-12-01T01:30:00Z'))
  assert.equal(last(at('2026-12-01T01:30:00Z')), at('2026-12-01T01:30:00Z'))
  assert.equal(last(at('2026-12-01T01:29:59.999Z')), at('2026-11-30T01:30:00Z'))
  // 02:30 does not exist on 29 March 2026, and exists twice on 25 October.
  const days = (from: string, to: string) => {
    const found: string[] = []
    for (let time = next(at(from)); time !== undefined && time < at(to); time = next(time))
      found.push(new Date(time).toISOString().slice(0, 10))
    return found
  }
  assert.deepEqual(days('2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z'), ['2026-03-28', '2026-03-29', '2026-03-30'])
  assert.deepEqual(days('2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z'), ['2026-10-24', '2026-10-25', '2026-10-26'])
})

test('a wrong schedule stops the start', () => {
  class Wrong {
    @Cron('61 * * * *')
    async never() {}
  }
  class Elsewhere {
    @Cron('1 * * * *', { timezone: 'Europe/Nowhere' })
    async never() {}
  }
  for (const type of [Wrong, Elsewhere])
    assert.throws(
      () => createApp({ controllers: [], jobs: [type], models: [JobRecord], lifespan: memoryDatabase() }),
      new RegExp(`${type.name}\\.never: @Cron\\(\\) cannot read its expression, or its timezone`),
    )
})
