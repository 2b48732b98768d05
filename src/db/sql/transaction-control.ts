import { laterStatements } from './later-statements.js'
import { startsWithKeyword } from './starts-with-keyword.js'

/** Statements that begin or end a transaction. Those about savepoints are allowed in a session. */
export const isTransactionControl = startsWithKeyword(
  'BEGIN',
  'START\\s+TRANSACTION',
  'COMMIT',
  // Not that of a block of MariaDB, which ends no transaction.
  'END(?!\\s+(?:IF|CASE|LOOP|WHILE|REPEAT|FOR)\\b)',
  'ABORT',
  'ROLLBACK(?!\\s+(?:WORK\\s+|TRANSACTION\\s+)?TO\\b)',
  'PREPARE\\s+TRANSACTION',
  // On MySQL and MariaDB: it commits, and it stays on the connection.
  'SET\\s(?:[^;\'"]*\\W)?(?<!(?<!@)@)AUTOCOMMIT(?=[`\\s]*:?=)',
)

const begins = startsWithKeyword(
  'BEGIN(?!\\s+NOT\\b)',
  'START\\s+TRANSACTION',
  '(?:COMMIT|ROLLBACK|END)\\b[^;]*\\bAND\\s+CHAIN',
)
const isSavepoint = startsWithKeyword('SAVEPOINT')

/** On other databases BEGIN may be that of a block. */
const BEGIN_OPENS_TRANSACTION: ReadonlySet<string> = new Set(['postgres', 'mysql', 'mariadb'])

/** Whether a transaction that the text begins is still open after it. */
export function leavesTransactionOpen(sql: string, dialect: string): boolean {
  // The driver of SQLite executes only the first statement of a text. There, a savepoint begins a transaction.
  if (dialect === 'sqlite') return begins(sql) || isSavepoint(sql)
  if (!BEGIN_OPENS_TRANSACTION.has(dialect)) return false
  const last = [sql, ...laterStatements(sql, dialect)].findLast(isTransactionControl)
  return last !== undefined && begins(last)
}
