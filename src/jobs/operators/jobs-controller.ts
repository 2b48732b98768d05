import { BootError } from '../../core/boot-error.js'
import { checkOptions, type OptionChecks, text } from '../../core/option-checks.js'
import { shown } from '../../core/options.js'
import type { Constructor, Token } from '../../di/token.js'
import { Controller } from '../../http/routing/controller.js'
import { requireTokens } from '../../http/routing/guard.js'
import { addInterceptor } from '../../http/routing/interceptor.js'
import { requireInRoutes } from '../../http/routing/methods.js'
import { JobRecord } from '../tables.js'
import { JobRoutes } from './job-routes.js'

/** The options of `jobsController(options)`. */
export interface JobsControllerOptions {
  /** Who may see the jobs of all tenants, and change them: classes and guards that refuse all others. */
  readonly requires: readonly Token[]
  /** Default `/jobs`. */
  readonly path?: string
}

const OPTIONS: OptionChecks<JobsControllerOptions> = { requires: requireSome, path: text(`a path: '/jobs'`) }

/** The routes of the page, which has no data. */
const OPEN: readonly (keyof JobRoutes)[] = ['page', 'part']

/**
 * A controller for operators: lists of jobs, of what is stuck, of errors and of workers; retry and discard. `/jobs/page` is its page, for browsers.
 *
 * @throws BootError without `requires`.
 * @example
 * const admins = guard([CurrentUser], (user) => user.isAdmin)
 * createApp({ controllers: [HeroController, jobsController({ requires: [admins] })], models: [Hero, JobRecord], jobs: [MailJobs] })
 */
export function jobsController(options: JobsControllerOptions): Constructor<JobRoutes> {
  checkOptions('jobsController()', options, OPTIONS, ['requires'])
  class JobsController extends JobRoutes {}
  requireInRoutes(JobsController, options.requires, OPEN)
  Controller(options.path ?? '/jobs')(JobsController)
  // The app does not start without the table.
  addInterceptor(JobsController, () => ({ models: [JobRecord], intercept: () => ({ kind: 'handler' }) }))
  return JobsController
}

function requireSome(requires: unknown, place: string): void {
  requireTokens(requires, place)
  const isList = Array.isArray(requires)
  if (isList && requires.length > 0) return
  throw new BootError(
    `${place} is ${isList ? 'empty' : shown(requires)}. Name who may see and change the jobs of all users: jobsController({ requires: [Admin] }), where Admin is a class that refuses all others, or a guard(...).`,
  )
}
