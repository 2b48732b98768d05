import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node'
import { Registry } from 'prom-client'
import { withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { metrics, type Metrics } from 'sequitur/metrics'
import { databases, sqliteFile, sqliteMemory } from '../support/databases.js'
import { picked, type Spans, telemetry, tracer } from '../support/telemetry.js'
import { until } from '../support/waiting.js'
import { later, observedApp } from './observed-jobs.js'
import { gate } from '../support/waiting.js'

function pathsOf(spans: Spans, trace: ReadableSpan): readonly string[] {
  return spans.all
    .filter((span) => span.spanContext().traceId === trace.spanContext().traceId)
    .map((span) => spans.pathOf(span).join(' < ').replaceAll(/["`]/g, ''))
}

for (const kind of databases) {
  test(`${kind.name}: a run of a job is a trace of its own, with a link to the request that added it`, async (t) => {
    const { spans, points } = telemetry(t)
    const app = await observedApp(t, kind)
    await app.add('enter', { number: 1 })
    await app.runs(1)
    const found = await spans(1)
    const run = found.one('process observed.enter')
    const request = found.one('POST /orders/:job')
    assert.equal(run.kind, SpanKind.CONSUMER)
    assert.equal(run.parentSpanContext, undefined)
    assert.notEqual(run.spanContext().traceId, request.spanContext().traceId)
    const [link, ...others] = run.links
    assert.deepEqual(
      [link?.context.traceId, link?.context.spanId, others.length],
      [request.spanContext().traceId, request.spanContext().spanId, 0],
    )
    // On the fast path of PostgreSQL, the statement fails if the job is not to be completed.
    const paths = pathsOf(found, run).map((path) => path.replace('UPDATE job SELECT completed', 'UPDATE job'))
    assert.deepEqual(paths, [
      'INSERT effect < transaction < process observed.enter',
      ...Array<string>(kind.name.startsWith('MariaDB') ? 2 : 1)
        .fill('')
        .flatMap((_, index) =>
          index === 0
            ? 'UPDATE job < transaction < process observed.enter'
            : 'SELECT < transaction < process observed.enter',
        ),
      'COMMIT < transaction < process observed.enter',
      'transaction < process observed.enter',
      'process observed.enter',
    ])
    assert.deepEqual(
      picked(
        run,
        'messaging.system',
        'messaging.operation.type',
        'messaging.destination.name',
        'messaging.message.id',
        'sequitur.job.name',
        'sequitur.job.attempt',
        'sequitur.job.outcome',
        'error.type',
      ),
      {
        'messaging.system': 'sequitur',
        'messaging.operation.type': 'process',
        'messaging.destination.name': 'default',
        'messaging.message.id': app.ended[0]?.id,
        'sequitur.job.name': 'observed.enter',
        'sequitur.job.attempt': 1,
        'sequitur.job.outcome': 'done',
        'error.type': undefined,
      },
    )
    // Looks at the queue belong to no trace: there would be one each second.
    assert.deepEqual(
      found.all.filter(({ name, parentSpanContext }) => name === 'transaction' && !parentSpanContext),
      [],
    )
    const [point] = await points('messaging.process.duration')
    assert.equal(point && picked(point, 'sequitur.job.outcome')['sequitur.job.outcome'], 'done')
  })
}

test('a job that another job adds is linked to that run; one that a span of the program adds, to that span', async (t) => {
  const { spans } = telemetry(t)
  const app = await observedApp(t, sqliteFile)
  await app.add('enter', { number: 1, how: 'adds' })
  await app.runs(2)
  const [first, second] = (await spans(1)).all.filter(({ name }) => name === 'process observed.enter')
  assert.equal(second?.links[0]?.context.spanId, first?.spanContext().spanId)
  await tracer.startActiveSpan('script', async (span) => {
    await app.addOutside({ number: 3 })
    span.end()
  })
  await app.runs(3)
  const found = await spans(1)
  const last = found.all.findLast(({ name }) => name === 'process observed.enter')
  assert.equal(last?.links[0]?.context.spanId, found.one('script').spanContext().spanId)
})

test('a failed run is an error with its class, and without its message', async (t) => {
  const { spans } = telemetry(t)
  const app = await observedApp(t, sqliteFile)
  await app.add('enter', { number: 1, how: 'fails' })
  await app.runs(1)
  const run = (await spans(1)).one('process observed.enter')
  assert.deepEqual(picked(run, 'sequitur.job.outcome', 'error.type'), {
    'sequitur.job.outcome': 'failed',
    'error.type': 'TypeError',
  })
  assert.equal(run.status.code, SpanStatusCode.ERROR)
  assert.doesNotMatch(JSON.stringify([run.attributes, run.events, run.status]), /S3CRET/)
  const entry = app.log.find((line) => line.includes('failed, and runs again')) ?? ''
  assert.ok(entry.includes(`trace_id=${run.spanContext().traceId}`), entry)
})

function prometheus(t: TestContext): Metrics {
  const made = metrics({ register: new Registry() })
  t.after(() => made.stop())
  return made
}

async function seriesOf({ register }: Metrics, name: string): Promise<Readonly<Record<string, number>>> {
  const lines = (await register.metrics()).split('\n')
  const series = lines.flatMap((line) => {
    const [, own, labels = '', value] = /^(\w+)(\{.*\})? (\S+)$/.exec(line) ?? []
    return own === name ? [[labels, Number(value)] as const] : []
  })
  return Object.fromEntries(series)
}

test('runs of jobs are measured by their name and what became of them, and counted while they run', async (t) => {
  const made = prometheus(t)
  const arrived = gate()
  const waiting = gate()
  later.pass = () => {
    arrived.open()
    return waiting.opened
  }
  const app = await observedApp(t, sqliteMemory)
  await app.add('enter', { number: 1 })
  await app.runs(1)
  await app.add('enter', { number: 2, how: 'discards' })
  await app.runs(2)
  assert.deepEqual(await seriesOf(made, 'jobs_running'), {})
  await app.add('long', { number: 3 })
  await arrived.opened
  assert.deepEqual(await seriesOf(made, 'jobs_running'), { '{queue="default"}': 1 })
  waiting.open()
  await app.runs(3)
  assert.deepEqual(await seriesOf(made, 'job_duration_seconds_count'), {
    '{job="observed.enter",outcome="done"}': 1,
    '{job="observed.enter",outcome="dead"}': 1,
    '{job="observed.long",outcome="done"}': 1,
  })
  assert.deepEqual(await seriesOf(made, 'job_wait_seconds_count'), {
    '{job="observed.enter",queue="default"}': 2,
    '{job="observed.long",queue="default"}': 1,
  })
})

test('an excess of a job is counted by its name', async (t) => {
  const made = prometheus(t)
  const app = await observedApp(t, sqliteMemory)
  await app.add('limited', { number: 3 })
  await app.runs(1)
  assert.deepEqual(await seriesOf(made, 'query_budget_exceeded_total'), {
    '{route="job observed.limited",kind="statements"}': 1,
  })
  await app.fetch('/none').catch(() => {})
})

for (const kind of databases)
  test(`${kind.name}: the due jobs of each queue are counted by one statement when the metrics are read`, async (t) => {
    const made = prometheus(t)
    const app = await observedApp(t, kind, {}, {})
    assert.deepEqual(await seriesOf(made, 'jobs_ready'), { '{queue="default"}': 0, '{queue="nightly"}': 0 })
    for (const number of [1, 2]) await app.add('enter', { number })
    await app.add('many', { number: 3 }) // delayed
    await until('the oldest is a second old', async () => {
      const { '{queue="default"}': seconds = 0 } = await seriesOf(made, 'jobs_oldest_due_seconds')
      return seconds >= 1 && seconds < 60
    })
    app.log.length = 0
    assert.deepEqual(await seriesOf(made, 'jobs_ready'), { '{queue="default"}': 2, '{queue="nightly"}': 0 })
    assert.equal(app.log.filter((line) => /SELECT .*count/.test(line)).length, 1)
    await app.overdue()
    assert.deepEqual(await seriesOf(made, 'jobs_ready'), { '{queue="default"}': 5, '{queue="nightly"}': 0 })
    assert.ok(((await seriesOf(made, 'jobs_oldest_due_seconds'))['{queue="default"}'] ?? 0) > 3_000)
  })

for (const kind of databases)
  test(`${kind.name}: the metrics have queues with ready jobs that no method has, up to a limit`, async (t) => {
    const made = prometheus(t)
    const app = await observedApp(t, kind, {}, {})
    for (const number of [1, 2, 3]) await app.addOutside({ number })
    const moveTo = (queue: string, where: object) =>
      withSession(app.database, () => JobRecord.update({ queue }, { where: { ...where } }))
    await moveTo('zoo', { id: '1' })
    await moveTo('Archive', { id: '2' })
    assert.deepEqual(await seriesOf(made, 'jobs_ready'), {
      '{queue="default"}': 1,
      '{queue="nightly"}': 0,
      '{queue="Archive"}': 1,
      '{queue="zoo"}': 1,
    })
    const [row] = await app.rows()
    const others = Array.from({ length: 110 }, (_, n) => ({ ...row?.get(), id: undefined, queue: `q${n}` }))
    await withSession(app.database, () => JobRecord.bulkCreate(others as never[]))
    // The first hundred, and the one that a method has.
    assert.equal(Object.keys(await seriesOf(made, 'jobs_ready')).length, 101)
  })

test('metrics are sent while the database does not answer, and after its end', async (t) => {
  const made = prometheus(t)
  const app = await observedApp(t, sqliteFile, {}, {})
  assert.deepEqual(Object.keys(await seriesOf(made, 'jobs_ready')), ['{queue="default"}', '{queue="nightly"}'])
  await app.database.sequelize.query('DROP TABLE job')
  assert.deepEqual(await seriesOf(made, 'jobs_ready'), {})
  await app.close()
  assert.deepEqual(await seriesOf(made, 'jobs_ready'), {})
  assert.match(await made.register.metrics(), /# TYPE jobs_ready gauge/)
})
