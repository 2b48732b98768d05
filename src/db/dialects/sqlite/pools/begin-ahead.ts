import type { Sequelize } from 'sequelize'
import type { TransactionEnd } from '../../../connection.js'
import { sendDirectly } from '../../../sequelize/query.js'
import { execute } from '../connection.js'
import { openedConnection, type SqliteConnection } from '../../../drivers/sqlite3.js'
import type { SendDirect } from '../../../direct-statement.js'

/**
 * The idle connections whose next transaction was begun together with the end of the last one. For each statement SQLite works in another thread, and
 * changing threads takes longer than a short statement. A deferred transaction that has read nothing holds no lock and no snapshot.
 * Source: sqlite.org, Transaction, 2.1.
 */
const begun = new WeakSet<SqliteConnection>()

/** Whether the connection is in a transaction that was begun ahead, which now is that of the caller. */
export function takeTransactionAhead(connection: SqliteConnection): boolean {
  return begun.delete(connection)
}

/** Ends a transaction that was begun ahead: what runs outside of a session commits each statement by itself. */
export function endTransactionAhead(connection: SqliteConnection): Promise<void> | undefined {
  return begun.delete(connection) ? execute(connection, 'COMMIT') : undefined
}

/** Ends a transaction, and begins the next one. */
export function endAndBegin(sequelize: Sequelize, connection: SqliteConnection, end: TransactionEnd): Promise<void> {
  const request = { connection, text: end === 'commit' ? 'COMMIT' : 'ROLLBACK', values: [] }
  return sendDirectly(sequelize, sendAndBegin, request, () => void begun.add(connection))
}

const sendAndBegin: SendDirect = (connection, sql, _values, done) => {
  openedConnection(connection).exec(`${sql}; BEGIN DEFERRED`, (error) => done(error, { rows: [] }))
}

/** Replaces a transaction that was begun ahead by one that takes the lock of a writer at once. */
export function beginImmediate(sequelize: Sequelize, connection: SqliteConnection): Promise<unknown> {
  return sendDirectly(sequelize, sendEndAndBegin, { connection, text: 'BEGIN IMMEDIATE', values: [] }, () => {})
}

const sendEndAndBegin: SendDirect = (connection, sql, _values, done) => {
  openedConnection(connection).exec(`COMMIT; ${sql}`, (error) => done(error, { rows: [] }))
}
