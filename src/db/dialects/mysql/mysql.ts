import type { Options, Sequelize } from 'sequelize'
import {
  BROKEN_SOCKET,
  codeOf,
  DEFAULTS,
  type Dialect,
  leaseFromPool,
  onEachConnection,
  type TransactionNeeds,
} from '../../dialect.js'
import { DatabaseStartError } from '../../errors.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { startsWithKeyword } from '../../sql/starts-with-keyword.js'
import type { MysqlConfig } from '../../config/url.js'
import type { ServerOptions, SslMode } from '../../config/url-options.js'
import { type MysqlConnection, mysqlConnectionOf } from './driver.js'

/** MySQL through mysql2, and MariaDB through mariadb. */
export const mysql: Dialect = {
  prepare(sequelize) {
    refuseOtherThanUtf8(sequelize)
    const dialect = sequelize.getDialect()
    return onEachConnection(sequelize, async (each: unknown) => {
      const connection = mysqlConnectionOf(each, dialect)
      await set(connection, `${ESCAPING}, ${ENCODING}`)
      if (dialect === 'mariadb') bendResults(connection)
    })
  },
  lease: (sequelize, needs) =>
    leaseFromPool(sequelize, needs, (connection) => ({
      begin: beginTexts(needs),
      drop: () => mysqlConnectionOf(connection, sequelize.getDialect()).destroy(),
    })),
  // A failed statement does not spoil the rest of the transaction, so that COMMIT does what it says; some undo it whole.
  isKept: () => true,
  isStale: () => false,
  isConflict: (error) => CONFLICTS.has(codeOf(error)),
  isUndoing: (error) => UNDOING.has(codeOf(error)),
  isCommitting: (sql) => isCommitting(sql),
  oneAtATime: true,
  isLost: (error) => LOST.has(codeOf(error)) || BROKEN_SOCKET.has(codeOf(error)),
}

/** Source: MySQL, "Statements That Cause an Implicit Commit". Temporary tables are not among them. */
const isCommitting = startsWithKeyword(
  'ALTER',
  'CREATE(?!\\s+TEMPORARY)',
  'DROP(?!\\s+TEMPORARY)',
  'RENAME',
  'TRUNCATE',
  'GRANT',
  'REVOKE',
  'LOCK\\s+TABLES?',
  'ANALYZE',
  'OPTIMIZE',
  'REPAIR',
)

const CONFLICTS: ReadonlySet<string> = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD'])
const UNDOING: ReadonlySet<string> = new Set(['ER_LOCK_DEADLOCK', 'ER_CHECKREAD', 'ER_LOCK_TABLE_FULL'])
const LOST: ReadonlySet<string> = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'ER_CONNECTION_KILLED',
  '1927', // the same, as mysql2 has no word for it
  'ER_SERVER_SHUTDOWN',
  'ER_SOCKET_UNEXPECTED_CLOSE',
  'ER_CMD_NOT_EXECUTED_DESTROYED',
])

// The isolation of the next transaction is a statement of its own in MySQL.
function beginTexts({ isolation, readOnly }: TransactionNeeds): readonly string[] {
  const begin = `START TRANSACTION${readOnly ? ' READ ONLY' : ''}`
  return isolation ? [`SET TRANSACTION ISOLATION LEVEL ${isolation}`, begin] : [begin]
}

// Sequelize escapes quotes with backslashes. In this mode a backslash is a character like any other, and the quote behind it ends the text.
const ESCAPING = `sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')`

// In GBK and others the byte of a backslash can be the second half of a letter, so that the quote behind it ends the text.
const ENCODING = `character_set_client = IF(@@SESSION.character_set_client LIKE 'utf8%', @@SESSION.character_set_client, 'utf8mb4')`

/**
 * The drivers keep of a letter what fits into a byte where they are to write Latin letters: of ħ a quote is left.
 *
 * @throws DatabaseStartError when an instance of the program's own is to write anything else than UTF-8.
 */
function refuseOtherThanUtf8(sequelize: Sequelize): void {
  const { dialectOptions = {} } = sequelizeInternals(sequelize).options
  const { charset, collation } = dialectOptions
  const other = [charset, collation].find((name) => typeof name === 'string' && !/^utf8/i.test(name))
  if (other === undefined) return
  throw new DatabaseStartError(
    `The Sequelize instance sends texts in ${String(other)}, and some letters of clients would end them as quotes. ` +
      `Write dialectOptions: { charset: 'utf8mb4' }; tables and columns may have any charset.`,
  )
}

// Sequelize deletes `meta` from a result, which the driver's third version does not allow, and wants new keys as numbers,
// which the driver gives as text when large numbers are to be text.
function bendResults(connection: MysqlConnection): void {
  const query = connection.query.bind(connection)
  connection.query = async (...args) => {
    const rows: unknown = await query(...args)
    if (!Array.isArray(rows)) return withNumericKey(rows)
    const meta = Object.getOwnPropertyDescriptor(rows, 'meta')
    if (meta?.configurable !== false) return rows
    return Object.defineProperty([...rows], 'meta', { value: meta.value, configurable: true, writable: true })
  }
}

function withNumericKey(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('insertId' in result)) return result
  const key = Number(result.insertId)
  return Number.isSafeInteger(key) ? Object.assign(result, { insertId: key }) : result
}

/** The largest that InnoDB takes, in seconds. */
const FOR_EVER = 1_073_741_824

/** What Sequelize needs to know to connect. */
export function mysqlOptions(config: MysqlConfig): Options {
  const { dialect, host, port, database, username, password, ssl, charset, options } = config
  return {
    dialect,
    host,
    port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    pool: { max: options.poolSize ?? 10, acquire: options.poolTimeout ?? 2_000 },
    retry: { max: 1 },
    hooks: { afterConnect: (connection: unknown) => limit(mysqlConnectionOf(connection, dialect), options) },
    dialectOptions: {
      charset: charset ?? 'utf8mb4',
      connectTimeout: 5_000,
      ...(ssl === 'disable' ? {} : { ssl: tls(ssl) }),
      // Numbers beyond 2^53 as text, others as numbers, as on the other databases.
      supportBigNumbers: true,
      bigNumberStrings: true,
      ...(dialect === 'mariadb' ? { insertIdAsNumber: true, bigIntAsNumber: false } : {}),
    },
  }
}

// MariaDB and MySQL call these by different names, and each knows only its own.
async function limit(connection: MysqlConnection, options: ServerOptions): Promise<void> {
  const statement = options.statementTimeout ?? DEFAULTS.statement
  const lock = Math.ceil((options.lockTimeout ?? DEFAULTS.lock) / 1000)
  const idle = Math.ceil((options.idleInTransactionTimeout ?? DEFAULTS.idleInTransaction) / 1000)
  await set(connection, `max_statement_time = ${statement / 1000}`)
  await set(connection, `max_execution_time = ${statement}`)
  await set(connection, `innodb_lock_wait_timeout = ${lock === 0 ? FOR_EVER : lock}`)
  await set(connection, `idle_transaction_timeout = ${idle}`)
}

// mysql2 takes a callback, mariadb returns a promise.
function set(connection: MysqlConnection, assignment: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null) => (error && !isUnknownVariable(error) ? reject(error) : resolve())
    const answer = connection.query(`SET SESSION ${assignment}`, done)
    if (answer instanceof Promise) answer.then(() => resolve(), done)
  })
}

function isUnknownVariable(error: Error): boolean {
  return 'errno' in error && error.errno === 1193
}

function tls(mode: Exclude<SslMode, 'disable'>): object {
  switch (mode) {
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      // mysql2 reads the first of these, mariadb the second.
      return { rejectUnauthorized: true, verifyIdentity: false, checkServerIdentity: () => undefined }
    case 'verify-full':
      return { rejectUnauthorized: true, verifyIdentity: true }
  }
}
