import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionEnd } from '../../../connection.js'
import type { TransactionNeeds } from '../../../dialect.js'
import { senderOf } from '../../../sequelize/query-path.js'
import { DialectConnection } from '../../dialect-connection.js'
import { execute } from '../connection.js'
import type { SqliteConnection } from '../../../drivers/sqlite3.js'
import { direct } from '../execute.js'
import { assertStaysReadOnly, hasState, noteState } from '../left-state.js'
import { endAndBegin } from './begin-ahead.js'

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
    endAndBegin(this.sequelize, this.raw, end).then(() => settle.resolve(true), settle.reject)
  }
}

export function acceptWrites(connection: SqliteConnection): Promise<void> {
  return execute(connection, 'PRAGMA query_only = 0')
}
