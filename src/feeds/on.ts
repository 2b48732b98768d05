import { checkOptions, type OptionChecks } from '../core/option-checks.js'
import type { Constructor } from '../di/token.js'
import type { LastWork } from '../db/session/last-work.js'
import { currentSession, type Session } from '../db/session/session.js'
import type { JobDeclaration } from '../jobs/declaration.js'
import { checkLimit, checkName, COMMON, declareMethod, type JobOptions } from '../jobs/job.js'
import { type JobDatabase, jobDatabase } from '../jobs/job-database.js'
import { type AddedJob, insert, limitValue, newJob, publishAdded } from '../jobs/jobs.js'
import type { NewJob } from '../jobs/statements/add.js'
import { jobNotices, jobsAdded } from '../jobs/wake.js'
import { eventOf } from './event.js'

/** The options of `@On(event, options)`: those of `@Job()`. */
export interface OnOptions<Input = never> extends Omit<JobOptions<Input>, 'name'> {
  /** Identifies the job in the table. Default: the names of the class and the method, `Search.index`. */
  readonly name?: string
}

const OPTIONS: OptionChecks<OnOptions> = { ...COMMON, name: checkName, limit: checkLimit }

// any: a method may have any parameters; the decorator checks the first one.
// oxlint-disable-next-line typescript/no-explicit-any
type Method = (...args: any[]) => unknown

/** A decorator must return nothing, so that the compiler displays the mistake. */
type InputMistake<T, P extends readonly unknown[]> = P extends []
  ? void
  : [T] extends [P[0]]
    ? void
    : { readonly error: 'The first parameter of a method with @On() is the event.'; readonly event: T }

/** A method decorator that the compiler checks against the class of the event. */
export type OnDecorator<T> = <M extends Method>(
  target: object,
  member: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => InputMistake<T, Parameters<M>>

const jobsOfEvents = new Map<Constructor, JobDeclaration[]>()

/**
 * A method that runs a job for each event, which is added in the transaction that publishes the event: it runs if, and only if, that is committed. Its first
 * parameter, the class of the event, is the input; the others are injected. The events of one topic may run at once, and in any order.
 *
 * Name the class in `createApp({ jobs: [Search] })`, also in processes that only publish: a program that does not load the class adds no jobs for it.
 *
 * @throws BootError for options that are wrong. TypeError for a class without `@Event()`.
 * @example
 * export class Search {
 *   @On(HeroSaved)
 *   async index(event: HeroSaved, client: SearchClient, attempt: Attempt) { ... }
 * }
 */
export function On<T>(event: Constructor<T>, options?: OnOptions<T>): OnDecorator<T>
export function On(
  event: Constructor,
  options: OnOptions = {},
): (target: object, member: string | symbol, descriptor: never) => unknown {
  const declared = eventOf(event, '@On()')
  checkOptions(`@On(${event.name})`, options, OPTIONS)
  return (target, member) => {
    const { limit, params, name = `${target.constructor.name}.${String(member)}`, ...rest } = options
    const job = { ...rest, name, limit, params, cron: undefined, inputClass: declared.class }
    const declaration = declareMethod(target, member, '@On()', job)
    jobsOfEvents.set(event, [...(jobsOfEvents.get(event) ?? []), declaration])
    return undefined
  }
}

/** An event that is being published. */
export interface PublishedEvent {
  readonly class: Constructor
  readonly data: unknown
  /** The same as JSON. */
  readonly payload: string
  readonly trace: string | undefined
}

/** A job that is added with an event. */
interface Adding {
  readonly database: JobDatabase
  readonly row: NewJob
  added?: AddedJob
}

const adding: LastWork<Adding> = {
  locks: false,
  execute: (jobs, session, execute) =>
    execute(
      jobs.map((job) => async () => {
        job.added = await insert(job.database, session, job.row)
      }),
    ),
}

/**
 * Prepares the jobs that `@On()` has declared for an event.
 *
 * @returns what queues them. @throws Error if no open database has the table of jobs, or the session is one of another database; what `limit.by` throws.
 */
export function prepareJobs(event: PublishedEvent, session: Session): () => void {
  const queue = (jobsOfEvents.get(event.class) ?? []).map((declaration) => prepareJob(declaration, event, session))
  return () => {
    for (const one of queue) one()
  }
}

function prepareJob(
  declaration: JobDeclaration,
  { data, payload, trace }: PublishedEvent,
  publisher: Session,
): () => void {
  const database = jobDatabase()
  const session = publisher.sequelize === database.sequelize ? publisher : currentSession(database.sequelize)
  if (!session)
    throw new Error(
      `feeds.publish(): ${declaration.name} has @On(), and the table of jobs is in another database than the current session. Add JobRecord to the models of the same database.`,
    )
  const row = newJob(declaration, payload, limitValue(declaration, data), {}, session.owner, trace)
  const job: Adding = { database, row }
  return () => {
    session.addLast(adding, job)
    session.afterCommit(() => {
      jobsAdded.wake(database.sequelize)
      jobNotices.notify(database)
      if (job.added) publishAdded(job.added.id, row)
    })
  }
}
