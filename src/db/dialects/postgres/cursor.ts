import type { Sequelize } from 'sequelize'
import type { Cursor, CursorStatement } from '../../dialect.js'
import { sendDirectly } from '../../sequelize/query.js'
import type { DirectResult, SendDirect } from '../../direct-statement.js'

let lastOpened = 0

/**
 * A server-side cursor in the open transaction: a pooler gives the transaction one server connection. `statement_timeout` applies to each
 * batch; the server must not close a transaction that waits for a slow reader.
 */
export async function openCursor(
  sequelize: Sequelize,
  connection: unknown,
  { sql, values }: CursorStatement,
  direct: SendDirect,
): Promise<Cursor> {
  const name = `sequitur_${++lastOpened}`
  const send = (text: string, bound: readonly unknown[] = []): Promise<DirectResult> =>
    sendDirectly(sequelize, direct, { connection, text, values: bound }, (result) => result)
  await send('SET LOCAL idle_in_transaction_session_timeout = 0')
  await send(`DECLARE ${name} NO SCROLL CURSOR FOR ${sql}`, values)
  return {
    read: (count) => send(`FETCH ${count} FROM ${name}`),
    leavesConnectionFree: true,
    finish: () => Promise.resolve(), // COMMIT closes it
    abandon() {}, // as ROLLBACK does
  }
}
