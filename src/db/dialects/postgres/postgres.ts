import { readKeys } from './keys.js'
import { DatabaseError, type Options, QueryTypes, type Sequelize } from 'sequelize'
import {
  BROKEN_SOCKET,
  codeOf,
  DEFAULTS,
  type Dialect,
  isCancelled,
  isEndedByPooler,
  isFatal,
  isLostConnection,
} from '../../dialect.js'
import { acquireIdleFromPool, closeSpent, onEachConnection } from '../dialect-connection.js'
import { acquireForProbe } from '../probe-connection.js'
import { hasFastPath } from '../../sequelize/query.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import type { PostgresConfig } from '../../config/url.js'
import type { SslMode } from '../../config/url-options.js'
import { refuseBigIntegers } from './big-integers.js'
import { readConnectionLimit } from './connection-limit.js'
import { openCursor } from './cursor.js'
import { checkPg, type PgClient, pgClientOf } from '../../drivers/pg.js'
import { useHosts } from './servers/hosts.js'
import { rivalsOf } from './servers/survey.js'
import { isPipelined, isPipelinedLibrary, pipelinedPg } from './pipelined-client.js'
import { isOutdatedStatement } from './prepared-statements.js'
import { acquire, hasState, sendToClient } from './postgres-connection.js'
import { examineConnection } from './server-connection.js'
import { settingsOf } from './server-settings.js'
import { nearestSingle, numberForm } from '../../values/stored-forms.js'

/** PostgreSQL with the driver pg, and databases with the same protocol: CockroachDB, YugabyteDB. */
export const postgres: Dialect = {
  prepare(sequelize) {
    // A Sequelize instance of the program may have another client; only its query() is used.
    if (isPipelinedLibrary(sequelizeInternals(sequelize).connectionManager.lib)) checkPg()
    closeWithoutTypes(sequelize)
    closeSpent(sequelize, hasState)
    const prepareClient = (connection: unknown) => {
      if (!isPipelined(connection)) return setStandardStrings(pgClientOf(connection))
      if (hasFastPath(sequelize)) connection.generateRows()
      return examineConnection(connection)
    }
    return onEachConnection(sequelize, prepareClient, (connection) => close(sequelize, connection))
  },
  adaptToTable: refuseBigIntegers,
  storedForm: (_, columnType) => (columnType === 'REAL' ? numberForm(nearestSingle) : undefined),
  findPlainTables: (sequelize, names) => findPlainTables(sequelize, names),
  acquire,
  direct: sendToClient,
  openCursor: (sequelize, connection, statement) => openCursor(sequelize, connection, statement, sendToClient),
  connectionLimit: async (sequelize) => readConnectionLimit(await acquire(sequelize, {})),
  isStandby,
  readKeys,
  rivals: rivalsOf,
  probe: {
    sql: 'SELECT 1',
    acquire: (sequelize) =>
      acquireForProbe(
        sequelize,
        () => acquire(sequelize, {}),
        (connection) => isPipelined(connection) && connection.terminate(),
      ),
  },
  acquireIdle: (sequelize) => acquireIdleFromPool(sequelize, () => acquire(sequelize, {})),
  snapshotIsolation: 'REPEATABLE READ',
  // A transaction that began as a reader writes a row that another transaction has changed since.
  isStale: (error) => codeOf(error) === '40001' || isOutdated(error),
  isConflict: (error) => CONFLICTS.has(codeOf(error)) || isOutdated(error),
  // After a failed statement the transaction stays open: the server rejects all statements in it, and turns COMMIT into ROLLBACK.
  isUndoing: () => false,
  // 26000: in a failed transaction a statement could not be prepared, so executions of it that were already sent do not find it.
  isConsequence: (error) => CONSEQUENCES.has(codeOf(error)),
  oneAtATime: false,
  sendsAhead: true,
  isLost: (error) =>
    LOST.has(codeOf(error)) ||
    BROKEN_SOCKET.has(codeOf(error)) ||
    isEndedByPooler(error) ||
    isFatal(error) ||
    isBroken(error),
}

// Sequelize asks for the types of the database on its first connection, and would keep that open if the query fails.
function closeWithoutTypes(sequelize: Sequelize): void {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const refresh = manager._refreshDynamicOIDs.bind(manager)
  manager._refreshDynamicOIDs = async (connection) => {
    try {
      await refresh(connection)
    } catch (error) {
      if (connection) close(sequelize, connection)
      throw error
    }
  }
}

function close(sequelize: Sequelize, connection: object): void {
  if (isPipelined(connection)) return void connection.terminate()
  void sequelizeInternals(sequelize)
    .connectionManager._disconnect(connection)
    .catch(() => {}) // it is closed already
}

/** The dialect of a database with a URL, which may have several hosts. */
export function postgresDialect(config: PostgresConfig): Dialect {
  const prepare = (sequelize: Sequelize) => {
    useHosts(sequelize, config)
    return postgres.prepare(sequelize)
  }
  const { isStandby: _, ...withoutRole } = postgres
  const isAskedFor = config.target === 'standby' || config.target === 'read-only'
  return isAskedFor ? { ...withoutRole, prepare } : { ...postgres, prepare }
}

/** False before PostgreSQL 14, and behind a pooler, which do not report it. */
async function isStandby(sequelize: Sequelize): Promise<boolean> {
  const connection = await acquire(sequelize, {})
  await connection.release()
  return isPipelined(connection.raw) && connection.raw.isStandby === true
}

function isOutdated(error: unknown): boolean {
  return error instanceof DatabaseError && isOutdatedStatement(error.original)
}

const CONSEQUENCES: ReadonlySet<string> = new Set(['25P02', '26000'])
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01'])
// Errors with which the server ends the connection. 40003 is CockroachDB's: the node that received it does not know whether the others have executed the
// statement.
const LOST: ReadonlySet<string> = new Set('57P01 57P02 57P03 57P04 57P05 25P03 25P04 08006 08003 40003'.split(' '))

// When the socket breaks, pg's errors have no code, only this message. Its error "... is not queryable" is not meant: it is for a statement
// that was not sent.
function isBroken(error: unknown): boolean {
  return error instanceof DatabaseError && /Connection terminated/.test(error.message)
}

// Sequelize doubles quotes in literals, and does not escape backslashes. If standard_conforming_strings is off, a backslash before a quote
// would let a value end its literal. Sequelize turns it on, unless the instance has the option standardConformingStrings: false.
function setStandardStrings(connection: PgClient): Promise<void> | void {
  if (connection.standard_conforming_strings !== 'off') return
  return new Promise((resolve, reject) =>
    connection.query('SET standard_conforming_strings = on', (error) => (error ? reject(error) : resolve())),
  )
}

// Also no partitions or children, which may be tables of another server. CockroachDB has no row security in its catalog.
async function findPlainTables(sequelize: Sequelize, names: readonly string[]): Promise<string[]> {
  try {
    const rows = await sequelize.query<{ name: string }>(
      `SELECT name FROM unnest($1::text[]) AS name JOIN pg_catalog.pg_class ON pg_class.oid = to_regclass(name)
       WHERE relkind = 'r' AND NOT relrowsecurity AND NOT relhassubclass`,
      { bind: [names], type: QueryTypes.SELECT },
    )
    return rows.map(({ name }) => name)
  } catch (error) {
    if (error instanceof DatabaseError && !isLostConnection(error) && !isCancelled(error)) return []
    throw error
  }
}

/** An option that Sequelize documents, and that its types leave out. */
interface PostgresOptions extends Options {
  readonly keepDefaultTimezone: boolean
}

/** The options of Sequelize for a database URL. */
export function postgresOptions({
  hosts,
  database,
  username,
  password,
  ssl,
  applicationName,
  options,
}: PostgresConfig): PostgresOptions {
  const [{ host, port }] = hosts
  return {
    dialect: 'postgres',
    dialectModule: pipelinedPg({ prepared: options.preparedStatements, settings: settingsOf(options) }),
    // Sequelize would set them by statements, which a pooler may send to the server connection of another client: see server-settings.ts.
    keepDefaultTimezone: true,
    host,
    port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    pool: { max: options.poolSize ?? 10, acquire: options.poolTimeout ?? DEFAULTS.pool },
    // A retry inside a failed transaction would hide the error of the first attempt.
    retry: { max: 1 },
    dialectOptions: {
      ...(applicationName === undefined ? {} : { application_name: applicationName }),
      ...(ssl === 'disable' ? {} : { ssl: tls(ssl) }),
      clientMinMessages: 'ignore',
      connectionTimeoutMillis: options.connectTimeout ?? DEFAULTS.connect,
      keepAlive: true,
    },
  }
}

function tls(mode: Exclude<SslMode, 'disable'>): object {
  switch (mode) {
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      return { rejectUnauthorized: true, checkServerIdentity: () => undefined }
    case 'verify-full':
      return { rejectUnauthorized: true }
  }
}
