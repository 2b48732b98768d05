import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import type { TransactionScope } from './transaction-scope.js'

/** Where a scope is found. */
export interface ScopeHolder {
  readonly sequelize: Sequelize
  /** Undefined until it is needed: a handler may use no database. */
  readonly made: TransactionScope | undefined
  make(): TransactionScope
}

/** The current scope of each database, because a handler may work in several databases at the same time; the one entered last comes first. */
interface Entered {
  readonly holder: ScopeHolder
  readonly outer: Entered | undefined
}

const storage = new AsyncLocalStorage<Entered | undefined>()

/** The transaction scope that a query of this database joins in the current asynchronous context. */
export function currentScope(sequelize: Sequelize): TransactionScope | undefined {
  let entered = storage.getStore()
  while (entered && entered.holder.sequelize !== sequelize) entered = entered.outer
  return entered && (entered.holder.made ?? entered.holder.make())
}

/** The scope of any database that was entered last in the current asynchronous context. */
export function innermostScope(): TransactionScope | undefined {
  const entered = storage.getStore()
  return entered && scopeOf(entered.holder)
}

export function scopeOf(holder: ScopeHolder): TransactionScope {
  return holder.made ?? holder.make()
}

/** The current scopes of all databases. */
export function currentScopes(): readonly TransactionScope[] {
  const scopes: TransactionScope[] = []
  for (let entered = storage.getStore(); entered; entered = entered.outer) scopes.push(scopeOf(entered.holder))
  return scopes
}

/** Runs the work with this scope as the current one of its database. */
export function enterScope<T>(holder: ScopeHolder, work: () => T): T {
  const outer = storage.getStore()
  return storage.run({ holder, outer: outer && without(outer, holder.sequelize) }, work)
}

/** Runs the work outside of all sessions, with what the program has set otherwise in the asynchronous context. */
export function leaveScopes<T>(work: () => T): T {
  return storage.run(undefined, work)
}

/** The sessions of the response that is being made, of several databases. */
let responding: Entered | undefined

/** Runs the synchronous work that makes the response of a session: what it reads must belong to the session. */
export function respondFor<T>(holder: ScopeHolder, work: () => T): T {
  const outer = responding
  responding = { holder, outer }
  try {
    return work()
  } finally {
    responding = outer
  }
}

/** The scope for which the calling code works: that of the response which it makes, or the current one. */
export function scopeOfWork(sequelize: Sequelize): TransactionScope | undefined {
  let at = responding
  while (at && at.holder.sequelize !== sequelize) at = at.outer
  return at ? scopeOf(at.holder) : currentScope(sequelize)
}

// A scope that is no longer current must not be kept: a job that starts the next one in its own session would keep all.
function without(entered: Entered | undefined, sequelize: Sequelize): Entered | undefined {
  if (entered === undefined) return undefined
  if (entered.holder.sequelize === sequelize) return entered.outer
  const outer = without(entered.outer, sequelize)
  return outer === entered.outer ? entered : { holder: entered.holder, outer }
}
