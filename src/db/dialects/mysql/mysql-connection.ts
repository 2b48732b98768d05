import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionEnd } from '../../connection.js'
import type { TransactionNeeds } from '../../dialect.js'
import { logStatement, sendDirectly } from '../../sequelize/query.js'
import { PooledConnection } from '../dialect-connection.js'
import { closeAtOnce } from './close.js'
import { isChanged, noteChange } from './ending-statements.js'
import { beginnerOf, direct } from './direct.js'
import { type MysqlConnection, mysqlConnectionOf, query } from '../../drivers/mysql.js'
import { type MariadbSender, isHarmless } from './mariadb-sender.js'
import type { SendDirect } from '../../direct-statement.js'
import { writePoolOf } from '../../sequelize/internals.js'

/**
 * A connection of MySQL or MariaDB. Its transaction was begun ahead, together with the end of the last one, or begins with a read of the driver mariadb
 * in the same packet, or before its first statement.
 */
export class MysqlTransactionConnection extends PooledConnection {
  /** Without an isolation level that the connection has by default. */
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

/**
 * Connections whose next transaction was begun together with the end of the last one, because a session waited for a connection: START TRANSACTION takes
 * a round trip. Before its first statement a transaction has no lock and no snapshot. Source: MySQL manual, COMMIT; InnoDB, Consistent Nonlocking Reads.
 */
const begun = new WeakSet<object>()

/** Whether the connection is in a transaction that was begun ahead, which now is that of the caller. */
export function takeTransactionAhead(connection: object): boolean {
  return begun.delete(connection)
}

/** Gives it back, if nothing was executed in it that reads a table. */
export function keepTransactionAhead(connection: object): void {
  begun.add(connection)
}

/** Ends a transaction that was begun ahead: what runs outside of a session commits each statement separately. */
export function endTransactionAhead(sequelize: Sequelize, connection: object): Promise<void> | undefined {
  if (!begun.delete(connection)) return undefined
  return sendDirectly(sequelize, direct, { connection, text: 'COMMIT', values: [] }, () => {})
}

/** The same, unless a session waits for the connection. */
export function endUnwantedTransaction(sequelize: Sequelize, connection: object): Promise<void> | undefined {
  return isWanted(sequelize) ? undefined : endTransactionAhead(sequelize, connection)
}

/** Ends a transaction, and begins the next one; undefined if no session waits for the connection, or the next one would not be like others. */
export function endAndBegin(
  sequelize: Sequelize,
  connection: object,
  { readOnly, isolation }: TransactionNeeds,
): ((end: TransactionEnd) => Promise<void>) | undefined {
  if (readOnly || isolation !== undefined || !isWanted(sequelize)) return undefined
  return (end) => {
    const request = { connection, text: end === 'commit' ? 'COMMIT' : 'ROLLBACK', values: [] }
    return sendDirectly(sequelize, sendAndChain, request, () => void begun.add(connection))
  }
}

const sendAndChain: SendDirect = (connection, sql, values, done) => direct(connection, `${sql} AND CHAIN`, values, done)

function isWanted(sequelize: Sequelize): boolean {
  return writePoolOf(sequelize).waiting > 0
}

/** The default, unless an administrator has chosen another one: then the statements of a transaction read one snapshot only if it is requested. */
export const SNAPSHOT = 'REPEATABLE READ'

/** Connections whose transactions read one snapshot by default. */
const withSnapshots = new WeakSet<object>()

// MariaDB before 11.1 has the first, MySQL 8 the second.
const SHOW = `SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')`

/** Called with each new connection. */
export async function rememberIsolation(connection: MysqlConnection): Promise<void> {
  const found = await query(connection, SHOW)
  const rows = Array.isArray(found) ? (found as readonly { readonly Value: string }[]) : [] // as the server names it
  if (rows.some(({ Value }) => Value === 'REPEATABLE-READ')) withSnapshots.add(connection)
}

/** The needs without the isolation level that the transactions of this connection have by themselves: setting it takes a round trip. */
export function withoutDefault(connection: object, needs: TransactionNeeds): TransactionNeeds {
  return needs.isolation === SNAPSHOT && withSnapshots.has(connection) ? { ...needs, isolation: undefined } : needs
}
