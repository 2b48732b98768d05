import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionEnd } from '../../connection.js'
import type { TransactionNeeds } from '../../dialect.js'
import { logStatement } from '../../sequelize/query.js'
import { PooledConnection } from '../pooled-connection.js'
import { closeAtOnce } from './close.js'
import { isChanged, noteChange } from './changed-connections.js'
import { beginnerOf } from './direct.js'
import { mysqlConnectionOf } from '../../drivers/mysql.js'
import { withoutDefault } from './isolation.js'
import { isHarmless, type MariadbSender } from './mariadb-sender.js'
import { endAndBegin, endUnwantedTransaction, keepTransactionAhead, takeTransactionAhead } from './begin-ahead.js'
import type { SendDirect } from '../../direct-statement.js'

/**
 * A connection of MySQL or MariaDB. Its transaction was begun ahead, together with the end of the last one, or begins with a read of the driver mariadb
 * in the same packet, or before its first statement.
 */
export class MysqlTransactionConnection extends PooledConnection {
  /** Without an isolation level that the connection has by itself. */
  readonly #needs: TransactionNeeds
  readonly #beginner: MariadbSender | undefined
  readonly #isAhead: boolean
  #beginsWithRead = false

  constructor(
    sequelize: Sequelize,
    direct: SendDirect | undefined,
    raw: object,
    wasIdle: boolean,
    needs: TransactionNeeds,
  ) {
    super(sequelize, direct, raw, wasIdle, needs)
    this.#needs = withoutDefault(raw, needs)
    this.#beginner = direct ? beginnerOf(raw) : undefined
    this.#beginner?.startLease()
    this.#isAhead = takeTransactionAhead(raw)
    if (this.#isAhead && this.#fitsAhead) this.#useAhead()
  }

  get #fitsAhead(): boolean {
    return !this.#needs.readOnly && this.#needs.isolation === undefined
  }

  #useAhead(): void {
    for (const sql of this.beginning) logStatement(this.sequelize, sql)
    this.begun()
  }

  /** Gives the transaction that was begun ahead back, if nothing was executed in it that reads a table. */
  keepAhead(): void {
    if (this.#isAhead) keepTransactionAhead(this.raw)
  }

  // MySQL has no isolation level in START TRANSACTION.
  protected override get beginning(): readonly string[] {
    const { isolation, readOnly } = this.#needs
    const begin = `START TRANSACTION${readOnly ? ' READ ONLY' : ''}`
    return isolation ? [`SET TRANSACTION ISOLATION LEVEL ${isolation}`, begin] : [begin]
  }

  override begin(first?: NextStatement): Promise<void> | undefined {
    if (this.hasBegun) return undefined
    return this.#mayBeginWith(first) ? this.#beginWithNext() : super.begin(first)
  }

  // A BEGIN that fails is followed by the statement that was sent with it, which then is not part of a transaction: only a harmless one is.
  #mayBeginWith(first: NextStatement | undefined): boolean {
    const isOneStatement = !this.#isAhead && this.#needs.isolation === undefined
    return isOneStatement && this.#beginner !== undefined && first?.kind === 'read' && isHarmless(first.sql)
  }

  #beginWithNext(): undefined {
    const [begin = ''] = this.beginning
    logStatement(this.sequelize, begin)
    this.#beginner?.beginWithNext(begin)
    this.#beginsWithRead = true
    this.begun()
  }

  protected override async sendBeginning(): Promise<void> {
    if (this.#isAhead && !this.hasBegun) await this.command('COMMIT')
    await super.sendBeginning()
  }

  override get isBegun(): boolean {
    return this.#beginsWithRead ? this.#beginner?.hasBegun === true : this.hasBegun
  }

  override prepare(next?: NextStatement): undefined {
    if (next) noteChange(this.sequelize, this.raw, next.sql)
  }

  override end(end: TransactionEnd, settle: Ending): void {
    const ending = isChanged(this.raw) || !this.direct ? undefined : endAndBegin(this.sequelize, this.raw, this.#needs)
    if (ending) ending(end).then(() => settle.resolve(true), settle.reject)
    else super.end(end, settle)
  }

  override release(): Promise<void> | undefined {
    const ended = endUnwantedTransaction(this.sequelize, this.raw)
    return ended ? ended.then(() => super.release()) : super.release()
  }

  protected override drop(): Promise<void> | void {
    return closeAtOnce(this.sequelize, mysqlConnectionOf(this.raw))
  }
}
