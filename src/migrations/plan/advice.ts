import type { Column, TableName } from '../../db/catalog/catalog.js'
import { displayOf, displayOfColumn } from '../difference/change.js'

/** A column that gets another type while all rows are written again. */
export interface RewrittenColumn {
  readonly table: TableName
  readonly column: Pick<Column, 'name'>
}

/** How columns get another type without a lock while their rows are rewritten: by a second column, in three releases. The first one is the example. */
export function expandAndContract(columns: readonly RewrittenColumn[]): string[] {
  const [first] = columns
  if (!first) return []
  const { table, column } = first
  return [
    `${columns.map((each) => displayOfColumn(each.table, each.column.name)).join(', ')} without that wait, in three releases:`,
    `  1. add a column, such as ${column.name}_new, to the model of ${displayOf(table)}, write both, and fill it by steps.batches();`,
    `  2. read the new one, and write both;`,
    `  3. leave ${column.name} out of the model, and: sequitur migrate diff --drop ${displayOfColumn(table, column.name)}`,
  ]
}
