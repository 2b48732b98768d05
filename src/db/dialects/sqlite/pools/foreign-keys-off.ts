import type { Sequelize } from 'sequelize'

/** Calls `around` with each work of Sequelize that turns foreign keys off, sends statements outside of a transaction, and turns them on again. */
export function aroundForeignKeysOff(sequelize: Sequelize, around: <T>(work: () => Promise<T>) => Promise<T>): void {
  const sync = sequelize.sync.bind(sequelize)
  const drop = sequelize.drop.bind(sequelize)
  const truncate = sequelize.truncate.bind(sequelize)
  const queries = sequelize.getQueryInterface()
  const dropAllTables = queries.dropAllTables.bind(queries)
  sequelize.sync = (options) => around(() => sync(options))
  sequelize.drop = (options) => around(() => drop(options))
  sequelize.truncate = (options) => around(() => truncate(options))
  queries.dropAllTables = (options) => around(() => dropAllTables(options))
}
