import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { JobRun } from '../../core/events/job-run.js'
import type { Trace } from '../../core/events/trace.js'
import { tagOf, traceFields } from '../../http/observation/log-entry.js'
import { endsWithin, PendingCounter } from '../../core/promises.js'
import { JobPostponed, WorkerLost, WorkerStops } from '../errors.js'
import type { FreeSlots, QueueState } from '../statements.js'
import { wake } from '../wake.js'
import { claimJobs, type ClaimRules } from './claim.js'
import { Doorbell } from './doorbell.js'
import { type ClaimedJob, JobCall, type JobContext } from './job-call.js'
import { type JobRecorder, lastAttempt } from './job-recorder.js'
import { keyOf, Lease } from './lease.js'
import { describeForRow, type Outcome, outcomeOf, settle } from './outcome.js'
import type { PlannedJob } from './planned-jobs.js'
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

/** Why a run has failed, with the id of its entry in the log. */
interface Failure {
  readonly error: unknown
  readonly entry: string
  readonly trace: Trace | undefined
}

/** Claims jobs, and runs them: as many of each queue at once as it has slots. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #lease: Lease
  readonly #doorbell: Doorbell
  readonly #schedule: Schedule
  readonly #rules: ClaimRules
  /** How many jobs of each queue run. */
  readonly #used = new Map<string, number>()
  readonly #calls = new Set<JobCall>()
  /** The jobs that it has. */
  readonly #held = new Set<string>()
  readonly #running = new PendingCounter()
  readonly #unknownNames = new Set<string>()
  #working: Promise<void> | undefined
  #isStopping = false
  /** Nothing is tried again any more. */
  #isEnded = false
  #hasFailed = false
  #lookedAt = -Infinity

  constructor(options: WorkerOptions) {
    const { database, jobs } = options
    this.#options = options
    this.#lease = new Lease(
      database,
      (error) => this.#failed(error),
      (job) => this.#held.has(keyOf(job)),
    )
    this.#doorbell = new Doorbell(database)
    this.#schedule = new Schedule(database, jobs.values(), (error) => this.#failed(error))
    this.#rules = {
      worker: this.#lease.worker,
      limitOf: (name) => jobs.get(name)?.limit?.at,
      hasLimits: [...jobs.values()].some(({ limit }) => limit !== undefined),
    }
  }

  /** @throws the error of the database. */
  async start(): Promise<void> {
    await this.#lease.begin()
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
    if (!(await endsWithin(this.#idle(), milliseconds))) {
      for (const { abort } of this.#calls) abort.abort(new WorkerStops())
      await endsWithin(this.#running.empty(), MOST_PAUSE)
    }
    this.#isEnded = true
    await endsWithin(this.#working ?? Promise.resolve(), MOST_PAUSE)
    // A database that does not answer takes the jobs back when the lease has ended.
    await endsWithin(
      this.#lease.end().catch((error: unknown) => this.#failed(error)),
      MOST_PAUSE,
    )
    wake(this.#options.database.sequelize)
  }

  /** Resolves when nothing is claimed and no job runs. */
  async #idle(): Promise<void> {
    await this.#working
    await this.#running.empty()
  }

  async #work(): Promise<void> {
    let pause = 0
    while (!this.#isStopping) {
      if (pause > 0) await this.#doorbell.wait(pause)
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

  /** Claims what is ready, until nothing is or no slot is free. Returns the milliseconds until the next look, unless it rings. */
  async #turn(): Promise<number> {
    let mayHaveJobs = this.#doorbell.answer()
    let hasLooked = false
    while (!this.#isStopping) {
      const free = this.#free()
      // Delayed jobs are looked for also in a queue that is never empty: they may precede those that are ready.
      const isLookDue = performance.now() - this.#lookedAt >= PAUSE
      if (free.length === 0 && !isLookDue) return this.#untilNextLook() // a slot that becomes free rings
      if (mayHaveJobs && free.length > 0 && !isLookDue) {
        mayHaveJobs = await this.#claim(free)
        // What it has seen is locked: another worker claims it, or someone changes it.
        if (!mayHaveJobs && hasLooked) return LOCKED_PAUSE
        hasLooked = false
      } else {
        const { now, ready, due } = await this.#look(free)
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

  /** Returns whether there may be more. */
  async #claim(free: readonly FreeSlots[]): Promise<boolean> {
    const { jobs, held } = await claimJobs(this.#options.database, free, this.#rules)
    for (const job of jobs) this.#run(job)
    return jobs.length + held > 0
  }

  /** @param free the queues whose ready jobs could be claimed; the look for delayed ones is for all. */
  async #look(free: readonly FreeSlots[]): Promise<QueueState> {
    const { database, work } = this.#options
    this.#lookedAt = performance.now()
    const queues = free.length > 0 ? free.map(({ queue }) => queue) : Object.keys(work)
    const [state] = await database.read(database.statements.look(queues))
    if (!state) throw new Error('The state of the queue is missing.') // a SELECT without FROM has one row
    return state
  }

  /** Returns how many. */
  async #wakeDelayed(): Promise<number> {
    const { database } = this.#options
    return database.transaction((session) => database.changeSome(session, database.statements.wakeDelayed()))
  }

  #free(): readonly FreeSlots[] {
    return Object.entries(this.#options.work)
      .map(([queue, most]) => ({ queue, slots: most - (this.#used.get(queue) ?? 0) }))
      .filter(({ slots }) => slots > 0)
  }

  #run(claimed: ClaimedJob): void {
    const { queue } = claimed.row
    this.#used.set(queue, (this.#used.get(queue) ?? 0) + 1)
    this.#running.enter()
    this.#held.add(keyOf(claimed))
    const finishing = this.#finish(claimed).catch((error: unknown) => this.#failed(error))
    void finishing.finally(() => {
      this.#held.delete(keyOf(claimed))
      this.#used.set(queue, (this.#used.get(queue) ?? 1) - 1)
      this.#running.leave()
      this.#doorbell.ring()
    })
  }

  async #finish(claimed: ClaimedJob): Promise<void> {
    if (this.#isStopping) return this.#giveBack(claimed, 0) // it was claimed meanwhile
    const job = this.#options.jobs.get(claimed.row.name)
    if (!job) return this.#giveBackUnknown(claimed)
    const { recorder } = this.#options
    const record = recorder.record(job, claimed)
    const call = new JobCall(job, claimed, this.#options, record)
    this.#calls.add(call)
    const execute = async () => {
      if (claimed.row.attempt > job.attempts) throw new WorkerLost(call.title, job.attempts)
      await call.execute()
    }
    try {
      await recorder.observe(record, execute, (error) => this.#settle(job, claimed, error, record))
    } finally {
      this.#calls.delete(call)
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

  /** Gives a job back that has not run. */
  async #giveBack(claimed: ClaimedJob, delay: number): Promise<void> {
    const { database } = this.#options
    await this.#untilDone(() =>
      database.transaction((session) =>
        database.change(session, database.statements.giveBack(claimed, { delay, uses: false })),
      ),
    )
  }

  /** Writes down what has become of a job that was not committed. */
  async #settle(job: PlannedJob, claimed: ClaimedJob, error: unknown, record: JobRun | undefined): Promise<Outcome> {
    const outcome = outcomeOf(error, claimed.row.attempt, job.attempts)
    const entry = randomBytes(4).toString('hex')
    this.#log(job, claimed, outcome, { error, entry, trace: record?.trace })
    const { database } = this.#options
    const statement = settle(database.statements, claimed, outcome, describeForRow(error, entry))
    if (statement) await this.#untilDone(() => database.transaction((session) => database.change(session, statement)))
    return outcome
  }

  #log(job: PlannedJob, { id, row }: ClaimedJob, outcome: Outcome, { error, entry, trace }: Failure): void {
    const { log } = this.#options
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
        return log.error(
          `${title} failed, and runs again in ${Math.ceil(outcome.delay / 1_000)} s ${tag}`,
          error,
          fields,
        )
    }
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

  /** Tries until the database has done it. What it could not write down before its end is taken back when its lease has ended. */
  async #untilDone(work: () => Promise<unknown>): Promise<void> {
    for (let pause = FIRST_PAUSE; !this.#isEnded; pause = Math.min(2 * pause, MOST_PAUSE)) {
      try {
        await work()
        return
      } catch (error) {
        this.#failed(error)
        await wait(pause * (0.5 + Math.random() / 2))
      }
    }
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
