/**
 * A unit of work: what a request, or a job, does with one resource is committed or rolled back as a whole. Each database session is one;
 * this file knows only the interface.
 */
export interface Unit {
  /** Runs the work with this unit as the current one. */
  enter<T>(work: () => Promise<T>): Promise<T>
  /** Waits for everything that still runs, so that only the commit is left to do. */
  settle(): Promise<void>
  /** Resolves when the work is committed. */
  commit(): Promise<void>
  /** Rolls the work back. Never throws: the caller must see the cause. */
  rollback(cause: unknown): Promise<void>
  /** Whether any of the work is committed: it must not run again then. */
  readonly hasKept: boolean
  /** Runs the callbacks that wait for the commit: of all units, or of this one when another has failed. Never throws: errors are reported. */
  committed(report: Report): Promise<void> | undefined
  /** Milliseconds after which the whole work may run again, or undefined when it may not. */
  retryAfter(error: unknown, attempt: number): number | undefined
}

/** Starts work that may take long, and rejects when it is no longer worth waiting for, as when the client has closed the connection. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>

/** Receives errors that happen too late to be thrown: after the commits. */
export type Report = (error: unknown) => void

export interface BracketOptions {
  /** Called around everything but the commits: their outcome must always be waited for. */
  readonly guard?: Guard
  readonly report: Report
}

/** Opens the units of one attempt. `attempt` counts from 0. */
export type OpenUnits = (attempt: number) => readonly Unit[]

/**
 * The bracket around a handler or a job: runs `work`, makes the result of its value with `finish`, and commits.
 * The result is returned only after every commit; any failure before that rolls all units back.
 * When a unit's `retryAfter` allows it, the whole work runs again with new units.
 *
 * Several units are committed one after the other: when one fails after another was committed, that commit stays, and nothing runs again.
 *
 * @throws what `work`, `finish`, `guard` or a commit throws.
 */
export async function bracket<V, R>(
  open: OpenUnits,
  work: (attempt: number) => Promise<V>,
  finish: (value: V) => R,
  options: BracketOptions,
): Promise<R> {
  for (let attempt = 0; ; attempt++) {
    const units = open(attempt)
    try {
      return await runOnce(units, () => work(attempt), finish, options)
    } catch (error) {
      const delay = retryDelay(units, error, attempt)
      if (delay === undefined) throw error
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

async function runOnce<V, R>(
  units: readonly Unit[],
  work: () => Promise<V>,
  finish: (value: V) => R,
  { guard = (start) => start(), report }: BracketOptions,
): Promise<R> {
  let result: R
  try {
    const value = await guard(() => enterAll(units, work))
    for (const unit of units) await guard(() => unit.settle())
    result = finish(value)
    for (const unit of units) await unit.commit()
  } catch (error) {
    for (const unit of units) await unit.rollback(error)
    for (const unit of units) if (unit.hasKept) await unit.committed(report)
    throw error
  }
  for (const unit of units) {
    const callbacks = unit.committed(report)
    if (callbacks) await callbacks
  }
  return result
}

function enterAll<T>(units: readonly Unit[], work: () => Promise<T>): Promise<T> {
  return units.reduceRight((inner, unit) => () => unit.enter(inner), work)()
}

function retryDelay(units: readonly Unit[], error: unknown, attempt: number): number | undefined {
  if (units.some(({ hasKept }) => hasKept)) return undefined
  for (const unit of units) {
    const delay = unit.retryAfter(error, attempt)
    if (delay !== undefined) return delay
  }
  return undefined
}
