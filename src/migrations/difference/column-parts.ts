import type { Column, DatabaseKind, Table } from '../../db/catalog/catalog.js'
import type { ModelTable } from '../catalog/model-tables.js'
import type { DroppablePart } from './change.js'
import { hasSameType, hasSameValues } from './same.js'

/*
 * A default, and NOT NULL, that only the database has: rows that other programs add may need them, so that they stay until people drop them.
 */

/** What a column has that it can be without. */
export function droppableParts({ primaryKey }: Table, column: Column): DroppablePart[] {
  if (column.generated) return []
  const isFixed =
    column.nullable || column.notNullByDomain || column.identity || primaryKey?.columns.includes(column.name)
  return [...(column.default === undefined ? [] : ['default' as const]), ...(isFixed ? [] : ['nullable' as const])]
}

/** What of a column only the database has, and the model can do without: it adds rows as it is. */
export function unstatedParts(table: Table, from: Column, model: ModelTable, to: Column): DroppablePart[] {
  if (from.generated || to.generated || to.identity) return []
  const isFilled =
    from.default !== undefined ||
    from.identity !== undefined ||
    from.notNullByDomain === true ||
    table.primaryKey?.columns.includes(from.name) === true ||
    model.filled.includes(from.name)
  return [
    ...(from.default !== undefined && to.default === undefined ? ['default' as const] : []),
    ...(to.nullable && !from.nullable && isFilled ? ['nullable' as const] : []),
  ]
}

/** The parts that are dropped, with a NOT NULL that only the database has: without its default, it would refuse the rows of the program. */
export function withUseless(
  parts: readonly DroppablePart[],
  table: Table,
  from: Column,
  model: ModelTable,
  to: Column,
): readonly DroppablePart[] {
  const isKept = (column: Column) => unstatedParts(table, column, model, to).includes('nullable')
  const isUseless = isKept(from) && !isKept(withoutParts(from, parts))
  return isUseless && !parts.includes('nullable') ? [...parts, 'nullable'] : parts
}

/** The column of the model, with what only the database has of it. */
export function withUnstated(kind: DatabaseKind, table: Table, from: Column, model: ModelTable, to: Column): Column {
  const parts = unstatedParts(table, from, model, to)
  const isRequired = parts.includes('nullable') && (from.notNullByDomain !== true || hasSameType(kind, from, to))
  return {
    ...to,
    ...(parts.includes('default') && from.default !== undefined
      ? { default: defaultOfType(kind, from, to, from.default) }
      : {}),
    ...(isRequired ? { nullable: false } : {}),
  }
}

/** The default of a column that gets another type: PostgreSQL takes only one of that type. */
function defaultOfType(kind: DatabaseKind, from: Column, to: Column, text: string): string {
  const base = ({ type }: Column) => type.split('(')[0]
  if (kind !== 'postgres' || to.enumValues || hasSameType(kind, from, to) || base(from) === base(to)) return text
  return `((${text})::text)::${to.type}`
}

/** The column of the database, once the changes are made that lead to the one of the model. */
export function columnAfter(kind: DatabaseKind, table: Table, from: Column, model: ModelTable, to: Column): Column {
  const own = withUnstated(kind, table, from, model, to)
  const comment = own.comment ?? from.comment
  const isSame = hasSameType(kind, from, to) && hasSameValues(from.enumValues, to.enumValues)
  // A text keeps the collation that no model states; other types have none.
  const collation = own.collation ?? (/char|text|enum|set/i.test(own.type) ? from.collation : undefined)
  const { default: _, ...column } = isSame ? { ...from, nullable: own.nullable } : { ...withoutType(from), ...own }
  return {
    ...column,
    ...(own.default === undefined ? {} : { default: own.default }),
    ...(comment === undefined ? {} : { comment }),
    ...(collation === undefined ? {} : { collation }),
  }
}

/** What a column keeps that gets another type. */
function withoutType(column: Column): Omit<Column, 'type'> {
  const { type: _type, baseType: _base, enumValues: _values, notNullByDomain: _domain, ...rest } = column
  const { collation: _collation, generated: _generated, ...kept } = rest
  return kept
}

/** The column without parts. */
export function withoutParts(column: Column, parts: readonly DroppablePart[]): Column {
  const { default: text, ...rest } = column
  return {
    ...rest,
    ...(text === undefined || parts.includes('default') ? {} : { default: text }),
    ...(parts.includes('nullable') ? { nullable: true } : {}),
  }
}
