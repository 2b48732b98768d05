import { fitting } from '../core/option-checks.js'
import { MetadataKey } from '../di/metadata.js'
import { type Constructor, isConstructor } from '../di/token.js'

/** When a job runs by itself. */
export interface CronSchedule {
  /** `0 3 * * *`: minute, hour, day, month and weekday, with seconds before them if there are six. */
  readonly expression: string
  /** `Europe/Berlin` */
  readonly timezone: string
}

/** How many jobs of the same value may run at once. */
export interface JobLimitRule<Input = never> {
  /** Called when the job is added, with its input. */
  readonly by: (input: Input) => string | number
  /** 1 to 1,000,000. */
  readonly at: number
}

/** A method that runs jobs. */
export interface JobDeclaration {
  /** The class that declares it, or one that extends it. */
  readonly type: Constructor
  readonly member: string
  readonly name: string
  readonly queue: string
  readonly attempts: number
  /** Milliseconds. */
  readonly timeout: number
  readonly priority: number
  readonly limit: JobLimitRule | undefined
  readonly cron: CronSchedule | undefined
  /** The class that its first parameter must have, if it takes an input; undefined for any. */
  readonly inputClass?: Constructor
  /** The types of its parameters, when the compiler emits none. */
  readonly params: readonly unknown[] | undefined
}

const QUEUE = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,49}$/

/** The name of a queue. */
export const checkQueue = fitting(
  (value) => typeof value === 'string' && QUEUE.test(value),
  "letters, digits, and _ . : - between them, at most 50: 'mail'",
)

const declared = new MetadataKey<readonly JobDeclaration[]>()

/** Called by decorators, with the class of the method. */
export function declareJob(declaration: JobDeclaration): void {
  const { type } = declaration
  declared.write(type, [...(declared.own(type) ?? []), declaration])
}

/** The jobs of a class and of its ancestors; a decorated method replaces the one that it overrides. */
export function jobsOfClass(type: Constructor): readonly JobDeclaration[] {
  const parent: unknown = Object.getPrototypeOf(type)
  const own = declared.own(type) ?? []
  const inherited = isConstructor(parent) ? jobsOfClass(parent) : []
  return [...inherited.filter(({ member }) => !own.some((job) => job.member === member)), ...own].map((job) => ({
    ...job,
    type,
  }))
}
