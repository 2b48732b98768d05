import { DatabaseError, type Options } from 'sequelize'
import {
  BROKEN_SOCKET,
  codeOf,
  DEFAULTS,
  type Dialect,
  leaseFromPool,
  onEachConnection,
  type TransactionNeeds,
} from '../../dialect.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { logStatement } from '../../sequelize/query.js'
import type { PostgresConfig } from '../../config/url.js'
import type { SslMode } from '../../config/url-options.js'
import { checkPg, type PgClient, pgClientOf } from './driver.js'
import { isOutdatedPlan, isPipelined, isPipelinedLibrary, pipelinedPg } from './pipelined-client.js'

/** PostgreSQL through pg, and what speaks its protocol: CockroachDB, YugabyteDB. */
export const postgres: Dialect = {
  prepare(sequelize) {
    // An instance of the program's own has another client, of which only query() is used.
    if (isPipelinedLibrary(sequelizeInternals(sequelize).connectionManager.lib)) checkPg()
    return onEachConnection(sequelize, (connection: unknown) => conformStrings(pgClientOf(connection)))
  },
  lease: (sequelize, needs) =>
    leaseFromPool(sequelize, needs, (connection) => {
      const begin = beginText(needs)
      if (!isPipelined(connection)) return { begin: [begin] }
      connection.beginWithNext(begin)
      logStatement(sequelize, begin)
      return { begin: [], isOpen: () => connection.isInTransaction, drop: () => connection.drop() }
    }),
  direct: (connection, text, values, done, isConstant) => {
    const client = pgClientOf(connection)
    if (isConstant && values.length > 0 && isPipelined(connection)) connection.queryConstant(text, values, done)
    else if (values.length > 0) client.query(text, values, done)
    else client.query(text, done)
  },
  // RAW queries resolve to [rows, result]; the result's command is what the server says it did.
  isKept: (answer) => (answer as [unknown, { command?: string }?] | undefined)?.[1]?.command !== 'ROLLBACK',
  snapshotIsolation: 'REPEATABLE READ',
  // A reader's snapshot has grown old when it goes on to write what another has changed.
  isStale: (error) => codeOf(error) === '40001' || isOutdated(error),
  isConflict: (error) => CONFLICTS.has(codeOf(error)) || isOutdated(error),
  // A failed transaction stays: the server refuses its statements, and answers COMMIT with ROLLBACK.
  isUndoing: () => false,
  // What was to be prepared in a failed transaction was not, and is not found by the statements that were sent behind.
  isConsequence: (error) => CONSEQUENCES.has(codeOf(error)),
  oneAtATime: false,
  sendsAhead: true,
  isLost: (error) => LOST.has(codeOf(error)) || BROKEN_SOCKET.has(codeOf(error)) || isBroken(error),
}

function isOutdated(error: unknown): boolean {
  return error instanceof DatabaseError && isOutdatedPlan(error.original)
}

const CONSEQUENCES: ReadonlySet<string> = new Set(['25P02', '26000'])
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01'])
const LOST: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '08006', '08003'])

// A client whose socket broke has no code, only this text; with "not queryable" it says that it sent nothing more.
function isBroken(error: unknown): boolean {
  return error instanceof DatabaseError && /Connection terminated/.test(error.message)
}

// From a fixed set of words: BEGIN travels with the first statement, which must not find it refused.
function beginText({ isolation, readOnly }: TransactionNeeds): string {
  return `START TRANSACTION${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}${readOnly ? ' READ ONLY' : ''}`
}

// Sequelize doubles quotes, and leaves backslashes. Without this setting a backslash hides a quote from the server. Sequelize sets it, too,
// unless an instance has the option standardConformingStrings: false.
function conformStrings(connection: PgClient): Promise<void> | void {
  if (connection.standard_conforming_strings !== 'off') return
  return new Promise((resolve, reject) =>
    connection.query('SET standard_conforming_strings = on', (error) => (error ? reject(error) : resolve())),
  )
}

/** What Sequelize needs to know to connect. */
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
    // A statement that is run again in a failed transaction only hides why it failed.
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
