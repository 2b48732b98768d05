import { randomUUID } from 'node:crypto'
import type { Constructor } from '../../di/token.js'
import type { Session } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import type { BackgroundParts, FailedJob, JobsRun, JobTests, JobThatRan, WaitingJob } from '../../http/background.js'
import { outsideOfRequests } from '../../db/own-tables/own-database.js'
import { jobDatabase } from '../job-database.js'
import { declarationOf, insert, newJob } from '../jobs.js'
import type { ClaimedRow } from '../statements/claim.js'
import type { JobRecorder } from './job-recorder.js'
import { longestDelay } from './outcome.js'
import type { PlannedJob } from './planned-jobs.js'
import { JobRunner } from './run-job.js'
import { inputOfInstant } from './schedule.js'

/** Jobs of one run: a job that adds itself has no end. */
const MOST_JOBS = 1_000
/** Milliseconds that the lease of one job lasts. A worker of another process does not take it back meanwhile. */
const LEASE = 10 * 60_000

/** Runs the jobs of an app in a test: in its process, one after the other, also in the transaction of a test. */
export class TestRun implements JobTests {
  readonly #jobs: ReadonlyMap<string, PlannedJob>
  readonly #parts: BackgroundParts
  readonly #recorder: JobRecorder

  constructor(jobs: ReadonlyMap<string, PlannedJob>, parts: BackgroundParts, recorder: JobRecorder) {
    this.#jobs = jobs
    this.#parts = parts
    this.#recorder = recorder
  }

  run(at: Date | undefined): Promise<JobsRun> {
    return outsideOfRequests(() => this.#run(at))
  }

  async #run(at: Date | undefined): Promise<JobsRun> {
    const run = new Run(this.#jobs, this.#parts, this.#recorder, at)
    for (let n = 0; n < MOST_JOBS; n++) if (!(await run.next())) return run.result
    throw new Error(
      `api.jobs.run(): ${MOST_JOBS} jobs have run, and there is another one. Perhaps a job adds itself: bound it, or give it a delay.`,
    )
  }

  async runCron(type: Constructor, member: string, instant: Date): Promise<JobsRun> {
    const job = this.#job(type, member)
    if (!job.cron) throw new TypeError(`${type.name}.${member} has no @Cron(): add the job, and call api.jobs.run().`)
    const database = jobDatabase()
    const row = newJob(job, inputOfInstant(instant.getTime()), undefined, { at: instant }, undefined)
    const { id } = await database.transaction((session) => insert(database, session, row))
    const run = new Run(this.#jobs, this.#parts, this.#recorder, undefined)
    await outsideOfRequests(() => run.only(id))
    return run.result
  }

  async added(type: Constructor, member: string): Promise<readonly WaitingJob[]> {
    const job = this.#job(type, member)
    const database = jobDatabase()
    const rows = await database.read(database.statements.waiting(job.name))
    return rows.map(({ id, input, queue, priority, due, unique_key }) => ({
      id: String(id),
      input: job.input.read(input),
      queue,
      priority,
      due: new Date(Number(due)),
      key: unique_key,
    }))
  }

  #job(type: Constructor, member: string): PlannedJob {
    const { name } = declarationOf(type, member)
    const job = this.#jobs.get(name)
    if (job) return job
    throw unknownJob(name)
  }
}

function unknownJob(name: string): Error {
  return new Error(`A job is named ${name}, and no class of createApp({ jobs }) has a job of this name. Add its class.`)
}

/** One call of `api.jobs.run()`. */
class Run {
  readonly result = { done: [] as JobThatRan[], failed: [] as FailedJob[], dead: [] as FailedJob[] } satisfies JobsRun
  readonly #worker = randomUUID()
  readonly #jobs: ReadonlyMap<string, PlannedJob>
  readonly #runner: JobRunner
  readonly #database = jobDatabase()
  readonly #until: number

  constructor(
    jobs: ReadonlyMap<string, PlannedJob>,
    { container, log }: BackgroundParts,
    recorder: JobRecorder,
    at: Date | undefined,
  ) {
    this.#jobs = jobs
    this.#runner = new JobRunner({
      database: this.#database,
      container,
      log,
      recorder,
      write: (statement) => this.#write(statement),
      delayOf: longestDelay, // the same in each run of the test
    })
    // Not the clock of the database: in the transaction of a test, that of PostgreSQL stands still.
    this.#until = at?.getTime() ?? Date.now()
  }

  /** Runs the next job that is due. Returns whether there was one. */
  async next(): Promise<boolean> {
    const { statements } = this.#database
    const [row] = await this.#claim(async (session) => {
      await session.executeOwn(statements.wakeUntil(this.#until))
      return session.executeOwn(statements.nextReady)
    })
    if (row) await this.#execute(row)
    return row !== undefined
  }

  async only(id: string): Promise<void> {
    const [row] = await this.#claim((session) => session.executeOwn(this.#database.statements.byId(id)))
    if (row) await this.#execute(row)
  }

  #claim(find: (session: Session) => Promise<readonly ClaimedRow[]>): Promise<readonly ClaimedRow[]> {
    const { statements } = this.#database
    return this.#database.transaction(async (session) => {
      const rows = await find(session)
      for (const { id, name } of rows) {
        if (!this.#jobs.has(name)) throw unknownJob(name)
        await session.executeOwn(
          statements.renew({ worker: this.#worker, host: 'test', queues: undefined, milliseconds: LEASE }),
        )
        await session.executeOwn(statements.take([String(id)], this.#worker))
      }
      return rows.map((row) => ({ ...row, attempt: row.attempt + 1, run: row.run + 1 }))
    })
  }

  async #execute(row: ClaimedRow): Promise<void> {
    const job = this.#jobs.get(row.name)
    if (!job) throw unknownJob(row.name)
    const id = String(row.id)
    const ran = { id, name: job.name }
    try {
      const { outcome, error } = await this.#runner.run(job, { id, run: row.run, row })
      if (!outcome) this.result.done.push(ran)
      else this.result[outcome.kind === 'dead' ? 'dead' : 'failed'].push({ ...ran, error })
    } finally {
      const { statements } = this.#database
      await this.#database.transaction((session) => session.executeOwn(statements.endLease(this.#worker)))
    }
  }

  #write(statement: Sql): Promise<number> {
    return this.#database.transaction((session) => this.#database.change(session, statement))
  }
}
