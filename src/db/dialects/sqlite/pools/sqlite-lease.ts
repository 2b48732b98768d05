import type { Lease, TransactionNeeds } from '../../../dialect.js'
import { execute } from '../connection.js'
import type { SqliteConnection } from '../driver.js'

export interface SqliteLease extends Lease {
  readonly connection: SqliteConnection
}

type Beginning = 'BEGIN DEFERRED' | 'BEGIN IMMEDIATE'

const NOTHING: readonly string[] = []
const DEFERRED: readonly string[] = ['BEGIN DEFERRED']
const IMMEDIATE: readonly string[] = ['BEGIN IMMEDIATE']

/** With PRAGMA query_only, SQLite rejects writes. It is a setting of the connection, so it is turned off at release. */
const REFUSE_WRITES: readonly string[] = ['PRAGMA query_only = 1']

/** The statements that begin a transaction. @param hasBegun whether the connection is in one that has read nothing. */
export function beginStatements(
  beginning: Beginning,
  { readOnly }: TransactionNeeds,
  hasBegun = false,
): readonly string[] {
  const statements = hasBegun ? NOTHING : beginning === 'BEGIN DEFERRED' ? DEFERRED : IMMEDIATE
  return readOnly ? [...statements, ...REFUSE_WRITES] : statements
}

export function acceptWrites(connection: SqliteConnection): Promise<void> {
  return execute(connection, 'PRAGMA query_only = 0')
}
