import { LONGEST } from '../../core/options.js'
import { type Instants, instantsOf } from '../cron.js'
import type { JobDatabase } from '../job-database.js'
import { insert, newJob, publishAdded } from '../jobs.js'
import { jobsAdded } from '../wake.js'
import type { PlannedJob } from './planned-jobs.js'

/** Milliseconds after which a schedule is read again that the database has not answered. */
const PAUSE = 1_000

/**
 * Adds the jobs of `@Cron()`. Each process does: of those that add the job of an instant, the first changes the row of the schedule in the same
 * transaction, and the others find it changed. There is no leader.
 */
export class Schedule {
  readonly #database: JobDatabase
  readonly #report: (error: unknown) => void
  readonly #jobs: readonly PlannedJob[]
  readonly #timers = new Map<PlannedJob, NodeJS.Timeout>()
  #isStopped = false

  /** @param report receives errors of the database. */
  constructor(database: JobDatabase, jobs: Iterable<PlannedJob>, report: (error: unknown) => void) {
    this.#database = database
    this.#report = report
    this.#jobs = [...jobs].filter(({ cron }) => cron)
  }

  start(): void {
    for (const job of this.#jobs) {
      const { cron, type, member } = job
      if (cron) void this.#tick(job, instantsOf(cron, `${type.name}.${member}`))
    }
  }

  async #tick(job: PlannedJob, instants: Instants): Promise<void> {
    const delay = await this.#addDue(job, instants).catch((error: unknown) => {
      this.#report(error)
      return PAUSE
    })
    if (this.#isStopped || delay === undefined) return
    this.#timers.set(
      job,
      setTimeout(() => void this.#tick(job, instants), Math.min(delay, LONGEST)),
    )
  }

  /** Adds the job of the last instant, unless it was added. Returns the milliseconds until the next one, by the clock of the database. */
  async #addDue(job: PlannedJob, instants: Instants): Promise<number | undefined> {
    const { statements } = this.#database
    const [row] = await this.#database.read(statements.cron(job.name))
    const now = Number(row?.now)
    const due = instants.last(now)
    if (row?.last === null || row?.last === undefined)
      await this.#database.transaction((session) => session.executeOwn(statements.beginCron(job.name)))
    else if (due !== undefined && due > Number(row.last)) await addInstant(this.#database, job, due)
    const next = instants.next(now)
    return next === undefined ? undefined : Math.max(1, next - now)
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }
}

/** Adds the job of an instant, if no process has added it, or that of a later one. Returns whether it was added. */
export async function addInstant(
  database: JobDatabase,
  job: Pick<PlannedJob, 'name' | 'queue' | 'priority'>,
  instant: number,
): Promise<boolean> {
  const { statements } = database
  const row = newJob(job, inputOfInstant(instant), undefined, {}, undefined)
  const added = await database.transaction(async (session) => {
    if ((await database.change(session, statements.advanceCron(job.name, instant))) === 0) return undefined
    return insert(database, session, row)
  })
  if (!added) return false
  publishAdded(added.id, row)
  jobsAdded.wake(database.sequelize)
  return true
}

/** The input of a job of `@Cron()`, which `attempt.instant` reads. */
export function inputOfInstant(instant: number): string {
  return JSON.stringify({ instant })
}
