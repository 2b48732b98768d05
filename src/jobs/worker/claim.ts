import type { Session } from '../../db/session/session.js'
import type { JobDatabase } from '../job-database.js'
import type { ClaimedRow, FreeSlots, JobOrder } from '../statements/claim.js'
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

interface WithinLimits {
  readonly taken: readonly ClaimedRow[]
  readonly held: readonly ClaimedRow[]
  /** How many jobs of a limit may run that have waited for it. */
  readonly woken: ReadonlyMap<string, number>
}

/** Milliseconds for which a claim begins where the one before has ended. A job that precedes it, and was added since, is found after this time. */
const POSITION_AGE = 50

/** Claims jobs, each time in a transaction of its own: it is committed before they run, so that a job that ends its process has used up an attempt. */
export class Claims {
  readonly #database: JobDatabase
  readonly #rules: ClaimRules
  /** The last job of each queue that was claimed. PostgreSQL keeps the index entries of those before it for a while: a claim would read them all. */
  readonly #positions = new Map<string, JobOrder>()
  #positionsEnd = 0

  constructor(database: JobDatabase, rules: ClaimRules) {
    this.#database = database
    this.#rules = rules
  }

  /** Milliseconds for which claims do not find what precedes their positions; 0 if they find everything. */
  get partialFor(): number {
    return this.#positions.size === 0 ? 0 : Math.max(0, Math.ceil(this.#positionsEnd - performance.now()))
  }

  /** @param free the queues that have free slots. */
  claim(free: readonly FreeSlots[]): Promise<Claim> {
    const { statements } = this.#database
    return statements.claimsAtOnce && !this.#rules.hasLimits
      ? this.#claimAtOnce(free)
      : this.#database.transaction((session) => new CarefulClaim(this.#database, session, this.#rules).claim(free))
  }

  async #claimAtOnce(free: readonly FreeSlots[]): Promise<Claim> {
    const { statements } = this.#database
    this.#forgetOldPositions()
    const queues = free.map(({ queue, slots }) => ({ queue, slots, after: this.#positions.get(queue) }))
    const rows = await this.#database.transaction((session) =>
      session.executeOwn(statements.claim(queues, this.#rules.worker)),
    )
    const jobs = rows.map(toClaimed).toSorted(byOrder)
    if (statements.readsClaimed) for (const { row } of jobs) this.#positions.set(row.queue, row)
    return { jobs, held: 0 }
  }

  #forgetOldPositions(): void {
    const now = performance.now()
    if (now < this.#positionsEnd) return
    this.#positions.clear()
    this.#positionsEnd = now + POSITION_AGE
  }
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
    const found = await this.#candidates(free)
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

  async #candidates(free: readonly FreeSlots[]): Promise<readonly ClaimedRow[]> {
    const found = await this.#read(free)
    const keys = keysOf(found)
    if (keys.length === 0) return found
    await this.#lockLimits(keys)
    // Again: who had the lock may have made jobs ready that precede these. One of a limit that is not locked is for the next claim.
    const again = await this.#read(free)
    return again.filter(({ limit_key }) => limit_key === null || keys.includes(limit_key))
  }

  async #read(free: readonly FreeSlots[]): Promise<readonly ClaimedRow[]> {
    const found: ClaimedRow[] = []
    for (const queue of free)
      found.push(...(await this.#session.executeOwn(this.#database.statements.candidates(queue))))
    return found
  }

  async #withinLimits(found: readonly ClaimedRow[]): Promise<WithinLimits> {
    const keys = keysOf(found)
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
  async #firstWaiting(keys: readonly string[]): Promise<ReadonlyMap<string, JobOrder>> {
    const found = new Map<string, JobOrder>()
    for (const key of keys) {
      const [first] = await this.#session.executeOwn(this.#database.statements.firstLimited(key))
      if (first) found.set(key, first)
    }
    return found
  }

  /** The jobs of a limit are counted by one worker at a time. */
  async #lockLimits(keys: readonly string[]): Promise<void> {
    const { statements } = this.#database
    const making = statements.makeLimits(keys)
    if (making) await this.#session.executeOwn(making)
    const locking = statements.lockLimits(keys)
    if (locking) await this.#session.executeOwn(locking)
  }

  /** Nothing is counted up or down, so that a crash leaves nothing wrong. */
  async #countRunning(keys: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.#session.executeOwn(this.#database.statements.running(keys))
    return new Map(rows.map(({ limit_key, n }) => [limit_key, Number(n)]))
  }
}

function keysOf(rows: readonly ClaimedRow[]): readonly string[] {
  return [...new Set(rows.flatMap(({ limit_key }) => limit_key ?? []))]
}

function toClaimed(row: ClaimedRow): ClaimedJob {
  return { id: String(row.id), run: row.run, row }
}

// A statement that changes rows returns them in any order.
function byOrder({ row: a }: ClaimedJob, { row: b }: ClaimedJob): number {
  return compare(a, b)
}

function compare(a: JobOrder, b: JobOrder): number {
  return a.priority - b.priority || Number(a.due) - Number(b.due) || Number(a.id) - Number(b.id)
}
