import { TransactionEndedError } from '../../errors.js'
import type { SessionTransaction } from './session-transaction.js'

const SAVEPOINT = 'sequitur_until_end'

interface Work {
  readonly sql: string
  /** Whether rows were written before it. */
  readonly hadWritten: boolean
}

/**
 * Executes a statement that may end the transaction, and notices it: the end of a transaction removes its savepoints, also if the statement has begun
 * another transaction, or fails.
 */
export async function untilEnd<T>(
  transaction: SessionTransaction,
  { sql, hadWritten }: Work,
  execute: () => Promise<T>,
): Promise<T> {
  await transaction.command(`SAVEPOINT ${SAVEPOINT}`)
  try {
    const result = await execute()
    if (await isEnded(transaction)) noteEnd(transaction, sql, hadWritten)
    return result
  } catch (error) {
    // A deadlock rolls the transaction back: nothing of it is saved.
    if (!transaction.dialect.isUndoing(error) && (await isEnded(transaction))) noteEnd(transaction, sql, true)
    throw error
  }
}

async function isEnded(transaction: SessionTransaction): Promise<boolean> {
  try {
    await transaction.command(`RELEASE SAVEPOINT ${SAVEPOINT}`)
    return false
  } catch (error) {
    return transaction.dialect.isMissingSavepoint?.(error) === true // else the connection is lost, as the next statement finds
  }
}

function noteEnd(transaction: SessionTransaction, sql: string, hadWritten: boolean): void {
  transaction.endedByProgram ??= new TransactionEndedError(sql.trim().slice(0, 40))
  // It is not known whether the statements before were committed or rolled back.
  if (hadWritten) transaction.rollbackReason ??= { error: transaction.endedByProgram }
}
