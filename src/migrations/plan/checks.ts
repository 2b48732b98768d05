import type { Column, DatabaseKind, ForeignKey, Table, TableName } from '../../db/catalog/catalog.js'
import { displayOf, displayOfColumn } from '../difference/change.js'
import type { PlanContext } from './context.js'
import { rowsThat } from './planned.js'
import { parseType } from './type-change.js'

/**
 * The value of rows that have none, for a column that becomes NOT NULL. False, with a problem noted, if there has to be one; undefined if no row needs it.
 *
 * @param old the column as it is in the database; undefined for a new one.
 */
export async function backfillOf(
  context: PlanContext,
  table: TableName,
  column: Column,
  old: Column | undefined,
): Promise<string | undefined | false> {
  const name = displayOfColumn(table, column.name)
  const given = context.backfill(table, column)
  if (given !== undefined) return given
  const nulls = old ? await context.nulls(table, column) : undefined
  if (nulls === 0) return undefined
  const reason =
    nulls === undefined
      ? 'is new, and NOT NULL without a default'
      : `becomes NOT NULL, and ${rowsThat(nulls, 'have/has', 'NULL')}`
  context.problems.push(
    `${name} ${reason}. Write the value of the rows that are there: --backfill ${name}="<value as SQL>"`,
  )
  return false
}

/** Notes a problem if rows have the same values in columns that become unique. */
export async function refuseDuplicates(
  context: PlanContext,
  table: TableName,
  columns: readonly string[],
): Promise<void> {
  const duplicates = await context.duplicates(table, columns)
  if (duplicates === 0) return
  context.problems.push(
    `${displayOf(table)} (${columns.join(', ')}) becomes unique, and ${rowsThat(duplicates, 'repeat/repeats', 'the values of another one')}. Change them first.`,
  )
}

/** Notes a problem if rows refer to a row that is not there. */
export async function refuseOrphans(context: PlanContext, table: TableName, key: ForeignKey): Promise<void> {
  const orphans = await context.orphans(table, key)
  if (orphans === 0) return
  context.problems.push(
    `${displayOf(table)} (${key.columns.join(', ')}) becomes a foreign key, and ${rowsThat(orphans, 'refer/refers', `to no row of ${displayOf(key.table)}`)}. Change them first.`,
  )
}

/** Whether rows cannot be added without the column, as the new version of the program does before the column is dropped. */
export function isRequired({ primaryKey }: Table, column: Column): boolean {
  const { name, nullable, default: value, identity, generated } = column
  return !nullable && value === undefined && !identity && !generated && primaryKey?.columns.includes(name) !== true
}

/** The column of a table by which its rows are read in batches; undefined if it has none. */
export function batchKeyOf(context: PlanContext, table: TableName): string | undefined {
  const { primaryKey, columns = [] } = context.current(table) ?? {}
  const [key, second] = primaryKey?.columns ?? []
  const column = columns.find(({ name }) => name === key)
  return second === undefined && column && isNumberOrText(context.kind, column) ? key : undefined
}

/** Whether drivers return its values as numbers or texts, with which the next batch begins. */
function isNumberOrText(kind: DatabaseKind, { type }: Column): boolean {
  const { base } = parseType(type)
  return kind === 'sqlite' || !/^(?:date|time|year|bytea|binary|varbinary|bit|[a-z]*blob)/.test(base)
}
