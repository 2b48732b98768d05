import type { Sequelize } from 'sequelize'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { leavesState } from './ending-statements.js'

/** Connections on which a statement of the program may have left something that the next user would find. */
const changed = new WeakSet<object>()

export function isChanged(connection: object): boolean {
  return changed.has(connection)
}

/** Called before each statement of the program. */
export function noteChange(sequelize: Sequelize, connection: object, sql: string): undefined {
  if (leavesState(sql, sequelize)) changed.add(connection)
}

/** Closes such connections instead of keeping them in the pool, also those of statements outside of sessions. */
export function closeChanged(sequelize: Sequelize): void {
  const { connectionManager, dialect } = sequelizeInternals(sequelize)
  const { pool } = connectionManager
  const release = pool.release.bind(pool)
  pool.release = (connection) => {
    if (changed.has(connection)) pool.destroy(connection).catch(() => {}) // it may be lost already
    else release(connection)
  }
  dialect.Query = class QueryThatNotesChanges extends dialect.Query {
    override run(sql: string, parameters?: unknown): Promise<unknown> {
      if (this.connection) noteChange(sequelize, this.connection, sql)
      return super.run(sql, parameters)
    }
  }
}
