import { UniqueConstraintError } from 'sequelize'
import type { Session } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import type { JobDatabase } from '../job-database.js'
import type { JobState, WaitingState } from '../tables.js'
import { ChangeStatements, type JobBatch, type LockedRow } from './change-statements.js'

/** A job that no one else changes until the end of the transaction. */
export interface LockedJob {
  readonly id: string
  readonly name: string
  readonly state: JobState
  readonly kept_key: string | null
}

/** A job that was not changed: by its state, or because an unfinished job has its key. */
export interface SkippedJob {
  readonly job: LockedJob
  readonly reason: 'state' | 'key'
}

export interface JobsChanged {
  /** Their ids. */
  readonly changed: readonly string[]
  readonly skipped: readonly SkippedJob[]
}

/** What people change, in one transaction: they run dead jobs again, and end those that they do not want. */
export class JobChanges {
  readonly #database: JobDatabase
  readonly #session: Session
  readonly #statements: ChangeStatements

  constructor(database: JobDatabase, session: Session) {
    this.#database = database
    this.#session = session
    this.#statements = new ChangeStatements(database.statements.dialect)
  }

  /** Locks these jobs. Waits for those that someone else changes. */
  lock(ids: readonly string[]): Promise<readonly LockedJob[]> {
    return this.#lock(this.#statements.lock(ids))
  }

  /** Locks some jobs, in the order of their ids. Leaves out those that someone else changes. */
  lockBatch(batch: JobBatch): Promise<readonly LockedJob[]> {
    return this.#lock(this.#statements.batch(batch))
  }

  async #lock(statement: Sql<LockedRow>): Promise<readonly LockedJob[]> {
    const rows = await this.#session.executeOwn(statement)
    return rows.map((row) => ({ ...row, id: String(row.id) }))
  }

  /** Makes dead jobs ready, as if they were new: with all of their attempts, and their key, unless another job has it. Results of steps are kept. */
  async retry(jobs: readonly LockedJob[]): Promise<JobsChanged> {
    const { fitting, skipped } = inStates(jobs, ['dead'])
    const withKey = fitting.filter(({ kept_key }) => kept_key !== null)
    const free = fitting.filter(({ kept_key }) => kept_key === null)
    await this.#change(free, (ids) => this.#statements.retry(ids))
    const refused: LockedJob[] = []
    for (const job of withKey) if (!(await this.#retryWithKey(job))) refused.push(job)
    return {
      changed: fitting.filter((job) => !refused.includes(job)).map(({ id }) => id),
      skipped: [...skipped, ...refused.map((job) => ({ job, reason: 'key' as const }))],
    }
  }

  // In a savepoint: that the key is taken fails the statement.
  async #retryWithKey({ id }: LockedJob): Promise<boolean> {
    try {
      await this.#session.nested(() => this.#session.executeOwn(this.#statements.retry([id])))
      return true
    } catch (error) {
      if (error instanceof UniqueConstraintError) return false
      throw error
    }
  }

  /** Makes jobs dead that wait, and are in one of these states: they can be looked at, and retried. */
  async discard(jobs: readonly LockedJob[], states: readonly WaitingState[]): Promise<JobsChanged> {
    const { fitting, skipped } = inStates(jobs, states)
    await this.#change(fitting, (ids) => this.#statements.discard(ids))
    return { changed: fitting.map(({ id }) => id), skipped }
  }

  /** Deletes dead jobs, with their steps. */
  async deleteDead(jobs: readonly LockedJob[]): Promise<JobsChanged> {
    const { fitting, skipped } = inStates(jobs, ['dead'])
    await this.#change(fitting, (ids) => this.#statements.deleteSteps(ids))
    await this.#change(fitting, (ids) => this.#statements.deleteJobs(ids))
    return { changed: fitting.map(({ id }) => id), skipped }
  }

  async #change(jobs: readonly LockedJob[], statement: (ids: readonly string[]) => Sql): Promise<void> {
    if (jobs.length === 0) return
    await this.#session.executeOwn(statement(jobs.map(({ id }) => id)))
  }

  /** The unfinished job that has the key of a dead one. */
  async holderOfKey({ name, kept_key }: LockedJob): Promise<string | undefined> {
    const [other] = await this.#session.executeOwn(this.#database.statements.byKey(name, kept_key ?? ''))
    return other && String(other.id)
  }
}

/** The jobs in these states, and the others. */
function inStates(jobs: readonly LockedJob[], states: readonly JobState[]) {
  return {
    fitting: jobs.filter(({ state }) => states.includes(state)),
    skipped: jobs.filter(({ state }) => !states.includes(state)).map((job) => ({ job, reason: 'state' as const })),
  }
}
