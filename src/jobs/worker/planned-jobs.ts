import { BootError } from '../../core/boot-error.js'
import type { Plan } from '../../di/plan.js'
import { type Constructor, tokenName } from '../../di/token.js'
import type { BackgroundParts } from '../../http/background.js'
import { type UnitOpener, unitOpeners } from '../../http/lifespan.js'
import type { QueryBudgetOption } from '../../http/observation/query-budget.js'
import { ReplyHeaders } from '../../http/output/reply.js'
import { Request } from '../../http/request.js'
import { budgetOf } from '../../http/routing/budget.js'
import { type JobDeclaration, jobsOfClass } from '../declaration.js'
import { instantsOf } from '../cron.js'
import { inputClassOf, inputOf, type JobInput } from '../input.js'
import { type JobArgument, JobArguments } from './job-arguments.js'

/** A job with all that is needed to run it. */
export interface PlannedJob extends JobDeclaration {
  readonly plan: Plan<JobArgument>
  readonly input: JobInput
  readonly openers: readonly UnitOpener[]
  /** Whether its own transaction completes it: not one that only reads. */
  readonly completesItself: boolean
  /** That of `@Budget()`. */
  readonly budget: QueryBudgetOption | undefined
}

/**
 * Plans the jobs of an app.
 *
 * @throws BootError for every mistake in them.
 */
export function planJobs(classes: readonly Constructor[], parts: BackgroundParts): ReadonlyMap<string, PlannedJob> {
  const planned = new Map<string, PlannedJob>()
  for (const declaration of classes.flatMap(jobsOfClass)) {
    const { name } = declaration
    const other = planned.get(name)
    if (other)
      throw new BootError(
        `${placeOf(other)} and ${placeOf(declaration)} are both jobs with the name ${name}. Give each a name of its own: @Job({ name }).`,
      )
    planned.set(name, planJob(declaration, parts))
  }
  return planned
}

function placeOf({ type, member }: JobDeclaration): string {
  return `${type.name}.${member}`
}

function planJob(declaration: JobDeclaration, { planner, lifespans }: BackgroundParts): PlannedJob {
  const { type, member, params, cron } = declaration
  const place = placeOf(declaration)
  const plan = planner.plan(type, member, new JobArguments(declaration), { params })
  const input = inputOf(declaration)
  checkPlan(declaration, plan, place)
  if (cron) instantsOf(cron, place) // refuses a wrong expression
  const tokens = plan.steps.map(({ token }) => token)
  const facts = { name: `job ${declaration.name}`, controller: type, member, safe: false, tokens }
  const completesItself = !lifespans.some((lifespan) => lifespan.transactionOf?.(facts)?.readOnly)
  const budget = budgetOf(type, member)
  return { ...declaration, plan, input, openers: unitOpeners(lifespans, facts), completesItself, budget }
}

function checkPlan(declaration: JobDeclaration, plan: Plan<JobArgument>, place: string): void {
  const { cron, limit } = declaration
  for (const { token } of plan.steps)
    if (token === Request || token === ReplyHeaders)
      throw new BootError(
        `${place} injects ${tokenName(token)}, and a job has no request. Give it what it needs of the request as its input.`,
      )
  const hasInput = plan.inputs.includes('input')
  if (declaration.inputClass && hasInput && inputClassOf(declaration) !== declaration.inputClass)
    throw new BootError(
      `${place}: its first parameter is another class than ${declaration.inputClass.name}, which its decorator names.`,
    )
  if (cron && hasInput)
    throw new BootError(
      `${place} has @Cron() and an input, which no one gives it. Remove the parameter, or write @Job().`,
    )
  if (limit && limit.by.length > 0 && !hasInput)
    throw new BootError(
      `${place}: \`by\` of its limit takes an input, and the method has none. Give it one as its first parameter, or count all of its jobs: by: () => 'all'.`,
    )
}
