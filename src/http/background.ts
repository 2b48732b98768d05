import { BootError } from '../core/boot-error.js'
import type { Container } from '../di/container.js'
import { MetadataKey } from '../di/metadata.js'
import type { Planner } from '../di/plan.js'
import type { Constructor } from '../di/token.js'
import type { Lifespan } from './lifespan.js'
import type { LogOptions } from './observation/log-options.js'
import type { PlanLog } from './observation/plan-log.js'
import type { BudgetOfApp } from './observation/query-budget.js'
import type { Log } from './server/logger.js'

/** What an app runs in addition to requests: jobs. */
export interface Background {
  /** The classes whose methods it calls, with these methods. */
  readonly handlers: ReadonlyMap<Constructor, readonly string[]>
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
  readonly work: Readonly<Record<string, number>> | undefined
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

export type OpenBackground = (classes: readonly Constructor[], parts: BackgroundParts) => Background

/** Opens what runs the methods of a class of `createApp({ jobs })`. Written by its decorators. */
export const backgroundOf = new MetadataKey<OpenBackground>()

/**
 * Opens what runs the classes of `createApp({ jobs })`; undefined if there are none.
 *
 * @throws BootError for a class without jobs, and for every mistake in them.
 */
export function openBackground(
  { jobs, work }: { readonly jobs?: readonly Constructor[]; readonly work?: unknown },
  parts: BackgroundParts,
): Background | undefined {
  if (!jobs || jobs.length === 0) {
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
