import type { Change, ChangeOf } from '../difference/change.js'
import type { PlanContext } from './context.js'
import { type PlacedStep, sqlStep } from './planned.js'

type Steps = readonly PlacedStep[] | Promise<readonly PlacedStep[]>

/** How one kind of database makes each kind of change. Those that are left out it makes in another way, together with others, or does not know. */
export type StepsByKind = {
  readonly [Kind in Change['kind']]?: (context: PlanContext, change: ChangeOf<Kind>) => Steps
}

/** The steps of all changes, one after the other. */
export async function stepsOfChanges(
  context: PlanContext,
  kinds: StepsByKind,
  changes: readonly Change[] = context.changes,
): Promise<PlacedStep[]> {
  const steps: PlacedStep[] = []
  for (const change of changes) {
    // The function of a kind takes the changes of that kind.
    const stepsOf = kinds[change.kind] as ((context: PlanContext, change: Change) => Steps) | undefined
    steps.push(...((await stepsOf?.(context, change)) ?? []))
  }
  return steps
}

/** What all databases do alike. */
export const SAME_STEPS: StepsByKind = {
  'rename table': (context, { table, to }) => [
    sqlStep(table, 'renames', `rename to ${to}`, `ALTER TABLE ${context.table(table)} RENAME TO ${context.quote(to)}`),
  ],
  'rename column': (context, { table, column, to }) => [
    sqlStep(
      table,
      'renames',
      `rename column ${column.name} to ${to}`,
      `ALTER TABLE ${context.table(table)} RENAME COLUMN ${context.quote(column.name)} TO ${context.quote(to)}`,
    ),
  ],
}
