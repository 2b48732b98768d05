import { readKeys } from './keys.js'
import { DatabaseError, type Options, QueryTypes, type Sequelize } from 'sequelize'
import {
  BROKEN_SOCKET,
  codeOf,
  type ConnectionLimit,
  DEFAULTS,
  type Dialect,
  type TransactionNeeds,
} from '../../dialect.js'
import type { TransactionConnection } from '../../connection.js'
import { requireSupported } from '../../supported-version.js'
import { acquireFromPool, acquireIdleFromPool, onEachConnection, prepareForOthers } from '../dialect-connection.js'
import { acquireForProbe } from '../probe-connection.js'
import { DatabaseStartError } from '../../errors.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { senderOf } from '../../sequelize/query.js'
import { configOfServer } from '../../servers/first-available.js'
import type { MysqlConfig } from '../../config/url.js'
import type { ServerOptions, SslMode } from '../../config/url-options.js'
import { keepDoubles, keepMilliseconds, keepWholeSeconds, readEarlyYears, storedForm } from './stored-forms.js'
import { direct, runQuery, useSender, withMeta, withNumericInsertId } from './direct.js'
import { close, closeAtOnce, rememberConfig } from './close.js'
import { openCursor } from './cursor.js'
import { type MysqlConnection, mysqlConnectionOf } from '../../drivers/mysql.js'
import { closeChanged, isCommitting, mayEndTransaction } from './ending-statements.js'
import { leaveUnreadyNodes, useHosts } from './hosts.js'
import { MysqlTransactionConnection, SNAPSHOT, endTransactionAhead, rememberIsolation } from './mysql-connection.js'
import { setVariables } from './variables.js'

/** MySQL with the driver mysql2, and MariaDB with the driver mariadb. */
export const mysql: Dialect = {
  prepare(sequelize) {
    const dialect = sequelize.getDialect()
    requireSupported(dialect === 'mysql' ? 'mysql2' : 'mariadb', sequelizeInternals(sequelize).connectionManager.lib)
    requireUtf8(sequelize)
    readEarlyYears(sequelize)
    keepMilliseconds(sequelize)
    keepDoubles(sequelize)
    leaveUnreadyNodes(sequelize)
    closeChanged(sequelize)
    prepareForOthers(sequelize, (connection) => endTransactionAhead(sequelize, connection))
    const prepareConnection = async (opened: object, config: object) => {
      const connection = mysqlConnectionOf(opened)
      rememberConfig(connection, configOfServer(connection) ?? config)
      await setVariables(connection, `SESSION ${BACKSLASH_ESCAPES}, ${UTF8_CLIENT}`)
      await rememberIsolation(connection)
      if (dialect !== 'mariadb') return
      adaptResults(connection)
    }
    return onEachConnection(sequelize, prepareConnection, (opened) => close(mysqlConnectionOf(opened)))
  },
  adaptToTable: keepWholeSeconds,
  storedForm,
  direct,
  openCursor,
  placeholder: '?',
  findPlainTables,
  findTablesWithoutTransactions,
  readKeys,
  runQuery,
  snapshotIsolation: SNAPSHOT,
  acquire,
  connectionLimit,
  probe: {
    sql: 'SELECT 1',
    acquire: (sequelize) =>
      acquireForProbe(
        sequelize,
        () => acquireForHealth(sequelize),
        (connection) => closeAtOnce(sequelize, mysqlConnectionOf(connection)),
      ),
  },
  acquireIdle: (sequelize) => acquireIdleFromPool(sequelize, () => acquire(sequelize, {})),
  isStale: () => false,
  isConflict: (error) => CONFLICTS.has(codeOf(error)),
  // After another failed statement the transaction can continue, and COMMIT commits the rest.
  isUndoing: (error) => UNDOING.has(codeOf(error)),
  isCommitting,
  mayEndTransaction,
  isMissingSavepoint: (error) => codeOf(error) === 'ER_SP_DOES_NOT_EXIST',
  oneAtATime: true,
  isLost: (error) => LOST.has(codeOf(error)) || BROKEN_SOCKET.has(codeOf(error)),
}

/** The dialect of a database with a URL, which may have several hosts. */
export function mysqlDialect(config: MysqlConfig): Dialect {
  const prepare = (sequelize: Sequelize) => {
    useHosts(sequelize, config)
    return mysql.prepare(sequelize)
  }
  return { ...mysql, prepare }
}

function acquire(
  sequelize: Sequelize,
  needs: TransactionNeeds,
  sender = senderOf(sequelize, mysql),
): Promise<MysqlTransactionConnection> {
  return acquireFromPool(
    sequelize,
    needs,
    sender !== undefined,
    (raw, wasIdle) => new MysqlTransactionConnection(sequelize, sender, raw, wasIdle, needs),
  )
}

// Without a COMMIT, which might not be answered. The statement of a health check reads no table.
async function acquireForHealth(sequelize: Sequelize): Promise<TransactionConnection> {
  const connection = await acquire(sequelize, {})
  connection.keepAhead()
  return connection
}

const CONFLICTS: ReadonlySet<string> = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD'])
const UNDOING: ReadonlySet<string> = new Set(['ER_LOCK_DEADLOCK', 'ER_CHECKREAD', 'ER_LOCK_TABLE_FULL'])
const LOST: ReadonlySet<string> = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'ER_CONNECTION_KILLED',
  '1927', // ER_CONNECTION_KILLED of MariaDB, which mysql2 has no name for
  'ER_SERVER_SHUTDOWN',
  'ER_SOCKET_UNEXPECTED_CLOSE',
  'ER_CMD_NOT_EXECUTED_DESTROYED',
  // An error of COMMIT. A node of a Galera cluster that loses the others during COMMIT does not know whether they have received the changes.
  'ER_ERROR_DURING_COMMIT',
])

// Tables of other databases are not looked for.
async function findPlainTables(sequelize: Sequelize): Promise<string[]> {
  const sql = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`
  const rows = await sequelize.query<{ name: string }>(sql, { type: QueryTypes.SELECT })
  return rows.map(({ name }) => `\`${name}\``)
}

/** Tables of MyISAM, Aria and MEMORY keep what was written when the transaction is rolled back. */
async function findTablesWithoutTransactions(sequelize: Sequelize): Promise<Map<string, string>> {
  const sql = `SELECT t.table_name AS name, t.engine AS engine FROM information_schema.tables t
    JOIN information_schema.engines e ON e.engine = t.engine WHERE t.table_schema = DATABASE() AND e.transactions <> 'YES'`
  const rows = await sequelize.query<{ name: string; engine: string }>(sql, { type: QueryTypes.SELECT })
  return new Map(rows.map(({ name, engine }) => [name, engine]))
}

async function connectionLimit(sequelize: Sequelize): Promise<ConnectionLimit | undefined> {
  const options = { type: QueryTypes.SELECT, logging: false } as const
  try {
    const [row] = await sequelize.query<{ most: number }>('SELECT @@max_connections AS most', options)
    const most = Number(row?.most ?? Infinity)
    return { most, arithmetic: `max_connections ${most}` }
  } catch (error) {
    if (error instanceof DatabaseError) return undefined // a proxy that does not know the variable
    throw error
  }
}

// Sequelize escapes quotes with backslashes. With NO_BACKSLASH_ESCAPES a backslash escapes nothing, and the quote after it would end the literal.
const BACKSLASH_ESCAPES = `sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')`

// In character sets such as GBK, the byte of a backslash can be the second byte of a character; the quote after it would end the literal.
const UTF8_CLIENT = `character_set_client = IF(@@SESSION.character_set_client LIKE 'utf8%', @@SESSION.character_set_client, 'utf8mb4')`

/**
 * With a charset such as latin1, the drivers cut each character down to one byte: `ħ` (U+0127) becomes a quote (0x27), which would end the
 * literal.
 *
 * @throws DatabaseStartError if a Sequelize instance of the program has a charset other than UTF-8.
 */
function requireUtf8(sequelize: Sequelize): void {
  const { dialectOptions = {} } = sequelizeInternals(sequelize).options
  const { charset, collation } = dialectOptions
  const other = Object.entries({ charset, collation }).find(
    ([, value]) => typeof value === 'string' && !/^utf8/i.test(value),
  )
  if (other === undefined) return
  const [option, value] = other
  throw new DatabaseStartError(
    `The Sequelize instance sends strings in ${String(value)}, where some characters become quotes, which allows SQL injection. ` +
      `Write dialectOptions: { charset: 'utf8mb4' }${option === 'collation' ? ' without a collation' : ''}; tables and columns may have any charset.`,
  )
}

// Two things that Sequelize expects of mariadb's results: that it can delete `meta`, which version 3 of the driver does not allow; and that
// insertId is a number, while the driver returns a string because of bigNumberStrings.
function adaptResults(connection: MysqlConnection): void {
  const query = connection.query.bind(connection)
  const sender = useSender(connection)
  connection.query = async (...args) => {
    const beginning = sender?.begun()
    if (beginning) await beginning
    const rows: unknown = await query(...args)
    if (!Array.isArray(rows)) return withNumericInsertId(rows)
    if (Object.getOwnPropertyDescriptor(rows, 'meta')?.configurable !== false) return rows
    return withMeta([...rows], Reflect.get(rows, 'meta'))
  }
}

/** The largest value of innodb_lock_wait_timeout, in seconds: there is no value for "no limit". */
const MAX_LOCK_WAIT = 1_073_741_824

/** The options of Sequelize for a database URL. */
export function mysqlOptions(config: MysqlConfig): Options {
  const { dialect, hosts, database, username, password, ssl, charset, options } = config
  const [{ host, port }] = hosts
  return {
    dialect,
    host,
    port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    pool: { max: options.poolSize ?? 10, acquire: options.poolTimeout ?? DEFAULTS.pool },
    retry: { max: 1 },
    hooks: { afterConnect: (connection: unknown) => setTimeouts(mysqlConnectionOf(connection), options) },
    dialectOptions: {
      charset: charset ?? 'utf8mb4',
      connectTimeout: options.connectTimeout ?? DEFAULTS.connect,
      ...(ssl === 'disable' ? {} : { ssl: tls(ssl) }),
      // Integers beyond 2^53 as strings, others as numbers, as on the other databases.
      supportBigNumbers: true,
      bigNumberStrings: true,
      // The messages of the driver's errors would have the values.
      ...(dialect === 'mariadb' ? { insertIdAsNumber: true, bigIntAsNumber: false, logParam: false } : {}),
    },
  }
}

// MariaDB has max_statement_time (seconds) and idle_transaction_timeout, MySQL has max_execution_time (milliseconds). A variable that the
// server does not know is ignored.
async function setTimeouts(connection: MysqlConnection, options: ServerOptions): Promise<void> {
  const statement = options.statementTimeout ?? DEFAULTS.statement
  const lock = Math.ceil((options.lockTimeout ?? DEFAULTS.lock) / 1000)
  const idle = Math.ceil((options.idleInTransactionTimeout ?? DEFAULTS.idleInTransaction) / 1000)
  await setVariables(connection, `SESSION max_statement_time = ${statement / 1000}`)
  await setVariables(connection, `SESSION max_execution_time = ${statement}`)
  await setVariables(connection, `SESSION innodb_lock_wait_timeout = ${lock === 0 ? MAX_LOCK_WAIT : lock}`)
  await setVariables(connection, `SESSION idle_transaction_timeout = ${idle}`)
}

function tls(mode: Exclude<SslMode, 'disable'>): object {
  switch (mode) {
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      // mysql2 reads verifyIdentity, mariadb reads checkServerIdentity.
      return { rejectUnauthorized: true, verifyIdentity: false, checkServerIdentity: () => undefined }
    case 'verify-full':
      return { rejectUnauthorized: true, verifyIdentity: true }
  }
}
