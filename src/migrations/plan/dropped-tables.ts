import type { ForeignKey, Table } from '../../db/catalog/catalog.js'
import { changesOf, displayOf, isSameTable } from '../difference/change.js'
import { displayOfKey } from '../difference/choices.js'
import type { PlanContext } from './context.js'
import { creationOrder } from './definitions.js'
import { type PlacedStep, sqlStep } from './planned.js'

/** A foreign key, and the table that has it, as the database has both. */
export interface ReferringKey {
  readonly key: ForeignKey
  readonly of: Table
}

/** The foreign keys of all tables that refer to rows of this one, without those that are dropped or replaced. */
export function keysTo(context: PlanContext, table: Table): readonly ReferringKey[] {
  const referred = context.current(table) ?? table
  const gone = [
    ...changesOf(context.changes, 'drop foreign key').map((change) => ({ ...change, key: change.foreignKey })),
    ...changesOf(context.changes, 'replace foreign key').map((change) => ({ ...change, key: change.from })),
  ]
  const isGone = (of: Table, { name }: ForeignKey) =>
    gone.some(({ table: owner, key }) => isSameTable(context.current(owner) ?? owner, of) && key.name === name)
  return context.database.tables.flatMap((of) =>
    of.foreignKeys.flatMap((key) => (isSameTable(key.table, referred) && !isGone(of, key) ? [{ key, of }] : [])),
  )
}

/** What to write to drop a key. */
export function optionToDrop({ key, of }: ReferringKey): string {
  return `--drop "foreign key ${displayOfKey(of, key)}"`
}

/**
 * Drops tables, those that refer to others before these. Notes a problem for each foreign key of a table that stays: no row could be added to it.
 *
 * @param dropKey drops a foreign key of one that is in a circle, where that is a statement of its own.
 */
export function dropTables(
  context: PlanContext,
  dropKey: (context: PlanContext, table: Table, key: ForeignKey) => readonly PlacedStep[] = () => [],
): PlacedStep[] {
  const dropped = changesOf(context.changes, 'drop table').map(({ table }) => table)
  for (const table of dropped)
    for (const referring of keysTo(context, table))
      if (!isDroppedBefore(context, referring))
        context.problems.push(
          `--drop ${displayOf(table)}: the foreign key ${referring.key.columns.join(', ')} of ${displayOf(referring.of)} refers to it. Drop that, too: ${optionToDrop(referring)}`,
        )
  const ordered = creationOrder(dropped).toReversed()
  return [
    ...ordered.flatMap(({ table, later }) => later.flatMap((key) => dropKey(context, table, key))),
    ...ordered.map(({ table }) =>
      sqlStep(table, 'drops of tables', 'drop table', `DROP TABLE ${context.table(table)}`),
    ),
  ]
}

/** Whether the key goes with its table, or with one of its columns. */
function isDroppedBefore(context: PlanContext, { key, of }: ReferringKey): boolean {
  return changesOf(context.changes, 'drop table', 'drop column').some(
    (change) =>
      isSameTable(context.current(change.table) ?? change.table, of) &&
      (change.kind === 'drop table' || key.columns.includes(change.column.name)),
  )
}
