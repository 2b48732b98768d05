import type { Database as SqliteConnection } from 'sqlite3'
import { startsWithKeyword } from '../../sql/starts-with-keyword.js'

type RowsCallback = (error: Error | null, rows: unknown[]) => void

const TABLE_INFO = /^PRAGMA table_info\(/
const changesTables = startsWithKeyword('CREATE', 'ALTER', 'DROP')

/** Counts up whenever this process changes a table: what connections remember of columns is then forgotten. */
let generation = 0

// Sequelize asks for a table's columns before every SELECT, to know their types. The answer is the same until a table changes.
export function rememberColumns(connection: SqliteConnection): void {
  const all = connection.all.bind(connection) as (...args: unknown[]) => SqliteConnection
  const run = connection.run.bind(connection) as (...args: unknown[]) => SqliteConnection
  let [known, since] = [new Map<string, unknown[]>(), generation]
  const columns = (sql: string, callback: RowsCallback): SqliteConnection => {
    if (since !== generation) [known, since] = [new Map(), generation]
    const rows = known.get(sql)
    if (rows) return (process.nextTick(callback, null, rows), connection)
    const learning = known
    return all(sql, (error: Error | null, answer: unknown[]) => {
      if (!error && answer.length > 0) learning.set(sql, answer)
      callback(error, answer)
    })
  }
  const noticing = (sql: unknown) => void (typeof sql === 'string' && changesTables(sql) && generation++)
  Object.assign(connection, {
    all: (sql: unknown, ...rest: unknown[]) => {
      noticing(sql)
      return typeof sql === 'string' && TABLE_INFO.test(sql) && typeof rest[0] === 'function'
        ? columns(sql, rest[0] as RowsCallback)
        : all(sql, ...rest)
    },
    run: (sql: unknown, ...rest: unknown[]) => {
      noticing(sql)
      return run(sql, ...rest)
    },
  })
}
