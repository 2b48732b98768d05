import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, select, type Session, sql, withSession } from 'sequitur'
import { Attempt, Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { jobDatabase } from '../../src/jobs/job-database.js'
import { JobStep, JobWorker } from '../../src/jobs/tables.js'
import { databaseApp, databases, postgres, skipIfShared, type TestDatabase } from '../support/databases.js'
import { gate, type Gate, until } from '../support/waiting.js'
import { Effect } from './ledger.js'

/*
 * A job belongs to its worker while that renews its lease, and to another one afterwards.
 */

class Entry {
  @Field({ type: 'integer' }) number!: number
}

/** What the jobs wait for, and how many do. */
let held: Gate = gate()
let waiting = 0

class HeldJobs {
  @Job({ name: 'held.plain', timeout: 60_000 })
  async plain({ number }: Entry) {
    waiting++
    await held.opened // before it writes: on SQLite others could not
    await Effect.create({ number })
  }

  @Job({ name: 'held.step', timeout: 60_000 })
  async step({ number }: Entry, attempt: Attempt) {
    await attempt.step('write', async () => {
      waiting++
      await held.opened
      await Effect.create({ number })
    })
  }
}

async function heldApp(t: TestContext, kind: TestDatabase, lease: number) {
  held = gate()
  waiting = 0
  process.env['toolkit_job_lease'] = String(lease) // read by the start
  const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [HeldJobs], work: { default: 1 } })
  delete process.env['toolkit_job_lease']
  const inSession = <T>(what: (session: Session) => Promise<T>) => withSession(app.database, what)
  return {
    ...app,
    inSession,
    /** Adds a job, and waits until it waits. */
    async begin(member: 'plain' | 'step') {
      await inSession((session) => jobsOf(session).add(HeldJobs, member, { number: 1 }))
      await until('it runs', () => waiting === 1)
    },
    job: () => inSession(async (session) => (await session.all(select(JobRecord)))[0]),
    effects: () => inSession((session) => session.count(select(Effect))),
  }
}

for (const kind of databases) {
  test(`${kind.name}: a job that runs for longer than a lease is not taken over, as its worker renews it`, async (t) => {
    const app = await heldApp(t, kind, 3_000)
    const leases = () => app.inSession((session) => session.all(select(JobWorker)))
    await app.begin('plain')
    const [first] = await leases()
    const { statements } = jobDatabase()
    const hasEnded = sql<{ n: number | string }>`SELECT ${statements.now} AS n`
    await until(
      'its first lease would have ended',
      async () => {
        const [clock] = await app.inSession((session) => session.execute(hasEnded))
        return Number(clock?.n) > Number(first?.valid_until)
      },
      100,
    )
    // As another worker does.
    const taken = await jobDatabase().transaction((session) => jobDatabase().changeSome(session, statements.takeBack()))
    assert.equal(taken, 0)
    held.open()
    await until('it is done', async () => (await app.job())?.state === 'done')
    assert.deepEqual([(await app.job())?.run, await app.effects()], [1, 1])
  })

  test(`${kind.name}: an attempt whose lease is lost keeps no step`, async (t) => {
    const app = await heldApp(t, kind, 30_000)
    await app.begin('step')
    // As if its process were blocked for longer than its lease, and another one had claimed the job.
    await app.inSession(() => JobRecord.update({ run: 2, worker: 'another' }, { where: {} }))
    held.open()
    await until('it was fenced', () => app.log.some((line) => /was rolled back: another worker has it/.test(line)))
    const steps = await app.inSession((session) => session.count(select(JobStep)))
    assert.deepEqual([steps, await app.effects()], [0, 0])
  })
}

test('PostgreSQL: a step holds no transaction while its work waits for others', { skip: skipIfShared }, async (t) => {
  const app = await heldApp(t, postgres, 30_000)
  await app.begin('step')
  const open = sql`SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`
  await until('none is open', async () => (await app.inSession((session) => session.execute(open))).length === 0)
  held.open()
  await until('it is done', async () => (await app.job())?.state === 'done')
  assert.equal(await app.effects(), 1)
})
