import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, select, Session, sql, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { jobDatabase } from '../../src/jobs/job-database.js'
import { Claims } from '../../src/jobs/worker/claim.js'
import { databaseApp, databases, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { gate, type Gate, until } from '../support/waiting.js'
import { Effect } from './ledger.js'

/*
 * Jobs that end within milliseconds are claimed before a slot is free: that must not keep one from other workers, nor cost it an attempt.
 */

const SLOTS = 8
const QUICK = 60

class Entry {
  @Field({ type: 'integer' }) number!: number
}

let slow: Gate = gate()

class AheadJobs {
  @Job({ name: 'ahead.quick' })
  async quick({ number }: Entry, session: Session) {
    await session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
  }

  @Job({ name: 'ahead.slow' })
  async slow({ number }: Entry, session: Session) {
    await slow.opened // before it writes: on SQLite others could not
    await session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
  }
}

class OnceJobs {
  @Job({ name: 'ahead.once', attempts: 1 })
  async once() {}
}

async function aheadApp(t: TestContext, kind: TestDatabase, jobs: readonly (typeof AheadJobs | typeof OnceJobs)[]) {
  slow = gate()
  const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [...jobs], work: { default: SLOTS } })
  const inSession = <T>(what: (session: Session) => Promise<T>) => withSession(app.database, what)
  return {
    ...app,
    /** Quick jobs, and then as many slow ones as there are slots, and then quick ones. */
    addAll: () =>
      inSession(async (session) => {
        const added = jobsOf(session)
        const isSlow = (n: number) => n >= QUICK && n < QUICK + SLOTS
        for (let number = 0; number < 2 * QUICK + SLOTS; number++)
          await added.add(AheadJobs, isSlow(number) ? 'slow' : 'quick', { number })
      }),
    inState: (state: string) => inSession((session) => session.all(select(JobRecord, { where: { state } }))),
    effects: async () => (await inSession((session) => session.all(select(Effect)))).map(({ number }) => number),
    inSession,
  }
}

const byNumber = (a: number, b: number) => a - b
const ALL = Array.from({ length: 2 * QUICK + SLOTS }, (_, number) => number)

for (const kind of databases) {
  const named = (name: string) => `${kind.name}: ${name}`

  test(named('jobs that wait for a slot for long are given back, with all of their attempts'), async (t) => {
    // The clock of the worker is slow: its jobs are quick on a busy machine, too, and those that wait can be seen.
    const { now } = performance
    t.mock.method(performance, 'now', () => now.call(performance) / 4)
    const app = await aheadApp(t, kind, [AheadJobs])
    await app.addAll()
    await until('the slow ones run, and others wait', async () => {
      const running = await app.inState('running')
      return running.length > SLOTS && running.filter(({ name }) => name === 'ahead.slow').length === SLOTS
    })
    await until('no other waits', async () => (await app.inState('running')).length === SLOTS)
    const ready = await app.inState('ready')
    assert.deepEqual([ready.length, new Set(ready.map(({ attempt }) => attempt))], [QUICK, new Set([0])])
    slow.open()
    await until('all are done', async () => (await app.inState('done')).length === ALL.length)
    assert.deepEqual((await app.effects()).toSorted(byNumber), ALL)
  })

  const isLost = kind === sqliteMemory
  test(named('a worker that stops gives back what it has not begun'), { skip: isLost }, async (t) => {
    const url = await kind.url()
    const same = { ...kind, url: () => Promise.resolve(url) }
    const app = await aheadApp(t, same, [AheadJobs])
    await app.addAll()
    await until('the slow ones run', async () =>
      (await app.inState('running')).some(({ name }) => name === 'ahead.slow'),
    )
    const closing = app.close()
    slow.open()
    await closing
    const other = await databaseApp(t, same, [Effect, JobRecord], [], { jobs: [AheadJobs] })
    const rows = await withSession(other.database, (session) => session.all(select(JobRecord)))
    assert.deepEqual(
      rows.filter(({ state, attempt }) => (state === 'done' ? attempt !== 1 : state !== 'ready' || attempt !== 0)),
      [],
    )
  })

  test(named('a worker whose jobs may run only once has no more of them than slots'), async (t) => {
    const app = await aheadApp(t, kind, [AheadJobs, OnceJobs])
    await app.addAll()
    let most = 0
    await until('the slow ones run', async () => {
      const running = await app.inState('running')
      most = Math.max(most, running.length)
      return running.filter(({ name }) => name === 'ahead.slow').length === SLOTS
    })
    assert.ok(most <= SLOTS, `${most}`)
    slow.open()
    await until('all are done', async () => (await app.inState('done')).length === ALL.length)
  })

  test(named('a claim finds a job that precedes those that were claimed before it was added'), async (t) => {
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [AheadJobs] })
    const add = (number: number, priority: number) =>
      withSession(app.database, (session) => jobsOf(session).add(AheadJobs, 'quick', { number }, { priority }))
    for (let number = 0; number < 400; number++) await add(number, 0)
    const claims = new Claims(jobDatabase(), { worker: 'one', limitOf: () => undefined, hasLimits: false })
    const claim = async () => (await claims.claim([{ queue: 'default', slots: 2 }])).jobs.map(({ row }) => row.priority)
    assert.deepEqual(await claim(), [0, 0])
    await add(400, -1)
    await until('it is claimed', async () => (await claim()).includes(-1), 10)
    assert.ok((await claim()).length > 0, 'before the others')
  })
}
