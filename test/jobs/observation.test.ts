import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { Budget, createApp, Session, sql, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import type { JobRun } from 'sequitur/diagnostics'
import { memoryDatabase, QueryBudgetError } from 'sequitur/testing'
import { databaseApp, databases, sqliteFile, sqliteMemory } from '../support/databases.js'
import { observed } from '../support/observed.js'
import { until } from '../support/waiting.js'
import { Effect } from './ledger.js'
import { JOBS, later, observedApp } from './observed-jobs.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`

for (const kind of databases) {
  const named = (name: string) => `${kind.name}: ${name}`

  test(named('each run of a job is published at its start and at its end, with what became of it'), async (t) => {
    const added = observed(t, 'sequitur.job.added')
    const started = observed(t, 'sequitur.job.start')
    const app = await observedApp(t, kind)
    await app.add('enter', { number: 1 })
    await app.runs(1)
    await app.add('enter', { number: 2, how: 'fails at first' })
    await app.runs(3)
    await app.add('enter', { number: 3, how: 'discards' })
    const runs = await app.runs(4)
    assert.deepEqual(
      runs.map(({ name, queue, handler, attempt, attempts, outcome }) => [
        name,
        queue,
        handler,
        attempt,
        attempts,
        outcome,
      ]),
      [
        ['observed.enter', 'default', 'ObservedJobs.enter', 1, 2, 'done'],
        ['observed.enter', 'default', 'ObservedJobs.enter', 1, 2, 'failed'],
        ['observed.enter', 'default', 'ObservedJobs.enter', 2, 2, 'done'],
        ['observed.enter', 'default', 'ObservedJobs.enter', 1, 2, 'dead'],
      ],
    )
    assert.deepEqual(started, runs) // the same objects
    const [done, failed] = runs
    assert.deepEqual([done?.statements, done?.transaction, done?.error], [1, 'commit', undefined])
    assert.equal(failed?.transaction, 'rollback')
    assert.ok(failed?.error instanceof Error)
    for (const { milliseconds, waited } of runs) assert.ok(milliseconds > 0 && waited >= 0 && waited < 10_000)
    assert.deepEqual(
      added.map(({ id, name, queue }) => [id, name, queue]),
      [runs[0], runs[1], runs[3]].map((run) => [run?.id, 'observed.enter', 'default']),
    )
  })

  test(named('a job keeps the traceparent of the request that added it'), async (t) => {
    const app = await observedApp(t, kind)
    await app.add('enter', { number: 1 }, { traceparent: TRACEPARENT })
    await app.add('enter', { number: 2 }, { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` })
    await app.addOutside({ number: 3 })
    assert.deepEqual(
      (await app.rows()).map(({ trace }) => trace),
      [TRACEPARENT, null, null],
    )
  })

  test(named('a job that exceeds its budget fails a test'), async (t) => {
    const app = await observedApp(t, kind, { queryBudget: { repeats: 5 } })
    const excess = async (job: string, number: number) => {
      const before = app.ended.length
      await app.add(job, { number })
      await app.runs(before + 1)
      return app.fetch('/none').then(
        () => undefined,
        (error: unknown) => (error instanceof QueryBudgetError ? error.message : error),
      )
    }
    assert.equal(await excess('limited', 2), undefined)
    assert.match(
      String(await excess('limited', 3)),
      /^The job observed\.limited \(ObservedJobs\.limited\) sent 3 statements; its budget is 2\. Number 3 was sent, from test\/jobs\/observed-jobs\.ts:\d+/,
    )
    assert.equal(await excess('repeats', 4), undefined)
    for (const job of ['repeats', 'alone', 'steps'])
      assert.match(
        String(await excess(job, 5)),
        new RegExp(`^The job observed\\.${job} .* sent the same statement 5 times \\(N\\+1\\)`),
      )
  })

  test(named('api.jobs.run() rejects for a job that exceeds its budget'), async (t) => {
    const app = await observedApp(t, kind, {}, {})
    await app.add('limited', { number: 3 })
    await assert.rejects(
      app.jobs.run(),
      /^QueryBudgetError: The job observed\.limited .* sent 3 statements; its budget is 2/,
    )
    assert.deepEqual(
      app.ended.map(({ name, outcome, statements }) => [name, outcome, statements]),
      [['observed.limited', 'done', 3]],
    )
  })

  test(named('statements of the queue itself are no repetitions'), async (t) => {
    const app = await observedApp(t, kind, { queryBudget: { repeats: 5 } })
    for (let times = 0; times < 2; times++) assert.equal((await app.add('many', { number: 12 })).status, 204)
    await app.add('unrepeated', { number: 12 })
    await app.runs(1)
    await app.fetch('/none')
  })
}

test('events of the database have the run of the job that they belong to', async (t) => {
  const statements = observed(t, 'sequitur.statement')
  const ends = observed(t, 'sequitur.transaction.end')
  const app = await observedApp(t, sqliteFile)
  await app.add('enter', { number: 1 })
  const [run] = await app.runs(1)
  const own = statements.filter(({ job }) => job === run)
  assert.deepEqual(
    own.map(({ sql, request, route }) => [sql.split(' ', 2).join(' '), request, route]),
    [
      ['INSERT INTO', undefined, undefined],
      ['UPDATE job', undefined, undefined],
    ],
  )
  assert.deepEqual(
    ends.filter(({ job }) => job === run).map(({ outcome }) => outcome),
    ['commit'],
  )
  assert.ok(statements.some(({ job, request }) => !job && !request)) // the worker's own
})

test('a store that is bound to the start of jobs has its value in the job, and in no other', async (t) => {
  const storage = new AsyncLocalStorage<string>()
  const start = channel('sequitur.job.start')
  start.bindStore(storage, (run) => (run as JobRun).name)
  t.after(() => start.unbindStore(storage))
  const seen: (string | undefined)[] = []
  later.pass = () => void seen.push(storage.getStore())
  const app = await observedApp(t, sqliteMemory)
  await app.add('long', { number: 1 })
  await app.runs(1)
  assert.deepEqual(seen, ['observed.long'])
  assert.equal(storage.getStore(), undefined)
})

test('in development a job that sends the same read again and again is a warning, once', async (t) => {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const ended = observed(t, 'sequitur.job.end')
  const logger = { info: write, warn: write, error: write }
  const app = createApp({ ...JOBS, lifespan: memoryDatabase(), logger })
  t.after(() => app.close())
  for (let times = 0; times < 2; times++)
    await app.inject({ method: 'POST', url: '/orders/repeats', payload: { number: 12 } })
  await until('both have run', () => ended.length === 2)
  const warnings = log.filter((line) => line.includes('N+1'))
  assert.equal(warnings.length, 1)
  assert.match(
    warnings[0] ?? '',
    /^The job observed\.repeats \(ObservedJobs\.repeats\) sent the same statement 12 times \(N\+1\), from test\/jobs\/observed-jobs\.ts:\d+/,
  )
})

test('a budget on a method that is not a job stops the start', () => {
  class Strays {
    @Job({ name: 'strays.run' }) async run() {}
    @Budget(3) helper() {}
  }
  assert.throws(
    () => createApp({ ...JOBS, jobs: [Strays], work: {}, lifespan: memoryDatabase() }),
    /Strays\.helper has @Budget\(\), but is not a route/,
  )
})

test('the log has an entry for each run of a job', async (t) => {
  const app = await observedApp(t, sqliteFile, { log: { requests: true } })
  await app.add('enter', { number: 1 }, { traceparent: TRACEPARENT })
  await app.runs(1)
  await app.add('enter', { number: 1, how: 'fails' })
  await app.runs(2)
  const entries = app.log.flatMap((line): Record<string, unknown>[] =>
    line.includes('"job":"observed.enter"') ? [JSON.parse(line) as Record<string, unknown>] : [],
  )
  assert.equal(entries.length, 2)
  const [done, failed] = entries
  const { time, milliseconds, waited, statementMilliseconds, ...rest } = done ?? {}
  assert.ok([milliseconds, waited, statementMilliseconds].every((value) => typeof value === 'number') && time)
  assert.deepEqual(rest, {
    level: 'info',
    id: app.ended[0]?.id,
    trace_id: TRACE,
    job: 'observed.enter',
    queue: 'default',
    handler: 'ObservedJobs.enter',
    attempt: 1,
    outcome: 'done',
    statements: 1,
    transaction: 'commit',
  })
  assert.deepEqual([failed?.['outcome'], failed?.['transaction']], ['failed', 'rollback'])
  assert.ok(!JSON.stringify(entries).includes('S3CRET'))
})

test('a slow job is a warning, with its slowest statements, as a line of text too', async (t) => {
  const { now } = performance
  let passed = 0
  t.mock.method(performance, 'now', () => now.call(performance) + passed)
  later.pass = () => void (passed += 20_000)
  const app = await observedApp(t, sqliteFile, { log: { slow: 10_000, format: 'text' } })
  await app.add('enter', { number: 1 })
  await app.runs(1)
  await app.add('slow', { number: 1 }, { traceparent: TRACEPARENT })
  await app.runs(2)
  const entries = app.log.filter((line) => line.startsWith('job observed.'))
  assert.equal(entries.length, 1)
  assert.match(
    entries[0] ?? '',
    new RegExp(
      `^job observed\\.slow done in \\d+(\\.\\d)? ms, attempt 1 of 1, queue default, waited \\d+(\\.\\d)? ms, 1 statement in \\d+(\\.\\d)? ms, commit \\[\\d+ trace_id=${TRACE}\\], slow; \\d+(\\.\\d)? ms: INSERT INTO effect `,
    ),
  )
})

/** Without a budget, so that nothing else listens. */
class LongJobs {
  @Job({ name: 'long.write', attempts: 1, timeout: 300_000 })
  async write(session: Session) {
    await session.execute(sql`INSERT INTO effect (number) VALUES (1)`)
    await later.pass?.()
  }
}

for (const kind of databases)
  test(`${kind.name}: a job whose transaction was open for longer than a minute is a warning, once`, async (t) => {
    const { now } = performance
    let passed = 0
    t.mock.method(performance, 'now', () => now.call(performance) + passed)
    let step = 59_000
    later.pass = () => void (passed += step)
    const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [LongJobs], work: { default: 1 } })
    const warnings = () => app.log.filter((line) => line.includes('was open for'))
    const run = async () => {
      await withSession(app.database, (session) => jobsOf(session).add(LongJobs, 'write'))
      await until('it is done', () =>
        withSession(
          app.database,
          async () => (await JobRecord.count({ where: { state: 'done' } })) === (await JobRecord.count()),
        ),
      )
    }
    await run()
    assert.deepEqual(warnings(), [])
    step = 74_000
    await run()
    await until('it is a warning', () => warnings().length > 0)
    await run()
    assert.equal(warnings().length, 1)
    assert.match(
      warnings()[0] ?? '',
      /^A transaction of the job long\.write was open for 7[45] s: .* put @Transactional\(false\) on LongJobs\.write, .* attempt\.step\('part'/,
    )
  })
