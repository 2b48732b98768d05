import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { isRowsCallback, type Row, type RowsCallback, type SqliteConnection } from './driver.js'

const isRead = startsWithKeyword('SELECT', 'WITH')

/**
 * Makes a connection tell whole numbers beyond 2^53 exactly, as text: the driver turns them into doubles, other digits than were stored.
 * Only a query that meets such a number is asked a second time, with that column as text; its rows are all of the second answer.
 */
export function tellExactIntegers(connection: SqliteConnection): void {
  const all = connection.all.bind(connection)
  const exact = (sql: string, parameters: unknown, callback: RowsCallback): unknown =>
    all(sql, parameters, function (this: unknown, error: Error | null, rows: readonly Row[]) {
      const columns = error ? [] : inexactColumns(rows)
      const [first] = rows ?? []
      if (first === undefined || columns.length === 0) return callback.call(this, error, rows)
      all(asText(sql, Object.keys(first), columns), parameters, callback)
    })
  connection.all = (sql, ...rest) => {
    const [parameters, callback] = rest
    return typeof sql === 'string' && isRead(sql) && isRowsCallback(callback)
      ? exact(sql, parameters, callback)
      : all(sql, ...rest)
  }
}

function inexactColumns(rows: readonly Row[]): string[] {
  const names = new Set<string>()
  for (const row of rows) for (const name in row) if (isInexact(row[name])) names.add(name)
  return [...names]
}

function isInexact(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

// The inner ORDER BY stays: SQLite merges a query with the only one that it selects from.
function asText(sql: string, names: readonly string[], inexact: readonly string[]): string {
  const columns = names.map((name) => {
    const column = `"${name.replaceAll('"', '""')}"`
    // A real number may be as large, and is told as the driver does.
    return inexact.includes(name)
      ? `CASE typeof(${column}) WHEN 'integer' THEN CAST(${column} AS TEXT) ELSE ${column} END AS ${column}`
      : column
  })
  return `SELECT ${columns.join(', ')} FROM (${sql.replace(/;\s*$/, '')}\n)`
}
