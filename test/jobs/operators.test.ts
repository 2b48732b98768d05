import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import {
  Cookie,
  createApp,
  Field,
  Injectable,
  newLifespan,
  Security,
  select,
  Session,
  unauthorized,
  withSession,
} from 'sequitur'
import { type AddOptions, Attempt, Job, JobRecord, jobsController, jobsOf } from 'sequitur/jobs'
import { tenancy, withTenant } from 'sequitur/tenancy'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { ChangeStatements } from '../../src/jobs/operators/change-statements.js'
import { OperatorStatements } from '../../src/jobs/operators/statements.js'
import { JobStep, JobWorker } from '../../src/jobs/tables.js'
import { databaseApp, databases, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { models, tenantDatabases } from '../tenancy/tenants.js'

class Mail {
  @Field() to!: string
}

const sent: string[] = []

class MailJobs {
  @Job({ name: 'mail.welcome', queue: 'mail' })
  welcome({ to }: Mail, attempt: Attempt) {
    sent.push(`${to} ${attempt.number}`)
  }
}

/** An admin, whose class reads the database as others do: requests have one connection for it and for the jobs. */
@Injectable()
@Security({ type: 'apiKey', in: 'cookie', name: 'sid' }, { name: 'Session' })
class Admin {
  constructor(
    readonly session: Session,
    @Cookie('sid', { optional: true }) sid?: string,
  ) {
    if (sid !== 'admin') unauthorized('Log in as an admin.')
  }
}

type Row = Partial<Record<keyof JobRecord, unknown>>

async function operatorsApp(t: TestContext, kind: TestDatabase, more: Parameters<typeof databaseApp>[4] = {}) {
  const controllers = [jobsController({ requires: [Admin] })]
  const app = await databaseApp(t, kind, [JobRecord], controllers, { jobs: [MailJobs], ...more })
  const inSession = <T>(what: (session: Session) => Promise<T>) => withSession(app.database, what)
  const send = (path: string, init: { method?: string; json?: unknown; headers?: Record<string, string> } = {}) =>
    app.fetch(path, { ...init, headers: { cookie: 'sid=admin', ...init.headers } })
  return {
    ...app,
    inSession,
    send,
    async get(path: string): Promise<any> {
      const response = await send(path)
      assert.equal(response.status, 200, await response.clone().text())
      return response.json()
    },
    post: (path: string, json: unknown, headers: Record<string, string> = {}) =>
      send(path, { method: 'POST', json, headers }),
    /** Adds a job, and changes its row. Returns its id. */
    async add(row: Row = {}, options: AddOptions = {}): Promise<string> {
      const { id } = await inSession((session) => jobsOf(session).add(MailJobs, 'welcome', { to: 'ann' }, options))
      if (Object.keys(row).length > 0) await inSession(() => JobRecord.update(row as object, { where: { id } }))
      return id
    },
    row: (id: string) => inSession((session) => session.get(JobRecord, id)),
    rows: () => inSession((session) => session.all(select(JobRecord, { order: ['id'] }))),
  }
}

/** What a worker makes of a job that has used up its attempts. */
const dead = (more: Row = {}): Row => ({
  state: 'dead',
  attempt: 10,
  finished: String(Date.now() - 5_000),
  error: 'SmtpError ECONNREFUSED (log 1a2b3c4d)',
  ...more,
})

/** The number of responses with each status. */
function statusesOf(responses: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

for (const kind of databases) {
  const named = (name: string) => `${kind.name}: ${name}`

  test(named('pages put together are the whole list, the newest job first, and have no inputs'), async (t) => {
    const app = await operatorsApp(t, kind)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift(await app.add())
    for (const [limit, state] of [1, 2, 5, 6].flatMap((limit) => [
      [limit, ''] as const,
      [limit, '&state=ready'] as const,
    ])) {
      const found: string[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const { data, meta } = await app.get(`/jobs?limit=${limit}${state}${cursor && `&next_cursor=${cursor}`}`)
        found.push(...data.map(({ id }: { id: string }) => id))
        assert.ok(!JSON.stringify(data).includes('ann'))
        cursor = meta.next_cursor
      }
      assert.deepEqual(found, ids)
    }
  })

  test(named('jobs are listed by state, queue, name and error'), async (t) => {
    const app = await operatorsApp(t, kind)
    const ready = await app.add()
    const delayed = await app.add({}, { delay: 60_000, queue: 'slow' })
    const refused = await app.add(dead())
    const discarded = await app.add(dead({ name: 'mail.bill', error: 'JobDiscarded (log 00000000)' }))
    const listed = async (query: string) => (await app.get(`/jobs?${query}`)).data.map(({ id }: { id: string }) => id)
    assert.deepEqual(await listed('state=dead'), [discarded, refused])
    assert.deepEqual(await listed('state=delayed&queue=slow'), [delayed])
    assert.deepEqual(await listed('queue=mail&name=mail.welcome'), [refused, ready])
    assert.deepEqual(await listed('error=SmtpError%20ECONNREFUSED'), [refused])
    assert.deepEqual(await listed('state=done'), [])
    const [entry] = (await app.get('/jobs?state=dead&name=mail.welcome')).data
    assert.deepEqual([entry.error, entry.log, entry.attempt], ['SmtpError ECONNREFUSED', '1a2b3c4d', 10])
    for (const query of ['state=lost', 'limit=101', 'next_cursor=x', `next_cursor=${'9'.repeat(19)}`])
      assert.equal((await app.send(`/jobs?${query}`)).status, 422, query)
  })

  test(named('who opens a job sees its input, its steps and its trace'), async (t) => {
    const app = await operatorsApp(t, kind)
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const id = await app.add({ trace })
    await app.inSession(() => JobStep.create({ job_id: id, name: 'charge', result: '"secret"' }))
    const { data } = await app.get(`/jobs/${id}`)
    assert.deepEqual([data.input, data.steps, data.trace, data.state], [{ to: 'ann' }, ['charge'], trace, 'ready'])
    await app.inSession(() => JobRecord.update({ input: 'not JSON' }, { where: {} }))
    assert.equal((await app.get(`/jobs/${id}`)).data.input, 'not JSON')
    assert.equal((await app.send('/jobs/999')).status, 404)
    for (const odd of ['0', 'x', '1%20', '9'.repeat(19)])
      assert.equal((await app.send(`/jobs/${odd}`)).status, 422, odd)
  })

  test(named('the overview counts the jobs of each queue, and tells since when the oldest is due'), async (t) => {
    const app = await operatorsApp(t, kind)
    const now = Date.now()
    await app.add({ due: String(now - 60_000) })
    await app.add()
    await app.add({ state: 'delayed', due: String(now - 90_000), error: 'Error' })
    await app.add({}, { delay: 60_000 })
    await app.add({ state: 'limited', limit_key: 'a', due: '0' })
    await app.add({ state: 'running', due: '0', worker: 'w1' })
    await app.add(dead())
    await app.add({ state: 'done', finished: String(now) })
    await app.add({ state: 'done', finished: String(now - 120_000) })
    await app.add({}, { queue: 'slow', delay: 60_000 })
    const { queues, now: told } = await app.get('/jobs/overview')
    assert.ok(Math.abs(Date.parse(told) - now) < 60_000)
    const none = { ready: 0, delayed: 0, failed: 0, limited: 0, running: 0, dead: 0, done: 0 }
    assert.deepEqual(queues, [
      {
        queue: 'mail',
        workers: 0,
        oldest_due: new Date(now - 90_000).toISOString(),
        ready: 2,
        delayed: 2,
        failed: 1,
        limited: 1,
        running: 1,
        dead: 1,
        done: 1,
      },
      { queue: 'slow', workers: 0, oldest_due: null, ...none, delayed: 1 },
    ])
  })

  test(named('the overview groups dead jobs by their errors, and lists workers'), async (t) => {
    const app = await operatorsApp(t, kind)
    const [first, last] = [Date.now() - 9_000, Date.now() - 1_000]
    await app.add(dead({ finished: String(first) }))
    await app.add(dead({ finished: String(last), error: 'SmtpError ECONNREFUSED (log ffffffff)' }))
    await app.add(dead({ finished: String(last), error: 'Discarded' }))
    await app.add({ state: 'running', worker: 'w1' })
    await app.inSession(async () => {
      await JobWorker.create({
        id: 'w1',
        host: 'a',
        queues: 'mail=5,bills=1',
        valid_until: String(Date.now() + 600_000),
      })
      await JobWorker.create({ id: 'w2', host: 'b', valid_until: '1000' })
    })
    const overview = await app.get('/jobs/overview')
    const [oldest, newest] = [first, last].map((at) => new Date(at).toISOString())
    assert.deepEqual(overview.dead, [
      { name: 'mail.welcome', error: 'SmtpError ECONNREFUSED', count: 2, oldest, newest },
      { name: 'mail.welcome', error: 'Discarded', count: 1, oldest: newest, newest },
    ])
    assert.deepEqual(
      overview.workers.map(({ id, host, queues, valid, running }: Record<string, unknown>) => [
        id,
        host,
        queues,
        valid,
        running,
      ]),
      [
        [
          'w1',
          'a',
          [
            { queue: 'mail', slots: 5 },
            { queue: 'bills', slots: 1 },
          ],
          true,
          1,
        ],
        ['w2', 'b', null, false, 0],
      ],
    )
    assert.equal(overview.workers[1].valid_until, '1970-01-01T00:00:01.000Z')
  })

  test(named('the overview says how many processes work on a queue, if that is known'), async (t) => {
    const app = await operatorsApp(t, kind)
    await app.add()
    await app.add({}, { queue: 'slow' })
    const valid_until = String(Date.now() + 600_000)
    const create = (id: string, queues: string | null, until = valid_until) =>
      app.inSession(() => JobWorker.create({ id, host: 'a', queues, valid_until: until }))
    const workers = async () =>
      (await app.get('/jobs/overview')).queues.map((entry: { workers: number | null }) => entry.workers)
    await create('w1', 'mail=5')
    await create('w2', 'mail=1,bills=1')
    await create('w3', 'slow=1', '1000')
    assert.deepEqual(await workers(), [2, 0])
    await create('w4', null)
    assert.deepEqual(await workers(), [2, null])
  })

  test(named('a list says since when a job runs, and an opened job which ones hold its limit'), async (t) => {
    const app = await operatorsApp(t, kind)
    const started = String(Date.now() - 60_000)
    const first = await app.add({ state: 'running', worker: 'w1', started, limit_key: 'a' })
    const second = await app.add({ state: 'running', worker: 'w1', started, limit_key: 'a' })
    const waiting = await app.add({ state: 'limited', limit_key: 'a' })
    await app.add({ state: 'running', worker: 'w1', limit_key: 'b' })
    const free = await app.add()
    const jobs: any[] = (await app.get('/jobs')).data
    const factsOf = (id: string) => jobs.filter((job) => job.id === id).map((job) => [job.started, job.limit_key])
    assert.deepEqual(factsOf(first), [[new Date(Number(started)).toISOString(), 'a']])
    assert.deepEqual(factsOf(waiting), [[null, 'a']])
    assert.deepEqual(factsOf(free), [[null, null]])
    const holdersOf = async (id: string) => (await app.get(`/jobs/${id}`)).data.limit_holders
    assert.deepEqual(await holdersOf(waiting), [first, second])
    assert.deepEqual(await holdersOf(first), [second])
    assert.deepEqual(await holdersOf(free), [])
  })

  test(named('a worker writes what it works on, and when it took a job'), async (t) => {
    const app = await operatorsApp(t, kind, { work: { mail: 3, reports: 1 } })
    const { workers } = await app.get('/jobs/overview')
    assert.deepEqual(
      workers.map(({ queues }: { queues: unknown }) => queues),
      [
        [
          { queue: 'mail', slots: 3 },
          { queue: 'reports', slots: 1 },
        ],
      ],
    )
    // On PostgreSQL the time of a statement is that at which it began, which may be before a job that it finds was added.
    const id = await app.add({}, { delay: 200 })
    await until('it is done', async () => (await app.row(id))?.state === 'done')
    const row = await app.row(id)
    assert.ok(Number(row?.started) >= Number(row?.created))
    assert.ok(Number(row?.started) <= Number(row?.finished))
  })

  test(named('what a worker works on is not known if that is too long for its row'), async (t) => {
    const queues = Array.from({ length: 25 }, (_, n) => [`${n}`.padStart(50, 'z'), 1])
    const app = await operatorsApp(t, kind, { work: Object.fromEntries(queues) })
    assert.equal((await app.get('/jobs/overview')).workers[0].queues, null)
  })

  test(named('a dead job that is retried runs at once, as one that has no attempts behind it'), async (t) => {
    sent.length = 0
    const app = await operatorsApp(t, kind, { work: { mail: 1 } })
    const id = await app.add(dead(), { delay: 60_000 })
    const response = await app.post(`/jobs/${id}/retry`, { state: 'dead' })
    const { data } = (await response.json()) as any
    assert.deepEqual([response.status, data.state, data.attempt, data.finished], [200, 'ready', 0, null])
    await until('it is done', async () => (await app.row(id))?.state === 'done')
    assert.deepEqual(sent, ['ann 1'])
    assert.equal((await app.post(`/jobs/${id}/retry`, { state: 'dead' })).status, 409)
    assert.ok(
      app.log.some((line) => /A dead job was retried by an operator/.test(line) && line.includes('mail.welcome')),
    )
  })

  test(named('a retried job has its key again, unless another one has it'), async (t) => {
    const app = await operatorsApp(t, kind)
    const first = await app.add({}, { key: 'once' })
    assert.equal((await app.post(`/jobs/${first}/discard`, { state: 'ready' })).status, 200)
    const rival = await app.add({}, { key: 'once' })
    assert.notEqual(rival, first)
    const refused = await app.post(`/jobs/${first}/retry`, { state: 'dead' })
    assert.equal(refused.status, 409)
    assert.match(await refused.text(), new RegExp(`The job ${rival} has the key of this one`))
    assert.equal((await app.row(first))?.state, 'dead')
    await app.post(`/jobs/${rival}/discard`, { state: 'ready' })
    assert.equal((await app.post(`/jobs/${first}/retry`, { state: 'dead' })).status, 200)
    assert.equal(await app.add({}, { key: 'once' }), first)
    const row = await app.row(first)
    assert.deepEqual([row?.kept_key, row?.error], [null, 'Discarded'])
  })

  test(named('a waiting job that is discarded is dead, and a dead one is deleted with its steps'), async (t) => {
    const app = await operatorsApp(t, kind)
    for (const state of ['ready', 'delayed', 'limited'] as const) {
      const id = await app.add({ state, limit_key: 'a' })
      const response = await app.post(`/jobs/${id}/discard`, { state })
      const { data } = (await response.json()) as any
      assert.deepEqual([response.status, data.state, data.error, data.log], [200, 'dead', 'Discarded', null])
      await app.inSession(() => JobStep.create({ job_id: id, name: 'a', result: '1' }))
      assert.equal((await app.post(`/jobs/${id}/discard`, { state })).status, 409)
      assert.equal((await app.post(`/jobs/${id}/discard`, { state: 'dead' })).status, 204)
      assert.equal((await app.post(`/jobs/${id}/discard`, { state: 'dead' })).status, 404)
    }
    assert.deepEqual(await app.rows(), [])
    assert.equal(await app.inSession(() => JobStep.count()), 0)
  })

  test(named('a job that runs is neither retried nor discarded'), async (t) => {
    const app = await operatorsApp(t, kind)
    const id = await app.add({ state: 'running', worker: 'w1' })
    for (const state of ['ready', 'delayed', 'limited', 'dead']) {
      const response = await app.post(`/jobs/${id}/discard`, { state })
      assert.equal(response.status, 409)
      assert.match(await response.text(), /The job is running/)
    }
    assert.equal((await app.post(`/jobs/${id}/discard`, { state: 'running' })).status, 422)
    assert.equal((await app.post(`/jobs/${id}/retry`, { state: 'dead' })).status, 409)
    assert.equal((await app.row(id))?.state, 'running')
    assert.equal((await app.post('/jobs/999/retry', { state: 'dead' })).status, 404)
  })

  test(named('of several operators one changes a job'), async (t) => {
    const app = await operatorsApp(t, kind)
    const rivals = (path: string, json: unknown) => Promise.all(Array.from({ length: 8 }, () => app.post(path, json)))
    const id = await app.add()
    // Discarding it twice would delete it.
    assert.deepEqual(statusesOf(await rivals(`/jobs/${id}/discard`, { state: 'ready' })), { 200: 1, 409: 7 })
    assert.deepEqual(statusesOf(await rivals(`/jobs/${id}/retry`, { state: 'dead' })), { 200: 1, 409: 7 })
    await app.inSession(() => JobRecord.update(dead() as object, { where: { id } }))
    const [{ 204: deleted, 404: missing = 0, 409: late = 0 }] = [
      statusesOf(await rivals(`/jobs/${id}/discard`, { state: 'dead' })),
    ]
    assert.deepEqual([deleted, missing + late], [1, 7])
  })

  test(named('all dead jobs of a name and an error are retried, some at a time'), async (t) => {
    const app = await operatorsApp(t, kind)
    await app.inSession((session) =>
      Promise.all(Array.from({ length: 230 }, () => jobsOf(session).add(MailJobs, 'welcome', { to: 'ann' }))),
    )
    await app.inSession(() => JobRecord.update(dead() as object, { where: {} }))
    const other = await app.add(dead({ error: 'Discarded' }))
    const later = await app.add(dead({ finished: String(Date.now() + 600_000) }))
    let next = { name: 'mail.welcome', error: 'SmtpError ECONNREFUSED' } as Record<string, unknown>
    const changed: number[] = []
    for (let requests = 0; requests < 5; requests++) {
      const response = await app.post('/jobs/dead/retry', next)
      assert.equal(response.status, 200)
      const { until, next_cursor, ...result } = (await response.json()) as any
      changed.push(result.changed)
      assert.equal(result.skipped, 0)
      if (next_cursor === null) break
      next = { ...next, until, next_cursor }
    }
    assert.deepEqual(changed, [100, 100, 30])
    const rows = await app.rows()
    assert.deepEqual(
      rows.filter(({ state }) => state === 'dead').map(({ id }) => String(id)),
      [other, later],
    )
    assert.ok(rows.every(({ state, attempt, finished }) => state === 'dead' || (attempt === 0 && finished === null)))
  })

  test(named('dead jobs whose key is taken are skipped when all are retried'), async (t) => {
    const app = await operatorsApp(t, kind)
    const discarded = async (key: string) => {
      const id = await app.add({}, { key })
      await app.post(`/jobs/${id}/discard`, { state: 'ready' })
      return id
    }
    const ids = [await discarded('a'), await discarded('a'), await discarded('b'), await app.add(dead())]
    const rival = await app.add({}, { key: 'b' })
    const response = await app.post('/jobs/dead/retry', { name: 'mail.welcome' })
    const { changed, skipped, next_cursor } = (await response.json()) as any
    assert.deepEqual([changed, skipped, next_cursor], [2, 2, null])
    const states = await Promise.all([...ids, rival].map(async (id) => (await app.row(id))?.state))
    assert.deepEqual(states, ['ready', 'dead', 'dead', 'ready', 'ready'])
  })

  test(named('all dead jobs of a name are deleted with their steps, and no others'), async (t) => {
    const app = await operatorsApp(t, kind)
    const id = await app.add(dead())
    await app.add(dead())
    const others = [await app.add(dead({ name: 'mail.bill' })), await app.add(), await app.add({ state: 'running' })]
    await app.inSession(() => JobStep.create({ job_id: id, name: 'a', result: '1' }))
    await app.inSession(() => JobStep.create({ job_id: others[0] as string, name: 'a', result: '1' }))
    const response = await app.post('/jobs/dead/discard', { name: 'mail.welcome' })
    assert.equal(((await response.json()) as any).changed, 2)
    assert.deepEqual(
      (await app.rows()).map((row) => String(row.id)),
      others,
    )
    assert.equal(await app.inSession(() => JobStep.count()), 1)
  })
}

for (const kind of tenantDatabases) {
  test(`${kind.name}: an operator without a tenant sees and changes the jobs of all tenants`, async (t) => {
    const { url, role } = await kind.open(t)
    const boundary = tenancy({ of: () => undefined, column: 'tenant_id', ...(role === undefined ? {} : { role }) })
    const app = await operatorsApp(
      t,
      { name: kind.name, url: () => Promise.resolve(url) },
      { models: [...models, JobRecord], lifespan: { boundary, sync: !kind.hasPolicies } },
    )
    const add = () => app.inSession((session) => jobsOf(session).add(MailJobs, 'welcome', { to: 'ann' }))
    const { id } = await withTenant(7, add)
    const [entry] = (await app.get('/jobs')).data
    assert.deepEqual([entry.id, entry.tenant], [id, '7'])
    assert.equal((await app.get('/jobs/overview')).queues[0].ready, 1)
    assert.equal((await app.post(`/jobs/${id}/discard`, { state: 'ready' })).status, 200)
    assert.equal((await app.post('/jobs/dead/retry', { name: 'mail.welcome' })).status, 200)
    assert.equal((await app.get(`/jobs/${id}`)).data.state, 'ready')
  })
}

test('jobs of another database than that of the requests are listed and changed there', async (t) => {
  const jobsDatabase = newLifespan('sqlite+sqlite3:///:memory:', { sync: true, models: [JobRecord] })
  const controllers = [jobsController({ requires: [Admin] })]
  const lifespan = [newLifespan('sqlite+sqlite3:///:memory:'), jobsDatabase]
  const app = await testApp({ controllers, lifespan, logger: false })
  t.after(app.close)
  const headers = { cookie: 'sid=admin' }
  const { id } = await withSession(jobsDatabase, (session) => jobsOf(session).add(MailJobs, 'welcome', { to: 'ann' }))
  const send = (path: string, json?: unknown) =>
    app.fetch(`/jobs/${id}${path}`, { headers, ...(json === undefined ? {} : { method: 'POST', json }) })
  assert.equal((await send('')).status, 200)
  assert.equal((await send('/discard', { state: 'ready' })).status, 200)
  assert.equal((await send('/retry', { state: 'dead' })).status, 200)
  assert.equal((await send('/retry', { state: 'dead' })).status, 409)
})

test('what the page reads again and again reads the indexes of its states, and not the jobs that are done', async (t) => {
  const app = await operatorsApp(t, sqliteMemory)
  const operators = new OperatorStatements('sqlite')
  const read = [
    operators.counts(),
    operators.dead(),
    ...(['ready', 'delayed', 'limited', 'running', 'dead'] as const).map((state) =>
      operators.list({ states: [state] }, 26),
    ),
    operators.list({ states: ['dead'], name: 'mail.welcome' }, 26),
    operators.holders('a'),
    new ChangeStatements('sqlite').batch({ name: 'mail.welcome', states: ['dead'], until: 0, after: '5', most: 100 }),
  ]
  for (const statement of read) {
    const texts = [`EXPLAIN QUERY PLAN ${statement.texts[0]}`, ...statement.texts.slice(1)]
    const plan = await app.inSession((session) =>
      session.execute<{ readonly detail: string }>({ kind: 'sql', texts, values: statement.values }),
    )
    const reads = plan.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) job\b/.test(detail))
    assert.ok(reads.length > 0)
    for (const detail of reads)
      assert.match(detail, /INDEX job_(ready|delayed|limited|running|dead|done)\b/, statement.texts.join('?'))
  }
})

const ROUTES = [
  ['GET', '/jobs'],
  ['GET', '/jobs/overview'],
  ['GET', '/jobs/1'],
  ['POST', '/jobs/1/retry'],
  ['POST', '/jobs/1/discard'],
  ['POST', '/jobs/dead/retry'],
  ['POST', '/jobs/dead/discard'],
] as const

test('what requires refuses is refused by each route with data, and the page has none', async (t) => {
  const app = await operatorsApp(t, sqliteMemory)
  for (const [method, path] of ROUTES)
    assert.equal((await app.fetch(path, { method, ...(method === 'POST' ? { json: {} } : {}) })).status, 401, path)
  for (const [path, type] of [
    ['/jobs/page', 'text/html'],
    ['/jobs/page/parts/page.js', 'text/javascript'],
    ['/jobs/page/parts/client.js', 'text/javascript'],
    ['/jobs/page/parts/page.css', 'text/css'],
  ] as const) {
    const { status, headers } = await app.fetch(path)
    assert.deepEqual([status, headers.get('content-type')], [200, `${type}; charset=utf-8`])
  }
  assert.equal((await app.fetch('/jobs/page/parts/..%2f..%2fpackage.json')).status, 422)
  const slash = await app.fetch('/jobs/page/', { redirect: 'manual' })
  assert.deepEqual([slash.status, slash.headers.get('location')], [308, '../page'])
  const csp = (await app.fetch('/jobs/page')).headers.get('content-security-policy') ?? ''
  assert.match(csp, /^default-src 'none'; script-src 'self'; style-src 'self';/)
  assert.doesNotMatch(csp, /unsafe/)
})

test('a page of another site cannot change jobs with the cookie of an operator', async (t) => {
  const app = await operatorsApp(t, sqliteMemory)
  const id = await app.add()
  const path = `/jobs/${id}/discard`
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ]
  for (const headers of foreign)
    assert.equal((await app.post(path, { state: 'ready' }, headers)).status, 403, JSON.stringify(headers))
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const headers = { cookie: 'sid=admin', 'content-type': type }
    const response = await app.fetch(path, { method: 'POST', headers, body: '{"state":"ready"}' })
    assert.equal(response.status, 415, type)
  }
  assert.equal((await app.row(id))?.state, 'ready')
  assert.equal((await app.post(path, { state: 'ready' }, { 'sec-fetch-site': 'same-origin' })).status, 200)
})

test('a controller of jobs that would let anyone in, or has no table, does not start', async () => {
  const call = jobsController as (options?: unknown) => never
  for (const [options, message] of [
    [undefined, /requires/],
    [{}, /jobsController\(\): requires is undefined\. .*jobsController\(\{ requires: \[Admin\] \}\)/s],
    [{ requires: [] }, /requires is empty\. Name who may/],
    [{ requires: Admin }, /requires takes a list/],
    [{ requires: [undefined] }, /item 0 is undefined/],
    [{ requires: [Admin], require: [] }, /require/],
  ] as const)
    assert.throws(() => call(options), message)
  const app = createApp({
    controllers: [jobsController({ requires: [Admin] })],
    lifespan: memoryDatabase(),
    logger: false,
  })
  await assert.rejects(() => app.start(), /JobRecord/)
})

test('the OpenAPI document of an app with the controller is valid, and documents who may use it', async () => {
  const controllers = [jobsController({ requires: [Admin], path: '/operations/jobs' })]
  const app = createApp({
    controllers,
    models: [JobRecord],
    lifespan: memoryDatabase(),
    logger: false,
    info: { title: 'Jobs', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
  })
  const document = JSON.parse(JSON.stringify(app.openapi()))
  const { valid, errors } = await new Validator().validate(document)
  assert.ok(valid, JSON.stringify(errors))
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  assert.deepEqual(
    problems.map(({ ruleId, message, location: [place] }) => `${ruleId} ${place?.pointer}: ${message}`),
    [],
  )
  const { retry, discard } = Object.fromEntries(
    ['retry', 'discard'].map((name) => [name, document.paths[`/operations/jobs/{id}/${name}`].post]),
  )
  assert.deepEqual(retry.security, [{ Session: [] }])
  assert.deepEqual(Object.keys(retry.responses), [
    '200',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '415',
    '422',
    '503',
    'default',
  ])
  assert.ok(discard.responses['204'])
  assert.equal(document.paths['/operations/jobs/page'].get.security, undefined)
})
