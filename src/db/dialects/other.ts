import { BROKEN_SOCKET, codeOf, type Dialect, leaseFromPool } from '../dialect.js'

/**
 * A database that Sequelize knows and this package does not: mssql, oracle, db2, snowflake. Only standard SQL is sent;
 * isolation, read-only transactions and the telling apart of errors are not tested.
 */
export const other: Dialect = {
  prepare() {},
  lease: (sequelize, needs) =>
    leaseFromPool(sequelize, needs, () => ({
      begin: [sequelize.getDialect() === 'mssql' ? 'BEGIN TRANSACTION' : 'START TRANSACTION'],
    })),
  isKept: () => true,
  isStale: () => false,
  isConflict: () => false,
  isUndoing: () => false,
  oneAtATime: true,
  isLost: (error) => BROKEN_SOCKET.has(codeOf(error)),
}
