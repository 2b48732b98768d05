import { type Sequelize, Utils } from 'sequelize'
import {
  type AttributeInternals,
  type BindOptions,
  type DataTypeInternals,
  type FnInternals,
  fnInternals,
  type JsonCondition,
  type QueryGenerator,
  queryGeneratorOf,
  type RangeInternals,
  type RowValues,
  sequelizeInternals,
} from './internals.js'
import { escapeDollars } from './quote.js'

/*
 * Sequelize 6 writes most values into the text of a statement. It escapes them, with five exceptions that let a value end its own quotes or
 * change its meaning; they are closed here for one Sequelize instance, as its data types are shared with every other instance of the process:
 *
 * - a bound, or a text, of RANGE, and a list in HSTORE, also inside of ARRAY
 * - the conditions of sequelize.json({ ... })
 * - an autoIncrement key in PostgreSQL's bulkCreate()
 * - a text that is no date, for DATE, which is printed
 * - a text with a `$` in a statement that has placeholders as well: `$1` in a list of Op.in
 */

/** Makes every value that an instance writes into a statement a literal of SQL, whatever it holds. */
export function escapeEveryValue(sequelize: Sequelize): void {
  const generator = queryGeneratorOf(sequelize)
  escapeTypes(generator)
  escapeMethods(generator)
  keepDollars(generator)
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
  const made = newEscapedType(type)
  escapedTypes.set(type, made)
  return made
}

function newEscapedType(type: DataTypeInternals): unknown {
  if (type.key === 'DATE') return Object.create(type, { _stringify: { value: dateText } })
  if (type.escape !== false) return type
  switch (type.key) {
    case 'RANGE':
      return Object.create(type, { _stringify: { value: rangeLiteral } })
    case 'HSTORE':
      return Object.create(type, { _value: { value: hstoreText } })
    case 'ARRAY':
      return Object.create(type, { type: { value: escapedType(type.type) } })
    default:
      return type
  }
}

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d(?::?\d\d){0,2}(?:[.,]\d{1,12})?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/

// The library that reads dates prints other texts, with whatever a client put into them, on the console, and then reads them as Date does.
function dateText(this: object, value: unknown, options: object): unknown {
  const { _stringify } = Object.getPrototypeOf(this) as { _stringify(value: unknown, options: object): unknown } // DATE's own
  return _stringify.call(this, typeof value === 'string' && !ISO.test(value) ? new Date(value) : value, options)
}

// A list of bounds is a range; anything else is one value of what the range is made of.
function rangeLiteral(this: RangeInternals, bounds: unknown, options: { escape(text: string): string }): string {
  const literal = options.escape(String(this._value(bounds, options)))
  return Array.isArray(bounds) ? literal : `${literal}::${this.toCastType()}`
}

// pg-hstore escapes texts, and lets whatever else there is through as it is.
function hstoreText(this: object, values: object): unknown {
  const texts = Object.entries(values).map(([key, value]) => [
    key,
    typeof value === 'object' && value ? String(value) : value,
  ])
  const { _value } = Object.getPrototypeOf(this) as { _value(values: object): unknown }
  return _value.call(this, Object.fromEntries(texts))
}

function escapeMethods(generator: QueryGenerator): void {
  const handle = generator.handleSequelizeMethod.bind(generator)
  generator.handleSequelizeMethod = (method, ...rest) => {
    if (method instanceof Utils.Json && method.conditions) return jsonConditions(generator, method.conditions)
    return method instanceof Utils.Fn ? call(generator, fnInternals(method), rest) : handle(method, ...rest)
  }
}

function jsonConditions(generator: QueryGenerator, conditions: object): string {
  const equal = ({ path: [column, ...path], value }: JsonCondition) =>
    `${generator.jsonPathExtractionQuery(column, path)} = ${generator.escape(String(value))}`
  return generator.parseConditionObject(conditions).map(equal).join(' AND ')
}

// Sequelize doubles each `$` of a function's texts, for statements with placeholders; in others two of them would be left.
function call(generator: QueryGenerator, { fn, args = [] }: Partial<FnInternals>, rest: unknown[]): string {
  const written = args.map((argument) => {
    if (argument instanceof Utils.SequelizeMethod) return generator.handleSequelizeMethod(argument, ...rest)
    return isPlainObject(argument) ? generator.whereItemsQuery(argument) : generator.escape(argument)
  })
  return `${fn}(${written.join(', ')})`
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

// Beside placeholders a `$` of a value is doubled, as that of any text: Sequelize takes it for a placeholder otherwise.
function keepDollars(generator: QueryGenerator): void {
  const { escape, insertQuery, updateQuery } = generator
  let writing: BindOptions | undefined
  const during = <T>(options: BindOptions, write: () => T): T => {
    const outer = writing
    writing = options
    try {
      return write()
    } finally {
      writing = outer
    }
  }
  generator.escape = (value, field, options) => {
    const literal = escape(value, field, options)
    const hasPlaceholders = writing !== undefined && writing.bindParam !== false
    return hasPlaceholders && typeof literal === 'string' && !(value instanceof Utils.SequelizeMethod)
      ? escapeDollars(literal)
      : literal
  }
  generator.insertQuery = (table, values, attributes, options = {}, ...rest) =>
    during(options, () => insertQuery.call(generator, table, values, attributes, options, ...rest))
  generator.updateQuery = (table, values, where, options = {}, ...rest) =>
    during(options, () => updateQuery.call(generator, table, values, where, options, ...rest))
}

// Sequelize writes the value of such a key into the text as it is.
function escapeKeys(generator: QueryGenerator): void {
  const { bulkInsertQuery } = generator
  generator.bulkInsertQuery = (table, rows, options, attributes = {}) => {
    const keys = Object.keys(attributes).filter((name) => attributes[name]?.autoIncrement === true)
    const literal = (row: RowValues, key: string) => [key, generator.escape(row[key], attributes[key])] as const
    const escaped = (row: RowValues): RowValues => {
      const given = keys.filter((key) => row[key] !== undefined && row[key] !== null)
      return given.length === 0 ? row : { ...row, ...Object.fromEntries(given.map((key) => literal(row, key))) }
    }
    return bulkInsertQuery.call(generator, table, rows.map(escaped), options, attributes)
  }
}
