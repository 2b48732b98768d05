import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'
import { fromEnvironment } from '../../db/config/environment.js'
import type { Sql } from '../../db/statements/statement.js'
import type { Work } from '../../http/background.js'
import type { JobDatabase } from '../job-database.js'
import type { Held } from '../statements/ends.js'
import type { JobState } from '../tables.js'
import { jobsAdded } from '../wake.js'
import { formatWork } from '../work-text.js'

/** Milliseconds that the lease of a worker lasts, unless `toolkit_job_lease` is set, and how often it is renewed in them. */
const LEASE = 30_000
const RENEWALS = 3
/** Milliseconds after which a lease that has ended is deleted. */
const KEPT_LEASE = 10 * 60_000
/** Milliseconds between two cleanings, and those that finished jobs are kept. */
const CLEANING = 60_000
const DAY = 24 * 60 * 60_000
const KEPT: readonly (readonly [JobState, number])[] = [
  ['done', 7 * DAY],
  ['dead', 90 * DAY],
]
/** Transactions of one cleaning: a trigger may keep rows, which are found again then. */
const MOST = 100

/**
 * The lease of a worker: one row for the whole process, so that a renewal never touches the row that a job's own transaction completes. Whoever finds a job
 * whose worker has no valid lease takes it back.
 */
export class Lease {
  readonly worker = randomUUID()
  readonly #database: JobDatabase
  readonly #executeApart: (statement: Sql) => Promise<void> | undefined
  readonly #report: (error: unknown) => void
  readonly #isKnown: (job: Held) => boolean
  /** The jobs that the last look has found to be unknown. */
  #unknown = new Set<string>()
  #renewing = Promise.resolve()
  #tidying: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #cleanedAt = performance.now() - CLEANING * Math.random()
  readonly #milliseconds = fromEnvironment('toolkit_job_lease') ?? LEASE
  #isEnded = false
  #queues: string | undefined

  /**
   * @param executeApart executes a statement on a connection that jobs cannot hold; undefined if there is none.
   * @param report receives the errors of renewals.
   * @param isKnown whether the worker knows that it has this job.
   */
  constructor(
    database: JobDatabase,
    executeApart: (statement: Sql) => Promise<void> | undefined,
    report: (error: unknown) => void,
    isKnown: (job: Held) => boolean,
  ) {
    this.#database = database
    this.#executeApart = executeApart
    this.#report = report
    this.#isKnown = isKnown
  }

  /** @param work on which the worker works, for operators. @throws the error of the database. */
  async begin(work: Work): Promise<void> {
    this.#queues = formatWork(work)
    await this.#renew()
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isEnded) return
    const pause = this.#milliseconds / RENEWALS
    this.#timer = setTimeout(() => (this.#renewing = this.#tick()), pause * (0.9 + 0.1 * Math.random()))
  }

  // What takes long does not delay the next renewal.
  async #tick(): Promise<void> {
    try {
      await this.#renew()
      this.#tidying ??= this.#tidy().finally(() => (this.#tidying = undefined))
    } catch (error) {
      this.#report(error)
    } finally {
      this.#schedule()
    }
  }

  /** Never rejects. */
  async #tidy(): Promise<void> {
    try {
      await this.#takeBack()
      await this.#giveBackUnknown()
      if (performance.now() - this.#cleanedAt >= CLEANING) await this.#clean()
    } catch (error) {
      this.#report(error)
    }
  }

  /** On a connection of its own, where there is one: those of the pool may all be held for longer than the lease lasts. */
  async #renew(): Promise<void> {
    const renewal = this.#database.statements.renew({
      worker: this.worker,
      host: hostname().slice(0, 100),
      queues: this.#queues,
      milliseconds: this.#milliseconds,
    })
    try {
      const renewing = this.#executeApart(renewal)
      if (renewing) return await renewing
    } catch {
      // That connection is lost; one of the pool may not be.
    }
    await this.#database.transaction((session) => session.executeOwn(renewal))
  }

  /** Makes the jobs ready whose workers are gone, and those that wait for a limit which no one holds. */
  async #takeBack(): Promise<void> {
    const { statements } = this.#database
    const found = await this.#database.transaction(async (session) => {
      const taken = await this.#database.changeSome(session, statements.takeBack())
      for (const { limit_key } of await session.executeOwn(statements.forgottenLimits()))
        await this.#database.changeSome(session, statements.wakeLimited(limit_key, 1))
      return taken
    })
    if (found > 0) jobsAdded.wake(this.#database.sequelize)
  }

  /**
   * Gives jobs back that this worker has without knowing it: the commit of their claim was not answered. Those that are found twice, as others are being
   * claimed; a mistake would only run a job again.
   */
  async #giveBackUnknown(): Promise<void> {
    const { statements } = this.#database
    const rows = await this.#database.read(statements.runningOf(this.worker))
    const unknown = rows.map(({ id, run }) => ({ id: String(id), run })).filter((job) => !this.#isKnown(job))
    const lost = unknown.filter((job) => this.#unknown.has(keyOf(job)))
    this.#unknown = new Set(unknown.map(keyOf))
    for (const job of lost)
      await this.#database.transaction((session) =>
        session.executeOwn(statements.giveBack(job, { delay: 0, uses: false })),
      )
    if (lost.length > 0) jobsAdded.wake(this.#database.sequelize)
  }

  async #clean(): Promise<void> {
    this.#cleanedAt = performance.now()
    const { statements } = this.#database
    await this.#database.transaction((session) => session.executeOwn(statements.deleteLeases(KEPT_LEASE)))
    for (const [state, age] of KEPT)
      for (let n = 0; n < MOST && !this.#isEnded; n++) if (!(await this.#deleteSome(state, age))) break
  }

  async #deleteSome(state: JobState, age: number): Promise<boolean> {
    const { statements } = this.#database
    return this.#database.transaction(async (session) => {
      const ids = (await session.executeOwn(statements.finished(state, age))).map(({ id }) => String(id))
      if (ids.length > 0) for (const statement of statements.deleteJobs(ids)) await session.executeOwn(statement)
      return ids.length > 0
    })
  }

  /** Jobs that this worker still has are taken back by others at once. */
  async end(): Promise<void> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    await this.#renewing // it would begin the lease again
    await this.#tidying
    const { statements } = this.#database
    await this.#database.transaction((session) => session.executeOwn(statements.endLease(this.worker)))
  }
}

/** As a key of a set. */
export function keyOf({ id, run }: Held): string {
  return `${id} ${run}`
}
