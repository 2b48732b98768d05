import { type Options, QueryTypes, type Sequelize } from 'sequelize'
import { codeOf, type Dialect } from '../../dialect.js'
import type { SqliteConfig } from '../../config/url.js'
import { StaleSnapshotError } from '../../errors.js'
import { enforceColumnBounds } from './column-bounds.js'
import { openCursor } from './sqlite-cursor.js'
import { direct } from './execute.js'
import { enforceIncrementBounds } from './increment-bounds.js'
import { SqlitePools } from './pools/sqlite-pools.js'
import { adaptQueries } from './query.js'
import { runQuery } from './run-query.js'
import { storedForm } from './stored-forms.js'

/**
 * SQLite with the driver sqlite3. One connection writes, and writers queue for it; a few other connections read at the same time (WAL).
 * A database in memory has a single connection, for which all sessions queue.
 */
export function sqliteDialect(config: SqliteConfig): Dialect {
  const pools = new WeakMap<Sequelize, SqlitePools>()
  return {
    prepare(sequelize) {
      pools.set(sequelize, new SqlitePools(sequelize, config))
      adaptQueries(sequelize)
      enforceColumnBounds(sequelize)
      enforceIncrementBounds(sequelize)
    },
    acquire: (sequelize, needs) => (pools.get(sequelize) as SqlitePools).acquire(needs), // set by prepare()
    // Reads the header of the file. A database in memory has no other user.
    probe: {
      sql: 'PRAGMA schema_version',
      acquire: async (sequelize) => pools.get(sequelize)?.acquireIdleReader(),
    },
    acquireIdle: async (sequelize) => pools.get(sequelize)?.acquireIdle(),
    storedForm,
    findPlainTables,
    direct,
    openCursor,
    runQuery,
    isStale: (error) => isBusy(error) || error instanceof StaleSnapshotError,
    isConflict: isBusy,
    isUndoing: (error) => UNDOING.has(codeOf(error)),
    oneAtATime: true,
    isLost: () => false,
  }
}

/** SQLite may roll back the transaction on these errors. Source: sqlite.org, Transaction, "Response To Errors Within A Transaction". */
const UNDOING: ReadonlySet<string> = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_NOMEM',
  'SQLITE_BUSY',
  'SQLITE_INTERRUPT',
])

// sqlite3 has one code for SQLITE_BUSY_SNAPSHOT and for a lock of another process. In both cases the work can be run again as a writer.
function isBusy(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY'
}

// No virtual tables, whose rows a program of their module makes.
async function findPlainTables(sequelize: Sequelize): Promise<string[]> {
  const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'`
  const rows = await sequelize.query<{ name: string }>(sql, { type: QueryTypes.SELECT })
  return rows.map(({ name }) => `\`${name}\``)
}

/** The options of Sequelize for a database URL. Its retries on SQLITE_BUSY are off: writers wait in a queue instead. */
export function sqliteOptions({ storage }: SqliteConfig): Options {
  return { dialect: 'sqlite', storage, retry: { max: 1 } }
}
