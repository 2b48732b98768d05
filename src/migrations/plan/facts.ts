import type { Table } from '../../db/catalog/catalog.js'

/** An object of SQLite with the SQL that has created it. */
export interface SqliteObject {
  readonly type: 'table' | 'index' | 'trigger' | 'view'
  readonly name: string
  /** The table that it belongs to. */
  readonly table: string
  readonly sql: string
}

/** What a plan asks the database. */
export interface Facts {
  /** The number that a query returns. */
  count(sql: string): Promise<number>
  /** The texts that a query returns as `name`. */
  names(sql: string): Promise<readonly string[]>
  /** About how many rows a table has; undefined if that is not known. */
  rows(table: Table): Promise<number | undefined>
  /**
   * The tables, indexes, triggers and views of SQLite as they are once the statements are executed, which they are in a copy without rows. In the order in which they
   * were created.
   */
  simulate(statements: readonly string[]): Promise<readonly SqliteObject[]>
  /** What uses of the views and triggers of SQLite fail once the statements are executed, and only then: `INSERT of hero: no such column: NEW.age`. */
  failuresAfter(statements: readonly string[]): Promise<readonly string[]>
  /**
   * What MySQL and MariaDB make of the steps, in a database that has some of the tables, without their rows: one result for each step, up to the first that is
   * refused; undefined where that cannot be tried. Each step has some ways, the best first.
   */
  tryStatements(tables: readonly Table[], steps: readonly (readonly string[])[]): Promise<readonly Tried[] | undefined>
  /**
   * Why PostgreSQL refuses a statement, in a transaction that is rolled back, after others that make temporary tables; undefined if it takes them all, or if
   * that cannot be tried.
   */
  refusalOf(before: readonly string[], statements: readonly string[]): Promise<string | undefined>
}

/** How a step is executed. */
export interface Tried {
  /** Which of its ways is the first that the server takes. */
  readonly way: number
  /** Why it takes none of them. */
  readonly error?: string
}
