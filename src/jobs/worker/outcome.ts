import { PartialCommitError } from '../../core/partial-commit-error.js'
import { CommitUnknownError } from '../../db/errors.js'
import type { Sql } from '../../db/statements/statement.js'
import { JobDiscarded, JobPostponed, LostLeaseError, UnreadableJobInput, WorkerStops } from '../errors.js'
import type { Held } from '../statements/ends.js'
import type { JobStatements } from '../statements/job-statements.js'

/** What becomes of a job whose attempt was not committed. */
export type Outcome =
  /** Another worker has it. */
  | { readonly kind: 'lost' }
  /** It may be committed. If it is, its row says so, and giving it back changes nothing: the row is locked until the transaction has ended. */
  | { readonly kind: 'unknown' }
  /** The worker stops: the attempt does not count. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'again'; readonly delay: number }
  | { readonly kind: 'dead'; readonly isDiscarded: boolean }

/** Milliseconds: the bound of the delay after the first attempt, and of all. */
const FIRST_DELAY = 5_000
const MOST_DELAY = 6 * 60 * 60 * 1_000

/**
 * @param attempt from 1.
 * @param most how many attempts the job has.
 * @param delayOf the milliseconds after which it runs again.
 */
export function outcomeOf(error: unknown, attempt: number, most: number, delayOf = jitter): Outcome {
  if (error instanceof LostLeaseError) return { kind: 'lost' }
  if (error instanceof WorkerStops) return { kind: 'stopped' }
  if (isUnknown(error)) return { kind: 'unknown' }
  if (error instanceof JobDiscarded) return { kind: 'dead', isDiscarded: true }
  if (error instanceof UnreadableJobInput || attempt >= most) return { kind: 'dead', isDiscarded: false }
  return { kind: 'again', delay: error instanceof JobPostponed ? error.delay : delayOf(attempt) }
}

function isUnknown(error: unknown): boolean {
  return error instanceof CommitUnknownError || (error instanceof PartialCommitError && error.isUnknown)
}

/** Milliseconds, "full jitter": anything up to a bound that doubles. Source: M. Brooker, Exponential Backoff And Jitter, 2015. */
function jitter(attempt: number): number {
  return Math.random() * longestDelay(attempt)
}

/** Milliseconds. */
export function longestDelay(attempt: number): number {
  return Math.min(MOST_DELAY, FIRST_DELAY * 2 ** (attempt - 1))
}

/** Writes down what has become of a job; undefined if another worker has it. @param reason for its row. */
export function settle(statements: JobStatements, held: Held, outcome: Outcome, reason: string): Sql | undefined {
  switch (outcome.kind) {
    case 'lost':
      return undefined
    case 'dead':
      return statements.bury(held, reason)
    case 'again':
      return statements.giveBack(held, { delay: outcome.delay, uses: true, error: reason })
    case 'unknown':
      return statements.giveBack(held, { delay: 0, uses: true })
    case 'stopped':
      return statements.giveBack(held, { delay: 0, uses: false })
  }
}
