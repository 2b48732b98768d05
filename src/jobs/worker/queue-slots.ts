import type { ClaimedJob } from './job-call.js'

/** Milliseconds that a job may wait in this process for a slot, by the time that the last ones took. */
const EXPECTED_WAIT = 20
/** Milliseconds after which one that still waits is given back. */
export const MOST_WAIT = 250
/** The share of the last job in the average. */
const SHARE = 0.1

/** A job that was claimed ahead. */
interface WaitingJob {
  readonly job: ClaimedJob
  readonly since: number
}

/**
 * The slots of one queue, and the jobs that wait for them in this process. Jobs that end within milliseconds are claimed ahead, so that no slot waits for the
 * database. Other processes must not wait for them meanwhile: the slower the jobs are, the fewer are claimed.
 */
export class QueueSlots {
  readonly queue: string
  readonly #slots: number
  readonly #mayClaimAhead: boolean
  readonly #waiting: WaitingJob[] = []
  #used = 0
  /** Milliseconds that a job takes; undefined if that is not known. */
  #average: number | undefined

  /** @param mayClaimAhead whether a job that does not run yet may lose an attempt when the process is killed, and count for a limit. */
  constructor(queue: string, slots: number, mayClaimAhead: boolean) {
    this.queue = queue
    this.#slots = slots
    this.#mayClaimAhead = mayClaimAhead
  }

  /** How many jobs to claim now. */
  get wanted(): number {
    const ahead = this.#ahead
    const free = this.#slots - this.#used
    if (free > 0) return free + ahead - this.#waiting.length
    // Not one for each job that ends: claims of many jobs cost less.
    return this.#waiting.length > ahead / 2 ? 0 : ahead - this.#waiting.length
  }

  get #ahead(): number {
    if (!this.#mayClaimAhead || this.#average === undefined) return 0
    return Math.floor(this.#slots * Math.min(1, EXPECTED_WAIT / this.#average))
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0
  }

  add(job: ClaimedJob): void {
    this.#waiting.push({ job, since: performance.now() })
  }

  /** The next job to run, which has a slot now; undefined if none waits, or no slot is free. */
  next(): ClaimedJob | undefined {
    if (this.#used >= this.#slots) return undefined
    const next = this.#waiting.shift()
    if (next) this.#used += 1
    return next?.job
  }

  /** A slot is free again. @param milliseconds that its job has taken. */
  leave(milliseconds: number): void {
    this.#used -= 1
    this.#average = this.#average === undefined ? milliseconds : this.#average + SHARE * (milliseconds - this.#average)
  }

  /** Removes the jobs that have waited for too long: those that run are slower than those before. */
  takeOverdue(): readonly ClaimedJob[] {
    const first = this.#waiting[0]
    if (!first || performance.now() - first.since < MOST_WAIT) return []
    this.#average = undefined
    return this.takeWaiting()
  }

  /** Removes all jobs that wait. */
  takeWaiting(): readonly ClaimedJob[] {
    return this.#waiting.splice(0).map(({ job }) => job)
  }
}
