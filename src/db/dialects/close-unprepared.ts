import { ConnectionError, type Sequelize } from 'sequelize'
import { endsWithin } from '../../core/promises.js'
import { DEFAULTS } from '../dialect.js'
import { sequelizeInternals, type SequelizeOptions } from '../sequelize/internals.js'
import type { ConnectionManager } from '../sequelize/connection-manager.js'

/**
 * Closes each new connection that cannot be prepared: one whose hooks fail, or are not answered in time. Sequelize would keep it open, although the pool
 * does not have it, and would wait for an answer for as long as the socket is open.
 *
 * @param close closes the socket without waiting for the server.
 */
export function closeUnprepared(sequelize: Sequelize, close: (connection: object) => void): void {
  const internals = sequelizeInternals(sequelize)
  const { connectionManager: manager } = internals
  const timeout = timeoutOf(manager, internals.options)
  manager._connect = async (config) => {
    await internals.runHooks('beforeConnect', config)
    const connection = await manager.connect(config)
    try {
      if (await endsWithin(internals.runHooks('afterConnect', connection, config), timeout)) return connection
      throw notPrepared(timeout)
    } catch (error) {
      close(connection)
      throw error
    }
  }
}

// As long as opening the connection may take, and not shorter than a request waits for one: behind a pooler, its server connection must become free.
function timeoutOf({ config }: ConnectionManager, { dialectOptions = {} }: SequelizeOptions): number {
  const { connectionTimeoutMillis, connectTimeout = connectionTimeoutMillis ?? DEFAULTS.connect } = dialectOptions
  return Math.max(connectTimeout, config.pool.acquire)
}

function notPrepared(milliseconds: number): ConnectionError {
  const error = new Error(`A new connection was not set up within ${milliseconds} ms`)
  return new ConnectionError(Object.assign(error, { code: 'ETIMEDOUT' }))
}
