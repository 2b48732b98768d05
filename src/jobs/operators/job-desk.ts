import { provideItself } from '../../di/provider.js'
import { currentSession, Session } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import { conflict, notFound } from '../../http/errors.js'
import { RequestLogger } from '../../http/observation/request-logger.js'
import { type JobDatabase, jobDatabase } from '../job-database.js'
import type { WaitingState } from '../tables.js'
import { jobNotices, jobsAdded } from '../wake.js'
import type { ChangedJobs, DeadJobs, JobQuery } from './inputs.js'
import { JobChanges, type JobsChanged, type LockedJob } from './job-changes.js'
import { type OpenedRow, OperatorStatements } from './statements.js'
import {
  type JobEntry,
  type JobPage,
  type OpenedJob,
  type Overview,
  toDead,
  toEntry,
  toOpened,
  toQueues,
  toWorker,
} from './views.js'
import { workersOf } from './workers-of.js'

/** Dead jobs that one request changes: it holds their locks until it ends. */
const BATCH = 100

/** What operators see of the jobs, and change: in the transaction of their request. */
export class JobDesk {
  readonly #session: Session
  readonly #log: RequestLogger

  constructor(session: Session, log: RequestLogger) {
    this.#session = session
    this.#log = log
  }

  // The transaction of the request may be one of another database.
  #use<T>(work: (on: Desk) => Promise<T>): Promise<T> {
    const database = jobDatabase()
    const { sequelize } = database
    const session = this.#session.sequelize === sequelize ? this.#session : currentSession(sequelize)
    return session
      ? work(new Desk(database, session))
      : database.longTransaction((own) => work(new Desk(database, own)))
  }

  list({ limit, next_cursor: before, state, queue, ...filter }: JobQuery): Promise<JobPage> {
    const states = state === undefined ? [] : [state]
    const queues = queue === undefined ? [] : [queue]
    return this.#use(async (on) => {
      // The extra row only says that there is a next page.
      const rows = await on.rows(on.statements.list({ ...filter, states, queues, before }, limit + 1))
      const data = rows.slice(0, limit).map(toEntry)
      return { data, meta: { next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null } }
    })
  }

  overview(): Promise<Overview> {
    return this.#use(async (on) => {
      const now = await on.now()
      const workers = await on.rows(on.statements.workers())
      const queues = toQueues(await on.rows(on.statements.counts()), now, workersOf(workers))
      const dead = (await on.rows(on.statements.dead())).map(toDead)
      return { now: new Date(now), queues, dead, workers: workers.map(toWorker) }
    })
  }

  /** @throws NotFound */
  open(id: string): Promise<OpenedJob> {
    return this.#use(async (on) => {
      const row = await on.one(id)
      const steps = await on.rows(on.statements.steps(id))
      const holders = row.limit_key === null ? [] : await on.rows(on.statements.holders(row.limit_key))
      return toOpened(
        row,
        steps.map(({ name }) => name),
        holders.map((holder) => String(holder.id)),
      )
    })
  }

  /** Makes a dead job ready. @throws NotFound; Conflict if it is not dead, or if another job has its key. */
  retry(id: string): Promise<JobEntry> {
    return this.#use(async (on) => {
      const job = await on.lock(id)
      const [skipped] = (await on.changes.retry([job])).skipped
      if (skipped?.reason === 'key') conflict(await on.keyTaken(job))
      if (skipped) conflict(`The job is ${job.state}, and not dead: nothing was changed.`)
      on.wakeAfterCommit()
      this.#log.info('A dead job was retried by an operator', { job: job.name, job_id: id })
      return toEntry(await on.one(id))
    })
  }

  /**
   * Makes a waiting job dead, or deletes a dead one.
   *
   * @param state in which the operator has seen it.
   * @returns undefined if it is deleted.
   * @throws NotFound; Conflict if it is in another state.
   */
  discard(id: string, state: WaitingState | 'dead'): Promise<JobEntry | undefined> {
    return this.#use(async (on) => {
      const job = await on.lock(id)
      const { skipped } = await (state === 'dead' ? on.changes.deleteDead([job]) : on.changes.discard([job], [state]))
      if (skipped.length > 0) conflict(`The job is ${job.state}, and not ${state} any more: nothing was changed.`)
      const what = state === 'dead' ? 'A dead job was deleted' : 'A job was discarded'
      this.#log.info(`${what} by an operator`, { job: job.name, job_id: id })
      return state === 'dead' ? undefined : toEntry(await on.one(id))
    })
  }

  retryDead(which: DeadJobs): Promise<ChangedJobs> {
    return this.#changeDead(which, 'retried', (on, jobs) => {
      on.wakeAfterCommit()
      return on.changes.retry(jobs)
    })
  }

  deleteDead(which: DeadJobs): Promise<ChangedJobs> {
    return this.#changeDead(which, 'deleted', (on, jobs) => on.changes.deleteDead(jobs))
  }

  #changeDead({ name, error, ...rest }: DeadJobs, what: string, change: ChangeDead): Promise<ChangedJobs> {
    return this.#use(async (on) => {
      const until = rest.until?.getTime() ?? (await on.now())
      const batch = { name, states: ['dead' as const], error, until, after: rest.next_cursor, most: BATCH }
      const jobs = await on.changes.lockBatch(batch)
      const { changed, skipped } = await change(on, jobs)
      if (changed.length > 0)
        this.#log.info(`Dead jobs were ${what} by an operator`, { job: name, jobs: changed.length })
      const last = jobs.length < BATCH ? undefined : jobs.at(-1)
      const next_cursor = last?.id ?? null
      return { changed: changed.length, skipped: skipped.length, until: new Date(until), next_cursor }
    })
  }
}

// Not @Injectable(): the bundler changes the names of decorated classes.
provideItself(JobDesk, {
  kind: 'factory',
  create: (session: Session, log: RequestLogger) => new JobDesk(session, log),
  dependencies: [
    { kind: 'token', token: Session },
    { kind: 'token', token: RequestLogger },
  ],
  lifetime: 'request',
})

type ChangeDead = (on: Desk, jobs: readonly LockedJob[]) => Promise<JobsChanged>

/** The jobs in one transaction. */
class Desk {
  readonly statements: OperatorStatements
  readonly changes: JobChanges
  readonly #database: JobDatabase
  readonly #session: Session

  constructor(database: JobDatabase, session: Session) {
    this.#database = database
    this.#session = session
    this.statements = new OperatorStatements(database.statements.dialect)
    this.changes = new JobChanges(database, session)
  }

  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.#session.executeOwn(statement)
  }

  async now(): Promise<number> {
    const [row] = await this.rows(this.statements.now())
    return Number(row?.now)
  }

  /** @throws NotFound */
  async one(id: string): Promise<OpenedRow> {
    const [row] = await this.rows(this.statements.one(id))
    return row ?? noJob()
  }

  /** @throws NotFound */
  async lock(id: string): Promise<LockedJob> {
    const [job] = await this.changes.lock([id])
    return job ?? noJob()
  }

  async keyTaken(job: LockedJob): Promise<string> {
    const other = await this.changes.holderOfKey(job)
    return `${other === undefined ? 'Another job' : `The job ${other}`} has the key of this one, and is not finished: nothing was changed.`
  }

  wakeAfterCommit(): void {
    const { sequelize } = this.#database
    this.#session.afterCommit(() => {
      jobsAdded.wake(sequelize)
      jobNotices.notify(this.#database)
    })
  }
}

function noJob(): never {
  return notFound('There is no such job. Finished jobs are deleted after some time.')
}
