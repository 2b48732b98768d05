import type { Sequelize } from 'sequelize'

const disabled = new WeakSet<Sequelize>()

/** Makes every statement of the instance take Sequelize's own query path: the reference that the short ones are compared with. */
export function disableFastPath(sequelize: Sequelize): void {
  disabled.add(sequelize)
}

/** Whether statements, connections and rows may go past Sequelize's own query path. */
export function hasFastPath(sequelize: Sequelize): boolean {
  return !disabled.has(sequelize)
}
