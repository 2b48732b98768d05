import type { Sequelize } from 'sequelize'
import type { LeasedConnection } from '../connection.js'
import { connectBesidePool, isFull } from '../servers/full-server.js'
import { sequelizeInternals, writePoolOf } from '../sequelize/internals.js'

/**
 * A connection for a health check of a server: an idle one of the pool, or, while there is none, one outside of the pool. In the queue of a busy pool a check
 * would wait for requests, and mistake a busy app for one whose database is unavailable. So would it in the pool of a server that is full.
 *
 * @param drop closes a connection without waiting for the server.
 * @returns undefined when the server answers that it has as many connections as it accepts.
 */
export async function acquireForProbe(
  sequelize: Sequelize,
  acquire: () => Promise<LeasedConnection>,
  drop: (connection: object) => void,
): Promise<LeasedConnection | undefined> {
  const { waiting, available } = writePoolOf(sequelize)
  try {
    return await (waiting === 0 && available > 0 ? acquire() : acquireBesidePool(sequelize, drop))
  } catch (error) {
    if (isFull(error)) return undefined
    throw error
  }
}

async function acquireBesidePool(sequelize: Sequelize, drop: (connection: object) => void): Promise<LeasedConnection> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const raw = await connectBesidePool(sequelize)
  const close = () => void manager._disconnect(raw).catch(() => {}) // it may be lost in the meantime
  return {
    raw,
    wasIdle: false,
    release: close,
    destroy: async () => {
      drop(raw)
      close()
    },
  }
}
