import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { isRowsCallback, type Row, type RowsCallback, type SqliteConnection } from '../../drivers/sqlite3.js'

const TABLE_INFO = /^PRAGMA table_info\(/
const changesTables = startsWithKeyword('CREATE', 'ALTER', 'DROP')

/** Increases whenever this process creates, alters or drops a table; each connection then clears its cache. */
let schemaVersion = 0

/** The columns of tables, by the SQL that requests them. */
class ColumnCache {
  #rows = new Map<string, readonly Row[]>()
  /** The types of the columns, by the names of the tables. */
  #types = new Map<string, ColumnTypes>()
  #version = schemaVersion

  get rows(): Map<string, readonly Row[]> {
    this.#clearIfOutdated()
    return this.#rows
  }

  get types(): Map<string, ColumnTypes> {
    this.#clearIfOutdated()
    return this.#types
  }

  #clearIfOutdated(): void {
    if (this.#version === schemaVersion) return
    this.#rows = new Map()
    this.#types = new Map()
    this.#version = schemaVersion
  }
}

const caches = new WeakMap<SqliteConnection, ColumnCache>()

/** Caches the columns of tables on a connection: Sequelize requests them before every SELECT, to know how to read the values. */
export function cacheColumns(connection: SqliteConnection): void {
  const all = connection.all.bind(connection)
  const run = connection.run.bind(connection)
  const cache = new ColumnCache()
  caches.set(connection, cache)
  const columns = (sql: string, callback: RowsCallback): unknown => {
    const current = cache.rows // a table may change before the rows arrive: they then go into the old cache
    const cached = current.get(sql)
    if (cached) return (process.nextTick(callback, null, cached), connection)
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

/** The declared types of a table's columns, by the names of the columns. */
export type ColumnTypes = Readonly<Record<string, string>>

const typesOfRows = new WeakMap<readonly Row[], ColumnTypes>()

/** Reads the columns of a table; none if there is no such table. Calls back at once if they are cached. */
export function readColumnTypes(connection: SqliteConnection, table: string, done: (types: ColumnTypes) => void): void {
  const cache = caches.get(connection)
  const known = cache?.types.get(table)
  if (known) return done(known)
  const sql = `PRAGMA table_info(\`${table}\`)`
  const cached = cache?.rows.get(sql)
  if (cached) {
    const types = typesOf(cached)
    cache?.types.set(table, types)
    return done(types)
  }
  connection.all(sql, (error: Error | null, rows: readonly Row[]) => done(error ? {} : typesOf(rows)))
}

function typesOf(rows: readonly Row[]): ColumnTypes {
  const known = typesOfRows.get(rows)
  if (known) return known
  const types = Object.fromEntries(rows.map(({ name, type }) => [String(name), String(type)]))
  typesOfRows.set(rows, types)
  return types
}
