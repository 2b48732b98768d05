import { BootError } from '../core/boot-error.js'
import {
  callback,
  checkOptions,
  integer,
  milliseconds,
  type OptionChecks,
  options as optionsCheck,
  requireArray,
  storedName,
  text,
} from '../core/option-checks.js'
import { refuseMissingCall } from '../core/options.js'
import type { Constructor } from '../di/token.js'
import { backgroundOf } from '../http/background.js'
import { openJobs } from './background.js'
import { checkQueue, declareJob, type JobDeclaration, type JobLimitRule } from './declaration.js'

/** The options of `@Job(options)`. */
export interface JobOptions<Input = never> {
  /** Identifies the job in the table: it stays the same when classes and methods are renamed. Letters, digits, and `_ . : -`, at most 100: `mail.welcome` */
  readonly name: string
  /** The queue that it waits in: `work` has the number of its jobs that run at once. Letters, digits, and `_ . : -`, at most 50. Default `default`. */
  readonly queue?: string
  /** How often it is run at most, if it fails. Default 10: about twenty minutes, and at most 43. */
  readonly attempts?: number
  /** Milliseconds after which its `AbortSignal` is aborted, and its transaction rolled back: the attempt has failed with a `JobTimeout`. Default 30,000. */
  readonly timeout?: number
  /** Jobs of a queue with a lower number run first: -1,000 to 1,000. Default 0. */
  readonly priority?: number
  /** How many jobs with the same value of `by` run at once, in all processes together. */
  readonly limit?: JobLimitRule<Input>
  /** The types of its parameters, for compilers that emit none. */
  readonly params?: readonly unknown[]
}

/** The options of `@Cron(expression, options)`. */
export interface CronOptions extends Omit<JobOptions, 'name' | 'limit'> {
  /** Default: the names of the class and the method, `MailJobs.tidy`. */
  readonly name?: string
  /** Of the expression: `Europe/Berlin`. Default `UTC`. */
  readonly timezone?: string
}

export const checkName = storedName("'mail.welcome'")

const LIMIT: OptionChecks<JobLimitRule> = {
  by: callback('(input: Charge) => input.account'),
  at: integer('jobs, as in 2', 1, 1_000_000),
}

/** The checks of the options that all jobs have. */
export const COMMON = {
  queue: checkQueue,
  attempts: integer('attempts, as in 10', 1, 1_000),
  timeout: milliseconds('30_000'),
  priority: integer('its place, as in 10', -1_000, 1_000),
  params: (value: unknown, place: string) => requireArray(value, place, 'Welcome'),
}
export const checkLimit = optionsCheck(LIMIT)
const JOB: OptionChecks<JobOptions> = { ...COMMON, name: checkName, limit: checkLimit }
const CRON: OptionChecks<CronOptions> = {
  ...COMMON,
  name: checkName,
  timezone: text(`the name of a zone: 'Europe/Berlin'`),
}

// any: a method may have any parameters; the decorator checks the first one.
// oxlint-disable typescript/no-explicit-any
type Method = (...args: any[]) => unknown
// oxlint-enable typescript/no-explicit-any

/** A decorator must return nothing, so that the compiler displays the mistake. An input is unknown, or never, if `by` does not declare one. */
type LimitMistake<Input, P extends readonly unknown[]> = unknown extends Input
  ? void
  : [Input] extends [never]
    ? void
    : [P[0]] extends [Input]
      ? void
      : {
          readonly error: '`by` of the limit takes another input than the method.'
          readonly by: Input
          readonly method: P[0]
        }

/** A method decorator that the compiler checks against the input of the limit. */
export type JobDecorator<Input> = <M extends Method>(
  target: object,
  member: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => LimitMistake<Input, Parameters<M>>

/**
 * A method that runs jobs, in a transaction of its own: the job is done in the commit of what it has written. Its first parameter, a class with `@Field`, is
 * the input; the others are injected. Name the class in `createApp({ jobs: [MailJobs] })`.
 *
 * @throws BootError for options that are wrong.
 * @example
 * export class MailJobs {
 *   @Job({ name: 'mail.welcome', queue: 'mail' })
 *   async welcome(input: Welcome, session: Session, mailer: Mailer) { ... }
 * }
 */
export function Job<Input = unknown>(options: JobOptions<Input>): JobDecorator<Input>
export function Job(options: JobOptions): (target: object, member: string | symbol) => void {
  refuseMissingCall(`@Job({ name: 'mail.welcome' })`, arguments)
  checkOptions('@Job()', options, JOB, ['name'])
  return (target, member) => {
    const { limit, params, ...rest } = options
    declareMethod(target, member, '@Job()', { ...rest, limit, params, cron: undefined })
  }
}

/**
 * A method that runs at each instant of a schedule, once in all processes together. Of the instants that were missed while nothing ran, the last is made up
 * for. A run that takes longer than the interval does not delay the next one. Needs the package `croner`.
 *
 * @param expression minute, hour, day of the month, month and weekday: `0 3 * * *`; with seconds before them if there are six.
 * @throws BootError for an expression or options that are wrong.
 * @example
 * @Cron('0 3 * * *', { timezone: 'Europe/Berlin' })
 * async tidy(session: Session) { ... }
 */
export function Cron(expression: string, options: CronOptions = {}): MethodDecorator {
  refuseMissingCall(`@Cron('0 3 * * *')`, arguments)
  checkOptions('@Cron()', options, CRON)
  return (target, member) => {
    const { timezone = 'UTC', params, name = `${target.constructor.name}.${String(member)}`, ...rest } = options
    declareMethod(target, member, '@Cron()', {
      ...rest,
      name,
      params,
      limit: undefined,
      cron: { expression, timezone },
    })
  }
}

type Declared = Omit<JobOptions, 'params' | 'limit'> & Pick<JobDeclaration, 'params' | 'limit' | 'cron' | 'inputClass'>

/** Declares that a method runs jobs. Returns what is known of them. @throws BootError for one that cannot. */
export function declareMethod(
  target: object,
  member: string | symbol,
  decorator: string,
  options: Declared,
): JobDeclaration {
  if (typeof target === 'function' || typeof member === 'symbol')
    throw new BootError(`${decorator} is on ${String(member)}. Put it on a method of the class that is not static.`)
  const { queue = 'default', attempts = 10, timeout = 30_000, priority = 0, ...rest } = options
  const type = target.constructor as Constructor // of a prototype
  const declaration = { ...rest, type, member, queue, attempts, timeout, priority }
  declareJob(declaration)
  backgroundOf.write(type, openJobs)
  return declaration
}
