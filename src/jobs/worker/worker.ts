import { setTimeout as wait } from 'node:timers/promises'
import { endsWithin, PendingCounter } from '../../core/promises.js'
import type { Sql } from '../../db/statements/statement.js'
import { WorkerStops } from '../errors.js'
import type { FreeSlots } from '../statements/claim.js'
import type { QueueState } from '../statements/queues.js'
import { jobsAdded } from '../wake.js'
import { Claims } from './claim.js'
import { Doorbell } from './doorbell.js'
import type { ClaimedJob, JobContext } from './job-call.js'
import type { JobRecorder } from './job-recorder.js'
import { keyOf, Lease } from './lease.js'
import type { PlannedJob } from './planned-jobs.js'
import { MOST_WAIT, QueueSlots } from './queue-slots.js'
import { JobRunner } from './run-job.js'
import { Schedule } from './schedule.js'

/** Milliseconds between two looks at the queue of an idle worker. */
const PAUSE = 1_000
/** Milliseconds until the next look, when all that is due is locked. */
const LOCKED_PAUSE = 200
/** Milliseconds after which a job is looked for again whose name this version of the program does not know. */
const UNKNOWN_DELAY = 5_000
/** Milliseconds between two tries to write down what has become of a job. */
const FIRST_PAUSE = 200
const MOST_PAUSE = 5_000

/** What a worker works on. */
export interface WorkerOptions extends JobContext {
  readonly jobs: ReadonlyMap<string, PlannedJob>
  /** How many jobs of each queue run at once. */
  readonly work: Readonly<Record<string, number>>
  readonly recorder: JobRecorder
}

/** Claims jobs, and runs them: as many of each queue at once as it has slots. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #lease: Lease
  readonly #doorbell: Doorbell
  readonly #schedule: Schedule
  readonly #claims: Claims
  readonly #runner: JobRunner
  readonly #queues: ReadonlyMap<string, QueueSlots>
  /** The jobs that it has. */
  readonly #held = new Set<string>()
  readonly #pending = new PendingCounter()
  readonly #unknownNames = new Set<string>()
  #working: Promise<void> | undefined
  #isStopping = false
  /** Nothing is tried again any more. */
  #isEnded = false
  #hasFailed = false
  #lookedAt = -Infinity

  constructor(options: WorkerOptions) {
    const { database, jobs, work } = options
    const all = [...jobs.values()]
    const hasLimits = all.some(({ limit }) => limit !== undefined)
    // A job that was claimed ahead has used up an attempt, and counts for its limit, without running.
    const mayClaimAhead = !hasLimits && all.every(({ attempts }) => attempts > 1)
    const report = (error: unknown) => this.#failed(error)
    this.#options = options
    this.#doorbell = new Doorbell(database)
    this.#lease = new Lease(
      database,
      (statement) => this.#doorbell.execute(statement),
      report,
      (job) => this.#held.has(keyOf(job)),
    )
    this.#schedule = new Schedule(database, all, report)
    this.#claims = new Claims(database, {
      worker: this.#lease.worker,
      limitOf: (name) => jobs.get(name)?.limit?.at,
      hasLimits,
    })
    const write = (statement: Sql, tries: 'once' | 'until done') => this.#write(statement, tries)
    this.#runner = new JobRunner({ ...options, write })
    const queues = Object.entries(work)
    this.#queues = new Map(queues.map(([queue, slots]) => [queue, new QueueSlots(queue, slots, mayClaimAhead)]))
  }

  /** @throws the error of the database. */
  async start(): Promise<void> {
    await this.#lease.begin(this.#options.work)
    this.#doorbell.start()
    this.#schedule.start()
    this.#working = this.#work()
  }

  /**
   * Claims nothing more, and waits for the jobs that run.
   *
   * @param milliseconds after which they are rolled back; they run again elsewhere, and lose no attempt.
   */
  async stop(milliseconds: number): Promise<void> {
    this.#isStopping = true
    this.#schedule.stop()
    this.#doorbell.stop()
    for (const slots of this.#queues.values()) this.#giveBackAll(slots.takeWaiting())
    if (!(await endsWithin(this.#idle(), milliseconds))) {
      this.#runner.abort(new WorkerStops())
      await endsWithin(this.#pending.empty(), MOST_PAUSE)
    }
    this.#isEnded = true
    await endsWithin(this.#working ?? Promise.resolve(), MOST_PAUSE)
    // A database that does not answer takes the jobs back when the lease has ended.
    await endsWithin(
      this.#lease.end().catch((error: unknown) => this.#failed(error)),
      MOST_PAUSE,
    )
    jobsAdded.wake(this.#options.database.sequelize)
  }

  /** Resolves when nothing is claimed and no job runs. */
  async #idle(): Promise<void> {
    await this.#working
    await this.#pending.empty()
  }

  async #work(): Promise<void> {
    let pause = 0
    while (!this.#isStopping) {
      if (pause > 0) await this.#doorbell.wait(this.#hasWaiting ? Math.min(pause, MOST_WAIT) : pause)
      if (this.#isStopping) return
      try {
        pause = await this.#turn()
        this.#answered()
      } catch (error) {
        this.#failed(error)
        pause = PAUSE
      }
    }
  }

  get #hasWaiting(): boolean {
    return [...this.#queues.values()].some(({ hasWaiting }) => hasWaiting)
  }

  /** Claims what is ready, until nothing is or no more are wanted. Returns the milliseconds until the next look, unless it rings. */
  async #turn(): Promise<number> {
    let mayHaveJobs = this.#doorbell.answer()
    let hasLooked = false
    while (!this.#isStopping) {
      for (const slots of this.#queues.values()) this.#giveBackAll(slots.takeOverdue())
      const wanted = this.#wanted()
      // Delayed jobs are looked for also in a queue that is never empty: they may precede those that are ready.
      const isLookDue = performance.now() - this.#lookedAt >= PAUSE
      if (wanted.length === 0 && !isLookDue) return this.#untilNextLook() // a slot that becomes free rings
      if (mayHaveJobs && wanted.length > 0 && !isLookDue) {
        mayHaveJobs = await this.#claim(wanted)
        if (!mayHaveJobs && this.#claims.partialFor > 0) return this.#claims.partialFor
        // What it has seen is locked: another worker claims it, or someone changes it.
        if (!mayHaveJobs && hasLooked) return LOCKED_PAUSE
        hasLooked = false
      } else {
        const { now, ready, due } = await this.#look(wanted)
        const delay = due === null ? Infinity : Number(due) - Number(now)
        const woken = delay <= 0 ? await this.#wakeDelayed() : 0
        mayHaveJobs = woken > 0 || (ready !== null && ready !== undefined)
        if (!mayHaveJobs) return delay <= 0 ? LOCKED_PAUSE : Math.min(this.#doorbell.pause, delay)
        hasLooked = woken === 0
      }
    }
    return PAUSE
  }

  #untilNextLook(): number {
    return Math.max(1, PAUSE - (performance.now() - this.#lookedAt))
  }

  #wanted(): readonly FreeSlots[] {
    return [...this.#queues.values()]
      .map(({ queue, wanted }) => ({ queue, slots: wanted }))
      .filter(({ slots }) => slots > 0)
  }

  /** Returns whether there may be more. */
  async #claim(wanted: readonly FreeSlots[]): Promise<boolean> {
    const { jobs, held } = await this.#claims.claim(wanted)
    for (const job of jobs) {
      this.#held.add(keyOf(job))
      this.#queues.get(job.row.queue.trimEnd())?.add(job) // MySQL takes names for one that differ in spaces at their ends
    }
    for (const slots of this.#queues.values())
      if (this.#isStopping) this.#giveBackAll(slots.takeWaiting())
      else this.#fill(slots)
    return jobs.length + held > 0
  }

  /** @param wanted the queues whose ready jobs could be claimed; the look for delayed ones is for all. */
  async #look(wanted: readonly FreeSlots[]): Promise<QueueState> {
    const { database } = this.#options
    this.#lookedAt = performance.now()
    const queues = wanted.length > 0 ? wanted.map(({ queue }) => queue) : [...this.#queues.keys()]
    const [state] = await database.read(database.statements.look(queues))
    if (!state) throw new Error('The state of the queue is missing.') // a SELECT without FROM has one row
    return state
  }

  /** Returns how many. */
  async #wakeDelayed(): Promise<number> {
    const { database } = this.#options
    return database.transaction((session) => database.changeSome(session, database.statements.wakeDelayed()))
  }

  /** Runs the jobs that wait for a slot of the queue, if any is free. */
  #fill(slots: QueueSlots): void {
    for (let claimed = slots.next(); claimed; claimed = slots.next()) this.#start(claimed, slots)
  }

  #start(claimed: ClaimedJob, slots: QueueSlots): void {
    const startedAt = performance.now()
    void this.#release(claimed, () => this.#run(claimed)).finally(() => {
      slots.leave(performance.now() - startedAt)
      if (!this.#isStopping) this.#fill(slots)
      if (slots.wanted > 0) this.#doorbell.ring()
    })
  }

  /** Does what ends its claim of a job. */
  async #release(claimed: ClaimedJob, work: () => Promise<void>): Promise<void> {
    this.#pending.enter()
    try {
      await work()
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#held.delete(keyOf(claimed))
      this.#pending.leave()
    }
  }

  async #run(claimed: ClaimedJob): Promise<void> {
    const job = this.#options.jobs.get(claimed.row.name)
    if (!job) return this.#giveBackUnknown(claimed)
    try {
      await this.#runner.run(job, claimed)
    } finally {
      await this.#wakeLimited(job, claimed)
    }
  }

  // Another version of the program may know it.
  async #giveBackUnknown(claimed: ClaimedJob): Promise<void> {
    const { log } = this.#options
    const { name } = claimed.row
    if (!this.#unknownNames.has(name))
      log.warn(
        `A job is named ${name}, and no class of createApp({ jobs }) has a job of this name: it waits for a process that has one.`,
      )
    this.#unknownNames.add(name)
    await this.#giveBack(claimed, UNKNOWN_DELAY)
  }

  #giveBackAll(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) void this.#release(job, () => this.#giveBack(job, 0))
  }

  /** Gives a job back that has not run. */
  async #giveBack(claimed: ClaimedJob, delay: number): Promise<void> {
    const { statements } = this.#options.database
    await this.#write(statements.giveBack(claimed, { delay, uses: false }), 'until done')
  }

  /** The next job with the same limit may run. A claim that has counted before, and has one wait for its limit, is waited for: no one else would wake it. */
  async #wakeLimited({ limit }: PlannedJob, { row }: ClaimedJob): Promise<void> {
    const key = row.limit_key
    if (!limit || key === null) return
    const { database } = this.#options
    const { statements } = database
    const locking = statements.lockLimits([key])
    await database
      .transaction(async (session) => {
        if (locking) await session.executeOwn(locking)
        await database.changeSome(session, statements.wakeLimited(key, limit.at))
      })
      .catch((error: unknown) => this.#failed(error)) // found later, as forgotten
  }

  /** Returns how many rows were changed; undefined if that is not known. What it could not write before its end is taken back when its lease has ended. */
  async #write(statement: Sql, tries: 'once' | 'until done'): Promise<number | undefined> {
    const { database } = this.#options
    for (let pause = FIRST_PAUSE; !this.#isEnded; pause = Math.min(2 * pause, MOST_PAUSE)) {
      try {
        return await database.transaction((session) => database.change(session, statement))
      } catch (error) {
        this.#failed(error)
        if (tries === 'once') return undefined
        await wait(pause * (0.5 + Math.random() / 2))
      }
    }
    return undefined
  }

  // A database that is gone is one entry, and not one each second.
  #failed(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#options.log.error('The worker cannot reach its jobs, and tries again:', error)
  }

  #answered(): void {
    if (this.#hasFailed) this.#options.log.info('The worker has reached its jobs again.')
    this.#hasFailed = false
  }
}
