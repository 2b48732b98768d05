import { budgetExceeded, JOB_CHANNELS, jobEnd, jobStart } from '../../core/events/channels.js'
import { type JobOutcome, JobRun } from '../../core/events/job-run.js'
import type { BackgroundParts } from '../../http/background.js'
import { type BudgetOfApp, limitsOf, reportExcesses } from '../../http/observation/query-budget.js'
import type { Log } from '../../http/server/logger.js'
import type { ClaimedJob } from './job-call.js'
import { JobLog } from './job-log.js'
import type { Outcome } from './outcome.js'
import type { PlannedJob } from './planned-jobs.js'

/** Milliseconds. A transaction that is open for longer keeps its connection from others, and the databases from removing what is outdated. */
const LONG_TRANSACTION = 60_000

/** Makes the record of each run of a job that has a subscriber, and publishes and logs its beginning and its end. */
export class JobRecorder {
  readonly #entries: Log
  readonly #log: JobLog | undefined
  readonly #onStatement: JobRun['onStatement']
  readonly #budget: BudgetOfApp
  /** The names of the jobs whose long transactions are known. */
  readonly #warned = new Set<string>()

  constructor(jobs: Iterable<PlannedJob>, { log: entries, observation }: BackgroundParts) {
    const { log: options, plans, budgetOf } = observation
    const log = options && new JobLog(entries, options, plans)
    this.#entries = entries
    this.#log = log
    this.#onStatement = log?.isTimed ? (record, statement) => log.addStatement(record, statement) : undefined
    this.#budget = budgetOf(Array.from(jobs, ({ type, member }) => ({ controller: type, member })))
  }

  /** Undefined if no one listens. */
  record(job: PlannedJob, { id, row }: ClaimedJob): JobRun | undefined {
    // The transaction of a job that has less time is not open for that long.
    let isObserved = this.#log !== undefined || this.#budget.report !== undefined || job.timeout > LONG_TRANSACTION
    for (const { hasSubscribers } of JOB_CHANNELS) isObserved ||= hasSubscribers
    if (!isObserved) return undefined
    const { name, type, member, attempts, budget } = job
    const record = new JobRun({
      id,
      name,
      queue: row.queue,
      handler: `${type.name}.${member}`,
      attempt: lastAttempt(row, job),
      attempts,
      waited: Math.max(0, Number(row.now) - Number(row.due)),
      traceparent: row.trace ?? undefined,
    })
    record.onStatement = this.#onStatement
    record.keepsValues = this.#log?.explains === true
    const { limits, report } = this.#budget
    if (report || budgetExceeded.hasSubscribers) record.queries.limits = limitsOf(budget, limits)
    return record
  }

  /**
   * Runs a job, and records what becomes of it.
   *
   * @param settle writes down what becomes of a run that was not committed.
   * @throws what it throws.
   */
  async observe(
    record: JobRun | undefined,
    execute: () => Promise<void>,
    settle: (error: unknown) => Promise<Outcome>,
  ): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    try {
      await this.#execute(record, execute)
    } catch (error) {
      failure = { error }
    }
    if (record) this.#ran(record)
    const outcome = failure && (await settle(failure.error))
    if (record) this.#ended(record, outcome, failure?.error)
  }

  /** Publishes the start of a run, and runs the work in the contexts of subscribers. */
  #execute(record: JobRun | undefined, work: () => Promise<void>): Promise<void> {
    if (!record || !jobStart.hasSubscribers) return work()
    let running: Promise<void> | undefined
    jobStart.runStores(record, () => record.answer(() => (running ??= work())))
    return running ?? work()
  }

  /** The method has returned, and its transaction has ended, as far as that is known. */
  #ran(record: JobRun): void {
    record.milliseconds = performance.now() - record.startedAt
    if (record.queries.isExceeded) reportExcesses(record, this.#budget.report)
    if (record.longestTransaction > LONG_TRANSACTION) this.#warnOnce(record)
  }

  #warnOnce({ name, handler, longestTransaction }: JobRun): void {
    if (this.#warned.has(name)) return
    this.#warned.add(name)
    this.#entries.warn(
      `A transaction of the job ${name} was open for ${Math.round(longestTransaction / 1_000)} s: it keeps a connection, its locks, and the rows that others delete. ` +
        `Split it: put @Transactional(false) on ${handler}, and write each part in a session of its own, withSession(async (session) => { ... }); or make its parts steps, attempt.step('part', async (session) => { ... }).`,
    )
  }

  /** What became of the run is written down. @param outcome undefined if it is done. */
  #ended(record: JobRun, outcome: Outcome | undefined, error: unknown): void {
    record.outcome = publishedOutcome(outcome)
    record.error = error
    try {
      this.#log?.add(record)
    } catch {
      // Nothing awaits the end of a job: an error, as of a query plan, would end the process.
    }
    if (jobEnd.hasSubscribers) jobEnd.publish(record)
  }
}

/** The number of the attempt. A job without attempts left is claimed once more, to end as dead: it does not run, and has the number of its last one. */
export function lastAttempt({ attempt }: ClaimedJob['row'], { attempts }: Pick<PlannedJob, 'attempts'>): number {
  return Math.min(attempt, attempts)
}

function publishedOutcome(outcome: Outcome | undefined): JobOutcome {
  if (!outcome) return 'done'
  return outcome.kind === 'again' ? 'failed' : outcome.kind
}
