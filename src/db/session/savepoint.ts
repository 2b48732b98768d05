import { enterScope } from './current-scope.js'
import { QueuedLastWork } from './last-work.js'
import { TransactionScope } from './transaction-scope.js'
import { markQueryError } from './unhandled-queries.js'

/**
 * Runs the work in a savepoint of the scope: released when the work resolves, rolled back when it rejects. The pending changes of the scope are
 * flushed first, so that a rollback does not undo them.
 */
export async function inSavepoint<T>(outer: TransactionScope, work: () => Promise<T>): Promise<T> {
  const { pending } = outer.transaction
  pending.enter()
  try {
    outer.assertOpen()
    if (outer.changes.isBusy) await enterScope(outer, () => outer.flush())
    outer.assertOpen()
    return await outer.inTurn(() => {
      outer.assertOpen()
      return run(outer, work)
    })
  } finally {
    pending.leave()
  }
}

async function run<T>(outer: TransactionScope, work: () => Promise<T>): Promise<T> {
  const name = `sequitur_${outer.transaction.nextSavepoint()}`
  const inner = new TransactionScope(outer.transaction)
  await outer.command(`SAVEPOINT ${name}`)
  try {
    const result = await enterScope(inner, async () => {
      const value = await work()
      inner.assertOpen()
      await inner.flush()
      return value
    })
    await inner.close('released')
    await outer.command(`RELEASE SAVEPOINT ${name}`)
    for (const callback of inner.afterCommit) outer.afterCommit.push(callback)
    for (const work of inner.afterResponse) outer.afterResponse.push(work)
    if (inner.lastWork) (outer.lastWork ??= new QueuedLastWork()).addAll(inner.lastWork)
    inner.changes.moveUndoTo(outer.changes)
    return result
  } catch (error) {
    await inner.close('rolled back')
    await rollBack(outer, name)
    inner.changes.undo()
    throw markQueryError(error, outer)
  }
}

// If the rollback to the savepoint fails, the transaction still holds the work of the savepoint: it must be rolled back as a whole.
async function rollBack(outer: TransactionScope, name: string): Promise<void> {
  outer.transaction.failure = undefined
  try {
    await outer.command(`ROLLBACK TO SAVEPOINT ${name}`)
    await outer.command(`RELEASE SAVEPOINT ${name}`)
  } catch (error) {
    outer.transaction.rollbackReason ??= { error }
  }
}
