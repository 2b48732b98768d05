import type { Sequelize } from 'sequelize'
import { codeOf, type Lease, type ProbeLease } from '../dialect.js'
import { sequelizeInternals, writePoolOf } from '../sequelize/internals.js'

/** Codes of a server that answers, but accepts no more connections: of PostgreSQL, of MySQL and MariaDB. */
const TOO_MANY: ReadonlySet<string> = new Set([
  '53300',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
])

/**
 * A connection for a health check of a server: of the pool, or, while all of its connections are in use, one beside it. In the queue of a busy pool a
 * check would wait behind requests, and take an app that is busy for one whose database is away.
 *
 * @param drop closes a connection without waiting for the server.
 * @returns undefined when the server answers that it has as many connections as it accepts.
 */
export async function leaseForProbe(
  sequelize: Sequelize,
  lease: () => Promise<Lease>,
  drop: (connection: object) => void,
): Promise<ProbeLease | undefined> {
  const { waiting, available, size, maxSize } = writePoolOf(sequelize)
  if (waiting === 0 && (available > 0 || size < maxSize)) return lease()
  try {
    return await leaseBesidePool(sequelize, drop)
  } catch (error) {
    if (TOO_MANY.has(codeOf(error))) return undefined
    throw error
  }
}

async function leaseBesidePool(sequelize: Sequelize, drop: (connection: object) => void): Promise<ProbeLease> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const { replication } = manager.config
  const connection = await manager._connect(replication ? replication.write : manager.config)
  const close = () => void manager._disconnect(connection).catch(() => {}) // it may be lost meanwhile
  return {
    connection,
    release: close,
    destroy: async () => {
      drop(connection)
      close()
    },
  }
}
