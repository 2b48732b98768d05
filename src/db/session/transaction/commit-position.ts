import type { ClientToken } from '../../../core/client-token.js'
import { endsWithin } from '../../../core/promises.js'
import type { TransactionConnection } from '../../connection.js'

/** Milliseconds to wait for a position after COMMIT was answered. It delays the response. */
const TIMEOUT = 1_000

/** Sends a token once the COMMIT before it has succeeded, and releases the connection. */
export type SendPosition = (hasCommitted: boolean) => Promise<void>

/**
 * Reads the position of a COMMIT that was sent just now, in the same packet.
 *
 * @param release releases the connection, or closes it.
 */
export function readPositionOfCommit(
  connection: TransactionConnection,
  token: ClientToken,
  release: () => Promise<void> | undefined,
): SendPosition {
  const reading = connection.readPosition()
  reading?.catch(() => {}) // COMMIT may fail for the same reason, and reports it
  return async (hasCommitted) => {
    let position = ''
    try {
      if (reading && !(await endsWithin(reading, TIMEOUT))) throw new Error('The position was not answered.')
      position = (await reading) ?? ''
      await release()
    } catch {
      await connection.destroy().catch(() => {}) // the transaction has ended
    }
    if (hasCommitted) token.send(position)
  }
}
