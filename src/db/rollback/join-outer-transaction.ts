import type { Sequelize } from 'sequelize'
import type { Lease, TransactionNeeds } from '../dialect.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { NotUndoableError } from './rollback-errors.js'

const METHODS = ['getConnection', 'releaseConnection', 'destroyConnection'] as const

/**
 * Makes the queries outside of sessions, each of which commits itself, savepoints of the transaction of a test: those of `@Transactional(false)`, and
 * of the test itself.
 *
 * @returns undoes it.
 */
export function joinOuterTransaction(
  sequelize: Sequelize,
  lease: (needs: TransactionNeeds) => Promise<Lease>,
): () => void {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const own = METHODS.map((name) => [name, Object.getOwnPropertyDescriptor(manager, name)] as const)
  /** Of the query that runs: there is one at a time. */
  let current: Lease | undefined

  const methods = {
    async getConnection({ uuid }: { readonly uuid?: string } = {}) {
      if (uuid !== undefined)
        throw new NotUndoableError(
          'sequelize.transaction() outside of a session cannot be undone by withRollback(): its COMMIT would keep all that the test has done. It was refused. Use withSession().',
        )
      const taken = await lease({})
      try {
        await sendBegin(sequelize, taken)
      } catch (error) {
        await taken.destroy()
        throw error
      }
      return (current = taken).connection
    },
    releaseConnection: () => void end(),
    destroyConnection: () => end(),
  }
  const end = async (): Promise<void> => {
    const ending = current
    current = undefined
    // A statement that has failed has to be rolled back on PostgreSQL; on others it has done nothing.
    await ending?.end?.('commit').then(
      () => ending.release(),
      () => ending.destroy(),
    )
  }
  Object.assign(manager, methods)
  return () => {
    if (manager.getConnection !== methods.getConnection) return // Sequelize has replaced it: it is closed
    for (const [name, descriptor] of own) {
      if (descriptor) Object.defineProperty(manager, name, descriptor)
      else Reflect.deleteProperty(manager, name)
    }
  }
}

async function sendBegin(sequelize: Sequelize, { connection, begin }: Lease): Promise<void> {
  const { dialect, options } = sequelizeInternals(sequelize)
  const { logging = false } = options
  for (const sql of begin) await new dialect.Query(connection, sequelize, { logging, type: 'RAW', raw: true }).run(sql)
}
