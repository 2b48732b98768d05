import { refuseMissingCall } from '../../core/options.js'
import { MetadataKey } from '../../di/metadata.js'
import { addHandlerDecorator } from '../../di/route-facts.js'
import type { Constructor } from '../../di/token.js'
import { checkBudget, type QueryBudgetOption } from '../observation/query-budget.js'

const budgetKey = new MetadataKey<QueryBudgetOption>()

/**
 * How many statements a handler, or each handler of a controller, may send for one request; a job, or each job of a class, in one run. More are a warning in development, fail a test of
 * `testApp()`, and are published to `sequitur.budget.exceeded`.
 *
 * @param budget a number of statements, or `{ statements, repeats }`; `false` for no limits, also not those of the app.
 * @throws BootError for a wrong budget. On anything but a handler or a job, or in an app without a database, the app does not start.
 * @example
 * @Budget({ statements: 5 })
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { ... }
 */
export function Budget(budget: QueryBudgetOption): MethodDecorator & ClassDecorator {
  refuseMissingCall('@Budget({ statements: 5 })', arguments)
  checkBudget(budget, '@Budget()')
  return (target: object, member?: string | symbol) => {
    budgetKey.write(target, budget, member)
    const handler = member === undefined ? undefined : String(member)
    addHandlerDecorator(target, { name: '@Budget()', member: handler, needsDatabase: true })
  }
}

/** The budget of a handler, else of its controller. */
export function budgetOf(controller: Constructor, member: string): QueryBudgetOption | undefined {
  return budgetKey.inherited(controller.prototype, member) ?? budgetKey.inherited(controller)
}
