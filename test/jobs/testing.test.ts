import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, Field, Post, select, Session, sql, withSession } from 'sequitur'
import { Attempt, Cron, Job, JobRecord, Jobs, jobsOf } from 'sequitur/jobs'
import { testApp, withRollback } from 'sequitur/testing'
import { databaseApp, databases, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { Effect } from './ledger.js'

class Entry {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) how?: string
  @Field({ optional: true }) at?: Date
}

const instants: (Date | undefined)[] = []

class LedgerJobs {
  @Job({ name: 'ledger.enter', attempts: 3, queue: 'ledger' })
  async enter({ number, how }: Entry, session: Session, jobs: Jobs, attempt: Attempt) {
    await session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
    if (how === 'fails') throw new RangeError('no such account')
    if (how === 'fails at first' && attempt.number === 1) throw new Error('not yet')
    if (how === 'discards') attempt.discard('not wanted')
    if (how === 'adds') await jobs.add(LedgerJobs, 'enter', { number: number + 1 })
    if (how === 'adds without end') await jobs.add(LedgerJobs, 'enter', { number, how })
  }

  @Cron('0 3 * * *', { timezone: 'Europe/Berlin' })
  async tidy(session: Session, attempt: Attempt) {
    instants.push(attempt.instant)
    await session.execute(sql`DELETE FROM effect`)
  }
}

class OtherJobs {
  @Job({ name: 'other.run' })
  run() {}
}

@Controller('/entries')
class EntryController {
  @Post()
  async create(entry: Entry, jobs: Jobs) {
    await jobs.add(LedgerJobs, 'enter', entry)
  }
}

async function ledgerApp(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, [Effect, JobRecord], [EntryController], { jobs: [LedgerJobs] })
  const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(app.database, work)
  return {
    ...app,
    inSession,
    add: (json: unknown) => app.fetch('/entries', { method: 'POST', json }),
    effects: async () =>
      (await inSession((session) => session.all(select(Effect, { order: ['number'] })))).map(({ number }) => number),
    states: async () =>
      (await inSession((session) => session.all(select(JobRecord, { order: ['id'] })))).map(({ state }) => state),
  }
}

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)

for (const kind of databases)
  for (const isRolledBack of [false, true]) {
    const onLedger = (
      name: string,
      work: (app: Awaited<ReturnType<typeof ledgerApp>>, t: TestContext) => Promise<void>,
    ) =>
      test(`${kind.name}${isRolledBack ? ', in the transaction of a test' : ''}: ${name}`, async (t) => {
        const app = await ledgerApp(t, kind)
        await (isRolledBack ? withRollback(app, () => work(app, t))() : work(app, t))
      })

    onLedger('api.jobs.run() runs what is due, and what these jobs add', async ({ jobs, ...app }) => {
      assert.deepEqual(await jobs.run(), { done: [], failed: [], dead: [] })
      await app.add({ number: 1, how: 'adds' })
      assert.deepEqual(await app.effects(), [])
      const { done, failed, dead } = await jobs.run()
      assert.deepEqual(
        done.map(({ name }) => name),
        ['ledger.enter', 'ledger.enter'],
      )
      assert.equal(new Set(done.map(({ id }) => id)).size, 2)
      assert.deepEqual([failed, dead], [[], []])
      assert.deepEqual(await app.effects(), [1, 2])
      assert.deepEqual(await app.states(), ['done', 'done'])
    })

    onLedger(
      'a job that fails is in the result with its error, and runs again when it is due',
      async ({ jobs, ...app }) => {
        for (const [index, how] of ['fails', 'fails at first', 'discards'].entries())
          await app.add({ number: index, how })
        const first = await jobs.run()
        const errorsOf = (list: readonly { readonly error: unknown }[]) => list.map(({ error }) => String(error))
        assert.deepEqual(errorsOf(first.failed), ['RangeError: no such account', 'Error: not yet'])
        assert.deepEqual(errorsOf(first.dead), ['JobDiscarded: not wanted'])
        assert.ok(first.failed[0]?.error instanceof RangeError)
        assert.deepEqual(await app.states(), ['delayed', 'delayed', 'dead'])
        assert.deepEqual(await jobs.run(), { done: [], failed: [], dead: [] })

        const later = await jobs.run({ at: inMinutes(60) })
        assert.deepEqual(errorsOf(later.failed), ['RangeError: no such account'])
        assert.deepEqual(errorsOf(later.dead), ['RangeError: no such account'])
        assert.deepEqual(later.done.length, 1)
        assert.deepEqual(await app.states(), ['dead', 'done', 'dead'])
        assert.deepEqual(await app.effects(), [1])
      },
    )

    onLedger('jobs with a delay are due until the given instant', async ({ jobs, ...app }, t) => {
      await app.inSession(async (session) => {
        await jobsOf(session).add(LedgerJobs, 'enter', { number: 1 }, { delay: 10 * 60_000 })
        await jobsOf(session).add(LedgerJobs, 'enter', { number: 2 }, { at: inMinutes(30) })
        await jobsOf(session).add(LedgerJobs, 'enter', { number: 3 }, { at: new Date(0) })
      })
      await jobs.run()
      assert.deepEqual(await app.effects(), [3])
      await jobs.run({ at: inMinutes(20) })
      assert.deepEqual(await app.effects(), [1, 3])
      t.mock.timers.enable({ apis: ['Date'], now: inMinutes(40) })
      await jobs.run()
      assert.deepEqual(await app.effects(), [1, 2, 3])
    })

    onLedger('api.jobs.added() returns the inputs of unfinished jobs, with their options', async ({ jobs, ...app }) => {
      const at = inMinutes(30)
      await app.add({ number: 1 })
      await jobs.run()
      await app.add({ number: 2, at: at.toISOString() })
      await app.inSession((session) =>
        jobsOf(session).add(LedgerJobs, 'enter', { number: 3 }, { at, key: 'three', priority: 5, queue: 'other' }),
      )
      const [second, third, ...others] = await jobs.added(LedgerJobs, 'enter')
      assert.deepEqual(others, [])
      assert.ok(second?.input instanceof Entry)
      assert.deepEqual({ ...second.input }, { number: 2, at })
      assert.deepEqual([second.queue, second.priority, second.key], ['ledger', 0, null])
      assert.equal(third?.input.number, 3)
      assert.deepEqual([third.queue, third.priority, third.due], ['other', 5, at])
      assert.match(third.key ?? '', /^[0-9a-f]{64}$/)
      assert.deepEqual(await jobs.added(LedgerJobs, 'tidy'), [])
    })

    onLedger('api.jobs.cron() runs a job of a schedule at an instant', async ({ jobs, ...app }) => {
      await app.add({ number: 1 })
      await jobs.run()
      await app.add({ number: 2 })
      const night = new Date('2026-03-29T01:00:00Z')
      for (let n = 0; n < 2; n++) {
        instants.length = 0
        const { done } = await jobs.cron(LedgerJobs, 'tidy', night)
        assert.deepEqual([done.map(({ name }) => name), instants], [['LedgerJobs.tidy'], [night]])
      }
      assert.deepEqual(await app.effects(), [])
      assert.equal((await jobs.added(LedgerJobs, 'enter')).length, 1)
      await assert.rejects(jobs.cron(LedgerJobs, 'enter', night), /^TypeError: LedgerJobs\.enter has no @Cron\(\)/)
      await assert.rejects(
        jobs.cron(LedgerJobs, 'tidy', new Date('x')),
        /^TypeError: .* needs the instant, a valid Date/,
      )
    })
  }

test('a job that adds itself ends the run with an error', async (t) => {
  const { jobs, ...app } = await ledgerApp(t, sqliteMemory)
  await app.add({ number: 1, how: 'adds without end' })
  await assert.rejects(jobs.run(), /jobs have run, and there is another one\. Perhaps a job adds itself/)
})

test('a job whose class is missing in createApp() is an error of the test', async (t) => {
  const { jobs, ...app } = await ledgerApp(t, sqliteMemory)
  await app.inSession((session) => jobsOf(session).add(OtherJobs, 'run'))
  await assert.rejects(jobs.run(), /^Error: A job is named other\.run, and no class of createApp\(\{ jobs \}\) has/)
  await assert.rejects(jobs.added(OtherJobs, 'run'), /^Error: A job is named other\.run/)
  assert.deepEqual(await app.states(), ['ready'])
})

test('in an app without jobs, api.jobs throws', async (t) => {
  const { jobs, close } = await testApp({ controllers: [] })
  t.after(close)
  const message = /^Error: The app has no jobs\. Write testApp\(\{ jobs: \[MailJobs\] \}\)/
  await assert.rejects(jobs.run(), message)
  await assert.rejects(jobs.added(LedgerJobs, 'enter'), message)
  await assert.rejects(jobs.cron(LedgerJobs, 'tidy', new Date()), message)
  await assert.rejects(jobs.run({ until: new Date() } as never), /has no option 'until'/)
  await assert.rejects(jobs.run({ at: new Date('x') }), /api\.jobs\.run\(\): at is .*Write a valid Date/)
})

test('the log of the test has the reason of a job that fails, but not of one that is discarded', async (t) => {
  const app = await ledgerApp(t, sqliteMemory)
  await app.add({ number: 1, how: 'fails' })
  await app.add({ number: 1, how: 'discards' })
  await app.jobs.run()
  const lines = app.log.filter((line) => line.startsWith('Job '))
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /^Job ledger\.enter 2, attempt 1 of 3, was discarded/)
  assert.match(
    lines[0] ?? '',
    /^Job ledger\.enter 1, attempt 1 of 3, failed, and runs again in 5 s \[[0-9a-f]{8}\] RangeError: no such account/,
  )
})
