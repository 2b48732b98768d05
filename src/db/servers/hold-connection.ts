import { ConnectionError, type Sequelize } from 'sequelize'
import { sequelizeInternals } from '../sequelize/internals.js'

/** The one connection of an instance. */
export interface HeldConnection {
  /** The connection of the driver. */
  readonly raw: object
  /** Whether it was closed, so that nothing can be executed any more. */
  readonly isLost: boolean
  /** Closes it, and gives the instance its pool back. */
  release(): Promise<void>
}

/**
 * Has all statements of an instance use one connection, in sessions and outside: a lock of that connection is held while they run, and longer where the server
 * does not notice that the process has ended. If the connection is lost, all later statements fail.
 *
 * @throws the error of the connection.
 */
export async function holdConnection(sequelize: Sequelize): Promise<HeldConnection> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const raw = await manager.getConnection({ useMaster: true })
  const destroy = manager.destroyConnection.bind(manager)
  let isLost = false
  manager.getConnection = async () => {
    if (!isLost && manager._validate(raw)) return raw
    isLost = true
    throw new ConnectionError(new Error('The connection to the database was lost.'))
  }
  manager.releaseConnection = () => {}
  manager.destroyConnection = async () => {
    isLost = true
  }
  return {
    raw,
    get isLost() {
      return isLost
    },
    async release() {
      for (const name of ['getConnection', 'releaseConnection', 'destroyConnection'])
        Reflect.deleteProperty(manager, name)
      await destroy(raw).catch(() => {}) // it is closed already
    },
  }
}
