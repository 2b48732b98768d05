import { DatabaseError } from 'sequelize'
import { startsWithKeyword } from '../../sql/starts-with-keyword.js'

const mayLeave = startsWithKeyword('PRAGMA', 'ATTACH', 'DETACH', 'CREATE')
const isPragma = startsWithKeyword('PRAGMA')
const isCreate = startsWithKeyword('CREATE')

const TEMPORARY = /\btemp(?:orary)?\b/i
const ARGUMENT = /[=(]/
/** They read, or change the file, or end with the transaction. */
const LEAVES_NOTHING =
  /^\s*PRAGMA\s+(?:\w+\.)?(?:table_x?info|table_list|index_list|index_x?info|foreign_key_list|foreign_key_check|integrity_check|quick_check|user_version|application_id|wal_checkpoint|optimize|defer_foreign_keys)\s*[=(]/i
const QUERY_ONLY = /\bquery_only\b/i

/** The connections on which a statement has left something that the next user would find. */
const changed = new WeakSet<object>()

/** Called with each statement of the program before it is sent, in a session or outside. */
export function noteState(connection: object, sql: string): void {
  if (leavesState(sql)) changed.add(connection)
}

export function hasState(connection: object): boolean {
  return changed.has(connection)
}

/** Called if the connection is kept anyway, because it is the only one with a database in memory. */
export function forgetState(connection: object): void {
  changed.delete(connection)
}

/** Whether a statement leaves something on its connection: a setting, or a temporary table, which hides the table of the same name. */
function leavesState(sql: string): boolean {
  if (!mayLeave(sql)) return false
  if (isPragma(sql)) return ARGUMENT.test(sql) && !LEAVES_NOTHING.test(sql)
  return !isCreate(sql) || TEMPORARY.test(sql)
}

/** @throws DatabaseError for a statement with which a read-only session would accept writes, as SQLite refuses a write. */
export function assertStaysReadOnly(sql: string): void {
  if (!isPragma(sql) || !QUERY_ONLY.test(sql)) return
  const error = new Error('SQLITE_READONLY: attempt to change query_only in a read-only session')
  throw new DatabaseError(Object.assign(error, { code: 'SQLITE_READONLY', errno: 8, sql, parameters: {} }))
}
