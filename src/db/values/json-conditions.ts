import { cast, literal, Op, type Sequelize, Utils } from 'sequelize'
import { ImpossibleValueError } from '../errors.js'
import { dataTypeInternals, queryGeneratorOf } from '../sequelize/internals.js'
import { isOfPattern } from './operands.js'
import { isJsonValue } from './scalars.js'
import type { AttributeInternals, QueryGenerator } from '../sequelize/query-generator.js'

/**
 * Makes conditions of JSON columns the same on all databases. What a client can send in one, a list, a key without a name, or one that names a type
 * which the value does not have, is refused: its SQL would be an error. So is an empty object: Sequelize writes no condition for it, so that a DELETE
 * would delete all rows. On PostgreSQL a JSON column is compared as JSONB, since JSON has no `=`.
 *
 * @param refused receives the error of a refusal, and returns what is thrown.
 */
export function checkJsonConditions(sequelize: Sequelize, refused: (error: ImpossibleValueError) => unknown): void {
  const generator = queryGeneratorOf(sequelize)
  const dialect = sequelize.getDialect()
  const casts = CASTS[dialect] ?? SQLITE_CASTS
  const traverse = generator._traverseJSON
  generator._traverseJSON = (items, column, key, value, path) => {
    const fault = faultOf(path, value, casts) ?? (dialect === 'postgres' ? undefined : emptyName(path))
    if (fault !== undefined) throw refused(impossibleCondition(`A path in the JSON column ${column}`, path, fault))
    traverse.call(generator, items, column, key, value, path) // calls this function again for each key of an object
  }
  const write = generator.whereItemQuery
  generator.whereItemQuery = (key, value, options: ConditionOptions = {}) => {
    const column = typeof key === 'string' ? columnOf(key, options) : undefined
    const type = column && dataTypeInternals(column.type).key
    if (!column || (type !== 'JSON' && type !== 'JSONB')) return write.call(generator, key, value, options)
    if (isEmpty(value))
      throw refused(
        impossibleCondition(
          `The JSON column ${String(key)}`,
          [String(key)],
          `${NO_CONDITION} Write { [Op.eq]: {} } for one that is stored.`,
        ),
      )
    const isCast = dialect === 'postgres' && type === 'JSON' && isCompared(value, options)
    if (!isCast) return write.call(generator, key, value, options)
    const { prefix, ...others } = options
    return write.call(generator, asJsonb(generator, String(key), prefix), value, { ...others, field: column })
  }
}

/** Its message, which the log may have, is without the names of the path: clients may send them. */
function impossibleCondition(what: string, path: readonly string[], fault: string): ImpossibleValueError {
  return new ImpossibleValueError(`${what} ${fault}`, path.join('.'))
}

type Comparable = (value: unknown) => boolean
/** The types that a key may name, as in `age::integer`, with the values that the database compares with them. */
type Casts = ReadonlyMap<string, Comparable>

const isText: Comparable = (value) => typeof value === 'string'
const isTextOrBoolean: Comparable = (value) => isText(value) || typeof value === 'boolean'
const isTextOrNumber: Comparable = (value) => isText(value) || typeof value === 'number' || typeof value === 'bigint'

// JSON has no `=`.
const POSTGRES_CASTS: Casts = new Map([
  ...['integer', 'int', 'smallint', 'bigint', 'float', 'real', 'double precision', 'decimal', 'numeric'].map(
    (type) => [type, isTextOrNumber] as const,
  ),
  ['boolean', isTextOrBoolean],
  ...['text', 'char', 'varchar', 'date', 'timestamp', 'timestamptz', 'jsonb'].map((type) => [type, isText] as const),
])

// Other databases compare all types.
const anyOf = (...types: readonly string[]): Casts => new Map(types.map((type) => [type, () => true]))

/** As Sequelize writes them for MySQL and MariaDB. */
const MYSQL_CASTS = [
  'integer',
  'float',
  'double precision',
  'decimal',
  'signed',
  'unsigned',
  'boolean',
  'text',
  'char',
  'date',
  'datetime',
  'timestamp',
  'timestamptz',
]

const CASTS: Readonly<Record<string, Casts>> = {
  postgres: POSTGRES_CASTS,
  mysql: anyOf(...MYSQL_CASTS),
  mariadb: anyOf(...MYSQL_CASTS, 'int'),
}
const SQLITE_CASTS = anyOf(...POSTGRES_CASTS.keys(), ...MYSQL_CASTS, 'nvarchar', 'json')

function faultOf(path: readonly string[], value: unknown, casts: Casts): string | undefined {
  // A list is equal to nothing in JSON: its SQL is an error, another one on each database, or compares with its only item.
  if (Array.isArray(value)) return 'cannot be a list. Write { [Op.in]: [...] } for one of several values.'
  if (isEmpty(value)) return NO_CONDITION
  if (hasUnknownOperand(value))
    return 'is compared with a list or an object by an operator that takes a string, a number or a boolean.'
  if (hasOtherPattern(value)) return 'is matched with a number or a boolean by an operator that takes a string.'
  const [, type] = path.at(-1)?.split('::') ?? []
  if (type === undefined) return undefined
  const fits = casts.get(type.toLowerCase())
  if (!fits) return `names a type that cannot be compared. Write one of ${[...casts.keys()].join(', ')}.`
  const other = comparedValues(value).find((one) => !fits(one))
  return other === undefined ? undefined : `is compared as ${type}, which a ${typeof other} is not.`
}

const COMPARISONS: ReadonlySet<unknown> = new Set([
  Op.eq,
  Op.ne,
  Op.gt,
  Op.gte,
  Op.lt,
  Op.lte,
  Op.is,
  Op.like,
  Op.notLike,
  Op.iLike,
  Op.notILike,
  Op.startsWith,
  Op.endsWith,
  Op.substring,
  Op.regexp,
  Op.notRegexp,
  Op.iRegexp,
  Op.notIRegexp,
])
const LIST_OPERATORS: ReadonlySet<unknown> = new Set([Op.in, Op.notIn, Op.not, Op.between, Op.notBetween])

/** Whether an operator has an operand that SQL cannot have at a path. */
function hasUnknownOperand(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.getOwnPropertySymbols(value).some((operator) => {
    const operand: unknown = Reflect.get(value, operator)
    if (COMPARISONS.has(operator)) return isJsonValue(operand)
    return LIST_OPERATORS.has(operator) && (Array.isArray(operand) ? operand.some(isJsonValue) : isJsonValue(operand))
  })
}

// On PostgreSQL, Sequelize converts what is at the path to the type of the value.
function hasOtherPattern(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.getOwnPropertySymbols(value).some((operator) => {
    const operand: unknown = Reflect.get(value, operator)
    return isOfPattern(operator) && operand !== null && !isText(operand) && typeof operand !== 'object'
  })
}

const NO_CONDITION = 'is an empty object, which is not a condition.'

function isEmpty(value: unknown): boolean {
  return isJsonValue(value) && !Array.isArray(value) && Object.keys(Object(value)).length === 0
}

/** The values that a key is compared with, of those that have a type in SQL: null and expressions have none. */
function comparedValues(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return value === null ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(comparedValues)
  return Object.getOwnPropertySymbols(value).flatMap((operator) => comparedValues(Reflect.get(value, operator)))
}

/** The names of a path of SQLite, MySQL and MariaDB are joined by dots. */
const EMPTY_NAME = /(?:^|\.)(?:$|[.[])/

function emptyName(path: readonly string[]): string | undefined {
  const [name = ''] = path.at(-1)?.split('::') ?? []
  return EMPTY_NAME.test(name) ? 'has a key without a name. Write the names between the dots.' : undefined
}

function asJsonb(generator: QueryGenerator, key: string, prefix: unknown): object {
  const table = prefix === undefined || prefix === null || prefix === '' ? '' : `${tableOf(generator, prefix)}.`
  return cast(literal(table + generator.quoteIdentifier(key)), 'jsonb')
}

/** The options that Sequelize passes to the parts of a condition. */
interface ConditionOptions {
  readonly prefix?: unknown
  readonly field?: AttributeInternals
  readonly model?: ColumnsOfModel
  readonly json?: boolean
}

interface ColumnsOfModel {
  readonly rawAttributes?: Readonly<Record<string, AttributeInternals>>
  readonly fieldRawAttributesMap?: Readonly<Record<string, AttributeInternals>>
}

function columnOf(key: string, { field, model }: ConditionOptions): AttributeInternals | undefined {
  return field ?? own(model?.rawAttributes, key) ?? own(model?.fieldRawAttributesMap, key)
}

function own<T>(values: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return values && Object.hasOwn(values, key) ? values[key] : undefined
}

// An object has conditions of paths, or operators that are written one by one.
function isCompared(value: unknown, { json }: ConditionOptions): boolean {
  if (value === null || value === undefined) return false
  if (typeof value !== 'object' || Array.isArray(value)) return true
  return json === false && !(Op.or in value || Op.and in value)
}

function tableOf(generator: QueryGenerator, prefix: unknown): string {
  return prefix instanceof Utils.Literal ? generator.handleSequelizeMethod(prefix) : generator.quoteTable(prefix)
}
