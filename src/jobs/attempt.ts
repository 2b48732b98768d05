import { LONGEST } from '../core/options.js'
import { howToProvide } from '../di/provider.js'
import type { AsJson } from '../schema/output/as-json.js'
import { JobDiscarded, JobPostponed } from './errors.js'
import type { Session } from '../db/session/session.js'

/** Runs a step, and keeps its result. */
export type RunStep = <T>(name: string, work: (session: Session) => Promise<T>) => Promise<AsJson<T>>

/** The facts of one attempt to run a job. */
export interface AttemptFacts {
  readonly id: string
  readonly name: string
  readonly created: number
  readonly number: number
  readonly most: number
  readonly instant: Date | undefined
}

/**
 * The current attempt to run a job: a parameter of its method.
 *
 * @example
 * @Job({ name: 'mail.welcome' })
 * async welcome(input: Welcome, session: Session, mailer: Mailer, attempt: Attempt) {
 *   const hero = (await session.get(Hero, input.hero_id)) ?? attempt.discard('The hero is gone')
 *   await mailer.send(hero.email, { idempotencyKey: attempt.key })
 * }
 */
export class Attempt {
  /** The id of the job. */
  readonly id: string
  /** `mail.welcome` */
  readonly name: string
  /** The same in every attempt of this job, and in no other job: for services that have a key against repeats. */
  readonly key: string
  /** From 1. */
  readonly number: number
  /** Whether the job is dead if this attempt fails. */
  readonly isLast: boolean
  /** The instant of the schedule for which a job of `@Cron()` runs, also if it runs later; undefined for other jobs. */
  readonly instant: Date | undefined
  readonly #step: RunStep

  /** @internal */
  constructor({ id, name, created, number, most, instant }: AttemptFacts, step: RunStep) {
    this.id = id
    this.name = name
    // Ids of two databases are the same: a service outside is called from tests, from restored backups, and from both.
    this.key = `${name}-${id}-${created.toString(36)}`
    this.number = number
    this.isLast = number >= most
    this.instant = instant
    this.#step = step
  }

  /**
   * Ends the job as dead: what it has written is rolled back, and it does not run again. For what another attempt cannot mend.
   *
   * @throws always, to end the method: do not catch it.
   */
  discard(reason: string): never {
    throw new JobDiscarded(reason)
  }

  /**
   * Ends the attempt: what it has written is rolled back. The job runs again in so many milliseconds; it is dead if this was the last attempt.
   *
   * @throws always, to end the method: do not catch it. TypeError for what is no number of milliseconds.
   */
  retryIn(milliseconds: number): never {
    requireDelay(milliseconds, 'attempt.retryIn()')
    throw new JobPostponed(milliseconds)
  }

  /**
   * Runs the work in a transaction of its own, and stores its result in the same commit: later attempts of this job get the result, and do not run the work
   * again. Names, not positions, tell steps apart, so that code can change while jobs wait.
   *
   * @param name 1 to 100 characters.
   * @param work what it returns is stored as JSON, and returned as that, also by the first attempt: a `Date` is a string.
   * @throws what the work throws. TypeError for a wrong name, and for a result that JSON cannot write, or of more than 60,000 bytes. Error if the transaction
   * of the job has begun before.
   * @example
   * const charge = await attempt.step('charge', (session) => payments.charge(session, input))
   */
  step<T>(name: string, work: (session: Session) => Promise<T>): Promise<AsJson<T>> {
    return this.#step(name, work) // private, so that the class has one call for programs
  }
}

howToProvide.write(
  Attempt,
  'Only a method with @Job() or @Cron() has an attempt: write it as a parameter of that method.',
)

/** @throws TypeError for a value that is no number of milliseconds. */
function requireDelay(value: number, where: string): void {
  if (Number.isFinite(value) && value >= 0 && value <= LONGEST) return
  throw new TypeError(`${where}: ${value} is not a number of milliseconds. Write one from 0 to ${LONGEST}.`)
}
