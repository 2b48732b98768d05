import { type FindOptions, type Model, type ModelStatic, type Sequelize, Utils } from 'sequelize'
import { type Find, type Join, leadsTo } from '../db/statements/find.js'
import { quoted } from '../db/sequelize/quote.js'
import { queryGeneratorOf } from '../db/sequelize/internals.js'
import { type TableColumn, tableColumn } from '../db/startup/table-columns.js'
import { BootError } from '../core/boot-error.js'
import type { OrderColumn } from './keyset.js'
import type { ColumnType, Kind, ColumnCodec } from './column-codec.js'

/** What must be known of an expression before rows can be paged by it. */
export interface Typing {
  /** A Sequelize data type: `DataType.INTEGER`, `DataType.DECIMAL(10, 2)`. */
  readonly type: unknown
  /** Whether it may be NULL. */
  readonly nullable: boolean
}

const typings = new WeakMap<object, Typing>()

/**
 * Declares what an expression is, so that a cursor can hold its value.
 *
 * @example
 * select(Hero, { order: [[typed(fn('length', col('name')), { type: DataType.INTEGER, nullable: false }), 'DESC']] })
 */
export function typed<E extends object>(expression: E, typing: Typing): E {
  typings.set(expression, typing)
  return expression
}

type Direction = OrderColumn['direction']

/** The columns that a statement is ordered by, its primary key last. @throws BootError, with the cure, for what cannot be paged by. */
export function orderColumns(find: Find, notation: ColumnCodec): readonly OrderColumn[] {
  const items = itemsOf(find)
  const { model } = find
  if (items.length === 0) throw new BootError(missingOrder(model))
  if (model.primaryKeyAttributes.length === 0)
    throw new BootError(
      `paginate(select(${model.name})): the model has no primary key, so that nothing tells rows apart that are equal in the order. Mark its key: @Column({ primaryKey: true }).`,
    )
  const named = items.map((item) => toColumn(item, find))
  const keys = model.primaryKeyAttributes.map((key) => keyColumn(model, key))
  return upToWholeKey(distinct([...named, ...keys]), keys).map((column) => comparable(column, notation))
}

/** The primary key's columns, as they stand at the end of every order. */
export function keyColumns(model: ModelStatic<Model>, notation: ColumnCodec): readonly OrderColumn[] {
  return model.primaryKeyAttributes.map((key) => comparable(keyColumn(model, key), notation))
}

function comparable(column: OrderColumn, notation: ColumnCodec): OrderColumn {
  return { ...column, sql: notation.comparable(column.sql, column.type) }
}

function itemsOf({ options, model }: Find): readonly unknown[] {
  const order = options.order as unknown
  if (order === undefined || order === null) return []
  if (Array.isArray(order)) return order
  if (order instanceof Utils.SequelizeMethod) return [order]
  throw new BootError(
    `paginate(select(${model.name})): 'order' must be a list, such as order: [['age', 'DESC'], 'name'], got ${String(order)}.`,
  )
}

function missingOrder({ name }: ModelStatic<Model>): string {
  return (
    `paginate(select(${name})): a cursor page needs an explicit order, as a cursor is a place in it. ` +
    `Write one: paginate(select(${name}, { order: [['created_at', 'DESC']] })).`
  )
}

function keyColumn(model: ModelStatic<Model>, key: string): OrderColumn {
  return { ...attributeColumn(model, key, undefined), direction: 'ASC' }
}

function toColumn(item: unknown, find: Find): OrderColumn {
  const parts = Array.isArray(item) ? [...(item as unknown[])] : [item]
  const direction = takeDirection(parts, item)
  const last = parts.pop()
  const expression = typeof last === 'string' ? aliased(last, parts, find.options) : last
  if (typeof expression === 'string') return { ...namedColumn(expression, parts, find, item), direction }
  if (expression instanceof Utils.Col) return { ...namedColumn(nameOf(expression), parts, find, item), direction }
  return { ...expressionColumn(expression, find, item), direction }
}

function takeDirection(parts: unknown[], item: unknown): Direction {
  const last = parts.at(-1)
  if (parts.length < 2 || typeof last !== 'string' || !/^(?:asc|desc|nulls)\b/i.test(last)) return 'ASC'
  parts.pop()
  const direction = last.toUpperCase()
  if (direction === 'ASC' || direction === 'DESC') return direction
  throw new BootError(
    `${describe(item)}: '${last}' cannot be paged by a cursor: not every database has it, nor an index for it. ` +
      `Write ASC or DESC; NULLs then stand where the database puts them.`,
  )
}

// `attributes: [['full_name', 'name']]` gives a column another name, which the order may use.
function aliased(name: string, path: readonly unknown[], { attributes }: FindOptions): unknown {
  const given = Array.isArray(attributes) ? attributes : attributes && 'include' in attributes ? attributes.include : []
  const found = path.length === 0 && given?.find((attribute) => Array.isArray(attribute) && attribute[1] === name)
  return found ? (found as [unknown, string])[0] : name
}

function nameOf(column: object): string {
  return String((column as { col: unknown }).col)
}

function namedColumn(
  name: string,
  path: readonly unknown[],
  find: Find,
  item: unknown,
): Omit<OrderColumn, 'direction'> {
  const [attribute = '', ...before] = name.split('.').toReversed()
  const names = before.toReversed()
  if (names[0] === find.model.name) names.shift()
  const join = follow([...path, ...names], find, item)
  const model = join?.model ?? find.model
  const known = knownAttribute(model, attribute)
  if (known === undefined)
    throw new BootError(`${describe(item)}: ${model.name} has no column '${attribute}'. ${declareIt(model)}`)
  return attributeColumn(model, known, join)
}

// col('author_id') names the column, 'authorId' the attribute.
function knownAttribute(model: ModelStatic<Model>, name: string): string | undefined {
  const attributes = model.getAttributes()
  if (Object.hasOwn(attributes, name)) return name
  return Object.keys(attributes).find((attribute) => attributes[attribute]?.field === name)
}

function declareIt(model: ModelStatic<Model>): string {
  return `It has ${Object.keys(model.getAttributes()).join(', ')}.`
}

function follow(path: readonly unknown[], find: Find, item: unknown): Join | undefined {
  let join: Join | undefined
  for (const step of path) {
    const joins: readonly Join[] = join ? join.joins : find.joins
    join = joins.find((candidate) => leadsTo(step, candidate))
    if (!join)
      throw new BootError(`${describe(item)}: no include of the statement joins ${describeStep(step)}. Include it.`)
    if (join.many)
      throw new BootError(
        `${describe(item)}: ${join.path.join('.')} has many rows for one of ${find.model.name}, which so has no one place in the order. ` +
          `Order by a column of ${find.model.name} or of what it belongs to; the order of included rows is given by { separate: true, order }.`,
      )
  }
  return join
}

function describeStep(step: unknown): string {
  const named = (typeof step === 'object' && step !== null && 'model' in step ? step.model : step) as { name?: string }
  return typeof step === 'string' ? `'${step}'` : (named.name ?? 'it')
}

function attributeColumn(
  model: ModelStatic<Model>,
  name: string,
  join: Join | undefined,
): Omit<OrderColumn, 'direction'> {
  const attribute = model.getAttributes()[name]
  const declared = typeOf(attribute?.type, `${model.name}.${name}`)
  const type = { kind: kindInTable(declared.kind, tableColumn(model, attribute?.field ?? name)) }
  const nullable = attribute?.primaryKey !== true && attribute?.allowNull !== false
  const sql = quoted(model, name, join?.path)
  return { sql, type, nullable: nullable || (join !== undefined && !join.inner) }
}

function expressionColumn(expression: unknown, find: Find, item: unknown): Omit<OrderColumn, 'direction'> {
  const typing = typeof expression === 'object' && expression !== null ? typings.get(expression) : undefined
  if (!typing)
    throw new BootError(
      `${describe(item)}: of this expression neither the type is known nor whether it may be NULL, so that no cursor can hold its value. ` +
        `Say it: [typed(fn('length', col('name')), { type: DataType.INTEGER, nullable: false }), 'DESC'], with typed from 'sequitur/cursor'.`,
    )
  const sql = queryGeneratorOf(find.model.sequelize as Sequelize).quote(expression, find.model, '->')
  return { sql: `(${sql})`, type: typeOf(typing.type, describe(item)), nullable: typing.nullable }
}

interface DataTypeInstance {
  readonly key?: string
  readonly type?: unknown
}

const KINDS: Readonly<Record<string, Kind>> = {
  TINYINT: 'integer',
  SMALLINT: 'integer',
  MEDIUMINT: 'integer',
  INTEGER: 'integer',
  BIGINT: 'integer',
  BOOLEAN: 'integer',
  DECIMAL: 'decimal',
  FLOAT: 'float',
  REAL: 'float',
  'DOUBLE PRECISION': 'float',
  NUMBER: 'float',
  DATE: 'date-time',
  NOW: 'date-time',
  DATEONLY: 'date',
  TIME: 'time',
  ENUM: 'enum',
  BLOB: 'bytes',
  STRING: 'text',
  CHAR: 'text',
  TEXT: 'text',
  CITEXT: 'text',
  UUID: 'text',
  UUIDV1: 'text',
  UUIDV4: 'text',
  INET: 'text',
  CIDR: 'text',
  MACADDR: 'text',
}

// Of a type of the program's own, what the database reads from the text decides.
function typeOf(given: unknown, where: string): ColumnType {
  const type = (typeof given === 'function' ? new (given as new () => DataTypeInstance)() : given) as DataTypeInstance
  const key = type?.key ?? ''
  if (['VIRTUAL', 'JSON', 'JSONB', 'GEOMETRY', 'GEOGRAPHY', 'HSTORE'].includes(key))
    throw new BootError(
      `${where} is of the type ${key}, which has no order. Order by a stored column, or by typed(...) what is in it.`,
    )
  return { kind: KINDS[key] ?? 'text' }
}

/** Kinds by the names of the types in tables: MySQL's and MariaDB's, as elsewhere no comparison depends on them. */
const KINDS_IN_TABLES: readonly (readonly [RegExp, Kind])[] = [
  [/^(?:ENUM|SET)\b/i, 'enum'],
  [/^(?:VAR)?BINARY\b|BLOB\b/i, 'bytes'],
  [/^(?:(?:TINY|SMALL|MEDIUM|BIG)?INT|BIT|YEAR)\b/i, 'integer'],
  [/^DECIMAL\b/i, 'decimal'],
  [/^(?:FLOAT|DOUBLE)\b/i, 'float'],
  [/^(?:DATETIME|TIMESTAMP)\b/i, 'date-time'],
  [/^DATE\b/i, 'date'],
  [/^TIME\b/i, 'time'],
  [/CHAR|TEXT/i, 'text'],
]

// What the table has decides, not what the model says of it: a STRING may be an ENUM there, which is sorted by its place.
function kindInTable(declared: Kind, column: TableColumn | undefined): Kind {
  return KINDS_IN_TABLES.find(([type]) => column && type.test(column.type))?.[1] ?? declared
}

function distinct(columns: readonly OrderColumn[]): OrderColumn[] {
  return columns.filter((column, index) => columns.findIndex(({ sql }) => sql === column.sql) === index)
}

// What follows a whole key orders nothing any more.
function upToWholeKey(columns: readonly OrderColumn[], keys: readonly OrderColumn[]): readonly OrderColumn[] {
  const ends = keys.map((key) => columns.findIndex(({ sql }) => sql === key.sql))
  return columns.slice(0, Math.max(...ends) + 1)
}

function describe(item: unknown): string {
  const parts = (Array.isArray(item) ? (item as unknown[]) : [item]).map((part) =>
    typeof part === 'string'
      ? `'${part}'`
      : typeof part === 'function'
        ? part.name
        : `${(part as object)?.constructor?.name ?? part}`,
  )
  return `order [${parts.join(', ')}]`
}
