import { Op, type Sequelize } from 'sequelize'
import { ImpossibleValueError } from '../errors.js'
import { dataTypeInternals, queryGeneratorOf } from '../sequelize/internals.js'
import { checkJsonConditions } from './json-conditions.js'
import { checkOperands } from './operands.js'
import { isDateColumn, isPlainObject, isTextColumn } from './scalars.js'
import { textOf, textReader, valueReader } from './value-readers.js'
import type { AttributeInternals, EscapeOptions, QueryGenerator } from '../sequelize/query-generator.js'

/**
 * Makes all databases treat the values of conditions and of written rows alike: a value that its column cannot have, such as 'not' for a
 * BIGINT, is refused, and so is a date that does not exist; UUIDs are equal in upper and lower case. Without it, SQLite would find no row, or
 * store the value; MySQL would read 'not' as 0 and '5abc' as 5, and PostgreSQL would round 1.5 in one statement and refuse it in another.
 */
export function refuseImpossibleValues(
  sequelize: Sequelize,
  onRefusal: (error: ImpossibleValueError) => unknown,
): void {
  const generator = queryGeneratorOf(sequelize)
  const { escape, format } = generator
  const checked = <T>(write: () => T): T => {
    try {
      return write()
    } catch (error) {
      throw error instanceof ImpossibleValueError ? onRefusal(error) : error
    }
  }
  generator.escape = (value, field, options) =>
    checked(() => {
      if (isTextColumn(field) && hasObject(value)) refuse(value, field)
      // LIKE compares a column of any type with a pattern.
      const isPattern = options?.acceptStrings === true
      const literal = escape.call(generator, isPattern ? value : normalize(value, field, options), field, options)
      return isDate(value, field) && isInvalidDateLiteral(literal) ? refuse(value, field) : literal
    })
  generator.format = (value, field, options, bindParam) =>
    checked(() => {
      const bind = isDate(value, field)
        ? (text: unknown) => (isInvalidDateLiteral(text) ? refuse(value, field) : bindParam(text))
        : bindParam
      return format.call(generator, normalize(value, field, options), field, options, bind)
    })
  compareRegexpsAsText(generator)
  checkOperands(sequelize, onRefusal)
  checkJsonConditions(sequelize, onRefusal)
}

// A column of any type is compared with a regular expression, as with LIKE; without its attribute, Sequelize writes a plain string.
function compareRegexpsAsText(generator: QueryGenerator): void {
  const compare = generator._whereParseSingleValueObject
  generator._whereParseSingleValueObject = (key, field, operator, value, options) => {
    const isRegexp = REGEXPS.has(operator) && typeof value === 'string'
    return compare.call(generator, key, isRegexp ? undefined : field, operator, value, options)
  }
}

const REGEXPS: ReadonlySet<unknown> = new Set([Op.regexp, Op.notRegexp, Op.iRegexp, Op.notIRegexp])

/** A value as all databases read it for its column. @throws ImpossibleValueError for one that the column cannot have. */
function normalize(value: unknown, field: AttributeInternals | undefined, options: EscapeOptions | undefined): unknown {
  const isWritten = options?.context !== undefined
  const read = isTextColumn(field) && !isWritten ? textReader : valueReader(field?.type)
  if (!read) return value
  const normalizeOne = (item: unknown) =>
    item === null || item === undefined ? item : (read(item, isWritten) ?? refuse(item, field))
  // In a condition, it is the list of Op.any or Op.all.
  return Array.isArray(value) && !isWritten ? value.map(normalizeOne) : normalizeOne(value)
}

/** Whether a value is, or a list has, an object or a list as a client sends it: Sequelize throws an error with its contents, or writes no SQL. */
function hasObject(value: unknown): boolean {
  return Array.isArray(value) ? value.some((item) => Array.isArray(item) || isPlainObject(item)) : isPlainObject(value)
}

function isDate(value: unknown, field: AttributeInternals | undefined): boolean {
  return isDateColumn(field) && (typeof value !== 'object' || value instanceof Date)
}

/** As Sequelize writes dates, with or without quotes; PostgreSQL also has infinity. */
const DATE = /^'?(?:(?!0000)\d{4}-|-?Infinity)/

// Moment has written the date: an invalid one as 'Invalid date'.
function isInvalidDateLiteral(written: unknown): boolean {
  return typeof written === 'string' && !DATE.test(written)
}

/** @throws ImpossibleValueError always. */
function refuse(value: unknown, field: AttributeInternals | undefined): never {
  throw impossibleValue(value, field)
}

/** Its message, which the log may have, is without the value: clients send them. */
export function impossibleValue(value: unknown, field: AttributeInternals | undefined): ImpossibleValueError {
  const { fieldName, type } = field ?? {}
  const ofObjects = isTextColumn(field) ? '.' : ', or an object whose toString() returns the value.'
  const advice =
    typeof value !== 'object' || value instanceof Date ? '' : ` Pass a string, a number or a boolean${ofObjects}`
  return new ImpossibleValueError(
    `${fieldName ?? 'a column'} cannot be ${described(value)}: its type is ${dataTypeInternals(type).key}.${advice}`,
    fieldName,
  )
}

function described(value: unknown): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : 'the given date'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value) // no client can send it as JSON
  if (typeof value !== 'object') return `the given ${typeof value}`
  if (Array.isArray(value)) return 'a list'
  const text = textOf(value)
  return text === '' || text.startsWith('[object ') ? 'an object' : 'the text of the given object'
}
