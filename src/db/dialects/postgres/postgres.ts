import { DatabaseError, type Options, QueryTypes, type Sequelize } from 'sequelize'
import {
  BROKEN_SOCKET,
  codeOf,
  DEFAULTS,
  type Dialect,
  isLostConnection,
  type TransactionNeeds,
} from '../../dialect.js'
import { leaseFromPool, onEachConnection } from '../pool-lease.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { logStatement } from '../../sequelize/query.js'
import type { PostgresConfig } from '../../config/url.js'
import type { SslMode } from '../../config/url-options.js'
import { checkPg, type PgClient, pgClientOf } from './driver.js'
import { isPipelined, isPipelinedLibrary, pipelinedPg } from './pipelined-client.js'
import { isOutdatedStatement } from './prepared-statements.js'

/** PostgreSQL with the driver pg, and databases with the same protocol: CockroachDB, YugabyteDB. */
export const postgres: Dialect = {
  prepare(sequelize) {
    // A Sequelize instance of the program may have another client, of which only query() is used.
    if (isPipelinedLibrary(sequelizeInternals(sequelize).connectionManager.lib)) checkPg()
    return onEachConnection(sequelize, async (connection: unknown) => {
      await setStandardStrings(pgClientOf(connection))
      if (isPipelined(connection) && connection.isPrepared)
        connection.setDefaultIsolation(await defaultIsolation(pgClientOf(connection)))
    })
  },
  findPlainTables: (sequelize, names) => findPlainTables(sequelize, names),
  lease: (sequelize, needs) =>
    leaseFromPool(sequelize, needs, (connection) => {
      const begin = beginStatement(needs)
      if (!isPipelined(connection)) return { begin: [begin] }
      connection.startLease()
      return {
        begin: [],
        beginWithNextStatement() {
          connection.beginWithNextQuery(begin)
          logStatement(sequelize, begin)
        },
        readsAlone: () => connection.isReadCommitted,
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
    if (error instanceof DatabaseError && !isLostConnection(error)) return []
    throw error
  }
}

/** Undefined if the server does not report it. */
function defaultIsolation(connection: PgClient): Promise<unknown> {
  return new Promise((resolve, reject) =>
    connection.query('SHOW default_transaction_isolation', (error, result) => {
      if (error) return 'severity' in error ? resolve(undefined) : reject(error)
      const [row] = result.rows as readonly object[]
      resolve(Object.values(row ?? {})[0])
    }),
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
