import { BaseError, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { modelClass, type Query } from './internals.js'

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
