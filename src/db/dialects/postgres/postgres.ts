import { DatabaseError, type Options } from 'sequelize'
import { BROKEN_SOCKET, codeOf, DEFAULTS, type Dialect, type TransactionNeeds } from '../../dialect.js'
import { leaseFromPool, onEachConnection } from '../pool-lease.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { logStatement } from '../../sequelize/query.js'
import type { PostgresConfig } from '../../config/url.js'
import type { SslMode } from '../../config/url-options.js'
import { checkPg, type PgClient, pgClientOf } from './driver.js'
import { isOutdatedStatement, isPipelined, isPipelinedLibrary, pipelinedPg } from './pipelined-client.js'

/** PostgreSQL with the driver pg, and databases with the same protocol: CockroachDB, YugabyteDB. */
export const postgres: Dialect = {
  prepare(sequelize) {
    // A Sequelize instance of the program may have another client, of which only query() is used.
    if (isPipelinedLibrary(sequelizeInternals(sequelize).connectionManager.lib)) checkPg()
    return onEachConnection(sequelize, (connection: unknown) => setStandardStrings(pgClientOf(connection)))
  },
  lease: (sequelize, needs) =>
    leaseFromPool(sequelize, needs, (connection) => {
      const begin = beginStatement(needs)
      if (!isPipelined(connection)) return { begin: [begin] }
      connection.beginWithNextQuery(begin)
      logStatement(sequelize, begin)
      return {
        begin: [],
        hasBegun: () => connection.hasBegun,
        isOpen: () => connection.isInTransaction,
        drop: () => connection.terminate(),
      }
    }),
  direct: (connection, sql, values, done, isConstant) => {
    const client = pgClientOf(connection)
    if (isConstant && values.length > 0 && isPipelined(connection)) connection.queryConstant(sql, values, done)
    else if (values.length > 0) client.query(sql, values, done)
    else client.query(sql, done)
  },
  isKept: (answer) => commandOf(answer) !== 'ROLLBACK',
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
  isLost: (error) => LOST.has(codeOf(error)) || BROKEN_SOCKET.has(codeOf(error)) || isBroken(error),
}

// Sequelize's query() resolves to [rows, result] for COMMIT; the result has the command that the server has executed.
function commandOf(answer: unknown): unknown {
  const result: unknown = Array.isArray(answer) ? answer[1] : undefined
  return typeof result === 'object' && result !== null && 'command' in result ? result.command : undefined
}

function isOutdated(error: unknown): boolean {
  return error instanceof DatabaseError && isOutdatedStatement(error.original)
}

const CONSEQUENCES: ReadonlySet<string> = new Set(['25P02', '26000'])
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01'])
const LOST: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '08006', '08003'])

// When the socket breaks, pg's errors have no code, only this message. Its error "... is not queryable" is not meant: it is for a statement
// that was not sent.
function isBroken(error: unknown): boolean {
  return error instanceof DatabaseError && /Connection terminated/.test(error.message)
}

// Only keywords, so that it cannot fail: it is sent together with the first statement.
function beginStatement({ isolation, readOnly }: TransactionNeeds): string {
  return `START TRANSACTION${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}${readOnly ? ' READ ONLY' : ''}`
}

// Sequelize doubles quotes in literals, and does not escape backslashes. If standard_conforming_strings is off, a backslash before a quote
// would let a value end its literal. Sequelize turns it on, unless the instance has the option standardConformingStrings: false.
function setStandardStrings(connection: PgClient): Promise<void> | void {
  if (connection.standard_conforming_strings !== 'off') return
  return new Promise((resolve, reject) =>
    connection.query('SET standard_conforming_strings = on', (error) => (error ? reject(error) : resolve())),
  )
}

/** The options of Sequelize for a database URL. */
export function postgresOptions({
  host,
  port,
  database,
  username,
  password,
  ssl,
  applicationName,
  options,
}: PostgresConfig): Options {
  return {
    dialect: 'postgres',
    dialectModule: pipelinedPg({ prepared: options.preparedStatements ?? true }),
    host,
    port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    pool: { max: options.poolSize ?? 10, acquire: options.poolTimeout ?? 2_000 },
    // A retry inside a failed transaction would hide the error of the first attempt.
    retry: { max: 1 },
    dialectOptions: {
      ...(applicationName === undefined ? {} : { application_name: applicationName }),
      ...(ssl === 'disable' ? {} : { ssl: tls(ssl) }),
      statement_timeout: options.statementTimeout ?? DEFAULTS.statement,
      lock_timeout: options.lockTimeout ?? DEFAULTS.lock,
      idle_in_transaction_session_timeout: options.idleInTransactionTimeout ?? DEFAULTS.idleInTransaction,
      connectionTimeoutMillis: 5_000,
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
