import type { Column, Table } from '../../../db/catalog/catalog.js'
import { batchKeyOf } from '../checks.js'
import type { PlanContext } from '../context.js'
import { suffixedName } from '../names.js'
import { BLOCKS_NOBODY, type PlacedStep, reads, rowsText, sqlStep } from '../planned.js'
import { alone } from './step.js'

/** Fills rows that have NULL, and refuses NULL, without a lock while the rows are read. */
export async function notNull(
  context: PlanContext,
  table: Table,
  column: Column,
  value: string | undefined,
): Promise<PlacedStep[]> {
  const rows = await context.rows(table)
  const name = context.quote(column.name)
  const check = context.quote(suffixedName('postgres', `${table.name}_${column.name}`, '_not_null'))
  const alter = `ALTER TABLE ${context.table(table)}`
  const fill = `UPDATE ${context.table(table)} SET ${name} = ${value} WHERE ${name} IS NULL`
  return [
    ...(value === undefined ? [] : [fillStep(context, table, column, fill, rows)]),
    sqlStep(
      table,
      'not null',
      `add check ${column.name} IS NOT NULL, NOT VALID`,
      `${alter} ADD CONSTRAINT ${check} CHECK (${name} IS NOT NULL) NOT VALID`,
    ),
    ...(value === undefined
      ? []
      : [alone(table, 'not null', `set ${column.name} of rows that came meanwhile`, fill, reads(rows))]),
    alone(table, 'not null', 'validate it', `${alter} VALIDATE CONSTRAINT ${check}`, reads(rows)),
    sqlStep(table, 'not null', `set NOT NULL on ${column.name}`, `${alter} ALTER COLUMN ${name} SET NOT NULL`),
    sqlStep(table, 'not null', 'drop the check', `${alter} DROP CONSTRAINT ${check}`),
  ]
}

function fillStep(
  context: PlanContext,
  table: Table,
  column: Column,
  sql: string,
  rows: number | undefined,
): PlacedStep {
  const key = batchKeyOf(context, table)
  const what = `set ${column.name} where it is NULL`
  if (key === undefined)
    return alone(table, 'values', what, sql, `writes ${rowsText(rows)}, which others cannot write meanwhile`)
  return {
    ...alone(table, 'values', `${what}, in batches`, sql, `writes ${rowsText(rows)}, ${BLOCKS_NOBODY}`),
    code: { kind: 'batches', table, key, sql },
  }
}
