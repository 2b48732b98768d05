import type { Sequelize } from 'sequelize'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { laterStatements } from '../../sql/later-statements.js'
import { startsOnlyWithKeyword, startsWithKeyword } from '../../sql/starts-with-keyword.js'
import { closeSpent } from '../dialect-connection.js'

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
const ABOUT_ROWS = [
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
]

const keepsTransaction = startsOnlyWithKeyword(...ABOUT_ROWS, 'USE', 'SET', '(?:CREATE|DROP)\\s+TEMPORARY\\s+TABLE')
const isSet = startsWithKeyword('SET')
/** SET STATEMENT ... FOR COMMIT, and SET autocommit = 1. */
const ENDING_SET = /\b(?:STATEMENT|AUTOCOMMIT)\b/i

const SEVERAL = /;\s*\S/

/** Whether a statement may end the transaction in a way that its text does not show: CALL, EXECUTE, compound statements, and what is not known here. */
export function mayEndTransaction(sql: string, sequelize: Sequelize): boolean {
  if (!keepsTransaction(sql) || (isSet(sql) && ENDING_SET.test(sql))) return true
  return allowsSeveral(sequelize) && SEVERAL.test(sql)
}

function allowsSeveral(sequelize: Sequelize): boolean {
  const { dialectOptions } = sequelizeInternals(sequelize).options
  return Boolean(dialectOptions?.multipleStatements)
}

const leavesNothing = startsOnlyWithKeyword(
  ...ABOUT_ROWS,
  'ALTER',
  'CREATE',
  'DROP',
  'RENAME',
  'TRUNCATE',
  'START\\s+TRANSACTION',
  'COMMIT',
  'ANALYZE',
  'KILL',
)
const isCreate = startsWithKeyword('CREATE')
const TEMPORARY = /\bTEMPORARY\b/i
const LOCKS_OR_VARIABLES = /\bGET_LOCK\s*\(|:=|\bINTO\s+@/i

/**
 * Whether a statement may leave something on its connection: a setting, another database, a temporary table, a lock. A procedure may leave
 * anything. What functions and triggers set is not seen.
 */
export function leavesState(sql: string, sequelize: Sequelize): boolean {
  if (leavesSomething(sql)) return true
  return allowsSeveral(sequelize) && laterStatements(sql, sequelize.getDialect()).some(leavesSomething)
}

function leavesSomething(sql: string): boolean {
  return !leavesNothing(sql) || LOCKS_OR_VARIABLES.test(sql) || (isCreate(sql) && TEMPORARY.test(sql))
}

/** Connections on which a statement of the program may have left something that the next user would find. */
const changed = new WeakSet<object>()

export function isChanged(connection: object): boolean {
  return changed.has(connection)
}

/** Called before each statement of the program. */
export function noteChange(sequelize: Sequelize, connection: object, sql: string): undefined {
  if (leavesState(sql, sequelize)) changed.add(connection)
}

export function closeChanged(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
  closeSpent(sequelize, isChanged)
  dialect.Query = class QueryThatNotesChanges extends dialect.Query {
    override run(sql: string, parameters?: unknown): Promise<unknown> {
      if (this.connection) noteChange(sequelize, this.connection, sql)
      return super.run(sql, parameters)
    }
  }
}
