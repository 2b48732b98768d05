import type { Model, ModelStatic } from 'sequelize'
import { modelInternals } from '../db/sequelize/internals.js'
import { type Sql, rawSql, sql } from '../db/statements/statement.js'

/** The kind of a column's values, as far as it decides how values are written as strings and compared. */
export type ColumnKind = 'integer' | 'decimal' | 'float' | 'text' | 'date-time' | 'date' | 'time' | 'enum' | 'bytes'

/**
 * How a database writes the values of a column as strings, without loss, and reads them back. A JavaScript Date has milliseconds and
 * a Number 53 bits, columns have more: a cursor holds the string that the database itself wrote.
 */
export interface ColumnCodec {
  /** Whether NULL sorts as the largest value; otherwise as the smallest. */
  readonly nullsHigh: boolean
  /** Whether ORDER BY has NULLS FIRST and NULLS LAST. */
  readonly nullsClause: boolean
  /** Whether an index finds the rows after a row value, `(a, b) > (1, 2)`. MySQL and MariaDB compare them with each row. */
  readonly hasRowValues: boolean
  /** The SQL that rows are ordered and compared by. */
  comparable(column: string, kind: ColumnKind): string
  /** A SQL expression that converts the column's value to a string. */
  encode(column: string, kind: ColumnKind): string
  /** An encoded value, as the driver returned it, as a string. */
  fromDriver(value: unknown): string
  /** The SQL of an encoded value, comparable with the column. @throws UnreadableValueError for a string that the database did not write. */
  decode(text: string, kind: ColumnKind): Sql
}

const unchanged = (column: string): string => column

/** PostgreSQL infers the type of a parameter from the column that it is compared with. */
const postgres: ColumnCodec = {
  nullsHigh: true,
  nullsClause: true,
  hasRowValues: true,
  comparable: unchanged,
  encode: (column) => `${column}::text`,
  fromDriver: String,
  decode: (text) => sql`${text}`,
}

/** In SQLite each value has a type, which may differ from that of its column: the first letter of the string is the value's type. */
const sqlite: ColumnCodec = {
  nullsHigh: false,
  nullsClause: true,
  hasRowValues: true,
  comparable: unchanged,
  // A REAL is not encoded in SQL: SQLite would write 15 digits, while the driver returns the same eight bytes as a number.
  encode: (column) =>
    `CASE typeof(${column}) WHEN 'integer' THEN 'i' || ${column} WHEN 'text' THEN 't' || ${column} WHEN 'blob' THEN 'b' || hex(${column}) ELSE ${column} END`,
  fromDriver: (value) => (typeof value === 'number' ? `r${value}` : String(value)),
  decode(text) {
    const value = text.slice(1)
    switch (text[0]) {
      case 'i':
        // CAST has an affinity, for which strings in a column without a type would be compared as numbers. The unary plus removes it.
        return sql`+CAST(${checked(value, INTEGER)} AS INTEGER)`
      case 'r':
        return sql`${Number(checked(value, REAL))}`
      case 'b':
        return sql`${Buffer.from(checked(value, HEX), 'hex')}`
      case 't':
        return sql`${value}`
      default:
        throw new UnreadableValueError(text)
    }
  },
}

/**
 * MySQL and MariaDB compare a number with a string as floating point numbers, and an ENUM by its string, though they sort it by its index.
 * The form of an encoded value decides what it is read as: a column may hold more than its model declares, such as a time in addition to the day.
 */
const mysql: ColumnCodec = {
  nullsHigh: false,
  nullsClause: false,
  hasRowValues: false,
  comparable: (column, kind) => (kind === 'enum' ? `(${column} + 0)` : column),
  encode(column, kind) {
    switch (kind) {
      case 'bytes':
        return `HEX(${column})`
      case 'float':
        return `CAST(CAST(${column} AS DOUBLE) AS CHAR)`
      case 'integer':
        return `CAST(${column} + 0 AS CHAR)` // as a string, BIT(1) is a byte instead of a digit
      default:
        return `CAST(${column} AS CHAR)`
    }
  },
  fromDriver: String,
  decode(text, kind) {
    switch (kind) {
      case 'integer':
      case 'enum':
      case 'decimal':
        return readNumber(text)
      case 'float':
        return sql`CAST(${checked(text, NUMBER)} AS DOUBLE)`
      case 'date-time':
      case 'date':
        return readDate(text)
      case 'time':
        return DATE.test(text) ? readDate(text) : sql`CAST(${checked(text, TIME)} AS TIME(6))`
      case 'bytes':
        return sql`UNHEX(${checked(text, HEX)})`
      case 'text':
        return sql`${text}`
    }
  },
}

const INTEGER = /^-?\d{1,19}$/
const REAL = /^-?(?:Infinity|\d+(?:\.\d+)?(?:e[-+]?\d+)?)$/
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i
const DATE = /^\d{4}-\d\d-\d\d(?: (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?)?$/
const TIME = /^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/
const HEX = /^(?:[\dA-F]{2})*$/i

/** A DECIMAL has at most 65 digits, on MariaDB 38 of them after the point. */
const DECIMAL = /^-?(?=(?:\d\.?){1,65}$)(\d+)(?:\.(\d{1,38}))?$/

function readNumber(text: string): Sql {
  if (INTEGER.test(text)) return sql`CAST(${text} AS ${rawSql(text.startsWith('-') ? 'SIGNED' : 'UNSIGNED')})`
  const [, whole = '', decimals = ''] = DECIMAL.exec(text) ?? []
  if (whole === '') return sql`CAST(${checked(text, NUMBER)} AS DOUBLE)`
  return sql`CAST(${text} AS DECIMAL(${rawSql(`${whole.length + decimals.length},${decimals.length}`)}))`
}

// MySQL and MariaDB read a day that does not exist as NULL. They may store zeros, as in '2024-00-00'.
function readDate(text: string): Sql {
  const [year = 0, month = 0, day = 0] = checked(text, DATE).slice(0, 10).split('-').map(Number)
  if (month > 12 || day > (month > 0 ? new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate() : 31))
    throw new UnreadableValueError(text)
  return text.length > 10 ? sql`CAST(${text} AS DATETIME(6))` : sql`CAST(${text} AS DATE)`
}

/** A cursor holds a value that the database did not write. */
export class UnreadableValueError extends Error {}

function checked(text: string, form: RegExp): string {
  if (form.test(text)) return text
  throw new UnreadableValueError(text)
}

const CODECS: Readonly<Record<string, ColumnCodec>> = { postgres, sqlite, mysql, mariadb: mysql }

/** @throws TypeError for databases other than these. */
export function columnCodecOf(model: ModelStatic<Model>): ColumnCodec {
  const { dialect } = modelInternals(model).sequelize.options
  const codec = CODECS[dialect]
  if (codec) return codec
  throw new TypeError(
    `paginate(select(${model.name})): cursor pages, and offset pages that include lists, are not supported on ${dialect}, only on ${Object.keys(CODECS).join(', ')}.`,
  )
}
