import type { Column, TableName } from '../../db/catalog/catalog.js'
import { displayOf } from '../difference/change.js'
import type { PlanContext } from './context.js'

/** How a column gets another type without a lock while its rows are rewritten: by a second column, in three releases. */
export function expandAndContract(context: PlanContext, table: TableName, { name }: Column): string[] {
  const where = displayOf(table)
  return [
    `${where}.${name} without that wait, in three releases:`,
    `  1. add ${context.quote(`${name}_new`)} to the model, write both columns, and fill it by steps.batches();`,
    `  2. read the new one, and write both;`,
    `  3. leave ${name} out of the model, and: sequitur migrate diff --drop ${where}.${name}`,
  ]
}
