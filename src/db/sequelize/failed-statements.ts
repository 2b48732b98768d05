import type { Sequelize } from 'sequelize'
import { sequelizeInternals } from './internals.js'

/** Calls a function with each error of a statement that the database has reported, and with the connection. */
export function onFailedStatement(sequelize: Sequelize, listener: (connection: object, error: Error) => void): void {
  const { dialect } = sequelizeInternals(sequelize)
  dialect.Query = class QueryWithListener extends dialect.Query {
    override formatError(error: Error, stack?: string): Error {
      if (this.connection) listener(this.connection, error)
      return super.formatError(error, stack)
    }
  }
}
