import type { Sequelize } from 'sequelize'
import type { Cursor, CursorStatement } from '../../dialect.js'
import { logStatement, toSequelizeError } from '../../sequelize/query.js'
import { type BoundValues, numberedValues, placeholdersInOrder } from './bound-values.js'
import { type ColumnTypes, readColumnTypes } from './column-cache.js'
import { SqliteResult } from './column-values.js'
import { openedConnection, type Row, type SqliteConnection, type SqliteStatement } from '../../drivers/sqlite3.js'
import { ExactColumns } from './exact-integers.js'
import { tableOf } from './execute.js'
import { compileStatement } from './prepared-statements.js'
import type { DirectResult } from '../../direct-statement.js'

/** A compiled statement, which is stepped from row to row. */
export async function openCursor(
  sequelize: Sequelize,
  given: unknown,
  { sql, values }: CursorStatement,
): Promise<Cursor> {
  const connection = openedConnection(given)
  logStatement(sequelize, sql)
  const table = tableOf(sql)
  const types =
    table === undefined ? {} : await new Promise<ColumnTypes>((done) => readColumnTypes(connection, table, done))
  const asSequelizeError = (error: Error) => toSequelizeError(sequelize, error, { connection, text: sql, values })
  const bound = numberedValues(values, placeholdersInOrder(sql) === values.length)
  const cursor = new SqliteCursor(connection, sql, bound, types, asSequelizeError)
  await cursor.compile()
  return cursor
}

class SqliteCursor implements Cursor {
  readonly leavesConnectionFree = true
  readonly #connection: SqliteConnection
  readonly #values: BoundValues | undefined
  readonly #types: ColumnTypes
  readonly #asSequelizeError: (error: Error) => Error
  /** The SQL of the program. */
  readonly #given: string
  readonly #exact = new ExactColumns()
  /** The SQL of all rows, also of those that were read. */
  #sql: string
  #statement: SqliteStatement | undefined
  #hasValues = false
  /** How many rows were read. */
  #position = 0

  constructor(
    connection: SqliteConnection,
    sql: string,
    values: BoundValues | undefined,
    types: ColumnTypes,
    asSequelizeError: (error: Error) => Error,
  ) {
    this.#connection = connection
    this.#given = sql
    this.#sql = sql
    this.#values = values
    this.#types = types
    this.#asSequelizeError = asSequelizeError
  }

  async compile(): Promise<void> {
    try {
      const rest = this.#position === 0 ? '' : ` LIMIT -1 OFFSET ${this.#position}`
      this.#statement = await compileStatement(this.#connection, `${this.#sql}${rest}`)
      this.#hasValues = false
    } catch (error) {
      throw this.#failed(error)
    }
  }

  async read(count: number): Promise<DirectResult> {
    let rows = await this.#step(count)
    // The rows that are left are read again, without a second look at the others: the transaction has one snapshot.
    for (let sql = this.#exactly(rows); sql !== undefined; sql = this.#exactly(rows)) {
      this.abandon()
      this.#sql = sql
      await this.compile()
      rows = await this.#step(count)
    }
    this.#position += rows.length
    return new SqliteResult(rows, this.#types)
  }

  // Undefined after as many turns as there are columns.
  #exactly(rows: readonly Row[]): string | undefined {
    return this.#exact.sqlFor(this.#given, rows)
  }

  // One step after the other: each is executed in another thread.
  async #step(count: number): Promise<Row[]> {
    const rows: Row[] = []
    while (rows.length < count) {
      const row = await this.#next()
      if (!row) break
      rows.push(row)
    }
    return rows
  }

  #next(): Promise<Row | undefined> {
    const values = this.#hasValues ? [] : (this.#values ?? [])
    this.#hasValues = true
    return new Promise((resolve, reject) => {
      if (!this.#statement) return reject(new Error('The cursor is closed.'))
      this.#statement.get(values, (error, row) => (error ? reject(this.#failed(error)) : resolve(row)))
    })
  }

  #failed(error: unknown): Error {
    return this.#asSequelizeError(error as Error) // sqlite3 has no other errors
  }

  finish(): Promise<void> {
    this.abandon()
    return Promise.resolve()
  }

  /** A statement that is being executed is finalized when that has ended. */
  abandon(): void {
    this.#statement?.finalize()
    this.#statement = undefined
  }
}
