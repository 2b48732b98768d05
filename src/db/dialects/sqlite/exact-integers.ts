import type { Database as SqliteConnection } from 'sqlite3'
import { startsWithKeyword } from '../../sql/starts-with-keyword.js'

type Row = Readonly<Record<string, unknown>>
type RowsCallback = (this: unknown, error: Error | null, rows: readonly Row[]) => void
type All = (sql: string, parameters: unknown, callback: RowsCallback) => SqliteConnection

const isRead = startsWithKeyword('SELECT', 'WITH')

/**
 * Makes a connection tell whole numbers beyond 2^53 exactly, as text: the driver turns them into doubles, other digits than were stored.
 * Only a query that meets such a number is asked a second time, with that column as text; its rows are all of the second answer.
 */
export function tellExactIntegers(connection: SqliteConnection): void {
  const all = connection.all.bind(connection) as unknown as All
  const exact: All = (sql, parameters, callback) =>
    all(sql, parameters, function (error, rows) {
      const columns = error ? [] : inexactColumns(rows)
      if (columns.length === 0) return callback.call(this, error, rows)
      all(asText(sql, Object.keys(rows[0] as Row), columns), parameters, callback)
    })
  Object.assign(connection, {
    all: (sql: unknown, ...rest: unknown[]) =>
      typeof sql === 'string' && isRead(sql) && typeof rest[1] === 'function'
        ? exact(sql, rest[0], rest[1] as RowsCallback)
        : (all as (...args: unknown[]) => SqliteConnection)(sql, ...rest),
  })
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
