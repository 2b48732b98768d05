import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import {
  Controller,
  Field,
  Injectable,
  Item,
  Post,
  RequestLogger,
  select,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { Attempt, Job, JobRecord, Jobs, jobsOf } from 'sequitur/jobs'
import { databaseApp, databases, sqliteMemory, statements, type TestDatabase } from '../support/databases.js'
import { observed } from '../support/observed.js'
import { gate, until } from '../support/waiting.js'
import { Effect } from './ledger.js'

class Entry {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) how?: string
  @Field({ optional: true }) at?: Date
}

@Injectable()
class Ledger {
  constructor(
    private readonly session: Session,
    private readonly log: RequestLogger,
  ) {}

  async enter(number: number): Promise<void> {
    this.log.info('entered', { number })
    await this.session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
  }
}

const seen: string[] = []
/** What a job waits for before it writes. */
let mayWrite = gate()

class LedgerJobs {
  @Job({ name: 'ledger.enter', attempts: 3 })
  async enter(input: Entry, ledger: Ledger, attempt: Attempt, signal: AbortSignal, session: Session, jobs: Jobs) {
    seen.push(`${attempt.name} ${input.number} ${attempt.number}${attempt.isLast ? ' last' : ''}`)
    // On SQLite, who has written keeps all others from writing.
    if (input.how === 'waits first' && attempt.number === 1) await mayWrite.opened
    await ledger.enter(input.number)
    if (input.at) assert.ok(input.at instanceof Date)
    switch (input.how) {
      case 'fails':
        throw new Error('a secret')
      case 'fails at first':
        if (attempt.number === 1) attempt.retryIn(0)
        break
      case 'discards':
        return attempt.discard('not wanted')
      case 'rolls back':
        return session.rollback()
      case 'takes a while':
        await wait(30)
        break
      case 'throws oddly':
        throw Object.defineProperty(new Error('odd'), 'name', {
          get: () => {
            throw new Error('no name')
          },
        })
      case 'adds':
        await jobs.add(LedgerJobs, 'enter', { number: input.number + 1 })
        break
      case 'keys':
        seen.push(attempt.key)
        if (attempt.number === 1) attempt.retryIn(0)
        break
      case 'waits':
        await wait(20_000, undefined, { signal })
    }
    return undefined
  }

  @Job({ name: 'ledger.slow', queue: 'slow', timeout: 1_500, attempts: 1 })
  async slow(input: Entry, signal: AbortSignal) {
    await Effect.create({ number: input.number })
    await wait(10_000, undefined, { signal }).catch(() => seen.push('aborted'))
  }

  @Transactional({ readOnly: true })
  @Job({ name: 'ledger.read' })
  async read(session: Session) {
    seen.push(`read ${await session.count(select(Effect))}`)
  }

  @Transactional(false)
  @Job({ name: 'ledger.own' })
  async own(input: Entry) {
    await withSession(() => Effect.create({ number: input.number }))
  }
}

class NewEntry extends Entry {
  @Field({ default: false }) fails!: boolean
}

@Controller('/entries')
class EntryController {
  @Post('/', Item.of(Effect))
  async create({ fails, ...input }: NewEntry, jobs: Jobs) {
    const data = await Effect.create({ number: -1 })
    await jobs.add(LedgerJobs, 'enter', input)
    if (fails) throw new Error('after add()')
    return { data }
  }

  @Post('/partly')
  async partly(jobs: Jobs, session: Session) {
    await jobs.add(LedgerJobs, 'enter', { number: 1 })
    await session
      .nested(async () => {
        await jobs.add(LedgerJobs, 'enter', { number: 2 })
        throw new Error('back to the savepoint')
      })
      .catch(() => {})
  }
}

const WORK: Record<string, number> = { default: 4, slow: 1 }
const NO_WORK: Record<string, number> = {}

/** An app with a worker, unless it has no work. */
async function ledgerApp(t: TestContext, kind: TestDatabase, work = WORK) {
  seen.length = 0
  const url = await kind.url()
  const { random } = Math
  t.mock.method(Math, 'random', () => 0.5 + random() / 10) // else a job that has failed might run again at once
  return openLedger(t, { name: kind.name, url: () => Promise.resolve(url) }, work)
}

async function openLedger(t: TestContext, kind: TestDatabase, work: Record<string, number>) {
  process.env['toolkit_job_lease'] = '1500' // read by the start
  const app = await databaseApp(t, kind, [Effect, JobRecord], [EntryController], {
    jobs: [LedgerJobs],
    timeouts: { drain: 300 },
    ...(work === NO_WORK ? {} : { work }),
  })
  delete process.env['toolkit_job_lease']
  const inSession = <T>(what: (session: Session) => Promise<T>) => withSession(app.database, what)
  const jobs = () => inSession((session) => session.all(select(JobRecord, { order: ['id'] })))
  return {
    ...app,
    inSession,
    jobs,
    add: (input: Entry) => app.fetch('/entries', { method: 'POST', json: input }),
    /** The numbers that jobs have written. */
    entered: async () =>
      (await inSession((session) => session.all(select(Effect, { order: ['number'] }))))
        .map(({ number }) => number)
        .filter((number) => number >= 0),
    /** Waits until each job has ended, or waits for a later attempt. */
    settled: () =>
      until('all jobs have ended', async () =>
        (await jobs()).every(({ state }) => ['done', 'dead', 'delayed'].includes(state)),
      ),
    /** The app again, with a worker. */
    async work(work: Record<string, number> = WORK) {
      await app.close()
      return openLedger(t, kind, work)
    },
  }
}

for (const kind of databases) {
  const named = (name: string) => `${kind.name}: ${name}`
  const isLost = kind === sqliteMemory && 'a database in memory ends with its app'

  test(named('a job exists if, and only if, what added it was committed'), async (t) => {
    const app = await ledgerApp(t, kind, NO_WORK)
    assert.equal((await app.add({ number: 1 })).status, 201)
    assert.equal((await app.fetch('/entries', { method: 'POST', json: { number: 2, fails: true } })).status, 500)
    assert.equal((await app.fetch('/entries/partly', { method: 'POST' })).status, 204)
    const jobs = await app.jobs()
    assert.deepEqual(
      jobs.map(({ name, state, input }) => [name, state, JSON.parse(input)]),
      [1, 1].map((number) => ['ledger.enter', 'ready', { number }]),
    )
    assert.deepEqual(await app.entered(), [])
  })

  test(named('a job is done in the commit of what it has written, by its last statement'), async (t) => {
    const app = await ledgerApp(t, kind)
    await app.add({ number: 7, at: new Date() })
    await app.settled()
    assert.deepEqual(await app.entered(), [7])
    const [job] = await app.jobs()
    assert.deepEqual([job?.state, job?.attempt, job?.worker, job?.error], ['done', 1, null, null])
    assert.ok(Number(job?.finished) >= Number(job?.created))
    assert.ok(app.log.some((line) => /"job":"ledger\.enter","attempt":"1","message":"entered","number":7/.test(line)))
    if (!kind.name.startsWith('SQLite')) return // other servers execute the statements of other sessions between those of one
    const sent = statements(app.log)
    const insert = sent.findIndex((text) => /INSERT INTO effect/.test(text))
    assert.match(sent[insert + 1] ?? '', /^(?:\/\* sql \*\/ )?UPDATE job SET state = 'done'/)
    assert.match(sent[insert + 2] ?? '', /^COMMIT/)
  })

  test(named('a job that fails is rolled back and runs again, until it is dead'), async (t) => {
    const app = await ledgerApp(t, kind)
    await app.add({ number: 1, how: 'fails at first' })
    await app.add({ number: 2, how: 'fails' })
    await app.add({ number: 3, how: 'discards' })
    await app.settled()
    await until('the first job is done', async () => (await app.jobs())[0]?.state === 'done')
    const jobs = await app.jobs()
    assert.deepEqual(await app.entered(), [1])
    assert.deepEqual(
      jobs.map(({ state, attempt }) => [state, attempt]),
      [
        ['done', 2],
        ['delayed', 1],
        ['dead', 1],
      ],
    )
    const [, failed, discarded] = jobs
    assert.match(failed?.error ?? '', /^Error \(log [0-9a-f]{8}\)$/)
    assert.match(discarded?.error ?? '', /^JobDiscarded/)
    const delay = Number(failed?.due) - Number(failed?.created)
    assert.ok(delay >= 0 && delay < 6_000, `${delay}`)
    assert.ok(app.log.some((line) => /Job ledger\.enter 2, attempt 1 of 3, failed, and runs again in \d s/.test(line)))
    // The second attempt, and the last one, without waiting for the delays.
    for (const attempt of [2, 3]) {
      await app.inSession(() => JobRecord.update({ due: '0' }, { where: { id: '2' } }))
      await until('it runs again', async () => (await app.jobs())[1]?.attempt === attempt)
      await app.settled()
    }
    assert.equal((await app.jobs())[1]?.state, 'dead')
    assert.deepEqual(
      seen.filter((line) => line.startsWith('ledger.enter 2')),
      ['ledger.enter 2 1', 'ledger.enter 2 2', 'ledger.enter 2 3 last'],
    )
    assert.deepEqual(await app.entered(), [1])
  })

  test(named('what a job adds, and its key, belong to its commit'), async (t) => {
    const app = await ledgerApp(t, kind)
    await app.add({ number: 1, how: 'adds' })
    await app.add({ number: 5, how: 'keys' })
    await app.settled()
    await until('three have ended', async () => (await app.entered()).length === 3)
    assert.deepEqual(await app.entered(), [1, 2, 5])
    const keys = seen.filter((line) => line.startsWith('ledger.enter-'))
    assert.equal(keys.length, 2)
    assert.equal(new Set(keys).size, 1)
    assert.match(keys[0] ?? '', /^ledger\.enter-\d+-[0-9a-z]+$/)
  })

  test(named('a job that takes too long is aborted, and rolled back'), async (t) => {
    const app = await ledgerApp(t, kind)
    await app.inSession((session) => jobsOf(session).add(LedgerJobs, 'slow', { number: 1 }))
    await app.settled()
    const [job] = await app.jobs()
    assert.deepEqual([job?.state, await app.entered(), seen], ['dead', [], ['aborted']])
    assert.match(job?.error ?? '', /^JobTimeout/)
  })

  test(named('without a transaction that can complete them, jobs are completed by another'), async (t) => {
    const app = await ledgerApp(t, kind)
    await app.inSession(async (session) => {
      const jobs = jobsOf(session)
      await jobs.add(LedgerJobs, 'read')
      await jobs.add(LedgerJobs, 'own', { number: 4 })
      await jobs.add(LedgerJobs, 'enter', { number: 5, how: 'rolls back' })
    })
    await app.settled()
    assert.deepEqual(
      (await app.jobs()).map(({ state }) => state),
      ['done', 'done', 'done'],
    )
    assert.deepEqual(await app.entered(), [4])
  })

  test(
    named('a worker that stops gives back what it cannot end, and no attempt is lost'),
    { skip: isLost },
    async (t) => {
      const app = await ledgerApp(t, kind)
      await app.add({ number: 1, how: 'waits' })
      await until('it runs', () => seen.length === 1)
      const after = await app.work({ slow: 1 })
      const [job] = await after.jobs()
      assert.deepEqual([job?.state, job?.attempt, job?.run, await after.entered()], ['ready', 0, 1, []])
      assert.ok(app.log.some((line) => /was rolled back, as the worker stops/.test(line)))
    },
  )

  test(named('a job whose worker is gone is taken back, and a late one is rolled back'), async (t) => {
    mayWrite = gate()
    const app = await ledgerApp(t, kind)
    await app.add({ number: 1, how: 'waits first' })
    await until('it runs', () => seen.length === 1)
    // As if its process were blocked for longer than its lease, and another one had claimed the job.
    await app.inSession(() => JobRecord.update({ run: 2, worker: 'another' }, { where: {} }))
    mayWrite.open()
    await until('it was fenced', () => app.log.some((line) => /was rolled back: another worker has it/.test(line)))
    assert.deepEqual(await app.entered(), [])
    // Its worker has no lease, so that it is taken back.
    await until('it was taken back', async () => (await app.jobs())[0]?.state === 'done', 50)
    assert.deepEqual([(await app.jobs())[0]?.run, await app.entered()], [3, [1]])
  })

  test(named('a job whose worker is gone in its last attempt is dead, and does not run'), async (t) => {
    const ended = observed(t, 'sequitur.job.end')
    const app = await ledgerApp(t, kind)
    await app.inSession((session) => jobsOf(session).add(LedgerJobs, 'enter', { number: 1 }, { delay: 60_000 }))
    await app.inSession(() => JobRecord.update({ state: 'running', worker: 'gone', attempt: 3, run: 3 }, { where: {} }))
    await until('it has ended', () => ended.length > 0)
    assert.match((await app.jobs())[0]?.error ?? '', /^WorkerLost \(log [0-9a-f]{8}\)$/)
    assert.deepEqual([seen, await app.entered()], [[], []])
    assert.deepEqual(
      ended.map(({ attempt, attempts, outcome }) => [attempt, attempts, outcome]),
      [[3, 3, 'dead']],
    )
    const entries = app.log.filter((line) => /attempt \d of 3/.test(line))
    assert.equal(entries.length, 1)
    assert.match(
      entries[0] ?? '',
      /Job ledger\.enter 1, attempt 3 of 3, failed, and is dead [^]*WorkerLost: The job ledger\.enter 1 has used up its 3 attempts/,
    )
  })

  test(named('of 64 rivals with one key one adds a job, and each gets its id'), async (t) => {
    const app = await ledgerApp(t, kind, NO_WORK)
    const add = () =>
      app.inSession((session) =>
        jobsOf(session).add(LedgerJobs, 'enter', { number: 1 }, { key: 'once', delay: 60_000 }),
      )
    const added = await Promise.all(Array.from({ length: 64 }, add))
    assert.equal(new Set(added.map(({ id }) => id)).size, 1)
    assert.equal((await app.jobs()).length, 1)
    const other = await app.inSession((session) =>
      jobsOf(session).add(LedgerJobs, 'enter', { number: 1 }, { key: 'Once' }),
    )
    assert.notEqual(other.id, added[0]?.id)
    // The key is free again when its job has ended.
    await app.inSession(() => JobRecord.update({ state: 'done', unique_key: null }, { where: {} }))
    assert.notEqual((await add()).id, added[0]?.id)
  })

  test(
    named('jobs run in the order of priority, then of the time at which they are due'),
    { skip: isLost },
    async (t) => {
      const app = await ledgerApp(t, kind, NO_WORK)
      await app.inSession(async (session) => {
        const jobs = jobsOf(session)
        await jobs.add(LedgerJobs, 'enter', { number: 1 })
        await jobs.add(LedgerJobs, 'enter', { number: 2 }, { priority: 5 })
        await jobs.add(LedgerJobs, 'enter', { number: 3 }, { priority: -5 })
        await jobs.add(LedgerJobs, 'enter', { number: 4 }, { at: new Date(0), priority: -5 })
        await jobs.add(LedgerJobs, 'enter', { number: 5 }, { delay: 60_000, priority: -9 })
      })
      await app.inSession(() => JobRecord.update({ state: 'ready' }, { where: { due: '0' } }))
      await app.work({ default: 1 })
      await until('four have run', () => seen.length === 4)
      assert.deepEqual(
        seen.map((line) => line.split(' ')[1]),
        ['4', '3', '1', '2'],
      )
    },
  )

  test(named('a delayed job is not kept waiting by a queue that is never empty'), { skip: isLost }, async (t) => {
    const app = await ledgerApp(t, kind, NO_WORK)
    await app.inSession(async (session) => {
      for (let number = 0; number < 100; number++)
        await jobsOf(session).add(LedgerJobs, 'enter', { number, how: 'takes a while' })
      await jobsOf(session).add(LedgerJobs, 'enter', { number: 1_000 }, { delay: 100, priority: -10 })
    })
    await app.work({ default: 1 })
    await until('it has run', () => seen.includes('ledger.enter 1000 1'))
    assert.ok(seen.length < 70, `${seen.length} have run before it`)
  })

  test(named('a job may throw anything, and a queue may be named when it is added'), async (t) => {
    const app = await ledgerApp(t, kind, { default: 4, other: 1 })
    await app.inSession((session) =>
      jobsOf(session).add(LedgerJobs, 'enter', { number: 1, how: 'throws oddly' }, { queue: 'other' }),
    )
    await app.settled()
    const [job] = await app.jobs()
    assert.deepEqual([job?.state, job?.queue], ['delayed', 'other'])
    assert.match(job?.error ?? '', /^an error that cannot be read/)
  })

  test(named('a stored input that its class does not accept any more is dead at once'), { skip: isLost }, async (t) => {
    const app = await ledgerApp(t, kind, NO_WORK)
    await app.add({ number: 1 })
    await app.add({ number: 2 })
    await app.inSession(() => JobRecord.update({ input: '{"number":"x"}' }, { where: { id: '1' } }))
    // A field that the class has no more is ignored.
    await app.inSession(() => JobRecord.update({ input: '{"number":2,"old":1}' }, { where: { id: '2' } }))
    const worker = await app.work()
    await worker.settled()
    assert.deepEqual(
      (await worker.jobs()).map(({ state, attempt }) => [state, attempt]),
      [
        ['dead', 1],
        ['done', 1],
      ],
    )
    assert.match((await worker.jobs())[0]?.error ?? '', /^UnreadableJobInput/)
  })

  test(
    named('a job of a name that this version does not know waits, and loses no attempt'),
    { skip: isLost },
    async (t) => {
      const app = await ledgerApp(t, kind, NO_WORK)
      await app.add({ number: 1 })
      await app.inSession(() => JobRecord.update({ name: 'ledger.new' }, { where: {} }))
      const worker = await app.work()
      await worker.settled()
      const [job] = await worker.jobs()
      assert.deepEqual([job?.state, job?.attempt], ['delayed', 0])
      assert.equal(worker.log.filter((line) => line.includes('ledger.new')).length, 1)
    },
  )

  test(named('an input that the job could not read is not added'), async (t) => {
    const app = await ledgerApp(t, kind, NO_WORK)
    for (const input of [{ number: 1.5 }, {}, { number: 'x' }, { number: 1, how: 'x'.repeat(70_000) }])
      await assert.rejects(
        app.inSession((session) => jobsOf(session).add(LedgerJobs, 'enter', input as Entry)),
        { name: 'InvalidJobInput' },
      )
    await assert.rejects(
      app.inSession((session) => jobsOf(session).add(LedgerJobs, 'leave' as 'enter', { number: 1 })),
      /LedgerJobs has no job 'leave'\. It has 'enter', 'slow', 'read', 'own'/,
    )
    assert.deepEqual(await app.jobs(), [])
  })
}
