import { type Sql, rawSql, sql } from '../db/statement.js'

/** What a column holds, as far as comparing it with a text depends on it. */
export type Kind = 'integer' | 'decimal' | 'float' | 'text' | 'date-time' | 'date' | 'time' | 'enum' | 'bytes'

/** The type of an order column; `size` is what the declaration says in parentheses: `(10, 2)`. */
export interface ColumnType {
  readonly kind: Kind
  readonly size?: string
}

/**
 * How a database writes a value as text that loses nothing, and reads it again. JavaScript's Date knows milliseconds and its
 * Number 53 bits, databases know more: what was read is handed back as the database itself wrote it.
 */
export interface Notation {
  /** NULL sorts as the largest value; else as the smallest. */
  readonly nullsHigh: boolean
  /** What rows are ordered and compared by. */
  comparable(column: string, type: ColumnType): string
  /** The value of a column as text. */
  write(column: string, type: ColumnType): string
  /** The text of a value that was read, where the driver gives something else. */
  toText(value: unknown): string
  /** The value that a text stands for, comparable with the column. */
  read(text: string, type: ColumnType): Sql
}

const unchanged = (column: string): string => column

/** PostgreSQL gives a parameter the type of the column that it is compared with. */
const postgres: Notation = {
  nullsHigh: true,
  comparable: unchanged,
  write: (column) => `${column}::text`,
  toText: String,
  read: (text) => sql`${text}`,
}

/** SQLite's values carry their types, whatever the column says: the first letter of the text is the type. */
const sqlite: Notation = {
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
        return sql`CAST(${value} AS INTEGER)`
      case 'r':
        return sql`${Number(value)}`
      case 'b':
        return sql`${Buffer.from(value, 'hex')}`
      default:
        return sql`${value}`
    }
  },
}

/** MySQL and MariaDB compare a number with a text as floating point numbers, and an enum by its text but sort it by its place. */
const mysql: Notation = {
  nullsHigh: false,
  comparable: (column, { kind }) => (kind === 'enum' ? `(${column} + 0)` : column),
  write(column, { kind }) {
    switch (kind) {
      case 'bytes':
        return `HEX(${column})`
      case 'float':
        return `CAST(CAST(${column} AS DOUBLE) AS CHAR)`
      default:
        return `CAST(${column} AS CHAR)`
    }
  },
  toText: String,
  read(text, { kind, size }) {
    switch (kind) {
      case 'integer':
      case 'enum':
        return text.startsWith('-') ? sql`CAST(${text} AS SIGNED)` : sql`CAST(${text} AS UNSIGNED)`
      case 'decimal':
        return sql`CAST(${text} AS DECIMAL${rawSql(size ?? '(65,30)')})`
      case 'float':
        return sql`CAST(${text} AS DOUBLE)`
      case 'date-time':
        return sql`CAST(${text} AS DATETIME(6))`
      case 'date':
        return sql`CAST(${text} AS DATE)`
      case 'time':
        return sql`CAST(${text} AS TIME(6))`
      case 'bytes':
        return sql`UNHEX(${text})`
      case 'text':
        return sql`${text}`
    }
  },
}

const NOTATIONS: Readonly<Record<string, Notation>> = { postgres, sqlite, mysql, mariadb: mysql }

/** @throws TypeError for a database that pages are not known to be right on. */
export function notationOf(dialect: string): Notation {
  const notation = NOTATIONS[dialect]
  if (notation) return notation
  throw new TypeError(`Cursor pages are not known on ${dialect}; they are on ${Object.keys(NOTATIONS).join(', ')}.`)
}
