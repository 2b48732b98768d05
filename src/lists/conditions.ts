import { cast, fn, literal, Op, where, type WhereOptions } from 'sequelize'
import { isMysql } from '../db/is-mysql.js'
import { quoted } from '../db/sequelize/quote.js'
import type { ListColumn } from './list-column.js'
import type { ListFilter } from './list-plan.js'
import type { ListOperator } from './options.js'

/*
 * Strings are compared exactly on every database. SQLite's LIKE ignores the case of ASCII, and so do the collations of MySQL and MariaDB in
 * every comparison: there the bytes are compared, in addition to the condition that an index serves.
 */

/** How a database compares strings exactly. */
type TextMethod = 'bytes' | 'instr' | 'like'

/** The condition of a filter on a column of the model itself, for the object under its attribute; or a condition of its own. */
type Condition = { readonly operator: symbol; readonly value: unknown } | { readonly expression: WhereOptions }

/** The `where` of find options for the values of filters. */
export function conditionsOf(
  filters: readonly ListFilter[],
  valueOf: (filter: ListFilter) => unknown,
  dialect: string,
): WhereOptions | undefined {
  const own: Record<string, Record<symbol, unknown>> = {}
  const others: WhereOptions[] = []
  for (const filter of filters) {
    const value = valueOf(filter)
    if (value === undefined) continue
    for (const condition of conditions(filter, value, textMethodOf(dialect))) {
      if ('expression' in condition) others.push(condition.expression)
      else if (filter.column.steps.length > 0)
        others.push(where(literal(sqlOf(filter.column)), { [condition.operator]: condition.value }))
      else (own[filter.column.attribute] ??= {})[condition.operator] = condition.value
    }
  }
  const all = [...(Object.keys(own).length > 0 ? [own] : []), ...others]
  return all.length === 0 ? undefined : all.length === 1 ? all[0] : { ...own, [Op.and]: others }
}

function textMethodOf(dialect: string): TextMethod {
  return isMysql(dialect) ? 'bytes' : dialect === 'sqlite' ? 'instr' : 'like'
}

type PlainOperator = Exclude<ListOperator, 'null' | 'contains' | 'startsWith'>

const OPERATORS: Readonly<Record<PlainOperator, symbol>> = {
  eq: Op.eq,
  ne: Op.ne,
  in: Op.in,
  lt: Op.lt,
  lte: Op.lte,
  gt: Op.gt,
  gte: Op.gte,
}

function conditions({ column, operator }: ListFilter, value: unknown, method: TextMethod): readonly Condition[] {
  switch (operator) {
    case 'null':
      return [{ operator: value === true ? Op.is : Op.not, value: null }]
    case 'contains':
    case 'startsWith':
      return search(column, operator, String(value), method)
    default: {
      const condition = { operator: OPERATORS[operator], value: unpadded(column, value) }
      if (column.unpad && method === 'instr') return padded(column, operator, condition.value)
      if (!column.isText || method !== 'bytes') return [condition]
      const exact = { expression: where(bytesOf(column), { [condition.operator]: condition.value }) }
      return operator === 'ne' ? [exact] : [condition, exact]
    }
  }
}

function unpadded({ unpad }: ListColumn, value: unknown): unknown {
  if (!unpad) return value
  return Array.isArray(value) ? value.map((item) => unpad(String(item))) : unpad(String(value))
}

// SQLite compares the spaces at the end of a CHAR. For one value, an index serves the range of what begins with it: '!' follows the space.
function padded(column: ListColumn, operator: PlainOperator, value: unknown): readonly Condition[] {
  const same = { expression: where(fn('rtrim', literal(sqlOf(column)), ' '), { [OPERATORS[operator]]: value }) }
  if (operator !== 'eq') return [same]
  return [{ operator: Op.gte, value }, { operator: Op.lt, value: `${String(value)}!` }, same]
}

function search(
  column: ListColumn,
  operator: 'contains' | 'startsWith',
  text: string,
  method: TextMethod,
): readonly Condition[] {
  const found = operator === 'contains' ? { [Op.gt]: 0 } : { [Op.eq]: 1 }
  const like = { operator: operator === 'contains' ? Op.substring : Op.startsWith, value: escapeLike(text) }
  if (method === 'like') return [like]
  if (method === 'instr') return [{ expression: where(fn('instr', literal(sqlOf(column)), text), found) }]
  const exact = { expression: where(fn('locate', cast(text, 'binary'), bytesOf(column)), found) }
  return [exact]
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

function sqlOf({ model, attribute, steps }: ListColumn): string {
  return quoted(model, attribute, steps)
}

// The bytes of UTF-8, whatever the character set of the column.
function bytesOf(column: ListColumn) {
  return cast(literal(`CONVERT(${sqlOf(column)} USING utf8mb4)`), 'binary')
}
