import { BaseError, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { modelClass, type Query, sequelizeInternals } from './internals.js'

/** A fact that an error of the database does not have itself: whose statement it was. */
export interface StatementOrigin {
  readonly sequelize: Sequelize
  /** Undefined for raw SQL. */
  readonly model: ModelStatic<Model> | undefined
}

const origins = new WeakMap<Error, StatementOrigin>()

/** Remembers the statement of an error that Sequelize has formatted. */
export function rememberOrigin(error: Error, { sequelize, model }: Query): void {
  if (error instanceof BaseError && sequelize) origins.set(error, { sequelize, model: model && modelClass(model) })
}

export function originOf(error: Error): StatementOrigin | undefined {
  return origins.get(error)
}

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
