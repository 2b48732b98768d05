import { isObjectLiteral } from '../../core/records.js'
import { col, fn, literal, type Model, type ModelStatic, Op } from 'sequelize'
import type { CompiledStatement, GeneratedStatement } from '../direct-statement.js'
import { modelInternals } from '../sequelize/internals.js'
import type { Select, Sql } from '../statements/statement.js'
import {
  type Condition,
  type Conditions,
  conditionsOf,
  generated,
  type ModelPlan,
  planOf,
  toWhere,
} from './model-plan.js'
import { withLiterals } from './literals.js'
import { mayCompileRead } from './may-compile.js'

/*
 * Sequelize generates the SQL of a statement for each call, with its values as literals. For statements of a simple form the SQL is generated
 * once for each shape, by Sequelize, with placeholders. A statement that Sequelize could treat differently is left to it: the functions of this file return
 * undefined then.
 */

/** The rows of a list that a page has. */
export interface Slice {
  readonly limit: number
  readonly offset?: number | undefined
}

/** Makes instances, or objects that are built into instances later, from rows. The options are those of `Model.bulkBuild()`. */
export type BuildRows<R> = (rows: readonly unknown[], options: object) => R

/** All rows of a statement, as `findAll()` returns them. */
export function allStatement<M extends Model>(select: Select<M>): CompiledStatement<M[]> | undefined {
  const { model, options } = select
  const { limit, offset, ...others } = options
  if (!isCount(limit) || !isCount(offset) || (limit === undefined && offset !== undefined)) return undefined
  const slice = limit === undefined ? undefined : { limit, offset }
  return rowsStatement({ ...select, options: others }, slice, buildOf(model))
}

/** The first row of a statement, as `findOne()` returns it. */
export function firstStatement<M extends Model>(select: Select<M>): CompiledStatement<M | null> | undefined {
  const selection = selectionOf(select)
  if (!selection) return undefined
  const { model } = select
  const { plan, conditions } = selection
  const isUnique = conditions.shape.some(
    (condition) => typeof condition === 'string' && plan.uniqueNames.has(condition),
  )
  const buildAll = buildOf(model)
  const build = (rows: readonly unknown[], options: object) => buildAll(rows, options)[0] ?? null
  return rowsOf(selection, select.options.order, isUnique ? undefined : 'first', build)
}

/** The row with a primary key, as `findByPk()` returns it; a composite key is an object. */
export function keyStatement<M extends Model>(
  model: ModelStatic<M>,
  key: unknown,
): CompiledStatement<M | null> | undefined {
  if (key === null) return undefined // Sequelize sends nothing
  const isObject = typeof key === 'object'
  // TypeScript does not know the attributes of a model that is a type parameter.
  const where = (isObject ? key : { [model.primaryKeyAttribute]: key }) as never
  if (isObject && !isWholeKey(model, key)) return undefined
  return firstStatement({ kind: 'select', model, options: { where } })
}

function isWholeKey(model: ModelStatic<Model>, key: object): boolean {
  const given = Object.keys(key)
  return given.length === model.primaryKeyAttributes.length && model.primaryKeyAttributes.every((name) => name in key)
}

/** What statements of the same conditions share. */
export interface Selection {
  readonly model: ModelStatic<Model>
  readonly plan: ModelPlan
  readonly conditions: Conditions
}

/** The rows of a statement, in any order. */
export function selectionOf({ model, options }: Select<Model>): Selection | undefined {
  if (!hasOnlyRows(options) || !mayCompileRead(model)) return undefined
  const plan = planOf(model)
  const conditions = conditionsOf(plan, options.where)
  return conditions && { model, plan, conditions }
}

function rowsStatement<R>(
  select: Select<Model>,
  slice: Slice | 'first' | undefined,
  build: BuildRows<R>,
): CompiledStatement<R> | undefined {
  const selection = selectionOf(select)
  return selection && rowsOf(selection, select.options.order, slice, build)
}

/** Further columns of every row: their SQL, and their names. */
type MoreColumns = readonly (readonly [sql: string, name: string])[]

/** The rows in an order, or a slice of them. */
export function rowsOf<R>(
  selection: Selection,
  given: unknown,
  slice: Slice | 'first' | undefined,
  build: BuildRows<R>,
  more: MoreColumns = [],
): CompiledStatement<R> | undefined {
  const { plan, conditions } = selection
  const { shape, values } = conditions
  const order = orderOf(plan, given)
  if (!order) return undefined
  const key = `rows ${conditions.key} ${textOfOrder(plan, order)} ${more.length > 0 ? JSON.stringify(more) : ''}`
  const options = () => ({
    attributes: withMore(plan, more),
    ...whereOf(plan, shape),
    ...(order.length > 0 ? { order: order.map(copy) } : {}),
  })
  return slicedRows(selection, { key, options, values, slice }, build)
}

/**
 * The rows of {@link rowsOf}, each with the number of all rows of the selection, by one statement. Only for databases on which limits are
 * literals and values are not, and for columns that do not have names of other attributes. The number stands outside of the statement that has the limit: in its list of columns, PostgreSQL would
 * also compute the columns of the rows before the offset.
 */
export function countedRowsOf<R>(
  selection: Selection,
  given: unknown,
  slice: Slice,
  build: BuildRows<R>,
): CompiledStatement<R> | undefined {
  const order = orderOf(selection.plan, given)
  const rows = order && rowsOf(selection, order, slice, build)
  if (!rows) return undefined
  const { generated: statement, values, form, readsAlone, read } = rows
  let frame = frames.get(statement)
  if (!frame) frames.set(statement, (frame = newFrame(selection, order)))
  const sql = `${frame.before}${withoutEnd(rows.sql)}${frame.after}`
  return { sql, generated: statement, values, form, readsAlone, read }
}

/** The column of {@link countedRowsOf} with the number of all rows. */
export const TOTAL = 'sequitur_total'

/** The SQL around the rows of a selection that adds the number of all rows. */
interface Frame {
  readonly before: string
  readonly after: string
}

/** By the statement of the rows, whose key has all that a frame depends on: the conditions and the order. */
const frames = new WeakMap<GeneratedStatement, Frame>()

function newFrame(selection: Selection, order: readonly unknown[]): Frame {
  const { model } = selection
  const { queryGenerator } = modelInternals(model)
  const quoted = (name: string) => queryGenerator.quoteIdentifier(name)
  const alias = quoted(model.name)
  // Of a subquery, SQL does not promise an order. PostgreSQL knows that the rows have it, and does not sort them again.
  const items = order.map((item) => {
    const [name, direction = 'ASC'] = (Array.isArray(item) ? item : [item]) as [string, string?] // orderOf() has checked them
    return `${alias}.${quoted(name)} ${direction}`
  })
  const count = `(${withoutEnd(countOf(selection).sql)}) AS ${quoted(TOTAL)}`
  return { before: `SELECT ${alias}.*, ${count} FROM (`, after: `) AS ${alias} ORDER BY ${items.join(', ')};` }
}

/** Some of the rows of a list. */
export interface ListRange {
  /** Equal only for ranges of a selection that differ in nothing but their values and limits. */
  readonly key: string
  /** SQL. */
  readonly order: readonly string[]
  readonly more: MoreColumns
  /** In addition to the conditions of the selection. */
  readonly condition: Sql | undefined
  readonly limit: number
}

/** The rows of a range. */
export function rangeOf<R>(selection: Selection, range: ListRange, build: BuildRows<R>): CompiledStatement<R> {
  const { plan, conditions } = selection
  const { order, more, condition, limit } = range
  const values = condition ? [...conditions.values, ...condition.values] : conditions.values
  const options = () => ({
    attributes: withMore(plan, more),
    ...(condition ? bothOf(plan, conditions, condition) : whereOf(plan, conditions.shape)),
    order: order.map((sql) => literal(sql)),
  })
  const key = `range ${conditions.key} ${range.key}`
  return slicedRows(selection, { key, options, values, slice: { limit } }, build)
}

// Op.and puts its conditions in parentheses.
function bothOf(plan: ModelPlan, { shape, values }: Conditions, { texts }: Sql): object {
  const [first = '', ...rest] = texts
  const added = literal(rest.reduce((before, after, index) => `${before}$${values.length + index + 1}${after}`, first))
  const own = shape.length > 0 ? [{ [Op.and]: [toWhere(plan, shape)] }] : []
  return { where: { [Op.and]: [...own, added] } }
}

function withMore({ columns }: ModelPlan, more: MoreColumns): unknown[] {
  return [...columns.map(copy), ...more.map(([sql, name]) => [literal(sql), name])]
}

interface RowsQuery {
  /** Equal only for queries of a model that differ in nothing but their values and limits. */
  readonly key: string
  /** Those of Sequelize's generator, without a limit. */
  readonly options: () => object
  readonly values: readonly unknown[]
  readonly slice: Slice | 'first' | undefined
}

function slicedRows<R>(
  { model, plan }: Selection,
  { key, options, values, slice }: RowsQuery,
  build: BuildRows<R>,
): CompiledStatement<R> {
  const { kind, numbers, suffix } = limitOf(model, slice)
  const skips = typeof slice === 'object' && slice.offset !== undefined
  const statement = generated(plan, `${kind}${skips ? '+' : ''}${key}`, () =>
    generate(model, { ...options(), ...limitOptions(kind, values.length) }),
  )
  const all = numbers.length > 0 ? [...values, ...numbers] : values
  const { sql } = statement
  const text = suffix === '' ? sql : `${withoutEnd(sql)}${suffix};`
  const isBound = !plan.hasLiterals
  return {
    sql: isBound ? text : withLiterals(model, text, all),
    generated: statement,
    values: isBound ? all : [],
    form: suffix === '' ? 'covered' : 'slice',
    readsAlone: plan.isOfPlainTable,
    read: (result) =>
      build(result.rowsOf?.(model) ?? result.rows, { isNewRecord: false, raw: true, attributes: plan.names }),
  }
}

/** Different orders have different texts. */
function textOfOrder({ keyOrder }: ModelPlan, order: readonly unknown[]): string {
  if (order.length === 0) return ''
  return order === keyOrder ? 'key' : JSON.stringify(order)
}

/** Equal for orders of a model's attributes that say the same; undefined for an order of anything else. */
export function orderKey({ plan }: Selection, order: unknown): string | undefined {
  const items = orderOf(plan, order)
  return items && JSON.stringify(items)
}

/** The number of rows of a statement, as `count()` returns it. */
export function countStatement(select: Select<Model>): CompiledStatement<number> | undefined {
  const selection = selectionOf(select)
  return selection && countOf(selection)
}

/** The number of rows, as `count()` returns it. */
export function countOf(selection: Selection): CompiledStatement<number> {
  const { model, plan, conditions } = selection
  const statement = generated(plan, `count ${conditions.key}`, () =>
    generate(model, { attributes: [[fn('count', col('*')), 'count']], ...whereOf(plan, conditions.shape) }),
  )
  return countBy(statement, selection)
}

function countBy(statement: GeneratedStatement, selection: Selection): CompiledStatement<number> {
  const { model, plan, conditions } = selection
  const { values } = conditions
  const { sql } = statement
  const isBound = !plan.hasLiterals
  return {
    generated: statement,
    sql: isBound ? sql : withLiterals(model, sql, values),
    values: isBound ? values : [],
    form: 'count',
    readsAlone: plan.isOfPlainTable,
    read: ({ rows: [row] }) => parseInt(String((row as { count: unknown }).count), 10),
  } // as the SQL names it
}

/** The number of rows, of which the database reads no more than `most`. */
export function countUpTo({ model, plan, conditions }: Selection, most: number): CompiledStatement<number> {
  const statement = generated(plan, `count ${conditions.key} ${most}`, () => {
    const rows = generate(model, {
      attributes: [[literal('1'), 'one']],
      ...whereOf(plan, conditions.shape),
      limit: most,
    })
    return `SELECT count(*) AS count FROM (${withoutEnd(rows)}) AS counted;`
  })
  return countBy(statement, { model, plan, conditions })
}

/** The SQL without its semicolon. */
export function withoutEnd(sql: string): string {
  return sql.endsWith(';') ? sql.slice(0, -1) : sql
}

function hasOnlyRows(options: object): boolean {
  return isObjectLiteral(options) && Object.keys(options).every((name) => name === 'where' || name === 'order')
}

function buildOf<M extends Model>(model: ModelStatic<M>): BuildRows<M[]> {
  // bulkBuild() of a model builds instances of this model.
  return (rows, options) => modelInternals(model).bulkBuild(rows, options) as M[]
}

function generate(model: ModelStatic<Model>, options: object): string {
  return modelInternals(model).queryGenerator.selectQuery(model.getTableName(), options, model)
}

/** Sequelize may change the lists that its generator is given. */
function copy(item: unknown): unknown {
  return Array.isArray(item) ? [...(item as unknown[])] : item
}

function whereOf(plan: ModelPlan, shape: readonly Condition[]): object {
  return shape.length > 0 ? { where: toWhere(plan, shape) } : {}
}

const DIRECTION = /^(?:asc|desc)(?:\s+nulls\s+(?:first|last))?$/i

/** Attributes with directions, in Sequelize's form; undefined for any other order. */
function orderOf({ names }: ModelPlan, order: unknown): readonly unknown[] | undefined {
  if (order === undefined || order === null) return []
  if (!Array.isArray(order)) return undefined
  const items: readonly unknown[] = order
  for (const item of items) if (!isPlainOrder(names, item)) return undefined
  return items
}

function isPlainOrder(names: readonly string[], item: unknown): boolean {
  if (typeof item === 'string') return names.includes(item)
  if (!Array.isArray(item) || item.length === 0 || item.length > 2) return false
  const [name, direction = 'ASC']: unknown[] = item
  return typeof name === 'string' && names.includes(name) && typeof direction === 'string' && DIRECTION.test(direction)
}

interface Limit {
  readonly kind: 'all' | 'first' | 'limit' | 'slice'
  /** The values of its placeholders. */
  readonly numbers: readonly number[]
  /** The SQL of a limit without placeholders. */
  readonly suffix: string
}

/**
 * On PostgreSQL, the numbers are literals: the first page and a late one may need different plans, and a plan that was prepared with parameters
 * may be reused for both. Without parameters, preparing it saves the client nothing.
 */
function limitOf(model: ModelStatic<Model>, slice: Slice | 'first' | undefined): Limit {
  if (slice === undefined) return { kind: 'all', numbers: [], suffix: '' }
  if (slice === 'first') return { kind: 'first', numbers: [], suffix: '' }
  const { limit, offset } = slice
  if (model.sequelize?.getDialect() === 'postgres') {
    const suffix = ` LIMIT ${limit}${offset === undefined ? '' : ` OFFSET ${offset}`}`
    return { kind: 'all', numbers: [], suffix }
  }
  // Other databases have LIMIT 20, 10. Placeholders are numbered in the order of the SQL.
  return offset === undefined
    ? { kind: 'limit', numbers: [limit], suffix: '' }
    : { kind: 'slice', numbers: [offset, limit], suffix: '' }
}

function limitOptions(kind: Limit['kind'], before: number): object {
  const [first, second] = [literal(`$${before + 1}`), literal(`$${before + 2}`)]
  switch (kind) {
    case 'all':
      return {}
    case 'first':
      return { limit: 1 }
    case 'limit':
      return { limit: first }
    case 'slice':
      return { offset: first, limit: second }
  }
}

function isCount(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
}
