import type { Sequelize } from 'sequelize'
import { BROKEN_SOCKET, codeOf, type Dialect } from '../dialect.js'
import { hasFastPath } from '../sequelize/query.js'
import { acquireFromPool, PooledConnection } from './dialect-connection.js'

/**
 * A database that Sequelize supports and this package has no dialect for: mssql, oracle, db2, snowflake. Only standard SQL is sent. Isolation
 * levels and read-only transactions are ignored, and no error counts as a conflict. Not tested.
 */
export const other: Dialect = {
  prepare() {},
  acquire: (sequelize: Sequelize, needs) =>
    acquireFromPool(
      sequelize,
      needs,
      hasFastPath(sequelize),
      (raw, wasIdle) => new OtherConnection(sequelize, undefined, raw, wasIdle, needs),
    ),
  isStale: () => false,
  isConflict: () => false,
  isUndoing: () => false,
  oneAtATime: true,
  isLost: (error) => BROKEN_SOCKET.has(codeOf(error)),
}

class OtherConnection extends PooledConnection {
  protected override get beginning(): readonly string[] {
    return [this.sequelize.getDialect() === 'mssql' ? 'BEGIN TRANSACTION' : 'START TRANSACTION']
  }
}
