import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Field, type LifespanOptions, select, Session, sql, Transactional, withSession } from 'sequitur'
import { Attempt, Job, JobRecord, type Jobs, jobsOf } from 'sequitur/jobs'
import { CommitUnknownError } from '../../src/db/errors.js'
import { type JobDatabase, jobDatabase } from '../../src/jobs/job-database.js'
import { JobWorker } from '../../src/jobs/tables.js'
import { isRecord } from '../../src/core/records.js'
import { Claims } from '../../src/jobs/worker/claim.js'
import { Lease } from '../../src/jobs/worker/lease.js'
import { databaseApp, databases, postgres, statements, type TestDatabase } from '../support/databases.js'
import { gate, type Gate, until } from '../support/waiting.js'
import { Effect } from './ledger.js'

/*
 * Faults in the moments between two statements of a worker.
 */

class Entry {
  @Field({ type: 'integer' }) number!: number
}

/** What handlers wait for, after they have written, unless it is open. */
let held: Gate = gate()
const seen: string[] = []

async function enter({ number }: Entry, session: Session, attempt: Attempt): Promise<void> {
  seen.push(`${number}, attempt ${attempt.number}`)
  await session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
}

class FaultJobs {
  @Job({ name: 'fault.plain' })
  async plain(input: Entry, session: Session, attempt: Attempt) {
    await enter(input, session, attempt)
  }

  @Job({ name: 'fault.one', limit: { by: () => 'all', at: 1 } })
  async one(input: Entry, session: Session, attempt: Attempt) {
    await held.opened // before it writes: on SQLite others could not
    await enter(input, session, attempt)
  }

  @Transactional({ isolation: 'serializable', retry: 5 })
  @Job({ name: 'fault.serializable' })
  async serializable(input: Entry, session: Session, attempt: Attempt) {
    await enter(input, session, attempt)
    await held.opened
  }

  @Transactional({ isolation: 'serializable' })
  @Job({ name: 'fault.once' })
  async serializableOnce(input: Entry, session: Session, attempt: Attempt) {
    await enter(input, session, attempt)
    await held.opened
  }
}

async function faultyApp(
  t: TestContext,
  kind: TestDatabase,
  { lease = 30_000, work = { default: 2 }, lifespan = {} as LifespanOptions } = {},
) {
  seen.length = 0
  held = gate()
  process.env['toolkit_job_lease'] = String(lease) // read by the start
  const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [FaultJobs], work, lifespan })
  delete process.env['toolkit_job_lease']
  const inSession = <T>(what: (session: Session) => Promise<T>) => withSession(app.database, what)
  // No claim may be under way when a test disturbs the next one: neither that of the start, nor the one after a claim that has found a job.
  const untilIdle = () =>
    until('the worker is idle', async () => {
      const { length } = app.log
      await wait(300)
      return app.log.length === length
    })
  await untilIdle()
  return {
    ...app,
    jobDatabase: jobDatabase(),
    inSession,
    untilIdle,
    add: (
      member: 'plain' | 'one' | 'serializable' | 'serializableOnce',
      number: number,
      options: Parameters<Jobs['add']>[3] = {},
    ) => inSession((session) => jobsOf(session).add(FaultJobs, member, { number }, options)),
    jobs: () => inSession((session) => session.all(select(JobRecord, { order: ['id'] }))),
    effects: async () => (await inSession((session) => session.all(select(Effect)))).map(({ number }) => number),
  }
}

type Transact = JobDatabase['transaction']

/** Changes how the transactions of the queue are executed. */
function disturb(database: JobDatabase, change: (transact: Transact) => Transact): void {
  database.transaction = change(database.transaction.bind(database))
}

/** Whether a transaction of the queue has claimed jobs. */
function isClaim(result: unknown): boolean {
  return (
    isRecord(result) && 'held' in result && (Number(result['held']) > 0 || (result['jobs'] as unknown[]).length > 0)
  )
}

for (const kind of databases) {
  const named = (name: string) => `${kind.name}: ${name}`
  const isServer = !kind.name.startsWith('SQLite')

  test(named('a job is not lost whose claim was committed without an answer'), async (t) => {
    const app = await faultyApp(t, kind, { lease: 1_200 })
    let isLost = false
    disturb(app.jobDatabase, (transact) => async (work) => {
      const result = await transact(work)
      if (!isClaim(result) || isLost) return result
      isLost = true
      throw new CommitUnknownError(new Error('The connection is lost.'))
    })
    await app.add('plain', 1)
    await until('it is done', async () => (await app.jobs())[0]?.state === 'done')
    assert.ok(isLost)
    assert.deepEqual([seen, await app.effects()], [['1, attempt 1'], [1]])
  })

  test(named('a job that is claimed while its worker stops does not run, and is ready again'), async (t) => {
    const app = await faultyApp(t, kind)
    const claimed = gate()
    let closing: Promise<void> | undefined
    disturb(app.jobDatabase, (transact) => async (work) => {
      const result = await transact(work)
      if (isClaim(result)) {
        claimed.open()
        await wait(300)
      }
      return result
    })
    await app.add('plain', 1)
    await claimed.opened
    // The database is needed after the end.
    await app.database.during(async () => {
      closing = app.close()
      await until('it is given back', async () => (await app.jobs())[0]?.state === 'ready')
      const [job] = await app.jobs()
      assert.deepEqual([job?.state, job?.attempt, seen], ['ready', 0, []])
    })
    await closing
  })

  test(
    named('a job that waits for its limit begins when the one before it has ended, also during a claim'),
    async (t) => {
      const app = await faultyApp(t, kind)
      await app.add('one', 1)
      await until('it runs', async () => (await app.jobs())[0]?.state === 'running')
      await app.untilIdle()
      const mayCommit = gate()
      const isCounting = gate()
      disturb(
        app.jobDatabase,
        (transact) => (work) =>
          transact(async (session) => {
            const result = await work(session)
            if (isClaim(result)) {
              isCounting.open() // and has found that one runs
              await mayCommit.opened
            }
            return result
          }),
      )
      await app.add('one', 2)
      await isCounting.opened
      held.open()
      await wait(isServer ? 300 : 0)
      mayCommit.open()
      await until('both are done', async () => (await app.jobs()).every(({ state }) => state === 'done'), 10, 4_000)
    },
  )

  test(
    named('a claim that has waited for the lock of a limit takes the job that was made ready meanwhile'),
    { skip: !isServer },
    async (t) => {
      const app = await faultyApp(t, kind)
      const { jobDatabase: database } = app
      const { statements: of } = database
      const first = await app.add('one', 1, { queue: 'other' })
      await app.add('one', 2, { queue: 'other' })
      const state = (value: string) => sql`UPDATE job SET state = ${value} WHERE id = ${Number(first.id)}`
      await app.inSession((session) => session.execute(state('limited')))
      const key = (await app.jobs())[0]?.limit_key ?? ''
      const making = of.makeLimits([key])
      if (making) await app.inSession((session) => session.executeOwn(making))
      const claims = new Claims(database, { worker: 'one', limitOf: () => 1, hasLimits: true })
      const claiming = await app.inSession(async (session) => {
        const locking = of.lockLimits([key])
        if (locking) await session.executeOwn(locking)
        const claimed = claims.claim([{ queue: 'other', slots: 2 }])
        claimed.catch(() => {})
        await wait(300)
        await session.execute(state('ready'))
        return [claimed]
      })
      const [{ jobs } = { jobs: [] }] = await Promise.all(claiming)
      assert.deepEqual(
        jobs.map(({ id }) => id),
        [first.id],
      )
    },
  )

  test(named('a lease that has ended is not renewed'), async (t) => {
    const app = await faultyApp(t, kind, { work: { default: 1 } })
    process.env['toolkit_job_lease'] = '500'
    const lease = new Lease(
      app.jobDatabase,
      () => undefined,
      () => {},
      () => true,
    )
    delete process.env['toolkit_job_lease']
    await lease.begin({})
    const renewing = gate()
    disturb(app.jobDatabase, (transact) => async (work) => {
      renewing.open()
      await wait(100)
      return transact(work)
    })
    await renewing.opened
    await lease.end()
    await wait(400)
    const rows = await app.inSession((session) => session.all(select(JobWorker)))
    assert.deepEqual(
      rows.filter(({ id }) => id === lease.worker),
      [],
    )
  })

  test(named('workers that claim at once within limits do not disturb each other'), async (t) => {
    const app = await faultyApp(t, kind, { work: { default: 1 } })
    held.open()
    await app.inSession(async (session) => {
      for (let number = 0; number < 100; number++)
        await jobsOf(session).add(FaultJobs, 'one', { number }, { queue: 'other' })
    })
    for (let round = 0; round < 10; round++) {
      const claim = (worker: number) =>
        new Claims(app.jobDatabase, { worker: `worker ${worker}`, limitOf: () => 1, hasLimits: true }).claim([
          { queue: 'other', slots: 2 },
        ])
      await Promise.all([1, 2, 3, 4, 5].map(claim))
    }
    const running = (await app.jobs()).filter(({ state }) => state === 'running')
    assert.equal(running.length, 1)
  })

  test(
    named('a worker does not ask again and again for a job that another transaction has locked'),
    { skip: !isServer },
    async (t) => {
      const app = await faultyApp(t, kind, { work: { default: 1 } })
      const lookWhileLocked = async (id: string, begin: () => void) => {
        await app.inSession(async (session) => {
          await session.execute(sql`SELECT id FROM job WHERE id = ${Number(id)} FOR UPDATE`)
          begin()
          await wait(300)
          app.log.length = 0
          await wait(1_500)
          const asked = statements(app.log).filter((text) => /state = 'ready'/.test(text)).length
          assert.ok(asked <= 40, `${asked} times in 1.5 seconds`)
        })
        await until('it is done', async () => (await app.jobs()).every((job) => job.state === 'done'))
      }
      await app.add('one', 1)
      await until('it runs', async () => (await app.jobs())[0]?.state === 'running')
      const ready = await app.add('plain', 2)
      await lookWhileLocked(ready.id, held.open)
      const delayed = await app.add('plain', 3, { delay: 250 })
      await lookWhileLocked(delayed.id, () => {})
    },
  )

  for (const member of ['serializable', 'serializableOnce'] as const)
    for (const fastPath of [true, false])
      test(
        named(`a serializable job that another worker has is not run again: ${member}, fastPath: ${fastPath}`),
        { skip: !isServer },
        async (t) => {
          const app = await faultyApp(t, kind, { lifespan: { fastPath } })
          await app.add(member, 1)
          await until('it runs', () => seen.length === 1)
          await app.inSession((session) => session.execute(sql`UPDATE job SET run = 2, worker = 'another'`))
          held.open()
          await until('it was fenced', () =>
            app.log.some((line) => /was rolled back: another worker has it/.test(line)),
          )
          assert.deepEqual([seen, await app.effects()], [['1, attempt 1'], []])
          assert.ok(!app.log.some((line) => /failed/.test(line)))
        },
      )

  test(
    named('who takes jobs back does not wait for one that ends just now, and is no deadlock with it'),
    { skip: !isServer },
    async (t) => {
      const app = await faultyApp(t, kind)
      const { jobDatabase: database } = app
      await app.inSession(async (session) => {
        for (let number = 0; number < 20; number++)
          await jobsOf(session).add(FaultJobs, 'plain', { number }, { queue: 'other' })
      })
      const claims = new Claims(database, { worker: 'without a lease', limitOf: () => undefined, hasLimits: false })
      const { jobs } = await claims.claim([{ queue: 'other', slots: 20 }])
      const [first] = jobs
      assert.ok(first)
      const taken = await app.inSession(async (session) => {
        // What the end of a job locks first.
        await session.execute(sql`SELECT id FROM job WHERE id = ${Number(first.id)} FOR UPDATE`)
        const takingBack = database.transaction((other) => database.changeSome(other, database.statements.takeBack()))
        takingBack.catch(() => {})
        await wait(300)
        assert.equal(await database.change(session, database.statements.complete(first)), 1)
        return takingBack
      })
      assert.equal(taken, 19)
    },
  )
}

test('PostgreSQL: a lease is renewed while jobs hold all connections of the pool', async (t) => {
  const url = await postgres.url()
  const kind = { ...postgres, url: () => Promise.resolve(url) }
  const app = await faultyApp(t, kind, { lease: 3_000, lifespan: { poolSize: 2 } })
  await app.add('serializable', 1)
  await app.add('serializable', 2)
  await until('both run', () => seen.length === 2)
  const other = new Client(url)
  await other.connect()
  t.after(() => other.end())
  for (let n = 0; n < 12; n++) {
    await wait(300)
    const { rows } = await other.query(
      'SELECT valid_until > extract(epoch FROM now()) * 1000 AS is_valid FROM job_worker',
    )
    assert.deepEqual(rows, [{ is_valid: true }])
  }
  held.open()
  await until('both are done', async () => (await app.jobs()).every(({ state }) => state === 'done'))
})
