import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { isRowsCallback, type Row, type RowsCallback, type SqliteConnection } from '../../drivers/sqlite3.js'

/** Whether a statement may be executed again with {@link ExactColumns}. */
export const isSelect = startsWithKeyword('SELECT', 'WITH')

/**
 * Makes a connection return integers beyond 2^53 as strings: sqlite3 returns them as rounded numbers. A query that returns such an integer is
 * executed again with that column as text; all its rows come from the last execution.
 */
export function readExactIntegers(connection: SqliteConnection): void {
  const all = connection.all.bind(connection)
  const exact = (sql: string, parameters: unknown, callback: RowsCallback): unknown => {
    const columns = new ExactColumns()
    const execute = (text: string): unknown =>
      all(text, parameters, function (this: unknown, error: Error | null, rows: readonly Row[]) {
        const exactly = error ? undefined : columns.sqlFor(sql, rows)
        if (exactly === undefined) callback.call(this, error, rows)
        else execute(exactly)
      })
    return execute(sql)
  }
  connection.all = (sql, ...rest) => {
    const [parameters, callback] = rest
    return typeof sql === 'string' && isSelect(sql) && isRowsCallback(callback)
      ? exact(sql, parameters, callback)
      : all(sql, ...rest)
  }
}

/** The columns of a statement whose integers are read as text. Any batch of its rows, and any execution outside of a transaction, may have another one. */
export class ExactColumns {
  readonly #names = new Set<string>()

  /**
   * The SQL that returns the rows with exact integers; undefined if they are exact. A column is queried once, because a REAL stays as large as it is: so
   * there are at most as many rewritten statements as columns.
   *
   * @param sql of the program.
   */
  sqlFor(sql: string, rows: readonly Row[]): string | undefined {
    const [first] = rows
    const others = inexactColumns(rows).filter((name) => !this.#names.has(name))
    if (!first || others.length === 0) return undefined
    for (const name of others) this.#names.add(name)
    return withColumnsAsText(sql, Object.keys(first), [...this.#names])
  }
}

function inexactColumns(rows: readonly Row[]): readonly string[] {
  let names: Set<string> | undefined
  for (const row of rows) for (const name in row) if (isInexact(row[name])) (names ??= new Set()).add(name)
  return names ? [...names] : []
}

function isInexact(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

// The ORDER BY of the inner query still applies: SQLite merges a query with its only subquery.
function withColumnsAsText(sql: string, names: readonly string[], inexact: readonly string[]): string {
  const columns = names.map((name) => {
    const column = `"${name.replaceAll('"', '""')}"`
    // A REAL may be as large; it stays a number.
    return inexact.includes(name)
      ? `CASE typeof(${column}) WHEN 'integer' THEN CAST(${column} AS TEXT) ELSE ${column} END AS ${column}`
      : column
  })
  return `SELECT ${columns.join(', ')} FROM (${sql.replace(/;\s*$/, '')}\n)`
}
