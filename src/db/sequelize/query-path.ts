import type { Sequelize } from 'sequelize'
import type { Dialect } from '../dialect.js'
import { sequelizeInternals } from './internals.js'
import type { SendDirect } from '../direct-statement.js'

const disabled = new WeakSet<Sequelize>()

/** Makes every statement of the instance use Sequelize's query path. Results with and without the fast path must be equal. */
export function disableFastPath(sequelize: Sequelize): void {
  disabled.add(sequelize)
}

/**
 * Whether statements, connections and rows may bypass Sequelize's query path. Not if an option of the instance needs it: it measures the time, logs
 * the values, or shortens or quotes names differently.
 */
export function hasFastPath(sequelize: Sequelize): boolean {
  if (disabled.has(sequelize)) return false
  const { benchmark, logQueryParameters, minifyAliases, quoteIdentifiers } = sequelizeInternals(sequelize).options
  return !benchmark && !logQueryParameters && !minifyAliases && quoteIdentifiers !== false
}

/** Sends statements to the driver without Sequelize; undefined if they have to take Sequelize's query path. */
export function senderOf(sequelize: Sequelize, { direct }: Pick<Dialect, 'direct'>): SendDirect | undefined {
  return hasFastPath(sequelize) ? direct : undefined
}
