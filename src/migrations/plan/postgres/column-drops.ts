import type { Column, Table } from '../../../db/catalog/catalog.js'
import { type ChangeOf, displayOf, displayOfColumn } from '../../difference/change.js'
import { isTypeOf } from '../../difference/columns.js'
import type { PlanContext } from '../context.js'
import { keysTo, optionToDrop } from '../dropped-tables.js'
import { type PlacedStep, sqlStep } from '../planned.js'
import { refuseReadersOfDropped } from './readers.js'
import { isUsedIn } from './types.js'

/** Drops the default, and NOT NULL, that only the database has. */
export function dropColumnParts(context: PlanContext, change: ChangeOf<'drop column parts'>): PlacedStep[] {
  const { table, to, parts } = change
  const alter = `ALTER TABLE ${context.table(table)} ALTER COLUMN ${context.quote(to.name)}`
  return parts.map((part) =>
    part === 'default'
      ? sqlStep(table, 'drops of keys', `drop the default of ${to.name}`, `${alter} DROP DEFAULT`)
      : sqlStep(table, 'drops of keys', `drop NOT NULL of ${to.name}`, `${alter} DROP NOT NULL`),
  )
}

/** The new version of the program adds rows without the column, before it is dropped. */
function optionalUntilThen(context: PlanContext, table: Table, column: Column): PlacedStep[] {
  const isOptional = column.nullable || column.default !== undefined || column.identity || column.generated
  const isKey = table.primaryKey?.columns.includes(column.name) === true
  if (isOptional || isKey) return []
  const sql = `ALTER TABLE ${context.table(table)} ALTER COLUMN ${context.quote(column.name)} DROP NOT NULL`
  return [sqlStep(table, 'columns', `drop NOT NULL of ${column.name}, which no model has`, sql)]
}

/** Notes a problem for each foreign key that refers to the column. */
function refuseReferring(context: PlanContext, table: Table, { name }: Column): void {
  for (const referring of keysTo(context, table))
    if (referring.key.references.includes(context.currentColumn(table, name) ?? name))
      context.problems.push(
        `--drop ${displayOfColumn(table, name)}: the foreign key ${referring.key.columns.join(', ')} of ${displayOf(referring.of)} refers to it. Drop that, too: ${optionToDrop(referring)}`,
      )
}

/** Drops the column, and its enum type if no other column has it. */
export async function dropColumn(
  context: PlanContext,
  { table, column }: ChangeOf<'drop column'>,
): Promise<PlacedStep[]> {
  await refuseReadersOfDropped(context, table, column)
  refuseReferring(context, table, column)
  const sql = `ALTER TABLE ${context.table(table)} DROP COLUMN ${context.quote(column.name)}`
  const type = column.enumValues && context.database.enums.find((candidate) => isTypeOf(candidate, column))
  const current = { table: context.current(table)?.name ?? table.name, column: column.name }
  const isLeft =
    type &&
    (isUsedIn(context, type, current) ||
      context.models.enums.some(({ name, schema }) => name === type.name && schema === type.schema))
  return [
    ...optionalUntilThen(context, table, column),
    sqlStep(table, 'drops of columns', `drop column ${column.name}`, sql),
    ...(type && isLeft === false
      ? [sqlStep(table, 'drops of types', `drop its type ${type.name}`, `DROP TYPE ${context.table(type)}`)]
      : []),
  ]
}
