/**
 * A resource that a request, or a job, uses in one piece: all of its work is kept, or none.
 * The database side has one for each session; this file knows only their common shape.
 */
export interface Unit {
  /** Runs the work so that it finds this unit as its own. */
  enter<T>(work: () => Promise<T>): Promise<T>
  /** Brings everything that is still under way to its end, so that only the commit remains. */
  settle(): Promise<void>
  /** Makes the work last. Resolved means: it is kept. */
  commit(): Promise<void>
  /** Undoes the work. Never throws: the cause is what the caller must see. */
  rollback(cause: unknown): Promise<void>
  /** Whether a commit has made any work last: it must not be run again then. */
  readonly hasKept: boolean
  /** What waits for the commits of all units; after one of them has failed, for this unit's own. Never throws: what is kept is kept. */
  committed(report: Report): Promise<void> | undefined
  /** Milliseconds after which the whole work may be run again, or undefined when it may not. */
  retryAfter(error: unknown, attempt: number): number | undefined
}

/** Runs what may take long, and gives up waiting for it when that has become pointless. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>

/** Told of what goes wrong too late to be thrown: after the commits. */
export type Report = (error: unknown) => void

/** What is around the work of a bracket. */
export interface BracketOptions {
  /** Around all but the commits, which are never left waiting: their outcome must be known. */
  readonly guard?: Guard
  readonly report: Report
}

/** Opens the units of one attempt. `attempt` counts from 0. */
export type OpenUnits = (attempt: number) => readonly Unit[]

/**
 * The bracket around a handler or a job: runs `work`, turns its value into a result with `seal`, and commits.
 * The result is returned only after every commit; whatever fails before rolls all units back.
 * When a unit says so, the whole work is run again, from fresh units.
 *
 * With several units each is committed in turn: one that fails after another's commit cannot undo that, and is not run again.
 *
 * @throws whatever `work`, `seal`, `guard` or a commit throws.
 */
export async function bracket<V, R>(
  open: OpenUnits,
  work: (attempt: number) => Promise<V>,
  seal: (value: V) => R,
  around: BracketOptions,
): Promise<R> {
  for (let attempt = 0; ; attempt++) {
    const units = open(attempt)
    try {
      return await once(units, () => work(attempt), seal, around)
    } catch (error) {
      const delay = retryDelay(units, error, attempt)
      if (delay === undefined) throw error
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

async function once<V, R>(
  units: readonly Unit[],
  work: () => Promise<V>,
  seal: (value: V) => R,
  { guard = (started) => started(), report }: BracketOptions,
): Promise<R> {
  let sealed: R
  try {
    const value = await guard(() => enterAll(units, work))
    for (const unit of units) await guard(() => unit.settle())
    sealed = seal(value)
    for (const unit of units) await unit.commit()
  } catch (error) {
    for (const unit of units) await unit.rollback(error)
    for (const unit of units) if (unit.hasKept) await unit.committed(report)
    throw error
  }
  for (const unit of units) {
    const told = unit.committed(report)
    if (told) await told
  }
  return sealed
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
