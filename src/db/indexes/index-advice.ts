import { tableNameOf } from '../models/table-name.js'
import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { type ColumnUse, columnUsesOf } from './column-uses.js'
import { type IndexColumn, type TableIndex, indexesIn } from './table-indexes.js'
import type { Catalog } from '../catalog/catalog.js'
import { readTables } from '../catalog/read-tables.js'
import { modelInternals } from '../sequelize/internals.js'

type AnyModel = ModelStatic<Model>

/**
 * Which indexes of the models' tables are missing, and how a migration adds each.
 *
 * @param limited columns that every statement compares with a value, in the tables that have them: an index may begin with them.
 */
export async function adviseIndexes(
  sequelize: Sequelize,
  models: readonly AnyModel[],
  limited: readonly string[] = [],
): Promise<string[]> {
  const uses = columnUsesOf(models)
  const catalog = await readTables(sequelize, models)
  return models.flatMap((model) => missing(tableOf(model, limited), indexesIn(catalog, model), uses))
}

/**
 * Which columns that clients filter or sort by have no index: a part of {@link adviseIndexes}.
 *
 * @param catalog of the tables; undefined for a server that cannot describe them.
 */
export function adviseUsedColumns(
  catalog: Catalog | undefined,
  models: readonly AnyModel[],
  limited: readonly string[] = [],
): string[] {
  const uses = columnUsesOf(models)
  const used = models.filter((model) => uses.some((use) => use.model === model))
  return used.flatMap((model) => {
    const existing = indexesIn(catalog, model)
    const table = tableOf(model, limited)
    return existing.length === 0 ? [] : unindexedColumns(table, usableIndexes(table, existing), uses)
  })
}

/** A table, and those of its columns that every statement compares with a value. */
interface Table {
  readonly model: AnyModel
  readonly limited: readonly OrderColumn[]
}

function tableOf(model: AnyModel, limited: readonly string[]): Table {
  const columns = Object.entries(model.getAttributes()).map(([name, { field = name }]) => field)
  const found = limited.filter((name) => columns.includes(name))
  return { model, limited: found.map((name) => ({ name, descending: false })) }
}

function missing(table: Table, existing: readonly TableIndex[], uses: readonly ColumnUse[]): string[] {
  const { model, limited } = table
  if (existing.length === 0) return [] // a view, or a table that sync creates later
  const declared = declaredIndexes(model).filter((index) => !existing.some((other) => isSame(other, index)))
  const indexes = usableIndexes(table, existing)
  const keys = foreignKeys(model).filter(({ column }) => !indexes.some(({ columns }) => columns[0]?.name === column))
  const order = defaultOrder(model)
  return [
    ...declared.map((index) => declaredAdvice(model, index, existing)),
    ...keys.map(
      ({ attribute, column }) =>
        `no index begins with column ${column} of table ${tableNameOf(model)}, a foreign key (${model.name}.${attribute}). ` +
        inMigration(model, withLimited(limited, [{ name: column, descending: false }])),
    ),
    ...(order && !indexes.some((index) => sorts(index, order))
      ? [
          `no index of table ${tableNameOf(model)} has the order of the default scope of ${model.name}. ` +
            inMigration(model, withLimited(limited, order.columns)),
        ]
      : []),
    ...unindexedColumns(
      table,
      indexes,
      uses.filter(({ attribute }) => !keys.some((key) => key.attribute === attribute)),
    ),
  ]
}

type Columns = Pick<TableIndex, 'columns'>

function usableIndexes({ model, limited }: Table, existing: readonly TableIndex[]): readonly Columns[] {
  const indexes: readonly Columns[] = [
    ...existing.filter(({ sortsAllRows }) => sortsAllRows),
    ...declaredIndexes(model).filter(({ plain }) => plain), // to be added anyway
  ]
  return limited.length === 0 ? indexes : indexes.flatMap((index) => [index, withoutLimited(index, limited)])
}

/** The columns by which an index sorts the rows that have one value in the limited columns. */
function withoutLimited({ columns }: Columns, limited: readonly OrderColumn[]): Columns {
  const start = columns.findIndex(({ name }) => limited.every((column) => column.name !== name))
  return { columns: start < 0 ? [] : columns.slice(start) }
}

function withLimited(limited: readonly OrderColumn[], columns: readonly OrderColumn[]): readonly OrderColumn[] {
  return [...limited.filter(({ name }) => columns.every((column) => column.name !== name)), ...columns]
}

function unindexedColumns(
  { model, limited }: Table,
  indexes: readonly Columns[],
  uses: readonly ColumnUse[],
): readonly string[] {
  const reasons = new Map<string, string>()
  for (const { model: used, attribute, by } of uses) {
    const name = model.getAttributes()[attribute]?.field ?? attribute
    const isServed = indexes.some(({ columns }) => columns[0]?.name === name)
    if (used === model && !isServed && !reasons.has(name)) reasons.set(name, by)
  }
  return [...reasons].map(
    ([name, by]) =>
      `no index begins with column ${name} of table ${tableNameOf(model)} (${by}). ${inMigration(model, withLimited(limited, [{ name, descending: false }]))}`,
  )
}

// The database, or a migration, may have given it another name.
function isSame(existing: TableIndex, { name, unique, columns, plain }: DeclaredIndex): boolean {
  if (unique && !existing.unique) return false
  return existing.name === name || (plain && existing.sortsAllRows && namesOf(existing.columns) === namesOf(columns))
}

function namesOf(columns: readonly { readonly name: string | undefined }[]): string {
  return JSON.stringify(columns.map(({ name }) => name ?? null))
}

/** Whether an index has the rows in this order, read forwards or backwards. */
function sorts({ columns }: Columns, { columns: order, conditions }: DefaultOrder): boolean {
  const [first] = order
  if (!first) return true // of the primary key
  const start = columns.findIndex(({ name }) => name === first.name || !conditions.includes(name ?? ''))
  const sorted = columns.slice(start === -1 ? columns.length : start)
  const backwards = sorted[0]?.descending !== first.descending
  return order.every(
    ({ name, descending }, place) =>
      sorted[place]?.name === name && (sorted[place].descending !== descending) === backwards,
  )
}

function declaredAdvice(model: AnyModel, index: DeclaredIndex, existing: readonly TableIndex[]): string {
  const what = `index ${index.name}, which ${model.name} declares, is `
  const isTaken = existing.some(({ name }) => name === index.name)
  const state = isTaken
    ? `not unique in table ${tableNameOf(model)}. Remove it in a migration first. `
    : `missing in table ${tableNameOf(model)}. `
  const columns = index.columns.flatMap(({ name, descending }) => (name === undefined ? [] : { name, descending }))
  return index.plain
    ? `${what}${state}${inMigration(model, columns, index)}`
    : `${what}${state}Add it in a migration, with the options that the model gives it: await context.addIndex(${quotedTable(model)}, { ... })`
}

/** The line of a migration. The name of a declared index is kept: sync would create it once more under its own. */
function inMigration(
  model: AnyModel,
  columns: readonly OrderColumn[],
  declared?: { readonly name: string; readonly unique: boolean },
): string {
  const directions = new Set(columns.map(({ descending }) => descending))
  const fields = columns.map(({ name, descending }) =>
    directions.size > 1 && descending ? `{ name: ${quote(name)}, order: 'DESC' }` : quote(name),
  )
  const options = declared && `{ name: ${quote(declared.name)}${declared.unique ? ', unique: true' : ''} }`
  const args = [quotedTable(model), `[${fields.join(', ')}]`, options ?? []].flat()
  return `Add it in a migration: await context.addIndex(${args.join(', ')})`
}

function quotedTable(model: AnyModel): string {
  const name = model.getTableName()
  return typeof name === 'string'
    ? quote(name)
    : `{ tableName: ${quote(name.tableName)}, schema: ${quote(name.schema)} }`
}

function quote(name: string): string {
  return `'${name.replaceAll(/[\\']/g, '\\$&')}'`
}

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
