import { type Model, type ModelStatic, Utils } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { modelInternals, dataTypeInternals } from '../db/sequelize/internals.js'
import { quoted } from '../db/sequelize/quote.js'
import { type Find, type Join, leadsTo } from '../db/statements/find.js'
import { type ColumnCodec, columnCodecOf, type ColumnKind } from './column-codec.js'
import { nullsLastByDefault, type OrderColumn } from './keyset.js'
import { aliasesOf, describeItem, partsOf } from './order-items.js'
import { tableColumn } from '../db/startup/table-columns.js'

/** The properties of an expression that a paginator must know to order rows by it. */
export interface Typing {
  /** A Sequelize data type: `DataType.INTEGER`, `DataType.DECIMAL(10, 2)`. */
  readonly type: unknown
  /** Whether it may be NULL. */
  readonly nullable: boolean
}

const declaredTypes = new WeakMap<object, Typing>()

/**
 * Declares the type of an expression, so that a cursor can hold its value.
 *
 * @example
 * select(Hero, { order: [[typed(fn('length', col('name')), { type: DataType.INTEGER, nullable: false }), 'DESC']] })
 */
export function typed<E extends object>(expression: E, typing: Typing): E {
  declaredTypes.set(expression, typing)
  return expression
}

/** The columns of a model's primary key, ascending. */
export function keyColumns(model: ModelStatic<Model>): readonly OrderColumn[] {
  const codec = columnCodecOf(model)
  return model.primaryKeyAttributes.map((key) =>
    orderColumn(attributeColumn(model, key, undefined), { direction: 'ASC' }, codec),
  )
}

/**
 * The columns that a statement orders by, followed by the columns of `key`, its primary key, that it does not order by.
 *
 * @throws BootError for an order whose values cursors cannot hold.
 */
export function orderColumns(find: Find, key: readonly OrderColumn[]): readonly OrderColumn[] {
  const codec = columnCodecOf(find.model)
  const columns = itemsOf(find).map((item) => orderColumn(toColumn(item, find), sortingOf(item), codec))
  return upToWholeKey(distinct([...columns, ...key]), key)
}

type Column = Pick<OrderColumn, 'sql' | 'kind' | 'nullable'>

function orderColumn(column: Column, { direction, nullsLast }: Sorting, codec: ColumnCodec): OrderColumn {
  const sql = codec.comparable(column.sql, column.kind)
  const byDefault = nullsLastByDefault({ direction, codec })
  return { ...column, sql, direction, nullsLast: column.nullable ? (nullsLast ?? byDefault) : byDefault, codec }
}

function itemsOf({ model, options }: Find): readonly unknown[] {
  const order: unknown = options.order ?? []
  const items: readonly unknown[] | undefined = Array.isArray(order)
    ? order
    : order instanceof Utils.SequelizeMethod
      ? [order]
      : undefined
  if (!items)
    throw new BootError(
      `paginate(select(${model.name})): 'order' must be a list, such as order: [['age', 'DESC'], 'name'], got ${String(order)}.`,
    )
  if (items.length === 0)
    throw new BootError(
      `paginate(select(${model.name})): a cursor page needs an explicit order, as a cursor is a position in it. ` +
        `Write one: paginate(select(${model.name}, { order: [['created_at', 'DESC']] })).`,
    )
  if (model.primaryKeyAttributes.length === 0)
    throw new BootError(
      `paginate(select(${model.name})): the model has no primary key, so that rows which are equal in the order cannot be distinguished. ` +
        'Declare it: @Column({ primaryKey: true }).',
    )
  return items
}

function toColumn(item: unknown, find: Find): Column {
  const { path, expression } = partsOf(item)
  const aliased = path.length === 0 && aliasesOf(find.options).find(([, alias]) => alias === expression)
  const column: unknown = aliased ? aliased[0] : expression
  if (typeof column === 'string') return namedColumn(column, path, find, item)
  return column instanceof Utils.Col ? namedColumn(column.col, path, find, item) : expressionColumn(column, find, item)
}

/** The direction of an order item, and where it puts NULLs; undefined for where the database does. */
interface Sorting {
  readonly direction: OrderColumn['direction']
  readonly nullsLast?: boolean | undefined
}

function sortingOf(item: unknown): Sorting {
  const given = partsOf(item).direction ?? 'ASC'
  const [all, direction = 'ASC', nulls] =
    /^(ASC|DESC)?(?:(?:^|\s+)NULLS\s+(FIRST|LAST))?$/.exec(given.trim().toUpperCase()) ?? []
  if (all !== undefined)
    return {
      direction: direction === 'ASC' ? 'ASC' : 'DESC',
      nullsLast: nulls === undefined ? undefined : nulls === 'LAST',
    }
  throw new BootError(
    `${describeItem(item)}: a cursor page cannot be ordered by '${given}'. Write ASC or DESC, or one of them with NULLS FIRST or NULLS LAST.`,
  )
}

function namedColumn(name: string, path: readonly unknown[], find: Find, item: unknown): Column {
  const [attribute = '', ...before] = name.split('.').toReversed()
  const aliases = before.toReversed()
  if (aliases[0] === find.model.name) aliases.shift()
  const join = joinAt([...path, ...aliases], find, item)
  const model = join?.model ?? find.model
  const known = attributeOf(model, attribute)
  if (known !== undefined) return attributeColumn(model, known, join)
  throw new BootError(
    `${describeItem(item)}: ${model.name} has no column '${attribute}'. It has ${Object.keys(model.getAttributes()).join(', ')}.`,
  )
}

// col('author_id') names the column, 'authorId' the attribute.
function attributeOf(model: ModelStatic<Model>, name: string): string | undefined {
  const attributes = model.getAttributes()
  if (Object.hasOwn(attributes, name)) return name
  return Object.keys(attributes).find((attribute) => attributes[attribute]?.field === name)
}

function joinAt(path: readonly unknown[], find: Find, item: unknown): Join | undefined {
  let join: Join | undefined
  for (const step of path) {
    const joins: readonly Join[] = join ? join.joins : find.joins
    join = joins.find((candidate) => leadsTo(step, candidate))
    if (!join)
      throw new BootError(`${describeItem(item)}: no include of the statement joins ${describeStep(step)}. Include it.`)
    if (join.many)
      throw new BootError(
        `${describeItem(item)}: ${join.path.join('.')} has many rows for one of ${find.model.name}, which therefore has no single place in the order. ` +
          `Order by a column of ${find.model.name} or of a model that it belongs to; to order the included rows, write { separate: true, order } into their include.`,
      )
  }
  return join
}

function describeStep(step: unknown): string {
  if (typeof step === 'string') return `'${step}'`
  const model: unknown = typeof step === 'object' && step !== null && 'model' in step ? step.model : step
  return typeof model === 'function' ? model.name : 'it'
}

function attributeColumn(model: ModelStatic<Model>, name: string, join: Join | undefined): Column {
  const attribute = model.getAttributes()[name]
  const nullable = attribute?.primaryKey !== true && attribute?.allowNull !== false
  return {
    sql: quoted(model, name, join?.path),
    kind: columnKindOf(model, name),
    nullable: nullable || (join !== undefined && !join.inner),
  }
}

function expressionColumn(expression: unknown, find: Find, item: unknown): Column {
  const typing = typeof expression === 'object' && expression !== null ? declaredTypes.get(expression) : undefined
  if (!typing)
    throw new BootError(
      `${describeItem(item)}: the type of this expression is unknown, and whether it may be NULL, so that no cursor can hold its value. ` +
        `Declare both: [typed(fn('length', col('name')), { type: DataType.INTEGER, nullable: false }), 'DESC'], with typed from 'sequitur/cursor'.`,
    )
  const sql = modelInternals(find.model).queryGenerator.quote(expression, find.model, '->')
  return { sql: `(${sql})`, kind: kindOfType(typing.type, describeItem(item)), nullable: typing.nullable }
}

function distinct(columns: readonly OrderColumn[]): OrderColumn[] {
  return columns.filter((column, index) => columns.findIndex(({ sql }) => sql === column.sql) === index)
}

// Columns after a whole key do not change the order.
function upToWholeKey(columns: readonly OrderColumn[], key: readonly OrderColumn[]): readonly OrderColumn[] {
  const ends = key.map(({ sql }) => columns.findIndex((column) => column.sql === sql))
  return columns.slice(0, Math.max(...ends) + 1)
}

/** The kind of an attribute's column. @throws BootError for a type that has no order. */
function columnKindOf(model: ModelStatic<Model>, name: string): ColumnKind {
  const attribute = model.getAttributes()[name]
  const declared = kindOfType(attribute?.type, `${model.name}.${name}`)
  // The table decides, not the model: a STRING of the model may be an ENUM in the table, which is sorted by its index.
  const column = tableColumn(model, attribute?.field ?? name)
  return KINDS_IN_TABLES.find(([type]) => column && type.test(column.type))?.[1] ?? declared
}

/** The kind of a Sequelize data type. @throws BootError for a type that has no order. */
function kindOfType(type: unknown, where: string): ColumnKind {
  const { key = '' } = dataTypeInternals(type)
  if (WITHOUT_ORDER.has(key))
    throw new BootError(
      `${where} has the type ${key}, which has no order. Order by another column, or by an expression of this one: typed(...) of 'sequitur/cursor'.`,
    )
  // A data type that is not listed counts as text: the cursor holds its value as a string, which the database compares with the column.
  return KINDS[key] ?? 'text'
}

const WITHOUT_ORDER: ReadonlySet<string> = new Set(['VIRTUAL', 'JSON', 'JSONB', 'GEOMETRY', 'GEOGRAPHY', 'HSTORE'])

const KINDS: Readonly<Record<string, ColumnKind>> = {
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
}

/** By the names of types in the tables of MySQL and MariaDB; on other databases no comparison depends on the kind. */
const KINDS_IN_TABLES: readonly (readonly [RegExp, ColumnKind])[] = [
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
