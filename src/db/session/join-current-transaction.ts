import type { Sequelize, Transaction } from 'sequelize'
import { withBoundValues } from '../statements/bind-placeholders.js'
import { ForeignTransactionError } from '../errors.js'
import { currentScope } from './transaction-scope.js'
import { isPlain, lightenQueries, type QueryOptions as PlainOptions } from '../sequelize/query.js'
import type { LazyTransaction } from './lazy-transaction.js'
import { sequelizeInternals, type TransactionWork } from '../sequelize/internals.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'
import { markSent } from './flush.js'

interface QueryOptions extends PlainOptions {
  readonly transaction?: (Transaction & { readonly sequelize?: Sequelize }) | null
}

/**
 * Makes the queries of one Sequelize instance join the session that they run in.
 * Not `Sequelize.useCLS`: that is one for the process, so that a query of one database would be sent to another.
 */
export function joinCurrentTransaction(sequelize: Sequelize): void {
  bound.add(sequelize)
  lightenQueries(sequelize)
  shadowClass(sequelize)
  const wrapped = sequelizeInternals(sequelize)
  const query = wrapped.query.bind(sequelize)
  const transaction = wrapped.transaction.bind(sequelize)
  const outside: QueryOwner = { sequelize, onUnhandled() {} }

  wrapped.query = (asked, how) => {
    const { sql, options } = withBoundValues(asked, how) as { sql: unknown; options?: QueryOptions }
    const given = options?.transaction
    if (given && given.sequelize && given.sequelize !== sequelize)
      return Promise.reject(markQueryError(new ForeignTransactionError(), outside))
    const level = given === null ? undefined : currentScope(sequelize)
    if (!level || (given && !belongsTo(given, level.transaction)))
      return query(sql, onPrimary(sequelize, options)).catch((error: unknown) => {
        throw markQueryError(error, outside)
      })
    const owner = given ?? level.transaction
    const joined = given ? (options as QueryOptions) : { ...options, transaction: owner }
    const { query: text, bind = options?.bind, values } = isFolded(sql) ? sql : { query: sql, values: undefined }
    return level.query(String(text), () => {
      const isShort = owner === level.transaction && values === undefined && isPlain(sequelize, text, joined)
      if (!isShort) return query(sql, joined)
      const answer = level.transaction.query(text, joined, bind)
      if (joined.instance) markSent(joined.instance)
      return answer
    })
  }

  wrapped.transaction = async (options, work) => {
    const callback = typeof options === 'function' ? (options as TransactionWork) : work
    const given = typeof options === 'function' ? undefined : (options as QueryOptions | undefined)
    const level = given?.transaction === null ? undefined : currentScope(sequelize)
    if (!level) return transaction(options, work)
    level.assertOpen()
    if (callback) return level.nested(() => callback(level.transaction))
    // findOrCreate asks so, and inside a transaction never ends what it got: a savepoint would do nothing.
    if (given && 'where' in given) return given.transaction ?? level.transaction
    return transaction({ ...given, transaction: given?.transaction ?? level.transaction })
  }
}

const bound = new WeakSet<Sequelize>()

/** Whether that was done already. */
export function joinsCurrentTransaction(sequelize: Sequelize): boolean {
  return bound.has(sequelize)
}

// Models read `sequelize.constructor._cls`: a class of this instance's own gives them this instance's transaction.
function shadowClass(sequelize: Sequelize): void {
  class Bound extends sequelizeInternals(sequelize).constructor {}
  const cls = {
    get: (key: string) => (key === 'transaction' ? currentScope(sequelize)?.transaction : undefined),
    set() {},
    run: <T>(work: () => T) => work(),
    bind: <T>(work: T) => work,
  }
  Object.assign(Bound, { _cls: cls })
  Object.defineProperty(sequelize, 'constructor', { value: Bound, configurable: true })
}

function belongsTo(transaction: { readonly parent?: unknown } | Transaction, own: LazyTransaction): boolean {
  for (let at: unknown = transaction; at; at = (at as { parent?: unknown }).parent) if (at === own) return true
  return false
}

// Sequelize would send what is read outside of a transaction to a replica, which may not have what was just committed.
function onPrimary(sequelize: Sequelize, options: QueryOptions | undefined): QueryOptions | undefined {
  const { replication } = sequelizeInternals(sequelize).options
  return replication ? { useMaster: true, ...options } : options
}

// What writes is asked for as { query, bind }; Sequelize also takes { query, values }, which are replaced in the text.
function isFolded(
  sql: unknown,
): sql is { readonly query: unknown; readonly bind?: unknown; readonly values?: unknown } {
  return typeof sql === 'object' && sql !== null && 'query' in sql
}
