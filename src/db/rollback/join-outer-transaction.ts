import type { Sequelize } from 'sequelize'
import type { TransactionConnection } from '../connection.js'
import type { TransactionNeeds } from '../dialect.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { NotUndoableError } from './rollback-errors.js'

const OUTSIDE =
  'sequelize.transaction() outside of a session cannot be undone by withRollback(): its COMMIT would keep all that the test has done. It was refused. Use withSession().'

const METHODS = ['getConnection', 'releaseConnection', 'destroyConnection'] as const

/**
 * Makes the queries outside of sessions, each of which commits itself, savepoints of the transaction of a test: those of `@Transactional(false)`, and
 * of the test itself.
 *
 * @returns undoes it.
 */
export function joinOuterTransaction(
  sequelize: Sequelize,
  acquire: (needs: TransactionNeeds) => Promise<TransactionConnection>,
): () => void {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const own = METHODS.map((name) => [name, Object.getOwnPropertyDescriptor(manager, name)] as const)
  /** The connection of the query that runs: there is one at a time. */
  let current: TransactionConnection | undefined

  const methods = {
    async getConnection({ uuid }: { readonly uuid?: string } = {}) {
      if (uuid !== undefined) throw new NotUndoableError(OUTSIDE)
      const taken = await acquire({})
      try {
        await taken.begin()
      } catch (error) {
        await taken.destroy()
        throw error
      }
      return (current = taken).raw
    },
    releaseConnection: () => void end(),
    destroyConnection: () => end(),
  }
  const end = async (): Promise<void> => {
    const ending = current
    current = undefined
    if (!ending) return
    // A statement that has failed has to be rolled back on PostgreSQL; on others it has done nothing.
    await commit(ending).then(
      () => ending.release(),
      () => ending.destroy(),
    )
  }
  Object.assign(manager, methods)
  return () => {
    if (manager.getConnection !== methods.getConnection) return // Sequelize has replaced it: it is closed
    for (const [name, descriptor] of own) restore(manager, name, descriptor)
  }
}

function restore(object: object, name: string, descriptor: PropertyDescriptor | undefined): void {
  if (descriptor) Object.defineProperty(object, name, descriptor)
  else Reflect.deleteProperty(object, name)
}

function commit(connection: TransactionConnection): Promise<boolean> {
  return new Promise((resolve, reject) => connection.end('commit', { resolve, reject }))
}
