import type { Connection } from './connect.js'
import { writePoolOf } from '../sequelize/internals.js'

/**
 * Warns if the processes of the app together may open more connections than the server accepts: the last ones to open one would be refused under load.
 *
 * @param processes how many processes run this app.
 */
export async function warnOfTooManyConnections(
  { sequelize, dialect, name }: Connection,
  processes: number,
  warn: (line: string) => void,
): Promise<void> {
  if (!dialect.connectionLimit) return
  const limit = await dialect.connectionLimit(sequelize)
  if (limit === undefined) return
  const poolSize = writePoolOf(sequelize).maxSize
  const wanted = poolSize * processes
  if (wanted <= limit.most) return
  warn(
    `The database (${name}) accepts ${limit.most} connections (${limit.arithmetic}), and this app may open ${wanted} ` +
      `(pool_size ${poolSize} x ${processes} ${processes === 1 ? 'process' : 'processes'}). ` +
      `Set pool_size to ${Math.max(1, Math.floor(limit.most / processes))} or less, or let the server accept more.`,
  )
}
