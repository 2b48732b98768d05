import type { Sequelize } from 'sequelize'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { startsOnlyWithKeyword, startsWithKeyword } from '../../sql/starts-with-keyword.js'

/** Source: MySQL manual and MariaDB documentation, "Statements That Cause an Implicit Commit". Temporary tables cause none. */
export const isCommitting = startsWithKeyword(
  'ALTER',
  'CREATE(?!\\s+TEMPORARY)',
  'DROP(?!\\s+TEMPORARY)',
  'RENAME',
  'TRUNCATE',
  'GRANT',
  'REVOKE',
  '(?:UN)?LOCK\\s+TABLES?',
  'ANALYZE',
  'OPTIMIZE',
  'REPAIR',
  'CHECK',
  'FLUSH',
  'RESET',
  '(?:CACHE|LOAD)\\s+INDEX',
  '(?:UN)?INSTALL',
  'IMPORT\\s+TABLE',
  'BACKUP',
  'CHANGE',
  '(?:START|STOP)\\s+(?:ALL\\s+)?(?:SLAVES?|REPLICAS?|GROUP_REPLICATION)',
  'SET\\s+PASSWORD',
)

/** Statements that read or write rows. The server refuses a commit in the functions and triggers that they call: ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG. */
const keepsTransaction = startsOnlyWithKeyword(
  'SELECT',
  'INSERT',
  'UPDATE',
  'DELETE',
  'REPLACE',
  'WITH',
  'VALUES',
  'TABLE',
  'DO',
  'LOAD\\s+(?:DATA|XML)',
  'SHOW',
  'DESC(?:RIBE)?',
  'EXPLAIN',
  'SAVEPOINT',
  'RELEASE',
  'ROLLBACK',
  'USE',
  'SET(?!\\s+STATEMENT)',
  '(?:CREATE|DROP)\\s+TEMPORARY',
)

const SEVERAL = /;\s*\S/

/** Whether a statement may end the transaction in a way that its text does not show: CALL, EXECUTE, compound statements, and what is not known here. */
export function mayEndTransaction(sql: string, sequelize: Sequelize): boolean {
  return !keepsTransaction(sql) || (allowsSeveral(sequelize) && SEVERAL.test(sql))
}

function allowsSeveral(sequelize: Sequelize): boolean {
  const { dialectOptions } = sequelizeInternals(sequelize).options
  return Boolean(dialectOptions?.multipleStatements)
}

/** Whether a statement leaves something on its connection: a setting, another database, a temporary table, a lock. */
export function leavesState(sql: string): boolean {
  return leaves(sql) || LOCKS.test(sql)
}

const leaves = startsWithKeyword(
  'SET(?!\\s+(?:STATEMENT|TRANSACTION|GLOBAL|PERSIST))',
  'USE',
  'PREPARE',
  'CREATE\\s+(?:OR\\s+REPLACE\\s+)?TEMPORARY',
  'HANDLER',
)
const LOCKS = /\bGET_LOCK\s*\(/i
