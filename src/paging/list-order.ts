import { literal, type OrderItem, type ProjectionAlias } from 'sequelize'
import type { Find, Join } from '../db/statements/find.js'
import { type OrderColumn, orderSql, type Place } from './keyset.js'
import { keyColumns, orderColumns } from './order-columns.js'
import { aliasesIn, ordersIncludedRows, sqlOf, withNullsClauses, withPrimaryKey } from './order-items.js'

/** The order of a list, in the forms that its queries need. */
export interface ListOrder {
  /** Whether the join yields a row of the model several times, so that LIMIT would cut off a part of its included rows. */
  readonly repeatsRows: boolean
  /** ORDER BY of the rows. */
  readonly items: readonly OrderItem[]
  /** ORDER BY of the included rows of each row, where rows are read again by their keys. */
  readonly includedItems: readonly OrderItem[]
  /** The primary key. Empty if rows are not read again. */
  readonly key: readonly OrderColumn[]
  /** The columns of a place: all columns of the order for cursors, the key for offsets. */
  readonly columns: readonly OrderColumn[]
  /** GROUP BY of a query that reads only places: the key, and what rows are ordered by. */
  readonly groupBy: readonly string[]
  /** The aliases that the items name. A query that reads only places selects their expressions. */
  readonly aliases: readonly ProjectionAlias[]
}

/** What is not needed where no row is read again by its key. */
const UNREPEATED = { repeatsRows: false, includedItems: [], key: [], columns: [], groupBy: [], aliases: [] } as const

/** The order for offsets: any order, and the primary key where rows are equal in it. */
export function offsetOrder(find: Find): ListOrder {
  const items = withPrimaryKey(find)
  if (!repeatsRows(find)) return { ...UNREPEATED, items: withNullsClauses(items, find) }
  const key = keyColumns(find.model)
  const included = items.filter((item) => ordersIncludedRows(item, find.joins))
  const own = items.filter((item) => !included.includes(item))
  const includedItems = withNullsClauses(included, find)
  const ownItems = withNullsClauses(own, find)
  const aliases = aliasesIn(ownItems, find.options)
  const expressions = [...key.map(({ sql }) => sql), ...ownItems.map((item) => sqlOf(item, find.model, aliases))]
  return {
    repeatsRows: true,
    items: ownItems,
    includedItems,
    key,
    columns: key,
    groupBy: [...new Set(expressions)],
    aliases,
  }
}

/** The order for cursors: columns whose values a cursor can hold. @throws BootError for any other order. */
export function cursorOrder(find: Find): ListOrder {
  const key = keyColumns(find.model)
  const columns = orderColumns(find, key)
  return {
    ...UNREPEATED,
    repeatsRows: repeatsRows(find),
    items: orderBy(columns),
    key,
    columns,
    groupBy: columns.map(({ sql }) => sql),
  }
}

/** The primary key at a place. */
export function keyAt({ key, columns }: ListOrder, place: Place): Place {
  return key.map(({ sql }) => place[columns.findIndex((column) => column.sql === sql)] ?? null)
}

export function orderBy(columns: readonly OrderColumn[]): readonly OrderItem[] {
  return columns.map((column) => literal(orderSql(column)))
}

function repeatsRows({ model, joins }: Find): boolean {
  return model.primaryKeyAttributes.length > 0 && joins.some(yieldsMany)
}

function yieldsMany({ separate, many, joins }: Join): boolean {
  return !separate && (many || joins.some(yieldsMany))
}
