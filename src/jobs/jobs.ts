import { createHash } from 'node:crypto'
import { checkOptions, fitting, integer, type OptionChecks } from '../core/option-checks.js'
import { jobAdded } from '../core/events/channels.js'
import { currentTraceparent } from '../core/events/tracing.js'
import { shown } from '../core/options.js'
import { provideItself } from '../di/provider.js'
import { callingTrace } from '../http/observation/calling-trace.js'
import type { LastSession } from '../db/session/last-work.js'
import { currentSession, Session } from '../db/session/session.js'
import { howToUseInSession } from '../db/session/transactional.js'
import { checkQueue, type JobDeclaration, jobsOfClass } from './declaration.js'
import { inputOf } from './input.js'
import { type JobDatabase, jobDatabase } from './job-database.js'
import type { NewJob } from './statements/add.js'
import type { Attempt } from './attempt.js'
import { jobNotices, jobsAdded } from './wake.js'

/** The options of `jobs.add()`. */
export interface AddOptions {
  /** Milliseconds until it may run; not with `at`. Default 0. */
  readonly delay?: number
  /** When it may run: at once, if that has passed. */
  readonly at?: Date
  /**
   * At most one unfinished job of this name has this key, in each tenant: if there is one, also one that runs, nothing is added. 1 to 1,000 characters.
   */
  readonly key?: string
  /** Jobs of a queue with a lower number run first: -1,000 to 1,000. Default: that of the job. */
  readonly priority?: number
  /** Default: that of the job. */
  readonly queue?: string
}

/** The job that was added, or the one that had its key. */
export interface AddedJob {
  readonly id: string
  /** False if an unfinished job had the key. Always true on MySQL and MariaDB, which do not tell. */
  readonly isNew: boolean
}

// any: the type of a class whose constructor may take anything.
// oxlint-disable typescript/no-explicit-any
/** A class with jobs. */
export type JobClass<T> = abstract new (...args: any[]) => T
/** The names of its methods. */
export type MethodOf<T> = { [K in keyof T]: T[K] extends (...args: any[]) => unknown ? K : never }[keyof T] & string
type FirstParameter<M> = M extends (...args: infer P) => unknown ? P[0] : never
// oxlint-enable typescript/no-explicit-any

/** A first parameter that is injected: the job has no input. */
type Service = Session | Attempt | AbortSignal | undefined

/** The input of a job, as its method declares it; undefined for one without. */
export type InputOf<M> = [FirstParameter<M>] extends [Service] ? undefined : FirstParameter<M>

/** What `add()` takes after the name of the job: its input, if it has one, and options. */
export type AddArguments<M> = [FirstParameter<M>] extends [Service]
  ? [input?: undefined, options?: AddOptions]
  : [input: FirstParameter<M>, options?: AddOptions]

/** In milliseconds. */
const CENTURY = 100 * 366 * 24 * 60 * 60_000

const OPTIONS: OptionChecks<AddOptions> = {
  delay: fitting(
    (delay) => typeof delay === 'number' && delay >= 0 && delay <= CENTURY,
    'milliseconds from now, 0 or more: 60_000',
  ),
  at: fitting((at) => at instanceof Date && !Number.isNaN(at.getTime()), 'a valid Date'),
  key: fitting(
    (key) => typeof key === 'string' && key !== '' && key.length <= 1_000,
    'a text of 1 to 1,000 characters',
  ),
  priority: integer('its place', -1_000, 1_000),
  queue: checkQueue,
}

/**
 * Adds jobs in the current transaction: a job exists if, and only if, it is committed. Injected into handlers, and other services of requests.
 *
 * @example
 * @Post('/', Item.of(Hero))
 * async create(input: NewHero, jobs: Jobs) {
 *   const hero = await Hero.create({ ...input })
 *   await jobs.add(MailJobs, 'welcome', { hero_id: hero.id })
 *   return { data: hero }
 * }
 */
export class Jobs {
  readonly #session: Session
  readonly #traceparent: string | undefined

  /** @param traceparent of what adds the jobs. */
  constructor(session: Session, traceparent?: string) {
    this.#session = session
    this.#traceparent = traceparent
  }

  /**
   * Adds a job by one INSERT in the current transaction, or savepoint. It runs after the commit, when a process works on its queue.
   *
   * @throws InvalidJobInput for an input that the job could not read. BootError for options that are wrong. TypeError for a method without `@Job()`, and for
   * `delay` and `at` at once. Error if no open database has the table of jobs, or the transaction is one of another database.
   * @example
   * const { id } = await jobs.add(MailJobs, 'welcome', { hero_id: 7 }, { delay: 60_000, key: 'welcome 7' })
   */
  async add<T, K extends MethodOf<T>>(type: JobClass<T>, job: K, ...rest: AddArguments<T[K]>): Promise<AddedJob> {
    const [input, options = {}] = rest
    const declaration = declarationOf(type, job)
    checkOptions(`jobs.add(${type.name}, '${job}')`, options, OPTIONS)
    if (options.delay !== undefined && options.at !== undefined)
      throw new TypeError(`jobs.add(${type.name}, '${job}'): it has both delay and at. Write one of them.`)
    const database = jobDatabase()
    const session = this.#session.sequelize === database.sequelize ? this.#session : currentSession(database.sequelize)
    if (!session) throw otherDatabase()
    const row = newJob(
      declaration,
      inputOf(declaration).write(input),
      limitValue(declaration, input),
      options,
      session.owner,
      currentTraceparent() ?? this.#traceparent,
    )
    const added = await insert(database, session, row)
    session.afterCommit(() => {
      jobsAdded.wake(database.sequelize)
      jobNotices.notify(database)
      if (added.isNew) publishAdded(added.id, row)
    })
    return added
  }
}

// Not @Injectable(): the bundler changes the names of decorated classes.
provideItself(Jobs, {
  kind: 'factory',
  create: (session: Session, traceparent: string | undefined) => new Jobs(session, traceparent),
  dependencies: [
    { kind: 'token', token: Session },
    { kind: 'token', token: callingTrace },
  ],
  lifetime: 'request',
})

howToUseInSession.write(Jobs, `await jobsOf(session).add(MailJobs, 'welcome', input)`)

/**
 * Adds jobs in a session outside of requests: they exist if it is committed.
 *
 * @example
 * await withSession((session) => jobsOf(session).add(MailJobs, 'welcome', { hero_id: 7 }))
 */
export function jobsOf(session: Session): Jobs {
  return new Jobs(session)
}

export function declarationOf(type: abstract new (...args: never[]) => unknown, member: string): JobDeclaration {
  const jobs = jobsOfClass(type)
  const found = jobs.find((job) => job.member === member)
  if (found) return found
  const known = jobs.map((job) => `'${job.member}'`).join(', ')
  throw new TypeError(
    `${type.name} has no job '${member}'. ${known ? `It has ${known}.` : 'Put @Job() on its methods.'}`,
  )
}

export function limitValue({ name, limit }: JobDeclaration, input: unknown): string | undefined {
  if (!limit) return undefined
  const value: unknown = limit.by(input as never) // of the type that the job declares
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new TypeError(
    `The job ${name}: \`by\` of its limit returned ${shown(value)} for this input. Return a string or a number.`,
  )
}

/**
 * @param limitOf the value that the limit of the job is counted by.
 * @param trace the `traceparent` of what adds it.
 */
export function newJob(
  job: Pick<JobDeclaration, 'name' | 'queue' | 'priority'>,
  input: string,
  limitOf: string | undefined,
  options: AddOptions,
  tenant: string | undefined,
  trace?: string,
): NewJob {
  const { name } = job
  const { delay, at, key, priority = job.priority, queue = job.queue } = options
  return {
    name,
    queue,
    priority,
    delay: at === undefined ? Math.round(delay ?? 0) : undefined,
    at: at?.getTime(),
    uniqueKey: key === undefined ? undefined : digest(tenant, key),
    limitKey: limitOf === undefined ? undefined : digest(tenant, name, limitOf),
    tenant,
    trace,
    input,
  }
}

/** The job is committed. */
export function publishAdded(id: string, { name, queue, trace }: NewJob): void {
  if (jobAdded.hasSubscribers) jobAdded.publish({ id, name, queue, traceparent: trace })
}

// A key of one tenant is not that of another. As a digest it has one length, and one form in every collation.
function digest(tenant: string | undefined, ...parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant ?? null, ...parts]))
    .digest('hex')
}

/** How often a job with a key is tried to be added: each time, the one that had the key was finished meanwhile. */
const MOST_TRIES = 10

export async function insert(database: JobDatabase, session: LastSession, job: NewJob): Promise<AddedJob> {
  const { statements } = database
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [row] = await session.executeOwn(statements.add(job))
    if (row) return { id: String(row.id), isNew: true }
    if (!statements.returnsRows) {
      const [last] = await session.executeOwn(statements.lastId)
      return { id: String(last?.id), isNew: true }
    }
    const [other] = await session.executeOwn(statements.byKey(job.name, job.uniqueKey ?? ''))
    if (other) return { id: String(other.id), isNew: false }
  }
  throw new Error(
    `jobs.add(): the key of the job ${job.name} was in use ${MOST_TRIES} times, and each time by a job that has ended then.`,
  )
}

function otherDatabase(): Error {
  return new Error(
    'jobs.add(): the table of jobs is in another database than the current session. Add JobRecord to the models of the database in which the handler writes.',
  )
}
