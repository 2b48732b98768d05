import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { markJsonAsText } from '../../models/json-text.js'
import {
  modelInternals,
  parserStoreOf,
  type Query,
  sequelizeInternals,
  sequelizeOf,
} from '../../sequelize/internals.js'
import type { ColumnTypes } from './column-cache.js'
import type { Row } from '../../drivers/sqlite3.js'
import { isDateTime } from './query.js'
import type { DirectResult } from '../../direct-statement.js'

const MOST_COMPARED = 100

/** The rows of a statement, whose values Sequelize converts by the types of the columns of a table. */
export class SqliteResult implements DirectResult {
  readonly #rows: Row[]
  readonly #types: ColumnTypes

  readonly insertedKey: unknown

  constructor(rows: Row[], types: ColumnTypes, insertedKey?: unknown) {
    this.insertedKey = insertedKey
    this.#rows = rows
    this.#types = types
  }

  /** The rows of raw SQL. */
  get rows(): Row[] {
    markJsonAsText(this.#rows)
    return this.#rows
  }

  /**
   * The values of all rows as SQLite has returned them, which neither conversions nor the program change. Undefined if there are blobs, which are changed in
   * place, or so many values that a transaction costs less than to copy them.
   */
  comparableValues(): readonly unknown[] | undefined {
    const values: unknown[] = []
    for (const row of this.#rows)
      for (const name in row) {
        const value = row[name]
        if (values.length === MOST_COMPARED || (typeof value === 'object' && value !== null)) return undefined
        values.push(value)
      }
    return values
  }

  rowsOf(model: ModelStatic<Model>): Row[] {
    return convertRows(this.#rows, this.#types, model, readerOf(sequelizeOf(model)))
  }
}

const readers = new WeakMap<Sequelize, Query>()

// A query that is never run: it only converts values.
function readerOf(sequelize: Sequelize): Query {
  const { dialect } = sequelizeInternals(sequelize)
  const known = readers.get(sequelize)
  if (known instanceof dialect.Query) return known
  const reader = new dialect.Query({}, sequelize, { logging: false })
  readers.set(sequelize, reader)
  return reader
}

/** Converts the values of rows in place, as Sequelize does for a model without includes. */
export function convertRows(rows: Row[], types: ColumnTypes, model: ModelStatic<Model>, query: Query): Row[] {
  const typed = typedColumns(rows[0], types, model)
  for (const row of rows)
    for (const [name, type] of typed) {
      const value = row[name]
      if (value !== null) row[name] = query.applyParsers(type, value)
    }
  return rows
}

function typedColumns(row: Row | undefined, types: ColumnTypes, model: ModelStatic<Model>): [string, string][] {
  const columns: [string, string][] = []
  for (const name in row) {
    const column = name in types ? name : (fieldOf(model, name) ?? name)
    const type = Object.hasOwn(types, column) ? types[column] : undefined
    if (type !== undefined && isConverted(type)) columns.push([name, type])
  }
  return columns
}

/** Whether Sequelize has a function that converts the values of a type. A program may define one for a type of its own at any time. */
function isConverted(type: string): boolean {
  return isDateTime(type) || parserStoreOf('sqlite').get(baseOf(type)) !== undefined
}

/** The types without their parameters, by the types as they are declared. */
const bases = new Map<string, string>()

/** The name by which Sequelize's applyParsers() looks a type up: 'VARCHAR' of 'VARCHAR(255)'. */
function baseOf(type: string): string {
  const known = bases.get(type)
  if (known !== undefined) return known
  const base = type.replace(/\(.*/s, '').replace('UNSIGNED', '').replace('ZEROFILL', '').trim().toUpperCase()
  bases.set(type, base)
  return base
}

function fieldOf(model: ModelStatic<Model>, attribute: string): string | undefined {
  const { rawAttributes } = modelInternals(model)
  return Object.hasOwn(rawAttributes, attribute) ? rawAttributes[attribute]?.field : undefined
}
