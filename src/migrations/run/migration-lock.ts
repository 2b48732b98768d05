import { setTimeout as wait } from 'node:timers/promises'
import { QueryTypes, type Sequelize } from 'sequelize'
import { MEMORY } from '../../db/config/url-parts.js'
import { lockFile } from '../../db/dialects/sqlite/file-lock.js'
import { sqlite3Of } from '../../db/drivers/sqlite3.js'
import { sequelizeInternals } from '../../db/sequelize/internals.js'
import { type HeldConnection, holdConnection } from '../../db/servers/hold-connection.js'
import { MigrationError } from './errors.js'

/** Milliseconds between two tries. */
const PAUSE = 250
/** The first 48 bits of the SHA-256 of "sequitur migrate". */
const KEY = '231581879820830'
/** The lock of a database: those of GET_LOCK are of the whole server. */
const NAME = `CONCAT('sequitur migrate ', LEFT(SHA2(DATABASE(), 256), 32))`

const WAITING = 'Another process migrates this database: waiting for it.'

const BEHIND_POOLER =
  'This URL leads through a pooler such as PgBouncer, which may give each transaction another connection, so that a lock of one does not hold. ' +
  'Migrate with the URL of the server itself: toolkit_url=postgres://... npx sequitur migrate up.'

/**
 * Waits until no other process migrates the database, and has the others wait. On a server, the lock is one of the connection on which all statements are executed:
 * a statement of a process that was killed may still run, and keeps the lock.
 *
 * @param log called once if there is a wait.
 * @returns what frees it.
 * @throws MigrationError for a database in memory, and behind a pooler; the error of the connection.
 */
export async function lockMigrations(sequelize: Sequelize, log: (line: string) => void): Promise<() => Promise<void>> {
  const waits = () => log(WAITING)
  if (sequelize.getDialect() === 'sqlite') return lockSqlite(sequelize, waits)
  const held = await holdConnection(sequelize)
  try {
    if (sequelize.getDialect() === 'postgres') await refusePooler(sequelize, held)
    await acquire(sequelize, waits)
  } catch (error) {
    await held.release()
    throw error
  }
  return async () => {
    if (!held.isLost) await sequelize.query(textsOf(sequelize).unlock).catch(() => {}) // it ends with the connection
    await held.release()
  }
}

async function lockSqlite(sequelize: Sequelize, waits: () => void): Promise<() => Promise<void>> {
  const { connectionManager, options } = sequelizeInternals(sequelize)
  const { storage = MEMORY } = options
  if (storage === MEMORY)
    throw new MigrationError(
      'A database in memory is a new one each time. Migrate a database in a file, or on a server.',
    )
  return lockFile(sqlite3Of(connectionManager.lib), `${storage}-migrate`, waits)
}

// Not by a statement that waits: on PostgreSQL it would have a snapshot, for which CREATE INDEX CONCURRENTLY waits.
async function acquire(sequelize: Sequelize, waits: () => void): Promise<void> {
  for (let isFirst = true; !(await isAcquired(sequelize)); isFirst = false) {
    if (isFirst) waits()
    await wait(PAUSE)
  }
}

async function isAcquired(sequelize: Sequelize): Promise<boolean> {
  const [row] = await sequelize.query<{ readonly taken: unknown }>(textsOf(sequelize).lock, { type: QueryTypes.SELECT })
  return row?.taken === true || Number(row?.taken) === 1
}

function textsOf(sequelize: Sequelize): { readonly lock: string; readonly unlock: string } {
  if (sequelize.getDialect() === 'postgres')
    return { lock: `SELECT pg_try_advisory_lock(${KEY}) AS taken`, unlock: `SELECT pg_advisory_unlock(${KEY})` }
  return { lock: `SELECT GET_LOCK(${NAME}, 0) AS taken`, unlock: `DO RELEASE_LOCK(${NAME})` }
}

async function refusePooler(sequelize: Sequelize, { raw }: HeldConnection): Promise<void> {
  const [server] = await sequelize.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid', {
    type: QueryTypes.SELECT,
  })
  const { clientInternals, pgClientOf } = await import('../../db/drivers/pg.js') // here, so that other databases do not load pg
  const { processID } = clientInternals(pgClientOf(raw))
  // Servers without numbers of processes are no poolers.
  if (processID !== null && server?.pid !== processID) throw new MigrationError(BEHIND_POOLER)
}
