import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { isRowsCallback, type Row, type RowsCallback, type SqliteConnection } from './driver.js'

const TABLE_INFO = /^PRAGMA table_info\(/
const changesTables = startsWithKeyword('CREATE', 'ALTER', 'DROP')

/** Increases whenever this process creates, alters or drops a table; each connection then clears its cache. */
let schemaVersion = 0

/** Caches the columns of tables on a connection: Sequelize requests them before every SELECT, to know how to read the values. */
export function cacheColumns(connection: SqliteConnection): void {
  const all = connection.all.bind(connection)
  const run = connection.run.bind(connection)
  let [cache, cacheVersion] = [new Map<string, readonly Row[]>(), schemaVersion]
  const columns = (sql: string, callback: RowsCallback): unknown => {
    if (cacheVersion !== schemaVersion) [cache, cacheVersion] = [new Map(), schemaVersion]
    const cached = cache.get(sql)
    if (cached) return (process.nextTick(callback, null, cached), connection)
    const current = cache // a table may change before the rows arrive: they then go into the old cache
    return all(sql, (error: Error | null, rows: readonly Row[]) => {
      if (!error && rows.length > 0) current.set(sql, rows)
      callback(error, rows)
    })
  }
  const trackChange = (sql: unknown) => void (typeof sql === 'string' && changesTables(sql) && schemaVersion++)
  connection.all = (sql, ...rest) => {
    const [callback] = rest
    trackChange(sql)
    return typeof sql === 'string' && TABLE_INFO.test(sql) && isRowsCallback(callback)
      ? columns(sql, callback)
      : all(sql, ...rest)
  }
  connection.run = (sql, ...rest) => {
    trackChange(sql)
    return run(sql, ...rest)
  }
}
