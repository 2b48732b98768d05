import type { Issue } from '../schema/shape/issue.js'
import { describeIssues } from '../schema/stored-data.js'

/** The input that was given to `jobs.add()` is not what the class declares, or too large. Nothing was added. `issues` are at most 20. */
export class InvalidJobInput extends TypeError {
  override name = 'InvalidJobInput'
  readonly issues: readonly Issue[]

  constructor(job: string, issues: readonly Issue[], options?: ErrorOptions) {
    super(`The input of the job ${job} does not fit its class: ${describeIssues(issues)}.`, options)
    this.issues = issues
  }
}

/** The stored input of a job does not fit its class, which has changed since the job was added. The job is dead. */
export class UnreadableJobInput extends Error {
  override name = 'UnreadableJobInput'
  readonly issues: readonly Issue[]

  constructor(job: string, issues: readonly Issue[]) {
    super(`The stored input of the job ${job} does not fit its class: ${describeIssues(issues)}.`)
    this.issues = issues
  }
}

/** Another worker has the job: this one was silent for longer than its lease. Everything that the handler wrote is rolled back. */
export class LostLeaseError extends Error {
  override name = 'LostLeaseError'

  constructor(job: string) {
    super(`Another worker has the job ${job}: this one has not renewed its lease in time. Its work is rolled back.`)
  }
}

/** Why the signal of a job is aborted: it took longer than its `timeout`. */
export class JobTimeout extends Error {
  override name = 'JobTimeout'

  constructor(job: string, milliseconds: number) {
    super(`The job ${job} has not ended within ${milliseconds} ms. Its work is rolled back.`)
  }
}

/** Why the signal of a job is aborted: the process stops. The job runs again at once, and has not lost an attempt. */
export class WorkerStops extends Error {
  override name = 'WorkerStops'

  constructor() {
    super('The worker stops. The job is rolled back, and runs again in another process.')
  }
}

/** Thrown by `attempt.discard()`. */
export class JobDiscarded extends Error {
  override name = 'JobDiscarded'
}

/** Thrown by `attempt.retryIn()`. */
export class JobPostponed extends Error {
  override name = 'JobPostponed'
  /** Milliseconds. */
  readonly delay: number

  constructor(delay: number) {
    super(`The job runs again in ${delay} ms.`)
    this.delay = delay
  }
}

/**
 * The job has no attempts left, and no worker has said how the last one ended: the worker has not renewed its lease. Its process was killed or stood still, or
 * it did not reach the database. Also the error of a job whose `attempts` are fewer now than those that it has had. The job is dead.
 */
export class WorkerLost extends Error {
  override name = 'WorkerLost'

  constructor(job: string, attempts: number) {
    super(
      `The job ${job} has used up its ${attempts} attempts: in the last one, its worker has not renewed its lease, as its process was killed or stood still, or the database was not reached.`,
    )
  }
}
