import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionEnd } from '../../../connection.js'
import type { TransactionNeeds } from '../../../dialect.js'
import { sendDirectly, senderOf, sendThen } from '../../../sequelize/query.js'
import { DialectConnection } from '../../dialect-connection.js'
import { execute } from '../connection.js'
import { type SqliteConnection, openedConnection } from '../../../drivers/sqlite3.js'
import { direct } from '../execute.js'
import { assertStaysReadOnly, hasState, noteState } from '../left-state.js'
import type { SendDirect } from '../../../direct-statement.js'

/** The common base of readers and writers. */
export abstract class SqliteTransactionConnection extends DialectConnection {
  declare readonly raw: SqliteConnection
  protected readonly isReadOnly: boolean

  constructor(sequelize: Sequelize, raw: SqliteConnection, needs: TransactionNeeds) {
    super(sequelize, senderOf(sequelize, { direct }), raw, false, needs)
    this.isReadOnly = needs.readOnly === true
  }

  /** Whether a statement has left something on the connection that the next session would find. */
  protected get isChanged(): boolean {
    return hasState(this.raw)
  }

  /** With PRAGMA query_only, SQLite rejects writes. It is a setting of the connection, so it is turned off at release. */
  protected get refusingWrites(): readonly string[] {
    return this.isReadOnly ? ['PRAGMA query_only = 1'] : []
  }

  override prepare(next?: NextStatement): Promise<unknown> | undefined {
    if (!next) return undefined
    if (this.isReadOnly) assertStaysReadOnly(next.sql)
    noteState(this.raw, next.sql)
    return undefined
  }

  /** Whether the next transaction may begin together with the end of this one. */
  protected abstract get mayBeginNext(): boolean

  override end(end: TransactionEnd, settle: Ending): void {
    if (!this.direct || !this.mayBeginNext) return super.end(end, settle)
    endAndBegin(this.sequelize, this.raw, end, settle)
  }
}

export function acceptWrites(connection: SqliteConnection): Promise<void> {
  return execute(connection, 'PRAGMA query_only = 0')
}

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

/** Ends a transaction that was begun ahead: what runs outside of a session commits each statement separately. */
export function endTransactionAhead(connection: SqliteConnection): Promise<void> | undefined {
  return begun.delete(connection) ? execute(connection, 'COMMIT') : undefined
}

/** Ends a transaction, and begins the next one. */
function endAndBegin(sequelize: Sequelize, connection: SqliteConnection, end: TransactionEnd, settle: Ending): void {
  const request = { connection, text: end === 'commit' ? 'COMMIT' : 'ROLLBACK', values: [] }
  const done = () => {
    begun.add(connection)
    return true
  }
  sendThen(sequelize, sendAndBegin, request, done, settle)
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
