import { TransactionEndedError } from '../../errors.js'
import type { TransactionState } from './transaction-state.js'

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
export async function untilEnd<T>(state: TransactionState, { sql, hadWritten }: Work, execute: () => Promise<T>) {
  await state.transaction.command(`SAVEPOINT ${SAVEPOINT}`)
  try {
    const result = await execute()
    if (await hasEnded(state)) end(state, sql, hadWritten)
    return result
  } catch (error) {
    // A deadlock rolls the transaction back: nothing of it is saved.
    if (!state.dialect.isUndoing(error) && (await hasEnded(state))) end(state, sql, true)
    throw error
  }
}

async function hasEnded({ transaction, dialect }: TransactionState): Promise<boolean> {
  try {
    await transaction.command(`RELEASE SAVEPOINT ${SAVEPOINT}`)
    return false
  } catch (error) {
    return dialect.isMissingSavepoint?.(error) === true // else the connection is lost, as the next statement finds
  }
}

function end(state: TransactionState, sql: string, hadWritten: boolean): void {
  state.endedBy ??= new TransactionEndedError(sql.trim().slice(0, 40))
  // Of what came before it is not known whether it was committed or rolled back.
  if (hadWritten) state.rollbackReason ??= { error: state.endedBy }
}
