import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import type { TransactionScope } from './transaction-scope.js'

/** The current scope of each database. A map, because a handler may work in several databases at the same time. */
const storage = new AsyncLocalStorage<ReadonlyMap<Sequelize, TransactionScope>>()

/** The transaction scope that a query of this database joins in the current asynchronous context. */
export function currentScope(sequelize: Sequelize): TransactionScope | undefined {
  return storage.getStore()?.get(sequelize)
}

/** The scope of any database that was entered last in the current asynchronous context. */
export function innermostScope(): TransactionScope | undefined {
  return [...(storage.getStore()?.values() ?? [])].at(-1)
}

/** Runs the work with this scope as the current one of its database. */
export function enterScope<T>(scope: TransactionScope, work: () => Promise<T>): Promise<T> {
  const others = [...(storage.getStore() ?? [])].filter(([sequelize]) => sequelize !== scope.sequelize)
  return storage.run(new Map([...others, [scope.sequelize, scope]]), work)
}
