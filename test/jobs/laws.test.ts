import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, select, type Session, sql, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { type JobDatabase, jobDatabase } from '../../src/jobs/job-database.js'
import type { ChangeOfSome } from '../../src/jobs/statements/dialect.js'
import type { Held } from '../../src/jobs/statements/ends.js'
import type { JobStatements } from '../../src/jobs/statements/job-statements.js'
import { Claims } from '../../src/jobs/worker/claim.js'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { Effect } from './ledger.js'

/*
 * Workers that claim, complete, fail, lose their lease and are taken back, in any order, compared with a model after each step.
 */

class Entry {
  @Field({ type: 'integer' }) account!: number
}

const LIMIT = 2

class LawJobs {
  @Job({ name: 'law.plain' })
  async plain(input: Entry) {
    void input
  }

  @Job({ name: 'law.limited', limit: { by: ({ account }: Entry) => account, at: LIMIT } })
  async limited(input: Entry) {
    void input
  }
}

/** A job as the model knows it. */
interface ModelJob {
  readonly id: number
  readonly name: 'plain' | 'limited'
  readonly account: number
  readonly key: string | undefined
  readonly priority: number
  state: string
  attempt: number
  run: number
  worker: string | undefined
  effects: number
}

interface ModelWorker {
  readonly name: string
  hasLease: boolean
  /** What it believes to have. */
  held: Held[]
}

class Rollback extends Error {}

/** The queue of the database beside the model; each method is a step of both. */
class Queue {
  readonly #random: (below: number) => number
  readonly #database: JobDatabase
  readonly #inSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>
  readonly #jobs = new Map<number, ModelJob>()
  #workers: ModelWorker[] = []
  #names = 0
  readonly steps: string[] = []

  constructor(
    numbers: (below: number) => number,
    database: JobDatabase,
    inSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
  ) {
    this.#random = numbers
    this.#database = database
    this.#inSession = inSession
  }

  async begin(): Promise<void> {
    for (let n = 0; n < 3; n++) await this.#newWorker()
  }

  async #newWorker(): Promise<void> {
    const worker = { name: `worker ${this.#names++}`, hasLease: true, held: [] }
    this.#workers.push(worker)
    await this.#renew(worker)
  }

  async #renew(worker: ModelWorker): Promise<void> {
    await this.#do((statements) =>
      statements.renew({ worker: worker.name, host: 'here', queues: undefined, milliseconds: 600_000 }),
    )
    worker.hasLease = true
  }

  #do(statement: (statements: JobStatements) => ReturnType<JobStatements['renew']>): Promise<unknown> {
    const database = this.#database
    return database.transaction((session) => session.executeOwn(statement(database.statements)))
  }

  #change(change: (statements: JobStatements) => ChangeOfSome): Promise<unknown> {
    const database = this.#database
    return database.transaction((session) => database.changeSome(session, change(database.statements)))
  }

  /** Any step. */
  async step(): Promise<void> {
    const worker = this.#workers[this.#random(this.#workers.length)]
    assert.ok(worker)
    const steps: readonly (readonly [number, string, () => Promise<unknown>])[] = [
      [8, 'add', () => this.#add()],
      [8, 'claim', () => this.#claim(worker, 1 + this.#random(4))],
      [6, 'complete', () => this.#complete(worker)],
      [3, 'give back', () => this.#giveBack(worker)],
      [1, 'bury', () => this.#bury(worker)],
      [1, 'kill', () => this.#kill(worker)],
      [2, 'expire', () => this.#expire(worker)],
      [2, 'renew', () => this.#renew(worker)],
      [2, 'take back', () => this.#takeBack()],
      [1, 'stop', () => this.#stop(worker)],
      [2, 'wake delayed', () => this.#wakeDelayed()],
      [1, 'wake forgotten', () => this.#wakeForgotten()],
    ]
    let left = this.#random(steps.reduce((sum, [weight]) => sum + weight, 0))
    const [, name, work] = steps.find(([weight]) => (left -= weight) < 0) ?? [0, '', () => Promise.resolve()]
    this.steps.push(`${name} ${worker.name}`)
    await work()
    await this.#compare()
  }

  async #add(): Promise<void> {
    const name = this.#random(2) === 0 ? 'plain' : 'limited'
    const account = this.#random(2)
    const key = this.#random(3) === 0 ? `key ${this.#random(3)}` : undefined
    const priority = this.#random(3)
    const isDelayed = this.#random(4) === 0
    const isRolledBack = this.#random(4) === 0
    const options = {
      priority,
      ...(key === undefined ? {} : { key }),
      ...(isDelayed ? { delay: 3_600_000 } : {}),
    }
    const added = await this.#inSession(async (session) => {
      const job = await jobsOf(session).add(LawJobs, name, { account }, options)
      if (isRolledBack) throw new Rollback()
      return job
    }).catch((error: unknown) => assert.ok(error instanceof Rollback))
    if (!added) return
    const id = Number(added.id)
    const other = [...this.#jobs.values()].find(
      (job) => key !== undefined && job.key === key && job.name === name && !isFinished(job),
    )
    if (other) return assert.equal(id, other.id)
    assert.ok(!this.#jobs.has(id))
    const state = isDelayed ? 'delayed' : 'ready'
    this.#jobs.set(id, { id, name, account, key, priority, state, attempt: 0, run: 0, worker: undefined, effects: 0 })
  }

  /** The first jobs, in their order, unless their limit is reached, or one that waits for it precedes them. */
  async #claim(worker: ModelWorker, slots: number): Promise<void> {
    const order = await this.#order()
    const first = order.flatMap((id) => this.#jobs.get(id) ?? []).filter(({ state }) => state === 'ready')
    const running = (account: number) => this.#all('running').filter((job) => isLimitedBy(job, account)).length
    const waiting = order.flatMap((id) => this.#jobs.get(id) ?? []).filter(({ state }) => state === 'limited')
    const precedes = (job: ModelJob) => {
      const other = waiting.find((one) => isLimitedBy(one, job.account))
      return other !== undefined && order.indexOf(other.id) < order.indexOf(job.id)
    }
    const expected: number[] = []
    const woken = new Map<number, number>()
    for (const job of first.slice(0, slots)) {
      const free = job.name === 'limited' ? LIMIT - running(job.account) : 1
      if (free <= 0) job.state = 'limited'
      else if (job.name === 'limited' && precedes(job)) {
        job.state = 'limited'
        woken.set(job.account, free)
      } else {
        Object.assign(job, { state: 'running', attempt: job.attempt + 1, run: job.run + 1, worker: worker.name })
        expected.push(job.id)
      }
    }
    for (const [account, free] of woken) {
      const next = order.flatMap((id) => this.#jobs.get(id) ?? []).filter(({ state }) => state === 'limited')
      for (const job of next.filter((one) => isLimitedBy(one, account)).slice(0, free)) job.state = 'ready'
    }
    const claims = new Claims(this.#database, {
      worker: worker.name,
      limitOf: (name) => (name === 'law.limited' ? LIMIT : undefined),
      hasLimits: true,
    })
    const { jobs } = await claims.claim([{ queue: 'default', slots }])
    assert.deepEqual(
      jobs.map(({ id }) => Number(id)),
      expected,
    )
    worker.held.push(...jobs.map(({ id, run }) => ({ id, run })))
  }

  /** Of the priority, then of the time, which is the database's. */
  async #order(): Promise<readonly number[]> {
    const rows = await this.#inSession((session) =>
      session.execute<{ id: number | string }>(sql`SELECT id FROM job ORDER BY priority, due, id`),
    )
    return rows.map(({ id }) => Number(id))
  }

  #all(state: string): readonly ModelJob[] {
    return [...this.#jobs.values()].filter((job) => job.state === state)
  }

  /** One that the worker believes to have, and its row if that is so. */
  #take(worker: ModelWorker): { readonly held: Held; readonly job: ModelJob | undefined } | undefined {
    const index = this.#random(Math.max(1, worker.held.length))
    const [held] = worker.held.splice(index, 1)
    if (!held) return undefined
    const job = this.#jobs.get(Number(held.id))
    return { held, job: job?.state === 'running' && job.run === held.run ? job : undefined }
  }

  /** In the transaction of its effect, which is rolled back if another worker has it. */
  async #complete(worker: ModelWorker): Promise<void> {
    const taken = this.#take(worker)
    if (!taken) return
    const { held, job } = taken
    const database = this.#database
    const isCommitted = await this.#inSession(async (session) => {
      await session.execute(sql`INSERT INTO effect (number) VALUES (${Number(held.id)})`)
      if ((await database.change(session, database.statements.complete(held))) === 0) throw new Rollback()
      return true
    }).catch((error: unknown) => assert.ok(error instanceof Rollback))
    assert.equal(isCommitted === true, job !== undefined)
    if (!job) return
    Object.assign(job, { state: 'done', worker: undefined, effects: job.effects + 1 })
    await this.#wakeNext(job)
  }

  // As a worker does at the end of a job.
  async #wakeNext({ name, account }: ModelJob): Promise<void> {
    if (name !== 'limited') return
    await this.#wakeLimited(account, LIMIT)
  }

  async #wakeLimited(account: number, most: number): Promise<void> {
    const waiting = (await this.#order()).flatMap((id) => this.#jobs.get(id) ?? [])
    const next = waiting.filter((job) => job.state === 'limited' && job.account === account).slice(0, most)
    const key = await this.#limitKey(account)
    if (key !== undefined) await this.#change((statements) => statements.wakeLimited(key, most))
    for (const job of next) job.state = 'ready'
  }

  async #limitKey(account: number): Promise<string | undefined> {
    const limited = [...this.#jobs.values()].find((job) => isLimitedBy(job, account))
    if (!limited) return undefined
    const [row] = await this.#inSession((session) =>
      session.execute<{ limit_key: string }>(sql`SELECT limit_key FROM job WHERE id = ${limited.id}`),
    )
    return row?.limit_key
  }

  async #giveBack(worker: ModelWorker): Promise<void> {
    const taken = this.#take(worker)
    if (!taken) return
    const { held, job } = taken
    const uses = this.#random(3) > 0
    const delay = this.#random(2) === 0 ? 0 : 3_600_000
    await this.#do((statements) => statements.giveBack(held, { delay, uses }))
    if (!job) return
    const state = delay > 0 ? 'delayed' : 'ready'
    Object.assign(job, { state, attempt: job.attempt - (uses ? 0 : 1), worker: undefined })
    await this.#wakeNext(job)
  }

  async #bury(worker: ModelWorker): Promise<void> {
    const taken = this.#take(worker)
    if (!taken) return
    await this.#do((statements) => statements.bury(taken.held, 'Error'))
    if (!taken.job) return
    Object.assign(taken.job, { state: 'dead', worker: undefined })
    await this.#wakeNext(taken.job)
  }

  /** Its lease goes on for a while. */
  async #kill(worker: ModelWorker): Promise<void> {
    worker.held = []
    if (this.#random(2) === 0) await this.#expire(worker)
    // It ends in the table, and another process begins.
    this.#gone.push(worker)
    this.#workers = this.#workers.filter((other) => other !== worker)
    await this.#newWorker()
  }

  /** Those that were killed: they do nothing more. */
  readonly #gone: ModelWorker[] = []

  /** It is blocked: it believes to have its jobs. */
  async #expire(worker: ModelWorker): Promise<void> {
    await this.#inSession((session) =>
      session.execute(sql`UPDATE job_worker SET valid_until = 0 WHERE id = ${worker.name}`),
    )
    worker.hasLease = false
  }

  async #takeBack(): Promise<void> {
    await this.#change((statements) => statements.takeBack())
    const valid = new Set([...this.#workers, ...this.#gone].filter(({ hasLease }) => hasLease).map(({ name }) => name))
    for (const job of this.#all('running'))
      if (!valid.has(job.worker ?? '')) Object.assign(job, { state: 'ready', worker: undefined })
  }

  async #stop(worker: ModelWorker): Promise<void> {
    while (worker.held.length > 0) {
      const taken = this.#take(worker)
      if (!taken) continue
      await this.#do((statements) => statements.giveBack(taken.held, { delay: 0, uses: false }))
      if (!taken.job) continue
      Object.assign(taken.job, { state: 'ready', attempt: taken.job.attempt - 1, worker: undefined })
      await this.#wakeNext(taken.job)
    }
    await this.#do((statements) => statements.endLease(worker.name))
    this.#workers = this.#workers.filter((other) => other !== worker)
    await this.#newWorker()
  }

  /** As if their time had come. */
  async #wakeDelayed(): Promise<void> {
    await this.#inSession((session) => session.execute(sql`UPDATE job SET due = 0 WHERE state = 'delayed'`))
    await this.#change((statements) => statements.wakeDelayed())
    for (const job of this.#all('delayed')) job.state = 'ready'
  }

  async #wakeForgotten(): Promise<void> {
    const database = this.#database
    const found = await database.transaction((session) => session.executeOwn(database.statements.forgottenLimits()))
    const forgotten = [0, 1].filter((account) => {
      const states = [...this.#jobs.values()].filter((job) => isLimitedBy(job, account)).map(({ state }) => state)
      return states.includes('limited') && !states.includes('running')
    })
    assert.equal(found.length, forgotten.length)
    for (const account of forgotten) await this.#wakeLimited(account, 1)
  }

  async #compare(): Promise<void> {
    const rows = await this.#inSession((session) => session.all(select(JobRecord, { order: ['id'] })))
    const found = rows.map(({ id, state, attempt, run, worker, unique_key }) =>
      [id, state, attempt, run, worker ?? undefined, unique_key !== null].join(' '),
    )
    const expected = [...this.#jobs.values()]
      .sort((a, b) => a.id - b.id)
      .map((job) => {
        const { id, state, attempt, run, worker, key } = job
        return [id, state, attempt, run, worker, key !== undefined && !isFinished(job)].join(' ')
      })
    assert.deepEqual(found, expected)
    for (const account of [0, 1])
      assert.ok(this.#all('running').filter((job) => isLimitedBy(job, account)).length <= LIMIT)
  }

  /** Ends every job, and compares the effects. */
  async finish(): Promise<void> {
    this.steps.push('finish')
    for (const worker of [...this.#workers, ...this.#gone]) await this.#expire(worker)
    await this.#takeBack()
    await this.#newWorker()
    const worker = this.#workers.at(-1)
    assert.ok(worker)
    for (let patience = 0; [...this.#jobs.values()].some((job) => !isFinished(job)); patience++) {
      assert.ok(patience < 1_000, 'each job ends')
      await this.#takeBack()
      await this.#wakeDelayed()
      await this.#wakeForgotten()
      await this.#claim(worker, 4)
      while (worker.held.length > 0) await this.#complete(worker)
    }
    await this.#compare()
    const effects = await this.#inSession((session) => session.all(select(Effect)))
    assert.deepEqual(
      effects.map(({ number }) => number).sort((a, b) => a - b),
      this.#all('done').map(({ id }) => id),
    )
  }
}

const isFinished = ({ state }: ModelJob) => state === 'done' || state === 'dead'
const isLimitedBy = (job: ModelJob, account: number) => job.name === 'limited' && job.account === account

const STEPS = 60
/** A failed test names its seed; `LAWS_SEED=7 npm test -- test/jobs/laws.test.ts` runs that sequence alone. */
const given = process.env['LAWS_SEED']
const first = given === undefined ? Date.now() % 1_000_000 : Number(given)

async function openQueue(t: TestContext, kind: TestDatabase) {
  const { database } = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [LawJobs] })
  const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(database, work)
  return {
    inSession,
    database: jobDatabase(),
    empty: () =>
      inSession(async (session) => {
        for (const table of [sql`job`, sql`job_worker`, sql`effect`]) await session.execute(sql`DELETE FROM ${table}`)
      }),
  }
}

for (const kind of databases) {
  test(`${kind.name}: any sequence of steps leaves the jobs as a model has them`, async (t) => {
    const { database, inSession, empty } = await openQueue(t, kind)
    for (let seed = first; seed < first + (given === undefined ? runs(40) : 1); seed++) {
      const queue = new Queue(random(seed), database, inSession)
      try {
        await queue.begin()
        for (let step = 0; step < STEPS; step++) await queue.step()
        await queue.finish()
      } catch (error) {
        t.diagnostic(`LAWS_SEED=${seed}: ${queue.steps.join(', ')}`)
        throw error
      }
      await empty()
    }
  })
}
