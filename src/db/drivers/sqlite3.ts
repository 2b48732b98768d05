import type { Database } from 'sqlite3'
import { requireSupported } from '../supported-version.js'

export type Sqlite3 = typeof import('sqlite3')

/** A connection of sqlite3. `all` and `run`, which have several forms, are replaced on each connection. */
export interface SqliteConnection extends Omit<Database, 'all' | 'run'> {
  all(...args: readonly unknown[]): unknown
  run(...args: readonly unknown[]): unknown
}

/** A compiled statement. The callbacks are those of its two ways of execution: `run` passes no rows. */
export interface SqliteStatement {
  all(values: object, done: (error: Error | null, rows?: Row[]) => void): unknown
  run(values: object, done: (error: Error | null, rows?: Row[]) => void): unknown
  /** The next row; undefined at the end. Values are bound, and the first row is read, only if there are any. */
  get(values: object, done: (error: Error | null, row?: Row) => void): unknown
  finalize(): unknown
  /** After `run`: the key of the last row that was inserted. */
  readonly lastID?: number
}

/** Compiles the statement, and calls back when that has failed or succeeded. sqlite3's types leave the constructor out. */
export type StatementClass = new (
  connection: SqliteConnection,
  sql: string,
  done: (error: Error | null) => void,
) => SqliteStatement

export function statementClassOf({ Statement }: Sqlite3): StatementClass {
  restoreConstructor(Statement)
  return Statement as unknown as StatementClass
}

/**
 * sqlite3 copies the members of EventEmitter into its classes, on Bun also `constructor`. By its name Sequelize recognizes a statement whose keys
 * bulkCreate() gives to its instances.
 */
function restoreConstructor(statementClass: { readonly prototype: object }): void {
  const { prototype } = statementClass
  if (prototype.constructor === statementClass) return
  Object.defineProperty(prototype, 'constructor', { value: statementClass, configurable: true, writable: true })
}

/** A connection that Sequelize's connection manager has opened. */
export function openedConnection(connection: unknown): SqliteConnection {
  return connection as SqliteConnection // the connection manager of SQLite opens no others
}

export type RowsCallback = (this: unknown, error: Error | null, rows: readonly Row[]) => void
export type Row = Record<string, unknown>

/** The last argument of `all`. */
export function isRowsCallback(value: unknown): value is RowsCallback {
  return typeof value === 'function'
}

/** @throws BootError when the library is not a supported version. */
export function sqlite3Of(library: unknown): Sqlite3 {
  requireSupported('sqlite3', library)
  return library as Sqlite3
}
