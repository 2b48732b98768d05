import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { isRowsCallback, type Row, type RowsCallback, type SqliteConnection } from './driver.js'

const TABLE_INFO = /^PRAGMA table_info\(/
const changesTables = startsWithKeyword('CREATE', 'ALTER', 'DROP')

/** Counts up whenever this process changes a table: what connections remember of columns is then forgotten. */
let generation = 0

// Sequelize asks for a table's columns before every SELECT, to know their types. The answer is the same until a table changes.
export function rememberColumns(connection: SqliteConnection): void {
  const all = connection.all.bind(connection)
  const run = connection.run.bind(connection)
  let [known, since] = [new Map<string, readonly Row[]>(), generation]
  const columns = (sql: string, callback: RowsCallback): unknown => {
    if (since !== generation) [known, since] = [new Map(), generation]
    const rows = known.get(sql)
    if (rows) return (process.nextTick(callback, null, rows), connection)
    const learning = known
    return all(sql, (error: Error | null, answer: readonly Row[]) => {
      if (!error && answer.length > 0) learning.set(sql, answer)
      callback(error, answer)
    })
  }
  const noticing = (sql: unknown) => void (typeof sql === 'string' && changesTables(sql) && generation++)
  connection.all = (sql, ...rest) => {
    const [callback] = rest
    noticing(sql)
    return typeof sql === 'string' && TABLE_INFO.test(sql) && isRowsCallback(callback)
      ? columns(sql, callback)
      : all(sql, ...rest)
  }
  connection.run = (sql, ...rest) => {
    noticing(sql)
    return run(sql, ...rest)
  }
}
