import type { Catalog } from '../../db/catalog/catalog.js'
import type { ModelCatalog } from '../catalog/model-tables.js'
import { type Change, changesOf, displayOfColumn } from '../difference/change.js'
import { type Choices, valuesOf } from '../difference/choices.js'
import { PlanError } from '../errors.js'
import { PlanContext } from './context.js'
import type { Facts } from './facts.js'
import { isOneExpression } from './one-expression.js'
import { joinedRewrites } from './joined-rewrites.js'
import { mysqlSteps } from './mysql/steps.js'
import { PHASES, type PlacedStep, type PlannedFile } from './planned.js'
import { postgresSteps } from './postgres/steps.js'
import { refuseTypes } from './postgres/tried-types.js'
import { sqliteSteps } from './sqlite/steps.js'

/** What a plan is made of. */
export interface PlanOptions {
  readonly database: Catalog
  readonly models: ModelCatalog
  readonly changes: readonly Change[]
  readonly choices: Choices
  readonly facts: Facts
  /** Statements that follow the others, such as those that limit the rows of tenants. */
  readonly further?: readonly PlacedStep[]
}

/**
 * The files that make the changes: one, and one more for drops.
 *
 * @throws PlanError that names each change that people have to decide, and each row count that forbids one.
 */
export async function plan({ choices, further = [], ...options }: PlanOptions): Promise<readonly PlannedFile[]> {
  const backfills = valuesOf(options.models, '--backfill', choices.backfill)
  const casts = valuesOf(options.models, '--cast', choices.cast)
  const context = new PlanContext({ ...options, backfills, casts })
  refuseEmptyBackfills(context, backfills)
  refuseUnusedCasts(context, casts)
  refuseOtherThanExpressions(context, '--backfill', backfills)
  refuseOtherThanExpressions(context, '--cast', casts)
  if (context.problems.length > 0) throw new PlanError(context.problems.join('\n'))
  const steps = [...(await stepsOf(context)), ...further]
  refuseUnusedBackfills(context)
  if (context.problems.length > 0) throw new PlanError([...new Set(context.problems)].join('\n'))
  const ordered = joinedRewrites(PHASES.flatMap((phase) => steps.filter((step) => step.phase === phase)))
  if (context.kind === 'postgres') await refuseTypes(context, ordered)
  if (context.problems.length > 0) throw new PlanError(context.problems.join('\n'))
  const isDrop = ({ phase }: PlacedStep) => phase.startsWith('drops of')
  const apart = context.kind === 'postgres' ? withCommits : (list: PlacedStep[]) => list
  const files = [
    { contract: false, steps: apart(ordered.filter((step) => !isDrop(step))) },
    { contract: true, steps: apart(ordered.filter(isDrop)) },
  ]
  return files.filter((file) => file.steps.length > 0)
}

/** Has one transaction change one table, so that no one waits for a table while another is rewritten or waited for. New ones, which no one uses, are made together. */
function withCommits(steps: readonly PlacedStep[]): PlacedStep[] {
  const created = new Set(steps.filter(({ phase }) => phase === 'tables').map(({ table }) => table))
  const isNew = ({ phase, table }: PlacedStep) => phase === 'types' || created.has(table)
  return steps.map((step, index) => {
    const before = steps[index - 1]
    if (before?.code.kind !== 'sql' || step.code.kind !== 'sql') return step
    const isSame = isNew(before) || isNew(step) ? isNew(before) && isNew(step) : before.table === step.table
    return isSame ? step : { ...step, isApart: true }
  })
}

function refuseEmptyBackfills({ problems }: PlanContext, backfills: ReadonlyMap<string, string | undefined>): void {
  for (const [name, value] of backfills)
    if (value === undefined)
      problems.push(`--backfill ${name} has no value. Write it as SQL: --backfill ${name}="'none'"`)
}

function refuseUnusedBackfills(context: PlanContext): void {
  // A column whose change is refused may not have been asked for its value.
  if (context.problems.length > 0) return
  for (const name of context.unusedBackfills())
    context.problems.push(
      `--backfill ${name} changes nothing: it is for a column that becomes NOT NULL, and for a new one that is NOT NULL without a default. Write other changes of rows in a migration by hand.`,
    )
}

/** The database is asked about the values: they must not be another statement. */
function refuseOtherThanExpressions(
  { kind, problems }: PlanContext,
  option: string,
  values: ReadonlyMap<string, string | undefined>,
): void {
  for (const [name, sql] of values)
    if (sql !== undefined && !isOneExpression(kind, sql))
      problems.push(
        `${option} ${name} is no expression of SQL: its quotes or parentheses do not match, or it has a comment or a semicolon.`,
      )
}

/** Only a type that changes, and an ENUM on SQLite, have a cast. */
function refuseUnusedCasts(
  { changes, models, kind, problems }: PlanContext,
  casts: ReadonlyMap<string, unknown>,
): void {
  const altered = changesOf(changes, 'alter column').filter(
    ({ parts }) => parts.includes('type') || parts.includes('values'),
  )
  const used = new Set(altered.map(({ table, to }) => displayOfColumn(table, to.name)))
  if (kind === 'sqlite')
    for (const table of models.tables)
      for (const name of Object.keys(table.enumValues ?? {})) used.add(displayOfColumn(table, name))
  for (const name of casts.keys())
    if (!used.has(name)) problems.push(`--cast ${name}: the type of the column does not change.`)
}

function stepsOf(context: PlanContext): Promise<PlacedStep[]> {
  if (context.kind === 'postgres') return postgresSteps(context)
  return context.kind === 'sqlite' ? sqliteSteps(context) : mysqlSteps(context)
}
