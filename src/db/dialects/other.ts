import { BROKEN_SOCKET, codeOf, type Dialect } from '../dialect.js'
import { leaseFromPool } from './pool-lease.js'

/**
 * A database that Sequelize supports and this package has no dialect for: mssql, oracle, db2, snowflake. Only standard SQL is sent. Isolation
 * levels and read-only transactions are ignored, and no error counts as a conflict. Not tested.
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
