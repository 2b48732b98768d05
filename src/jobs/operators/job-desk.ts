import { UniqueConstraintError } from 'sequelize'
import { provideItself } from '../../di/provider.js'
import { currentSession, Session } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import { conflict, notFound } from '../../http/errors.js'
import { RequestLogger } from '../../http/observation/request-logger.js'
import { type JobDatabase, jobDatabase } from '../job-database.js'
import { notifyWorkers } from '../notify.js'
import type { JobState } from '../tables.js'
import { wake } from '../wake.js'
import type { ChangedJobs, DeadJobs, JobQuery } from './inputs.js'
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

  list({ limit, next_cursor: before, ...filter }: JobQuery): Promise<JobPage> {
    return this.#use(async (on) => {
      // The extra row only says that there is a next page.
      const rows = await on.rows(on.statements.list({ ...filter, before }, limit + 1))
      const data = rows.slice(0, limit).map(toEntry)
      return { data, meta: { next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null } }
    })
  }

  overview(): Promise<Overview> {
    return this.#use(async (on) => {
      const now = await on.now()
      const queues = toQueues(await on.rows(on.statements.counts()), now)
      const dead = (await on.rows(on.statements.dead())).map(toDead)
      const workers = (await on.rows(on.statements.workers())).map(toWorker)
      return { now: new Date(now), queues, dead, workers }
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
      const { name, kept_key: key } = await on.one(id)
      const outcome = await on.retryOne(id)
      if (outcome === 'key taken') conflict(await on.keyTaken(name, key))
      const row = await on.one(id)
      if (outcome === 'not dead') conflict(`The job is ${row.state}, and not dead: nothing was changed.`)
      on.wakeAfterCommit()
      this.#log.info('A dead job was retried by an operator', { job: row.name, job_id: id })
      return toEntry(row)
    })
  }

  /**
   * Makes a waiting job dead, or deletes a dead one.
   *
   * @param state in which the operator has seen it.
   * @returns undefined if it is deleted.
   * @throws NotFound; Conflict if it is in another state.
   */
  discard(id: string, state: JobState): Promise<JobEntry | undefined> {
    return this.#use(async (on) => {
      const { name } = await on.one(id)
      const changed = await (state === 'dead' ? on.deleteDead([id]) : on.change(on.statements.discard(id, state)))
      if (changed === 0) {
        const now = await on.one(id)
        conflict(`The job is ${now.state}, and not ${state} any more: nothing was changed.`)
      }
      const what = state === 'dead' ? 'A dead job was deleted' : 'A job was discarded'
      this.#log.info(`${what} by an operator`, { job: name, job_id: id })
      return state === 'dead' ? undefined : toEntry(await on.one(id))
    })
  }

  retryDead(which: DeadJobs): Promise<ChangedJobs> {
    return this.#changeDead(which, 'retried', async (on, rows) => {
      const free = rows.filter(({ kept_key }) => kept_key === null).map(({ id }) => String(id))
      let changed = free.length > 0 ? await on.change(on.statements.retry(free)) : 0
      let skipped = 0
      for (const { id } of rows.filter(({ kept_key }) => kept_key !== null)) {
        const outcome = await on.retryOne(String(id))
        if (outcome === 'retried') changed += 1
        if (outcome === 'key taken') skipped += 1
      }
      on.wakeAfterCommit()
      return { changed, skipped }
    })
  }

  deleteDead(which: DeadJobs): Promise<ChangedJobs> {
    return this.#changeDead(which, 'deleted', async (on, rows) => ({
      changed: await on.deleteDead(rows.map(({ id }) => String(id))),
      skipped: 0,
    }))
  }

  #changeDead(which: DeadJobs, what: string, change: ChangeDead): Promise<ChangedJobs> {
    const { name, error, next_cursor: after } = which
    return this.#use(async (on) => {
      const until = which.until?.getTime() ?? (await on.now())
      const rows = await on.rows(on.statements.deadBatch({ name, error, until, after, most: BATCH }))
      const result = rows.length > 0 ? await change(on, rows) : { changed: 0, skipped: 0 }
      if (result.changed > 0)
        this.#log.info(`Dead jobs were ${what} by an operator`, { job: name, jobs: result.changed })
      const last = rows.at(-1)
      return { ...result, until: new Date(until), next_cursor: rows.length < BATCH || !last ? null : String(last.id) }
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

type ChangeDead = (
  on: Desk,
  rows: readonly { readonly id: string | number; readonly kept_key: string | null }[],
) => Promise<{ readonly changed: number; readonly skipped: number }>

/** The jobs in one transaction. */
class Desk {
  readonly statements: OperatorStatements
  readonly #database: JobDatabase
  readonly #session: Session

  constructor(database: JobDatabase, session: Session) {
    this.#database = database
    this.#session = session
    this.statements = new OperatorStatements(database.statements.dialect)
  }

  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.#session.executeOwn(statement)
  }

  change(statement: Sql): Promise<number> {
    return this.#database.change(this.#session, statement)
  }

  async now(): Promise<number> {
    const [row] = await this.rows(this.statements.now())
    return Number(row?.now)
  }

  /** @throws NotFound */
  async one(id: string): Promise<OpenedRow> {
    const [row] = await this.rows(this.statements.one(id))
    return row ?? notFound('There is no such job. Finished jobs are deleted after some time.')
  }

  /** In a savepoint: that the key is taken fails the statement. */
  async retryOne(id: string): Promise<'retried' | 'not dead' | 'key taken'> {
    try {
      const changed = await this.#session.nested(() => this.change(this.statements.retry([id])))
      return changed === 1 ? 'retried' : 'not dead'
    } catch (error) {
      if (error instanceof UniqueConstraintError) return 'key taken'
      throw error
    }
  }

  async keyTaken(name: string, key: string | null): Promise<string> {
    const [other] = await this.rows(this.#database.statements.byKey(name, key ?? ''))
    return `${other ? `The job ${other.id}` : 'Another job'} has the key of this one, and is not finished: nothing was changed.`
  }

  async deleteDead(ids: readonly string[]): Promise<number> {
    const changed = await this.change(this.statements.deleteDead(ids))
    await this.rows(this.statements.deleteSteps(ids))
    return changed
  }

  wakeAfterCommit(): void {
    const { sequelize } = this.#database
    this.#session.afterCommit(() => {
      wake(sequelize)
      notifyWorkers(this.#database)
    })
  }
}
