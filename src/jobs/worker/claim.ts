import type { Session } from '../../db/session/session.js'
import type { JobDatabase } from '../job-database.js'
import type { ClaimedRow, FreeSlots } from '../statements.js'
import type { ClaimedJob } from './job-call.js'

/** What claiming depends on. */
export interface ClaimRules {
  /** Of this worker. */
  readonly worker: string
  /** How many jobs of this name run at once for one value; undefined for no limit. */
  readonly limitOf: (name: string) => number | undefined
  /** Whether any job has a limit. */
  readonly hasLimits: boolean
}

/** What a claim has found. */
export interface Claim {
  readonly jobs: readonly ClaimedJob[]
  /** How many jobs wait for their limit now. */
  readonly held: number
}

/** What decides which job is first. */
type Order = Pick<ClaimedRow, 'priority' | 'due' | 'id'>

interface WithinLimits {
  readonly taken: readonly ClaimedRow[]
  readonly held: readonly ClaimedRow[]
  /** How many jobs of a limit may run that have waited for it. */
  readonly woken: ReadonlyMap<string, number>
}

/**
 * Claims jobs in a transaction of its own: it is committed before they run, so that a job that ends its process has used up an attempt.
 *
 * @param free the queues that have free slots.
 */
export function claimJobs(database: JobDatabase, free: readonly FreeSlots[], rules: ClaimRules): Promise<Claim> {
  const { statements } = database
  return database.transaction(async (session) => {
    if (statements.claimsAtOnce && !rules.hasLimits) {
      const rows = await session.executeOwn(statements.claim(free, rules.worker))
      return { jobs: rows.map(toClaimed).toSorted(byOrder), held: 0 }
    }
    return new CarefulClaim(database, session, rules).claim(free)
  })
}

/** Claims within limits, and on databases that cannot lock and change rows in one statement. */
class CarefulClaim {
  readonly #database: JobDatabase
  readonly #session: Session
  readonly #rules: ClaimRules

  constructor(database: JobDatabase, session: Session, rules: ClaimRules) {
    this.#database = database
    this.#session = session
    this.#rules = rules
  }

  async claim(free: readonly FreeSlots[]): Promise<Claim> {
    const { statements } = this.#database
    const found: ClaimedRow[] = []
    for (const queue of free) found.push(...(await this.#session.executeOwn(statements.candidates(queue))))
    if (found.length === 0) return { jobs: [], held: 0 }
    const { taken, held, woken } = await this.#withinLimits(found)
    if (held.length > 0) await this.#session.executeOwn(statements.hold(held.map(({ id }) => String(id))))
    for (const [key, most] of woken) await this.#database.changeSome(this.#session, statements.wakeLimited(key, most))
    if (taken.length === 0) return { jobs: [], held: held.length }
    const ids = taken.map(({ id }) => String(id))
    await this.#session.executeOwn(statements.take(ids, this.#rules.worker))
    const jobs = taken.map((row) => toClaimed({ ...row, attempt: row.attempt + 1, run: row.run + 1 }))
    return { jobs, held: held.length }
  }

  async #withinLimits(found: readonly ClaimedRow[]): Promise<WithinLimits> {
    const keys = [...new Set(found.flatMap(({ limit_key }) => limit_key ?? []))]
    const running = keys.length > 0 ? await this.#countRunning(keys) : new Map<string, number>()
    const waiting = await this.#firstWaiting(keys)
    const taken: ClaimedRow[] = []
    const held: ClaimedRow[] = []
    const woken = new Map<string, number>()
    for (const row of found) {
      const key = row.limit_key ?? undefined
      // A limit that this version of the program does not know is one: its job is given back anyway.
      const most = key === undefined ? Infinity : (this.#rules.limitOf(row.name) ?? Infinity)
      const n = key === undefined ? 0 : (running.get(key) ?? 0)
      const first = waiting.get(key ?? '')
      if (n >= most) held.push(row)
      else if (key !== undefined && first && compare(first, row) < 0) {
        held.push(row) // one that waits for the limit precedes it
        woken.set(key, most - n)
      } else {
        taken.push(row)
        if (key !== undefined) running.set(key, n + 1)
      }
    }
    return { taken, held, woken }
  }

  /** The first job of each limit that waits for it. */
  async #firstWaiting(keys: readonly string[]): Promise<ReadonlyMap<string, Order>> {
    const found = new Map<string, Order>()
    for (const key of keys) {
      const [first] = await this.#session.executeOwn(this.#database.statements.firstLimited(key))
      if (first) found.set(key, first)
    }
    return found
  }

  /** Counted by one worker at a time. Nothing is counted up or down, so that a crash leaves nothing wrong. */
  async #countRunning(keys: readonly string[]): Promise<Map<string, number>> {
    const { statements } = this.#database
    const making = statements.makeLimits(keys)
    if (making) await this.#session.executeOwn(making)
    const locking = statements.lockLimits(keys)
    if (locking) await this.#session.executeOwn(locking)
    const rows = await this.#session.executeOwn(statements.running(keys))
    return new Map(rows.map(({ limit_key, n }) => [limit_key, Number(n)]))
  }
}

function toClaimed(row: ClaimedRow): ClaimedJob {
  return { id: String(row.id), run: row.run, row }
}

// A statement that changes rows returns them in any order.
function byOrder({ row: a }: ClaimedJob, { row: b }: ClaimedJob): number {
  return compare(a, b)
}

function compare(a: Order, b: Order): number {
  return a.priority - b.priority || Number(a.due) - Number(b.due) || Number(a.id) - Number(b.id)
}
