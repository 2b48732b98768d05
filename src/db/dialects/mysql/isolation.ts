import type { TransactionNeeds } from '../../dialect.js'
import { type MysqlConnection, query } from '../../drivers/mysql.js'

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
