import { BootError } from '../core/boot-error.js'
import { isRecord } from '../core/records.js'
import type { Container } from '../di/container.js'
import { MetadataKey } from '../di/metadata.js'
import type { Planner } from '../di/plan.js'
import type { Constructor } from '../di/token.js'
import type { Lifespan } from './lifespan.js'
import type { LogOptions } from './observation/log-options.js'
import type { PlanLog } from './observation/plan-log.js'
import type { BudgetOfApp } from './observation/query-budget.js'
import type { Log } from './server/logger.js'

/** How many jobs of each queue run at once. */
export type Work = Readonly<Record<string, number>>

/** What an app runs in addition to requests: jobs. */
export interface Background {
  /** The classes whose methods it calls, with these methods. */
  readonly handlers: ReadonlyMap<Constructor, readonly string[]>
  /**
   * Chooses what it runs, before its start: these queues, else those of the option `work`, else all.
   *
   * @returns the choice. @throws BootError for a queue that no job has.
   */
  workOn(queues: Work | undefined): Work
  readonly operations: JobOperations
  readonly tests: JobTests
  /** Called when everything else is started. @throws BootError for what cannot work. */
  start(): void | Promise<void>
  /**
   * Begins nothing more. Resolves when all that runs has ended.
   *
   * @param wait milliseconds until it is ended.
   */
  stop(wait: number): Promise<void>
}

/** The parts of an app that it works with. */
export interface BackgroundParts {
  readonly planner: Planner
  readonly container: Container
  readonly lifespans: readonly Lifespan[]
  readonly log: Log
  /** The option `work`: how many jobs of each queue run at once; undefined if this process runs none. */
  readonly work: Work | undefined
  readonly observation: RunObservation
}

/** How what runs is observed. */
export interface RunObservation {
  /** Undefined if the app does not log it. */
  readonly log: LogOptions | undefined
  /** Undefined if slow statements are not explained. */
  readonly plans: PlanLog | undefined
  /** The budgets of these methods. */
  budgetOf(handlers: readonly { readonly controller: Constructor; readonly member: string }[]): BudgetOfApp
}

/** What the command line does with the jobs of an app that is not started. Each opens its databases, and closes them. */
export interface JobOperations {
  readonly states: readonly string[]
  list(filter: JobFilter): Promise<readonly ListedJob[]>
  /** The queues that have jobs, and what is done at the moment. */
  summary(): Promise<JobSummary>
  /** Dead jobs run again, as if they were new. */
  retry(which: ChosenJobs): Promise<ChangedJobs>
  /** Jobs that wait are dead then; dead ones are deleted. */
  discard(which: ChosenJobs): Promise<ChangedJobs>
  /** What `sequitur doctor` says of them, a sentence each. Creates no tables. */
  hints(): Promise<readonly string[]>
}

export interface JobFilter {
  /** None for all of them. */
  readonly states: readonly string[]
  readonly queues: readonly string[]
  readonly name: string | undefined
  readonly limit: number
}

/** A job, without its input. Times are in milliseconds since 1970. */
export interface ListedJob {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly state: string
  readonly priority: number
  readonly attempt: number
  readonly created: number
  readonly due: number
  /** When a worker took it the last time. */
  readonly started: number | null
  readonly finished: number | null
  /** A digest of its limit: the same for all jobs that share it. */
  readonly limit_key: string | null
  readonly tenant: string | null
  readonly worker: string | null
  readonly error: string | null
  /** The time of the database when it was read. */
  readonly now: number
}

/** The jobs of all queues. */
export interface JobSummary {
  readonly queues: readonly QueueSummary[]
  /** The time of the database. */
  readonly now: Date
}

/** How many jobs of a queue are in each state; of those that are done, those of the last minute. */
export interface QueueSummary {
  readonly queue: string
  /** How many processes work on it; null if that is not known. */
  readonly workers: number | null
  readonly ready: number
  readonly delayed: number
  readonly limited: number
  readonly running: number
  readonly dead: number
  readonly done: number
  /** Since when the oldest job is due that does not run yet. */
  readonly oldest_due: Date | null
}

/** Jobs by their ids, or by their name and states. */
export type ChosenJobs =
  | { readonly ids: readonly string[] }
  | { readonly name: string; readonly states: readonly string[] }

export interface ChangedJobs {
  /** Their ids. */
  readonly changed: readonly string[]
  /** Why the others were not: one sentence each. */
  readonly skipped: readonly string[]
}

/** What tests do with the jobs of an app. */
export interface JobTests {
  /** Runs what is due, in this process, one job after the other, until nothing is. @param at delayed jobs are due until then. */
  run(at: Date | undefined): Promise<JobsRun>
  /** Runs a job as its schedule would at this instant. */
  runCron(type: Constructor, member: string, instant: Date): Promise<JobsRun>
  /** The unfinished jobs of this name, in the order in which they were added. */
  added(type: Constructor, member: string): Promise<readonly WaitingJob[]>
}

/** What has become of the jobs of a run, in the order in which they ran. */
export interface JobsRun {
  /** Committed. */
  readonly done: readonly JobThatRan[]
  /** Rolled back; each runs again when it is due. */
  readonly failed: readonly FailedJob[]
  /** Rolled back, and not to be run again. */
  readonly dead: readonly FailedJob[]
}

/** A job of a run. */
export interface JobThatRan {
  readonly id: string
  readonly name: string
}

/** A job of a run that was rolled back. */
export interface FailedJob extends JobThatRan {
  /** What the attempt has thrown. */
  readonly error: unknown
}

/** A job that was added, and has not ended. */
export interface WaitingJob<Input = unknown> {
  readonly id: string
  readonly input: Input
  readonly queue: string
  readonly priority: number
  readonly due: Date
  /** A digest of its key; null without one. */
  readonly key: string | null
}

export type OpenBackground = (classes: readonly Constructor[], parts: BackgroundParts) => Background

/** Opens what runs the methods of a class of `createApp({ jobs })`. Written by its decorators. */
export const backgroundOf = new MetadataKey<OpenBackground>()

/** Those of createApp(). */
interface BackgroundOptions {
  readonly jobs?: readonly Constructor[]
  readonly work?: unknown
  readonly relays?: readonly unknown[]
}

/**
 * Opens what runs the classes of `createApp({ jobs })`; undefined if there are none.
 *
 * @throws BootError for a class without jobs, and for every mistake in them.
 */
export function openBackground(
  { jobs, work, relays }: BackgroundOptions,
  parts: BackgroundParts,
): Background | undefined {
  if (!jobs || jobs.length === 0) {
    if (relays && relays.length > 0 && isRecord(work) && Object.keys(work).length === 0) return undefined
    if (work !== undefined)
      throw new BootError('createApp(): work is for jobs, and there are none. Write jobs: [MailJobs], or remove it.')
    return undefined
  }
  for (const type of jobs)
    if (!backgroundOf.inherited(type))
      throw new BootError(`${type.name} has no jobs. Put @Job({ name }) of sequitur/jobs on its methods.`)
  const [first] = jobs
  return first && backgroundOf.inherited(first)?.(jobs, parts)
}
