import type { Abort } from './abort.js'
import { PartialCommitError } from './partial-commit-error.js'
import { nextTurn } from './promises.js'

/**
 * A unit of work: what a request, or a job, does with one resource is committed or rolled back as a whole. Each database session is one;
 * this file knows only the interface.
 */
export interface Unit {
  /** For the log: the database. */
  readonly name: string
  /** Called before all others: no work begins before the promise has resolved, and everything that waits for it fails with its error. */
  beginAfter?(ready: () => Promise<void>): void
  /** Runs the work with this unit as the current one. */
  enter<T>(work: () => T): T
  /** Runs the synchronous work that makes the response of this unit. */
  respond<T>(work: () => T): T
  /** Called when the work has returned: what still runs was not awaited. */
  workReturned?(): void
  /** Waits for everything that still runs, so that only the commit is left to do. Undefined if nothing does. */
  settle(): Promise<void> | undefined
  /** Whether something still runs. A unit without this property is settled once. */
  readonly isPending?: boolean
  /** Whether any of the work is known to have written something. */
  readonly hasWritten: boolean
  /** Whether it has what must not be kept unless all of the work is: it is committed after all others. */
  readonly commitsLast?: boolean
  /** Throws if it is known before the commit that it would fail. */
  assertCommittable(): void
  /**
   * Resolves when the work is committed. Undefined if there is nothing to commit.
   *
   * @param abort ends what precedes the commit itself, whose outcome is awaited.
   */
  commit(abort?: Abort): Promise<void> | undefined
  /** Whether the work may be committed although the commit has failed with this error. */
  isUnknown?(error: unknown): boolean
  /** Rolls the work back. Never throws: the caller must see the cause. */
  rollback(cause: unknown): Promise<void>
  /** Whether any of the work is committed: it must not run again then. */
  readonly hasCommitted: boolean
  /** Why a part of the work may be committed although the unit is rolled back: what the program did. Undefined if none is. */
  readonly partSaved?: Error | undefined
  /**
   * Runs the callbacks that wait for the end of this unit; those that wait for its commit only if `isCommitted`. Undefined if there are none.
   * Never throws: errors are reported.
   */
  runCallbacks(isCommitted: boolean, late: LateWork): Promise<void> | undefined
  /** Milliseconds after which the whole work may run again, or undefined when it may not. */
  retryAfter(error: unknown, attempt: number): number | undefined
  /** Called when the whole work will run again because of this unit, in so many milliseconds. */
  onRetry?(error: unknown, attempt: number, delay: number): void
}

/** Receives errors that happen too late to be thrown: after the commits. */
export type Report = (error: unknown) => void

/** Work that continues after the result was returned: the rollback of abandoned work, or callbacks that take too long. */
export type Leftover = 'rollback' | 'callbacks'

/** Receives what happens after the result is returned, or no longer awaited. */
export interface LateWork {
  /**
   * Aborted when the result is no longer waited for: the work is abandoned, except for its commits, whose outcome must always be awaited. After
   * them the result is given without waiting for the callbacks.
   */
  readonly abort?: Abort
  /** Receives errors that happen too late to be thrown. */
  report(error: unknown): void
  /** Receives what continues after an abort. The promise never rejects. */
  onLeftover?(kind: Leftover, done: Promise<void>): void
  /** Runs the work when the response is sent; it never rejects. Without this function there is no response: the work runs before the result is given. */
  runAfterResponse?(work: () => Promise<void>): void
}

/** What a bracket is around: the call of a handler, or a job. */
export interface BracketWork<V, R> extends LateWork {
  /** Opens the units of one attempt. `attempt` counts from 0. `previous`: those of the last attempt. */
  open(attempt: number, previous?: readonly Unit[]): readonly Unit[]
  run(): V | Promise<V>
  /** Makes the result of the value of `run`. */
  finish(value: V): R
  /** The last work of an attempt: it receives the result, and runs in the units, which settle once more before their commits. Not called without a unit. */
  readonly beforeCommit?: ((result: R) => Promise<void>) | undefined
  /** Called after the commits and their callbacks. What it returns is the result. Its own error is not given to `afterFailure`. */
  afterSuccess?(result: R): R | Promise<R>
  /** Called after the rollback and its callbacks, if the work does not run again. Rejects with the error for the caller. Not called for an error of the first `open`. */
  afterFailure?(error: unknown): Promise<never>
}

/**
 * The bracket around a handler or a job: runs the work, makes the result of its value, and commits. The result is returned only after every commit;
 * any failure before that rolls all units back. When a unit's `retryAfter` allows it, the whole work runs again with new units.
 *
 * Several units are committed one after the other: when one fails after another was committed, that commit stays, and nothing runs again.
 *
 * Without a unit, and if neither the work nor `afterSuccess` returns a promise, the result is returned at once: promises would cost every request time.
 *
 * @throws what a function of the work or a commit throws, or rejects with it; the reason of the abort; PartialCommitError when a commit fails after
 * another has succeeded.
 */
export function bracket<V, R>(work: BracketWork<V, R>): R | Promise<R> {
  const units = work.open(0)
  return units.length > 0 ? runAttempts(units, work) : runWithoutUnits(work)
}

async function runAttempts<V, R>(first: readonly Unit[], work: BracketWork<V, R>): Promise<R> {
  const { abort } = work
  let units = first
  let result: R
  try {
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) units = work.open(attempt, units)
      try {
        if (abort?.isAborted) throw abort.reason
        const running = within(units, 'enter', () => work.run())
        const value = running instanceof Promise ? await (abort?.race(running) ?? running) : running
        for (const unit of units) unit.workReturned?.()
        await nextTurn() // promises that the work did not await get one turn of the event loop before the commit
        const settling = settleAll(units, abort)
        if (settling) await settling
        result = within(units, 'respond', () => work.finish(value))
        if (work.beforeCommit) await runLast(units, work.beforeCommit, result, abort)
        const committing = commitAll(units, abort)
        if (committing) await committing
        break
      } catch (error) {
        const delay = await undo(units, error, attempt, work)
        if (delay === undefined) throw withPartSaved(units, error)
        if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
      }
    }
    const callbacks = runCallbacks(units, true, work)
    if (callbacks) await untilAborted(callbacks, abort, onLateCallbacks(work))
  } catch (error) {
    return fail(work, error)
  }
  return succeed(work, result)
}

function succeed<V, R>(work: BracketWork<V, R>, result: R): R | Promise<R> {
  return work.afterSuccess ? work.afterSuccess(result) : result
}

function fail<V, R>(work: BracketWork<V, R>, error: unknown): Promise<never> {
  if (work.afterFailure) return work.afterFailure(error)
  throw error
}

/** Runs the work within all units, the first one outermost. */
function within<T>(units: readonly Unit[], how: 'enter' | 'respond', work: () => T): T {
  const [outermost] = units
  if (!outermost) return work()
  return outermost[how](units.length > 1 ? () => within(units.slice(1), how, work) : work)
}

// An error of the work itself is reported instead of the errors that follow from it in the last work.
async function runLast<R>(
  units: readonly Unit[],
  beforeCommit: (result: R) => Promise<void>,
  result: R,
  abort: Abort | undefined,
): Promise<void> {
  for (const unit of units) unit.assertCommittable()
  if (abort?.isAborted) throw abort.reason
  const running = within(units, 'enter', () => beforeCommit(result))
  await (abort?.race(running) ?? running)
  await nextTurn()
  await settleAll(units, abort)
}

/** Waits for everything that still runs in any unit. Undefined if nothing does. */
function settleAll(units: readonly Unit[], abort: Abort | undefined): Promise<void> | undefined {
  if (units.length > 1) return settleInTurn(units, abort)
  if (abort?.isAborted) throw abort.reason
  const settling = units[0]?.settle()
  return settling && (abort?.race(settling) ?? settling)
}

async function settleInTurn(units: readonly Unit[], abort: Abort | undefined): Promise<void> {
  do {
    for (const unit of units) await settleAll([unit], abort)
    await nextTurn() // what one unit has waited for may begin something in another
  } while (units.some(({ isPending }) => isPending))
}

function runWithoutUnits<V, R>(work: BracketWork<V, R>): R | Promise<R> {
  const { abort } = work
  const undoAndFail = async (error: unknown): Promise<never> => {
    await undo([], error, 0, work) // reports what continues after an abort
    return fail(work, error)
  }
  const finishLater = async (running: Promise<V>) => {
    let result: R
    try {
      result = work.finish(await (abort?.race(running) ?? running))
    } catch (error) {
      return undoAndFail(error)
    }
    return succeed(work, result)
  }
  let result: R
  try {
    if (abort?.isAborted) throw abort.reason
    const running = work.run()
    if (running instanceof Promise) return finishLater(running)
    result = work.finish(running)
  } catch (error) {
    return undoAndFail(error)
  }
  return succeed(work, result)
}

/** Rolls back what is not committed. Resolves to the milliseconds after which the work runs again, or to undefined when it does not. */
async function undo(
  units: readonly Unit[],
  error: unknown,
  attempt: number,
  work: LateWork,
): Promise<number | undefined> {
  const { abort } = work
  const callbacks = () => runCallbacks(units, false, work)
  const rolledBack = rollBackAll(units, error)
  if (abort?.isAborted && work.onLeftover) {
    work.onLeftover('rollback', rolledBack.then(callbacks))
    return undefined
  }
  await rolledBack
  const delay = retryDelay(units, error, attempt)
  const running = delay === undefined ? callbacks() : undefined
  if (running) await untilAborted(running, abort, onLateCallbacks(work))
  return delay
}

async function rollBackAll(units: readonly Unit[], cause: unknown): Promise<void> {
  await Promise.all(units.map((unit) => unit.rollback(cause))) // at once: from now on, none accepts further queries
}

/**
 * Undefined when there is no callback: a promise would cost every request time.
 *
 * @param allCommitted whether the commit of all units has succeeded; otherwise some of them may be committed.
 */
function runCallbacks(units: readonly Unit[], allCommitted: boolean, work: LateWork): Promise<void> | undefined {
  let last: Promise<void> | undefined
  for (const unit of units) {
    const isCommitted = allCommitted || unit.hasCommitted
    last = last ? last.then(() => unit.runCallbacks(isCommitted, work)) : unit.runCallbacks(isCommitted, work)
  }
  return last
}

function onLateCallbacks(work: LateWork): ((done: Promise<void>) => void) | undefined {
  return work.onLeftover && ((done) => work.onLeftover?.('callbacks', done))
}

/**
 * Waits for work that comes after a result, until the abort; gives it to `onLate` if it has not ended then. Without one of the two, waits for its end.
 *
 * @param work never rejects.
 */
export async function untilAborted(
  work: Promise<void>,
  abort: Abort | undefined,
  onLate: ((done: Promise<void>) => void) | undefined,
): Promise<void> {
  if (!abort || !onLate) return work
  let hasEnded = false
  const end = work.then(() => void (hasEnded = true))
  // One turn of the event loop also for an abort during COMMIT: most of such work takes no longer.
  if (abort.isAborted) await Promise.race([end, nextTurn()])
  try {
    await abort.race(end)
  } catch {
    // Only the abort throws.
  }
  if (!hasEnded) onLate(end)
}

/** Undefined if there is nothing to commit. */
function commitAll(units: readonly Unit[], abort: Abort | undefined): Promise<void> | undefined {
  for (const unit of units) unit.assertCommittable()
  return units.length > 1 ? commitInTurn(units, abort) : units[0]?.commit(abort)
}

async function commitInTurn(units: readonly Unit[], abort: Abort | undefined): Promise<void> {
  for (const unit of inCommitOrder(units)) {
    try {
      unit.assertCommittable() // again: an unawaited query may have failed during the commit of another unit
      await unit.commit(abort)
    } catch (error) {
      throw units.some(({ hasCommitted }) => hasCommitted) ? partialCommit(units, unit, error) : error
    }
  }
}

// Work that has only read is committed last: when the commit of what was written fails, nothing is saved then, and the work may run again.
function inCommitOrder(units: readonly Unit[]): readonly Unit[] {
  const place = ({ commitsLast, hasWritten }: Unit) => (commitsLast ? 2 : hasWritten ? 0 : 1)
  return [...units].sort((a, b) => place(a) - place(b))
}

function partialCommit(units: readonly Unit[], failed: Unit, cause: unknown): PartialCommitError {
  // Two databases in memory have the same name.
  const nameOf = (unit: Unit) => `${unit.name} (${units.indexOf(unit) + 1} of ${units.length})`
  const others = units.filter((unit) => unit !== failed)
  return new PartialCommitError(
    {
      committed: others.filter(({ hasCommitted }) => hasCommitted).map(nameOf),
      failed: nameOf(failed),
      isUnknown: failed.isUnknown?.(cause) === true,
      rolledBack: others.filter(({ hasCommitted }) => !hasCommitted).map(nameOf),
    },
    cause,
  )
}

function withPartSaved(units: readonly Unit[], error: unknown): unknown {
  const broken = units.find(({ partSaved }) => partSaved)
  if (!broken?.partSaved || error instanceof PartialCommitError) return error
  const { name, partSaved } = broken
  const rolledBack = units.filter((unit) => unit !== broken).map((unit) => unit.name)
  return new PartialCommitError({ committed: [name], failed: name, rolledBack }, error, partSaved.message)
}

function retryDelay(units: readonly Unit[], error: unknown, attempt: number): number | undefined {
  if (units.some(({ hasCommitted, partSaved }) => hasCommitted || partSaved)) return undefined
  for (const unit of units) {
    const delay = unit.retryAfter(error, attempt)
    if (delay === undefined) continue
    unit.onRetry?.(error, attempt, delay)
    return delay
  }
  return undefined
}
