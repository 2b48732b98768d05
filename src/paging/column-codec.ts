import { type Sql, rawSql, sql } from '../db/statements/statement.js'

/** What a column holds, as far as comparing it with a text depends on it. */
export type Kind = 'integer' | 'decimal' | 'float' | 'text' | 'date-time' | 'date' | 'time' | 'enum' | 'bytes'

/** The type of an order column. */
export interface ColumnType {
  readonly kind: Kind
}

/**
 * How a database writes a value as text that loses nothing, and reads it again. JavaScript's Date knows milliseconds and its
 * Number 53 bits, databases know more: what was read is handed back as the database itself wrote it.
 */
export interface ColumnCodec {
  /** NULL sorts as the largest value; else as the smallest. */
  readonly nullsHigh: boolean
  /** What rows are ordered and compared by. */
  comparable(column: string, type: ColumnType): string
  /** The value of a column as text. */
  write(column: string, type: ColumnType): string
  /** The text of a value that was read, where the driver gives something else. */
  toText(value: unknown): string
  /** The value that a text stands for, comparable with the column. @throws UnreadableValueError for a text that the database did not write. */
  read(text: string, type: ColumnType): Sql
}

const unchanged = (column: string): string => column

/** PostgreSQL gives a parameter the type of the column that it is compared with. */
const postgres: ColumnCodec = {
  nullsHigh: true,
  comparable: unchanged,
  write: (column) => `${column}::text`,
  toText: String,
  read: (text) => sql`${text}`,
}

/** SQLite's values carry their types, whatever the column says: the first letter of the text is the type. */
const sqlite: ColumnCodec = {
  nullsHigh: false,
  comparable: unchanged,
  // A REAL stays one: SQLite's own text of it has 15 digits, and JavaScript's number is the same eight bytes.
  write: (column) =>
    `CASE typeof(${column}) WHEN 'integer' THEN 'i' || ${column} WHEN 'text' THEN 't' || ${column} WHEN 'blob' THEN 'b' || hex(${column}) ELSE ${column} END`,
  toText: (value) => (typeof value === 'number' ? `r${value}` : String(value)),
  read(text) {
    const value = text.slice(1)
    switch (text[0]) {
      case 'i':
        // The plus takes the affinity away, with which texts in a column without a type would be compared as numbers.
        return sql`+CAST(${known(value, INTEGER)} AS INTEGER)`
      case 'r':
        return sql`${Number(known(value, REAL))}`
      case 'b':
        return sql`${Buffer.from(known(value, HEX), 'hex')}`
      case 't':
        return sql`${value}`
      default:
        throw new UnreadableValueError(text)
    }
  },
}

/**
 * MySQL and MariaDB compare a number with a text as floating point numbers, and an enum by its text but sort it by its place.
 * What a text is read as, the text says: a column of the database may hold more than its model tells, as a time beside the day.
 */
const mysql: ColumnCodec = {
  nullsHigh: false,
  comparable: (column, { kind }) => (kind === 'enum' ? `(${column} + 0)` : column),
  write(column, { kind }) {
    switch (kind) {
      case 'bytes':
        return `HEX(${column})`
      case 'float':
        return `CAST(CAST(${column} AS DOUBLE) AS CHAR)`
      case 'integer':
        return `CAST(${column} + 0 AS CHAR)` // BIT(1) is a byte, and no digit, as text
      default:
        return `CAST(${column} AS CHAR)`
    }
  },
  toText: String,
  read(text, { kind }) {
    switch (kind) {
      case 'integer':
      case 'enum':
      case 'decimal':
        return readNumber(text)
      case 'float':
        return sql`CAST(${known(text, NUMBER)} AS DOUBLE)`
      case 'date-time':
      case 'date':
        return readDate(text)
      case 'time':
        return DATE.test(text) ? readDate(text) : sql`CAST(${known(text, TIME)} AS TIME(6))`
      case 'bytes':
        return sql`UNHEX(${known(text, HEX)})`
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
  if (whole === '') return sql`CAST(${known(text, NUMBER)} AS DOUBLE)`
  return sql`CAST(${text} AS DECIMAL(${rawSql(`${whole.length + decimals.length},${decimals.length}`)}))`
}

// The databases read NULL of a day that no calendar has. Those of zeros they may have themselves.
function readDate(text: string): Sql {
  const [year, month, day] = known(text, DATE).slice(0, 10).split('-').map(Number) as [number, number, number]
  if (month > 12 || day > (month > 0 ? new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate() : 31))
    throw new UnreadableValueError(text)
  return text.length > 10 ? sql`CAST(${text} AS DATETIME(6))` : sql`CAST(${text} AS DATE)`
}

/** A cursor holds what the database did not write. */
export class UnreadableValueError extends Error {}

function known(text: string, form: RegExp): string {
  if (form.test(text)) return text
  throw new UnreadableValueError(text)
}

const NOTATIONS: Readonly<Record<string, ColumnCodec>> = { postgres, sqlite, mysql, mariadb: mysql }

/** @throws TypeError for a database that pages are not known to be right on. */
export function columnCodecOf(dialect: string): ColumnCodec {
  const notation = NOTATIONS[dialect]
  if (notation) return notation
  throw new TypeError(`Cursor pages are not known on ${dialect}; they are on ${Object.keys(NOTATIONS).join(', ')}.`)
}
