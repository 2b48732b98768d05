import type { Sequelize } from 'sequelize'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { closeSpent } from '../pooled-connection.js'
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

export function closeChanged(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
  closeSpent(sequelize, isChanged)
  dialect.Query = class QueryThatNotesChanges extends dialect.Query {
    override run(sql: string, parameters?: unknown): Promise<unknown> {
      if (this.connection) noteChange(sequelize, this.connection, sql)
      return super.run(sql, parameters)
    }
  }
}
