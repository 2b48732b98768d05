import { BootError } from '../core/boot-error.js'
import { addQueues } from '../core/events/queues.js'
import { writePoolOf } from '../db/sequelize/internals.js'
import type { Log } from '../http/server/logger.js'
import { integer } from '../core/option-checks.js'
import { meant, shown } from '../core/options.js'
import { isRecord } from '../core/records.js'
import type { Constructor } from '../di/token.js'
import type { Background, BackgroundParts, JobOperations, JobTests, Work } from '../http/background.js'
import { checkQueue } from './declaration.js'
import { outsideOfRequests } from '../db/own-tables/own-database.js'
import { type JobDatabase, jobDatabaseOfApp } from './job-database.js'
import { OperationsOfApp } from './operations.js'
import { readQueues } from './queue-facts.js'
import { JobRecorder } from './worker/job-recorder.js'
import { planJobs, type PlannedJob } from './worker/planned-jobs.js'
import { TestRun } from './worker/test-run.js'
import { Worker } from './worker/worker.js'

/** How many jobs of each queue `sequitur work` runs at once, unless it is told. */
const DEFAULT_SLOTS = 10

const slots = integer('jobs that run at once, as in 5', 1, 1_000)

/** @throws BootError for every mistake in the jobs, and in `createApp({ work })`. */
export function openJobs(classes: readonly Constructor[], parts: BackgroundParts): Background {
  const jobs = planJobs(classes, parts)
  checkWork(parts.work, jobs, 'createApp(): work')
  return new JobsOfApp(jobs, parts)
}

/** @param place `createApp(): work` */
function checkWork(work: unknown, jobs: ReadonlyMap<string, PlannedJob>, place: string): void {
  if (work === undefined) return
  if (!isRecord(work)) throw new BootError(`${place} is ${shown(work)}. Write { default: 10 }.`)
  const queues = queuesOf(jobs)
  for (const [queue, most] of Object.entries(work)) {
    slots(most, `${place}.${queue}`)
    // `jobs.add()` may name another queue than the job has.
    const hint = meant(queue, queues)
    checkQueue(queue, `${place}: a queue`)
    if (!queues.includes(queue) && hint.startsWith('Did you mean'))
      throw new BootError(`${place} has the queue ${queue}, and no job has it. ${hint}`)
  }
}

function queuesOf(jobs: ReadonlyMap<string, PlannedJob>): readonly string[] {
  return [...new Set([...jobs.values()].map(({ queue }) => queue))]
}

/** Connections that a worker needs in addition to those of its jobs: to claim, and to renew its lease. */
const OTHER_CONNECTIONS = 2

// A job that waits for a connection has a lease that is not renewed.
function warnOfSmallPool({ sequelize, statements }: JobDatabase, work: Work, log: Log): void {
  if (statements.dialect === 'sqlite') return
  const needed = Object.values(work).reduce((sum, slots) => sum + slots, OTHER_CONNECTIONS)
  const { maxSize } = writePoolOf(sequelize)
  if (maxSize < needed)
    log.warn(
      `The pool has ${maxSize} connections, and the worker may need ${needed}: one for each job that runs at once, and ${OTHER_CONNECTIONS} of its own. Set toolkit_pool_size=${needed}, or run fewer jobs at once.`,
    )
}

/** The jobs of an app, and its worker if it has one. */
class JobsOfApp implements Background {
  readonly handlers: ReadonlyMap<Constructor, readonly string[]>
  readonly operations: JobOperations
  readonly tests: JobTests
  readonly #jobs: ReadonlyMap<string, PlannedJob>
  readonly #parts: BackgroundParts
  readonly #recorder: JobRecorder
  #work: Work | undefined
  #worker: Worker | undefined
  #removeQueues: () => void = () => {}

  constructor(jobs: ReadonlyMap<string, PlannedJob>, parts: BackgroundParts) {
    this.#jobs = jobs
    this.#parts = parts
    const handlers = new Map<Constructor, string[]>()
    for (const { type, member } of jobs.values()) handlers.set(type, [...(handlers.get(type) ?? []), member])
    this.handlers = handlers
    this.#work = parts.work
    this.operations = new OperationsOfApp(parts.lifespans, {
      names: new Set(jobs.keys()),
      queues: new Set(queuesOf(jobs)),
    })
    this.#recorder = new JobRecorder(jobs.values(), parts)
    this.tests = new TestRun(jobs, parts, this.#recorder)
  }

  workOn(queues: Work | undefined): Work {
    checkWork(queues, this.#jobs, '--queue')
    const all = () => Object.fromEntries(queuesOf(this.#jobs).map((queue) => [queue, DEFAULT_SLOTS]))
    return (this.#work = queues ?? this.#parts.work ?? all())
  }

  async start(): Promise<void> {
    const { container, log } = this.#parts
    const work = this.#work
    const database = jobDatabaseOfApp()
    if (work) {
      warnOfSmallPool(database, work, log)
      const worker = new Worker({ database, container, log, jobs: this.#jobs, work, recorder: this.#recorder })
      await outsideOfRequests(() => worker.start())
      this.#worker = worker
    }
    this.#removeQueues = addQueues(() => readQueues(database, queuesOf(this.#jobs)))
  }

  async stop(wait: number): Promise<void> {
    this.#removeQueues()
    await this.#worker?.stop(wait)
    this.#worker = undefined
  }
}
