import type { ColumnUse } from '../db/indexes/column-uses.js'
import type { ListColumn } from './list-column.js'
import type { ListFilter, ListPlan } from './list-plan.js'

/** The operators that an index serves that begins with the column. No such index finds a text within another, or what is not equal. */
const SERVED: ReadonlySet<string> = new Set(['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'null'])

/**
 * The columns of a list that need an index.
 *
 * @param user the class of the list, for the advice.
 * @param unindexed the paths of columns that need none.
 */
export function columnUses({ filters, sorts }: ListPlan, user: string, unindexed: readonly string[]): ColumnUse[] {
  const filtered = filters.filter(isServed).map(({ column }) => use(column, `${user} filters by ${column.path}`))
  const sorted = [...sorts.values()].map((column) => use(column, `${user} sorts by ${column.path}`))
  return [...filtered, ...sorted].flatMap(({ path, ...needed }) => (unindexed.includes(path) ? [] : needed))
}

function isServed({ operator }: ListFilter): boolean {
  return SERVED.has(operator)
}

function use({ path, model, attribute }: ListColumn, by: string) {
  return { path, model, attribute, by }
}
