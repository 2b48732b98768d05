import type { Sequelize } from 'sequelize'

const disabled = new WeakSet<Sequelize>()

/** Makes every statement of the instance use Sequelize's query path. Results with and without the fast path must be equal. */
export function disableFastPath(sequelize: Sequelize): void {
  disabled.add(sequelize)
}

/** Whether statements, connections and rows may bypass Sequelize's query path. */
export function hasFastPath(sequelize: Sequelize): boolean {
  return !disabled.has(sequelize)
}
