import type { Model, ModelStatic } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { meant } from '../core/options.js'
import { columnsOf } from '../db/models/columns.js'
import { isVirtual } from '../db/models/column-shape.js'
import { associationAt, type ListColumn, listColumn } from './list-column.js'
import type { AnyListOptions, ListOperator } from './options.js'

type AnyModel = ModelStatic<Model>

/** A filter that clients may send. */
export interface ListFilter {
  /** Its name in the query: `filter[age][gte]`. */
  readonly parameter: string
  readonly column: ListColumn
  readonly operator: ListOperator
}

/** The options of a list, resolved to columns. */
export interface ListPlan {
  readonly model: AnyModel
  readonly filters: readonly ListFilter[]
  /** By their paths. */
  readonly sorts: ReadonlyMap<string, ListColumn>
  readonly defaultSort: readonly string[] | undefined
  readonly includes: readonly string[]
  /** The columns that clients may choose from; undefined if they may not. */
  readonly fields: readonly string[] | undefined
  readonly key: readonly string[]
  readonly maxItems: number
  readonly maxSort: number
}

const DEFAULT_MAX_ITEMS = 100
const DEFAULT_MAX_SORT = 3

/** @throws BootError for options that do not fit the model. */
export function listPlan(model: AnyModel, options: AnyListOptions, where: string): ListPlan {
  const sorts = new Map((options.sort ?? []).map((path) => [path, listColumn(model, path, `${where}: sort`)]))
  const key = keyOf(model, where)
  const filters = Object.entries(options.filter ?? {}).flatMap(([path, operators = []]) =>
    filtersOf(listColumn(model, path, `${where}: filter`), operators, where),
  )
  const paths = [...filters.map(({ column }) => column.path), ...sorts.keys()]
  const unused = options.unindexed?.find((path) => !paths.includes(path))
  if (unused !== undefined)
    throw new BootError(`${where}: unindexed: '${unused}' is neither in filter nor in sort. ${meant(unused, paths)}`)
  return {
    model,
    filters,
    sorts,
    defaultSort: options.defaultSort?.map((item) => sortable(item, sorts, where)),
    includes: (options.include ?? []).map((path) => includable(model, path, where)),
    fields: fieldsOf(model, options.fields, where),
    key,
    maxItems: options.maxItems ?? DEFAULT_MAX_ITEMS,
    maxSort: Math.min(options.maxSort ?? DEFAULT_MAX_SORT, Math.max(1, sorts.size)),
  }
}

function filtersOf(column: ListColumn, operators: readonly string[], where: string): readonly ListFilter[] {
  return operators.map((name) => {
    const operator = column.operators.find((known) => known === name)
    if (operator) return { parameter: `filter[${column.path}][${operator}]`, column, operator }
    throw new BootError(
      `${where}: filter: the column '${column.path}' has no operator '${name}'. Use one of ${column.operators.join(', ')}.`,
    )
  })
}

function keyOf(model: AnyModel, where: string): readonly string[] {
  const key = Object.entries(columnsOf(model)).flatMap(([name, { primaryKey }]) => (primaryKey === true ? name : []))
  if (key.length > 0) return key
  throw new BootError(
    `${where}: ${model.name} has no primary key, so that rows which are equal in the order cannot be distinguished. ` +
      'Declare it: @Column({ primaryKey: true }).',
  )
}

function sortable(item: string, sorts: ReadonlyMap<string, unknown>, where: string): string {
  const path = pathOf(item)
  if (sorts.has(path)) return item
  throw new BootError(`${where}: defaultSort: '${path}' is not in sort. ${meant(path, [...sorts.keys()])}`)
}

/** `-age` -> `age` */
export function pathOf(item: string): string {
  return item.startsWith('-') ? item.slice(1) : item
}

function includable(model: AnyModel, path: string, where: string): string {
  path.split('.').reduce((from, step) => associationAt(from, step, path, `${where}: include`).target(), model)
  return path
}

function fieldsOf(model: AnyModel, fields: AnyListOptions['fields'], where: string): readonly string[] | undefined {
  if (fields === undefined) return undefined
  const names = Object.entries(columnsOf(model)).flatMap(([name, { type }]) => (isVirtual(type) ? [] : name))
  if (fields === true) return names
  const unknown = fields.find((name) => !names.includes(name))
  if (unknown === undefined) return fields
  throw new BootError(`${where}: fields: ${model.name} has no column '${unknown}'. ${meant(unknown, names)}`)
}
