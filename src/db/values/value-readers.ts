import { type DataType, Utils } from 'sequelize'
import type { Shape } from '../../schema/shape/shape.js'
import { bigintBounds, columnShape, MAX_REAL } from '../models/column-shape.js'
import { dataTypeInternals } from '../sequelize/internals.js'
import { isNumeric, isUuid } from '../sql/values.js'

/**
 * Returns a value in the form that all databases read alike; undefined for one that the column cannot have. A finite number in a condition
 * may be between or beyond the values of the column, as in `age > 1.5`; one that is written may not.
 */
export type ValueReader = (value: unknown, isWritten: boolean) => unknown

const readers = new WeakMap<object, ValueReader>()

/** The reader of a column's type; undefined if all its values are left to the database. */
export function valueReader(type: unknown): ValueReader | undefined {
  if (typeof type !== 'object' || type === null) return undefined
  const known = readers.get(type)
  if (known) return known === unchanged ? undefined : known
  const reader = newReader(type as DataType) // an attribute of a model has Sequelize's types
  readers.set(type, reader)
  return reader === unchanged ? undefined : reader
}

const unchanged: ValueReader = (value) => value

function newReader(type: DataType): ValueReader {
  const { key } = dataTypeInternals(type)
  const read = key === 'TIME' ? timeReader : key === 'REAL' ? realReader : readerOf(columnShape({ type }), type)
  if (read === unchanged) return unchanged
  const takesBoolean = key === 'BOOLEAN' || key === 'TINYINT' // a TINYINT(1) is a BOOLEAN on MySQL
  return (value, isWritten) => {
    if (typeof value === 'boolean') return takesBoolean ? value : undefined
    // The database decides about bytes, such as that of a BIT(1), and about the result of SQL.
    if (typeof value !== 'object') return read(value, isWritten)
    return Buffer.isBuffer(value) || value instanceof Utils.SequelizeMethod ? value : read(textOf(value), isWritten)
  }
}

/** A number of a library, such as Decimal, is an object with its digits as text. An object of a client may have any property. */
export function textOf(value: object | null): string {
  if (value === null || Array.isArray(value) || typeof value.toString !== 'function') return ''
  return value.toString()
}

function readerOf(shape: Shape, type: DataType): ValueReader {
  switch (shape.kind) {
    case 'integer': {
      const { minimum = -Infinity, maximum = Infinity } = shape
      return integerReader((integer) => integer >= minimum && integer <= maximum)
    }
    case 'bigint': {
      const [minimum, maximum] = bigintBounds(type)
      return integerReader((integer) => integer >= minimum && integer <= maximum)
    }
    case 'number':
      return numberReader
    case 'decimal':
      return decimalReader
    case 'boolean':
      return booleanReader
    case 'enum':
      return enumReader(shape.values)
    case 'string':
      return shape.format === 'uuid' ? uuidReader : unchanged
    default:
      return unchanged
  }
}

const INTEGER = /^\s*\+?(-?\d{1,30})\s*$/

/** The digits of a string that is a whole number; undefined for any other string. */
export function wholeDigits(text: string): string | undefined {
  return INTEGER.exec(text)?.[1]
}

function integerReader(isWithin: (integer: number | bigint) => boolean): ValueReader {
  return (value, isWritten) => {
    if (typeof value === 'number')
      return isWritten ? (Number.isInteger(value) && isWithin(value) ? value : undefined) : finite(value)
    if (typeof value === 'bigint') return !isWritten || isWithin(value) ? value : undefined
    const digits = wholeDigits(String(value))
    return digits !== undefined && isWithin(BigInt(digits)) ? digits : undefined
  }
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'

// SQLite and MySQL would read the SQL NaN as the name of a column, and SQLite would store NULL.
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

const decimalReader: ValueReader = (value) => {
  if (typeof value === 'number') return finite(value)
  if (typeof value === 'bigint') return value
  const text = String(value)
  return isNumeric(text) ? text.trim() : undefined
}

const numberReader: ValueReader = (value) => {
  if (isNumber(value)) return value
  const text = String(value)
  return isNumeric(text) && Number.isFinite(Number(text)) ? text.trim() : undefined
}

const realReader: ValueReader = (value, isWritten) => {
  const number = numberReader(value, isWritten)
  const size = Math.abs(Number(number))
  return size <= MAX_REAL || !Number.isFinite(size) ? number : undefined
}

// The strings that PostgreSQL reads: also 't', 'of' and 'YES'.
const TRUE = /^\s*(?:t(?:r(?:ue?)?)?|y(?:es?)?|on|1)\s*$/i
const FALSE = /^\s*(?:f(?:a(?:l(?:se?)?)?)?|no?|off?|0)\s*$/i

const booleanReader: ValueReader = (value) => {
  const text = String(value)
  return TRUE.test(text) ? true : FALSE.test(text) ? false : undefined
}

/** For a text in a condition: PostgreSQL does not compare it with numbers, and other databases compare true as '1'. */
export const textReader: ValueReader = (value) => {
  if (typeof value === 'boolean') return undefined
  return isNumber(value) ? String(value) : value
}

const uuidReader: ValueReader = (value) => {
  const text = String(value)
  return isUuid(text) ? text.toLowerCase() : undefined
}

// MySQL and MariaDB would read a number as the position of a value, and ignore upper and lower case.
function enumReader(values: readonly unknown[]): ValueReader {
  const known = new Set(values.map(String))
  if (known.size === 0) return unchanged
  return (value) => {
    const text = String(value)
    return known.has(text) ? text : undefined
  }
}

// PostgreSQL also reads 'now' and '12:00 PM', MySQL '25:00' and 12; SQLite stores what it is given.
const TIME = /^\s*(\d\d?):(\d\d?)(?::(\d\d?)(\.\d{1,9})?)?\s*$/

const timeReader: ValueReader = (value, isWritten) => {
  const [, hours = '', minutes = '', seconds = '', fraction = ''] = TIME.exec(String(value)) ?? []
  const time = `${hours.padStart(2, '0')}:${minutes.padStart(2, '0')}:${seconds.padStart(2, '0')}`
  if (hours !== '' && +hours < 24 && +minutes < 60 && +seconds < 60) return time + fraction
  // The end of a day is a bound; in a row, it would be no time of any day.
  return time === '24:00:00' && Number(fraction) === 0 && !isWritten ? time : undefined
}
