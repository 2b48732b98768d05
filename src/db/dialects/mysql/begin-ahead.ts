import type { Sequelize } from 'sequelize'
import type { TransactionEnd } from '../../connection.js'
import type { TransactionNeeds } from '../../dialect.js'
import { writePoolOf } from '../../sequelize/internals.js'
import { sendDirectly } from '../../sequelize/query.js'
import { direct } from './direct.js'
import type { SendDirect } from '../../direct-statement.js'

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

/** Ends a transaction that was begun ahead: what runs outside of a session commits each statement by itself. */
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
