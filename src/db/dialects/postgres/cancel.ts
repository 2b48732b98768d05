import type * as pg from 'pg'
import { type ClientInternals, newConnection } from '../../drivers/pg.js'

/** Milliseconds to wait until the server has taken a cancel request. */
const CANCEL_TIMEOUT = 2_000

/**
 * Sends a request to cancel the running statement of a client, on a connection of its own. Resolves when the server, or the pooler before it, has closed
 * that connection: the request was passed on then. Also resolves if that cannot be reached, or does not answer in time.
 *
 * The client's own connection must still be open: a pooler finds the statement by its client.
 * Source: PostgreSQL manual, "Canceling Requests in Progress".
 */
export function cancelStatement(
  { ssl, host, port }: Pick<pg.Client, 'ssl' | 'host' | 'port'>,
  { processID, secretKey }: ClientInternals,
): Promise<void> {
  if (processID === null) return Promise.resolve()
  return new Promise((resolve) => {
    const request = newConnection(ssl)
    const cancel = () => request.cancel(processID, secretKey)
    const timer = setTimeout(() => request.stream.destroy(), CANCEL_TIMEOUT)
    request.on('connect', () => (ssl ? request.requestSsl() : cancel()))
    request.on('sslconnect', cancel)
    request.on('error', () => {}) // its 'end' event follows; the statement then ends by statement_timeout
    request.on('end', () => {
      clearTimeout(timer)
      resolve()
    })
    if (host.startsWith('/')) request.connect(`${host}/.s.PGSQL.${port}`)
    else request.connect(port, host)
  })
}
