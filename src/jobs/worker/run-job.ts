import { randomBytes } from 'node:crypto'
import type { JobRun } from '../../core/events/job-run.js'
import type { Trace } from '../../core/events/trace.js'
import { describeForRow } from '../../db/own-tables/describe-error.js'
import type { Sql } from '../../db/statements/statement.js'
import { tagOf, traceFields } from '../../http/observation/log-entry.js'
import type { Log } from '../../http/server/logger.js'
import { JobPostponed, WorkerLost } from '../errors.js'
import { type ClaimedJob, JobCall, type JobContext } from './job-call.js'
import { type JobRecorder, lastAttempt } from './job-recorder.js'
import { type Outcome, outcomeOf, settle } from './outcome.js'
import type { PlannedJob } from './planned-jobs.js'

/** What the runner needs of a worker, or of a test. */
export interface RunnerOptions extends JobContext {
  readonly recorder: JobRecorder
  /** Executes a statement in a transaction of its own, once or until it is done. Returns how many rows it has changed; undefined if it is not known. */
  readonly write: (statement: Sql, tries: 'once' | 'until done') => Promise<number | undefined>
  /** Milliseconds after which a job runs again whose attempt has failed. Default: a random time with a bound that doubles. */
  readonly delayOf?: (attempt: number) => number
}

/** How a run has ended. */
export interface Ending {
  /** Undefined if it is done. */
  readonly outcome: Outcome | undefined
  readonly error: unknown
}

/** Why a run has failed, with the id of its entry in the log. */
interface Failure {
  readonly error: unknown
  readonly entry: string
  readonly trace: Trace | undefined
}

/** Runs jobs that were claimed, and writes down what becomes of them. */
export class JobRunner {
  readonly #options: RunnerOptions
  readonly #calls = new Set<JobCall>()

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Aborts the jobs that run. */
  abort(reason: Error): void {
    for (const { abort } of this.#calls) abort.abort(reason)
  }

  async run(job: PlannedJob, claimed: ClaimedJob): Promise<Ending> {
    const { recorder } = this.#options
    const record = recorder.record(job, claimed)
    const call = new JobCall(job, claimed, this.#options, record)
    let ending: Ending = { outcome: undefined, error: undefined }
    const execute = () => this.#execute(job, claimed, call)
    await recorder.observe(record, execute, async (error) => {
      const outcome = await this.#settle(job, claimed, error, record)
      ending = { outcome, error }
      return outcome
    })
    return ending
  }

  async #execute(job: PlannedJob, { row }: ClaimedJob, call: JobCall): Promise<void> {
    if (row.attempt > job.attempts) throw new WorkerLost(call.title, job.attempts)
    this.#calls.add(call)
    try {
      await call.execute()
    } finally {
      this.#calls.delete(call)
    }
  }

  /** Writes down what has become of a job that was not committed. */
  async #settle(job: PlannedJob, claimed: ClaimedJob, error: unknown, record: JobRun | undefined): Promise<Outcome> {
    const { database, log, write, delayOf } = this.#options
    const expected = outcomeOf(error, claimed.row.attempt, job.attempts, delayOf)
    const failure = { error, entry: randomBytes(4).toString('hex'), trace: record?.trace }
    const statement = settle(database.statements, claimed, expected, describeForRow(error, failure.entry))
    const changed = statement && (await write(statement, 'once'))
    // At SERIALIZABLE, the fence itself fails as a conflict.
    const outcome: Outcome = changed === 0 && expected.kind !== 'unknown' ? { kind: 'lost' } : expected
    logOutcome(log, job, claimed, outcome, failure)
    if (statement && changed === undefined) await write(statement, 'until done')
    return outcome
  }
}

function logOutcome(
  log: Log,
  job: PlannedJob,
  { id, row }: ClaimedJob,
  outcome: Outcome,
  { error, entry, trace }: Failure,
): void {
  const fields = traceFields(trace)
  const tag = tagOf(entry, trace)
  const title = `Job ${job.name} ${id}, attempt ${lastAttempt(row, job)} of ${job.attempts},`
  switch (outcome.kind) {
    case 'lost':
      return log.warn(`${title} was rolled back: another worker has it`)
    case 'stopped':
      return log.info(`${title} was rolled back, as the worker stops: it runs again`)
    case 'unknown':
      return log.error(`${title} may be committed: it runs again unless it is ${tag}`, error, fields)
    case 'dead':
      if (outcome.isDiscarded) return log.warn(`${title} was discarded: ${(error as Error).message} ${tag}`)
      return log.error(`${title} failed, and is dead ${tag}`, error, fields)
    case 'again':
      if (error instanceof JobPostponed)
        return log.info(`${title} was postponed: it runs again in ${Math.ceil(outcome.delay / 1_000)} s`)
      return log.error(`${title} failed, and runs again in ${Math.ceil(outcome.delay / 1_000)} s ${tag}`, error, fields)
  }
}
