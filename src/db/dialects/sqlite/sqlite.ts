import type { Options, Sequelize } from 'sequelize'
import { codeOf, type Dialect } from '../../dialect.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import type { SqliteConfig } from '../../config/url.js'
import { keepBounds } from './column-bounds.js'
import { SqlitePools } from './pools.js'
import { readRowsAlike } from './query.js'

/**
 * SQLite through sqlite3. One connection writes, and those who want to write queue for it; a few others read beside it (WAL).
 * A database in memory has one connection, which its sessions use in turns.
 */
export function sqliteDialect(config: SqliteConfig): Dialect {
  const pools = new WeakMap<Sequelize, SqlitePools>()
  return {
    prepare(sequelize) {
      pools.set(sequelize, new SqlitePools(sequelizeInternals(sequelize).connectionManager, config))
      readRowsAlike(sequelize)
      keepBounds(sequelize)
    },
    lease: (sequelize, needs) => (pools.get(sequelize) as SqlitePools).lease(needs),
    isKept: () => true,
    isStale: isBusy,
    isConflict: isBusy,
    isUndoing: (error) => UNDOING.has(codeOf(error)),
    oneAtATime: true,
    isLost: () => false,
  }
}

/** After these SQLite may have rolled back. Source: sqlite.org, Transaction, "Response To Errors Within A Transaction". */
const UNDOING: ReadonlySet<string> = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_NOMEM',
  'SQLITE_BUSY',
  'SQLITE_INTERRUPT',
])

// sqlite3 tells SQLITE_BUSY_SNAPSHOT and a lock held by another process by the same code; both are cured by beginning again as a writer.
function isBusy(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY'
}

/** What Sequelize needs to know to connect. Its own retries of a busy database are off: who waits here waits in a queue. */
export function sqliteOptions({ storage }: SqliteConfig): Options {
  return { dialect: 'sqlite', storage, retry: { max: 1 } }
}
