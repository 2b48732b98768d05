import type { Connection } from './connect.js'
import { writePoolOf } from '../sequelize/internals.js'
import type { Model, ModelStatic } from 'sequelize'

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

/** Warns if the URL names only a standby: each write would be refused. */
export async function warnOfStandby(
  { sequelize, dialect, name }: Connection,
  warn: (line: string) => void,
): Promise<void> {
  if (!(await dialect.isStandby?.(sequelize))) return
  warn(
    `The database (${name}) is a standby, which refuses all writes. Write the URL of its primary, or all hosts (postgres://a,b/heroes), ` +
      'of which the one that accepts writes is used. If only reads are wanted, add ?target_session_attrs=standby.',
  )
}

/** Warns of the models whose tables keep the writes of a request that is rolled back. Not an error: for a log table, this may be intended. */
export async function warnOfTablesWithoutTransactions(
  { sequelize, dialect, name }: Connection,
  models: readonly ModelStatic<Model>[],
  warn: (line: string) => void,
): Promise<void> {
  if (!dialect.findTablesWithoutTransactions || models.length === 0) return
  const engines = await dialect.findTablesWithoutTransactions(sequelize)
  for (const model of models) {
    const table = model.getTableName()
    const engine = typeof table === 'string' ? engines.get(table) : undefined
    if (engine === undefined) continue
    warn(
      `The database (${name}): table ${String(table)} has the engine ${engine}, which has no transactions (model ${model.name}): ` +
        `what a request writes into it is kept when the request is refused. Write ALTER TABLE ${String(table)} ENGINE = InnoDB.`,
    )
  }
}
