import { isPlainRecord } from '../../core/records.js'
import { type Sequelize, Utils } from 'sequelize'
import {
  type DataTypeInternals,
  type FnInternals,
  fnInternals,
  type HstoreInternals,
  queryGeneratorOf,
  type RangeInternals,
  sequelizeInternals,
} from './internals.js'
import { keepMomentSilent } from './moment.js'
import { escapeDollars } from './quote.js'
import type { AttributeInternals, BindOptions, JsonCondition, QueryGenerator, RowValues } from './query-generator.js'

/*
 * Sequelize 6 writes most values into the SQL of a statement, as literals. It escapes them, with four exceptions in which a value could end
 * its literal (SQL injection) or change its meaning. They are fixed here for one Sequelize instance, without a change of the data types,
 * which all instances of the process share:
 *
 * - bounds and strings of RANGE, and arrays in HSTORE, also inside ARRAY
 * - the conditions of sequelize.json({ ... })
 * - an autoIncrement key in PostgreSQL's bulkCreate()
 * - a string with a `$` in a statement that also has placeholders, such as '$1' in a list of Op.in
 */

/** Makes an instance escape every value that it writes into a statement. */
export function escapeEveryValue(sequelize: Sequelize): void {
  keepMomentSilent()
  const generator = queryGeneratorOf(sequelize)
  escapeTypes(generator)
  escapeMethods(generator)
  keepDollarSigns(generator)
  if (sequelizeInternals(sequelize).dialect.supports.bulkDefault) escapeKeys(generator)
}

function escapeTypes(generator: QueryGenerator): void {
  const escape = generator.escape.bind(generator)
  generator.escape = (value, field, options) => escape(value, field && withEscapedType(field), options)
}

function withEscapedType(field: AttributeInternals): AttributeInternals {
  const type = escapedType(field.type)
  return type === field.type ? field : Object.create(field, { type: { value: type } })
}

const escapedTypes = new WeakMap<object, unknown>()

function escapedType(type: unknown): unknown {
  if (typeof type !== 'object' || type === null) return type
  const known = escapedTypes.get(type)
  if (known !== undefined) return known
  const escaped = newEscapedType(type)
  escapedTypes.set(type, escaped)
  return escaped
}

function newEscapedType(type: DataTypeInternals): unknown {
  if (type.escape !== false) return type
  switch (type.key) {
    case 'RANGE':
      return Object.create(type, { _stringify: { value: rangeLiteral } })
    case 'HSTORE':
      return Object.create(type, { _value: { value: hstoreValue } })
    case 'ARRAY':
      return Object.create(type, { type: { value: escapedType(type.type) } })
    default:
      return type
  }
}

// An array is a range, [lower, upper]; any other value is a single element, as in Op.contains.
function rangeLiteral(this: RangeInternals, bounds: unknown, options: { escape(value: string): string }): string {
  const literal = options.escape(String(this._value(bounds, options)))
  return Array.isArray(bounds) ? literal : `${literal}::${this.toCastType()}`
}

// pg-hstore escapes strings only, and writes arrays and objects unescaped.
function hstoreValue(this: HstoreInternals, values: object): unknown {
  const strings = Object.entries(values).map(([key, value]) => [
    key,
    typeof value === 'object' && value ? String(value) : value,
  ])
  const original: HstoreInternals = Object.getPrototypeOf(this)
  return original._value.call(this, Object.fromEntries(strings))
}

function escapeMethods(generator: QueryGenerator): void {
  const handle = generator.handleSequelizeMethod.bind(generator)
  generator.handleSequelizeMethod = (method, ...rest) => {
    if (method instanceof Utils.Json && method.conditions) return jsonConditions(generator, method.conditions)
    return method instanceof Utils.Fn ? functionCall(generator, fnInternals(method), rest) : handle(method, ...rest)
  }
}

function jsonConditions(generator: QueryGenerator, conditions: object): string {
  const equal = ({ path: [column, ...path], value }: JsonCondition) =>
    `${generator.jsonPathExtractionQuery(column, path)} = ${generator.escape(String(value))}`
  return generator.parseConditionObject(conditions).map(equal).join(' AND ')
}

// Sequelize doubles each `$` in the arguments of fn(), which is right only in statements with placeholders.
function functionCall(generator: QueryGenerator, { fn, args = [] }: Partial<FnInternals>, rest: unknown[]): string {
  const literals = args.map((argument) => {
    if (argument instanceof Utils.SequelizeMethod) return generator.handleSequelizeMethod(argument, ...rest)
    return isPlainRecord(argument) ? generator.whereItemsQuery(argument) : generator.escape(argument)
  })
  return `${fn}(${literals.join(', ')})`
}

// In a statement with placeholders, Sequelize would read the `$` of a literal as a placeholder: it is doubled.
function keepDollarSigns(generator: QueryGenerator): void {
  const { escape, insertQuery, updateQuery } = generator
  let current: BindOptions | undefined
  const during = <T>(options: BindOptions, write: () => T): T => {
    const outer = current
    current = options
    try {
      return write()
    } finally {
      current = outer
    }
  }
  generator.escape = (value, field, options) => {
    const literal = escape(value, field, options)
    const hasPlaceholders = current !== undefined && current.bindParam !== false
    return hasPlaceholders && typeof literal === 'string' && !(value instanceof Utils.SequelizeMethod)
      ? escapeDollars(literal)
      : literal
  }
  generator.insertQuery = (table, values, attributes, options = {}, ...rest) =>
    during(options, () => insertQuery.call(generator, table, values, attributes, options, ...rest))
  generator.updateQuery = (table, values, where, options = {}, ...rest) =>
    during(options, () => updateQuery.call(generator, table, values, where, options, ...rest))
}

// Sequelize writes the value of an autoIncrement key unescaped.
function escapeKeys(generator: QueryGenerator): void {
  const { bulkInsertQuery } = generator
  generator.bulkInsertQuery = (table, rows, options, attributes = {}) => {
    const keys = Object.keys(attributes).filter((name) => attributes[name]?.autoIncrement === true)
    const literal = (row: RowValues, key: string) =>
      [key, generator.escape(row[key], attributes[key], { context: 'INSERT' })] as const
    const withLiterals = (row: RowValues): RowValues => {
      const given = keys.filter((key) => row[key] !== undefined && row[key] !== null)
      return given.length === 0 ? row : { ...row, ...Object.fromEntries(given.map((key) => literal(row, key))) }
    }
    return bulkInsertQuery.call(generator, table, rows.map(withLiterals), options, attributes)
  }
}
