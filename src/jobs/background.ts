import { BootError } from '../core/boot-error.js'
import { addQueues } from '../core/events/queues.js'
import { integer } from '../core/option-checks.js'
import { meant, shown } from '../core/options.js'
import { isRecord } from '../core/records.js'
import type { Constructor } from '../di/token.js'
import type { Background, BackgroundParts } from '../http/background.js'
import { JobDatabase } from './job-database.js'
import { readQueues } from './queue-facts.js'
import { JobRecord } from './tables.js'
import { JobRecorder } from './worker/job-recorder.js'
import { planJobs, type PlannedJob } from './worker/planned-jobs.js'
import { Worker } from './worker/worker.js'

const slots = integer('jobs that run at once, as in 5', 1, 1_000)

/** @throws BootError for every mistake in the jobs, and in `createApp({ work })`. */
export function openJobs(classes: readonly Constructor[], parts: BackgroundParts): Background {
  const jobs = planJobs(classes, parts)
  checkWork(parts.work, jobs)
  return new JobsOfApp(jobs, parts)
}

function checkWork(work: unknown, jobs: ReadonlyMap<string, PlannedJob>): void {
  if (work === undefined) return
  if (!isRecord(work)) throw new BootError(`createApp(): work is ${shown(work)}. Write { default: 10 }.`)
  const queues = [...new Set([...jobs.values()].map(({ queue }) => queue))]
  for (const [queue, most] of Object.entries(work)) {
    slots(most, `createApp(): work.${queue}`)
    if (!queues.includes(queue))
      throw new BootError(`createApp(): work has the queue ${queue}, and no job has it. ${meant(queue, queues)}`)
  }
}

/** The jobs of an app, and its worker if it has one. */
class JobsOfApp implements Background {
  readonly handlers: ReadonlyMap<Constructor, readonly string[]>
  readonly #jobs: ReadonlyMap<string, PlannedJob>
  readonly #parts: BackgroundParts
  #worker: Worker | undefined
  #removeQueues: () => void = () => {}

  constructor(jobs: ReadonlyMap<string, PlannedJob>, parts: BackgroundParts) {
    this.#jobs = jobs
    this.#parts = parts
    const handlers = new Map<Constructor, string[]>()
    for (const { type, member } of jobs.values()) handlers.set(type, [...(handlers.get(type) ?? []), member])
    this.handlers = handlers
  }

  async start(): Promise<void> {
    const { work, container, log } = this.#parts
    const database = this.#database()
    if (work) {
      const recorder = new JobRecorder(this.#jobs.values(), this.#parts)
      const worker = new Worker({ database, container, log, jobs: this.#jobs, work, recorder })
      await worker.start()
      this.#worker = worker
    }
    const queues = [...new Set(Array.from(this.#jobs.values(), ({ queue }) => queue))]
    this.#removeQueues = addQueues(() => readQueues(database, queues))
  }

  #database(): JobDatabase {
    try {
      return JobDatabase.current()
    } catch (cause) {
      throw new BootError(
        `createApp() has jobs, and no table for them: add JobRecord, of sequitur/jobs, to its models: models: [${JobRecord.name}].`,
        { cause },
      )
    }
  }

  async stop(wait: number): Promise<void> {
    this.#removeQueues()
    await this.#worker?.stop(wait)
    this.#worker = undefined
  }
}
