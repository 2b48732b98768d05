import type { Model, ModelStatic } from 'sequelize'
import { modelInternals } from '../sequelize/internals.js'
import type { IndexColumn } from './table-indexes.js'

type AnyModel = ModelStatic<Model>

/** An index that a model declares: `@Table({ indexes })`, `@Index`, `unique`. */
export interface DeclaredIndex {
  readonly name: string
  readonly unique: boolean
  /** Undefined for an expression. */
  readonly columns: readonly IndexColumn[]
  /** Whether it has nothing but columns and their directions. */
  readonly plain: boolean
}

export function declaredIndexes(model: AnyModel): DeclaredIndex[] {
  const { _indexes, uniqueKeys } = modelInternals(model)
  const keys = Object.entries(uniqueKeys).map(([name, { fields }]) => ({ name, unique: true, fields }))
  return [..._indexes, ...keys].map((index) => {
    const columns = index.fields.map((field) => columnOf(model, field))
    const plain = columns.every(({ name }) => name !== undefined) && SPECIAL.every((option) => !(option in index))
    return { name: index.name, unique: index.unique === true, columns, plain }
  })
}

const SPECIAL = ['where', 'using', 'operator']

function columnOf(model: AnyModel, field: unknown): IndexColumn {
  const { name, attribute, order }: { name?: unknown; attribute?: unknown; order?: unknown } =
    typeof field === 'object' && field !== null ? field : { name: field }
  const given = name ?? attribute
  return {
    name: typeof given === 'string' ? fieldOf(model, given) : undefined,
    descending: typeof order === 'string' && /^desc/i.test(order),
  }
}

/** The name of an attribute's column, or the column itself. */
function fieldOf(model: AnyModel, name: string): string {
  return model.getAttributes()[name]?.field ?? name
}

/** A column that refers to another table. */
export interface ForeignKey {
  readonly attribute: string
  readonly column: string
}

export function foreignKeys(model: AnyModel): ForeignKey[] {
  return Object.entries(model.getAttributes())
    .filter(([, { references }]) => references !== undefined)
    .map(([attribute, { field }]) => ({ attribute, column: field ?? attribute }))
}

/** The order of the default scope. */
export interface DefaultOrder {
  readonly columns: readonly OrderColumn[]
  /** The columns that the conditions of the scope name: an index may begin with them. */
  readonly conditions: readonly string[]
}

export interface OrderColumn {
  readonly name: string
  readonly descending: boolean
}

/** @returns undefined if there is no order, or not one of columns of this table. */
export function defaultOrder(model: AnyModel): DefaultOrder | undefined {
  const { order, where }: { order?: unknown; where?: unknown } = modelInternals(model)._scope ?? {}
  if (!Array.isArray(order)) return undefined
  const items: readonly unknown[] = order
  const columns = items.flatMap((item) => orderColumn(model, item) ?? [])
  if (columns.length < items.length) return undefined
  const named = typeof where === 'object' && where !== null ? Object.keys(where) : []
  // Rows that are equal in a unique column are one row, which needs no further order.
  const [key, ...others] = model.primaryKeyAttributes
  const end =
    key === undefined || others.length > 0 ? -1 : columns.findIndex(({ name }) => name === fieldOf(model, key))
  return {
    columns: end === -1 ? columns : columns.slice(0, end),
    conditions: named.map((name) => fieldOf(model, name)),
  }
}

function orderColumn(model: AnyModel, item: unknown): OrderColumn | undefined {
  const [name, direction = 'ASC', ...others]: readonly unknown[] = Array.isArray(item) ? item : [item]
  if (typeof name !== 'string' || !(name in model.getAttributes()) || others.length > 0) return undefined
  return typeof direction === 'string' && /^(?:asc|desc)$/i.test(direction)
    ? { name: fieldOf(model, name), descending: /^desc$/i.test(direction) }
    : undefined
}
