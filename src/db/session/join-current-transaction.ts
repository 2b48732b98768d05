import {
  type BulkCreateOptions,
  DatabaseError,
  type FindOrCreateOptions,
  Model,
  type ModelStatic,
  type Sequelize,
  type Transaction,
} from 'sequelize'
import type { Boundary, UnitBoundary } from '../boundary.js'
import { type Dialect, isLostConnection, wasNotSent } from '../dialect.js'
import { observeQuery } from '../events/session-observer.js'
import { noteOutside } from '../events/table-use.js'
import {
  ForeignTransactionError,
  SecondConnectionError,
  TransactionControlError,
  WriteUnknownError,
} from '../errors.js'
import { instanceInternals, sequelizeInternals, sequelizeOf, type TransactionWork } from '../sequelize/internals.js'
import { isCaughtBySequelize, isPlain, lightenQueries, type QueryOptions as PlainOptions } from '../sequelize/query.js'
import { laterStatements } from '../sql/later-statements.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import { leavesTransactionOpen } from '../sql/transaction-control.js'
import { mayWrite } from '../sql/writes.js'
import { bindValues } from '../statements/bind-placeholders.js'
import { setStoredForms, storedFormsOf } from '../values/stored-forms.js'
import { currentScope } from './current-scope.js'
import { markSent } from './flush.js'
import { assertUsable, markResult, markWritten } from './ownership.js'
import { inSavepoint } from './savepoint.js'
import { SessionTransaction } from './transaction/session-transaction.js'
import type { TransactionScope } from './transaction-scope.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'

/** A transaction that a program has given to Sequelize. */
export interface GivenTransaction extends Transaction {
  readonly sequelize?: Sequelize
  readonly parent?: GivenTransaction | null
}

interface QueryOptions extends PlainOptions {
  readonly transaction?: GivenTransaction | null
}

interface TransactionOptions extends QueryOptions {
  /** Set by findOrCreate(), which passes its own options. */
  readonly where?: unknown
}

/** The boundary of each instance that has one. */
const boundaries = new WeakMap<Sequelize, Boundary>()

const OUTSIDE = 'A query with { transaction: null } needs a connection inside a session'

/** The query() that joins the current session, of each instance. */
const joining = new WeakMap<Sequelize, unknown>()

/**
 * Makes the queries of one Sequelize instance join the session that they run in.
 * Not with `Sequelize.useCLS`: there is one for all instances, so that a query of one database would be sent to another.
 */
export function joinCurrentTransaction(sequelize: Sequelize, dialect: Dialect, boundary?: Boundary): void {
  if (boundary) boundaries.set(sequelize, boundary)
  lightenQueries(sequelize)
  exposeTransactionToModels(sequelize)
  joinQueries(sequelize, dialect)
  joining.set(sequelize, sequelizeInternals(sequelize).query)
  joinTransactions(sequelize)
}

// Models read `sequelize.constructor._cls`. A subclass for each instance gives them the transaction of that instance.
function exposeTransactionToModels(sequelize: Sequelize): void {
  class WithTransaction extends sequelizeInternals(sequelize).constructor {}
  const cls = {
    get: (key: string) => (key === 'transaction' ? currentScope(sequelize)?.transaction : undefined),
    set() {},
    run: <T>(work: () => T) => work(),
    bind: <T>(work: T) => work,
  }
  Object.assign(WithTransaction, { _cls: cls })
  Object.defineProperty(sequelize, 'constructor', { value: WithTransaction, configurable: true })
}

/**
 * The limits of a statement with this transaction, as a program gives it to Sequelize: those of its session, else those of the current one.
 * Undefined for a database without a boundary.
 */
export function boundaryOf(sequelize: Sequelize, given: GivenTransaction | null | undefined): UnitBoundary | undefined {
  const boundary = boundaries.get(sequelize)
  if (!boundary) return undefined
  const transaction = given === undefined ? currentScope(sequelize)?.transaction : sessionTransactionOf(given)
  return transaction?.boundary ?? boundary.outside(sequelize)
}

/** The transaction of a session; a given one may be a savepoint of it. */
function sessionTransactionOf(given: GivenTransaction | null): SessionTransaction | undefined {
  for (let at: GivenTransaction | null | undefined = given; at; at = at.parent)
    if (at instanceof SessionTransaction) return at
  return undefined
}

/** Whether nothing has replaced the query() that joins the current session. */
export function queriesJoin(sequelize: Sequelize): boolean {
  return joining.get(sequelize) === sequelizeInternals(sequelize).query
}

/** Called with an error of a value that was refused before its statement was sent; returns the error to throw. */
export function refusalInSession(sequelize: Sequelize, error: unknown): unknown {
  return currentScope(sequelize)?.refuse(error) ?? markQueryError(error, noSession(sequelize))
}

function noSession(sequelize: Sequelize): QueryOwner {
  return { sequelize, onUnhandled() {} }
}

function joinQueries(sequelize: Sequelize, dialect: Dialect): void {
  const internals = sequelizeInternals(sequelize)
  const query = internals.query.bind(sequelize)
  const isLimited = boundaries.has(sequelize)

  internals.query = (givenSql: unknown, givenOptions?: QueryOptions) => {
    const refusal = isLimited ? refusalOf(sequelize, givenSql, givenOptions) : undefined
    if (refusal) return refusal
    const { sql, options } = bindValues(givenSql, givenOptions)
    return withStoredForms(options, joinOrSend(sql, options))
  }

  const joinOrSend = (sql: unknown, options: QueryOptions | undefined): Promise<unknown> => {
    const given = options?.transaction
    if (given?.sequelize && given.sequelize !== sequelize)
      return Promise.reject(markQueryError(new ForeignTransactionError(), noSession(sequelize)))
    const current = currentScope(sequelize)
    if (given === null && current?.transaction.holdsConnection)
      return Promise.reject(markQueryError(new SecondConnectionError(OUTSIDE), noSession(sequelize)))
    const scope = given === null ? undefined : current
    if (scope && (!given || belongsTo(given, scope))) return queryInScope(scope, query, sql, options)
    if (!given && leavesTransactionOpen(textOf(sql), sequelize.getDialect())) {
      const refusal = new TransactionControlError(textOf(sql).trim().slice(0, 40), 'outside')
      return Promise.reject(markQueryError(refusal, noSession(sequelize)))
    }
    const answer = observeQuery(sequelize, textOf(sql), () => query(sql, onPrimary(sequelize, options)))
    return noteOutside(sequelize, textOf(sql), given, answer, () => boundaryOf(sequelize, given)).catch(
      (error: unknown) => {
        const isUnknown = isUnanswered(error, dialect) && mayBeKept(sequelize, dialect, textOf(sql), given)
        throw markQueryError(isUnknown ? new WriteUnknownError(error) : error, noSession(sequelize))
      },
    )
  }
}

/** The answer to a statement that may write an instance; `fields` are the attributes that are written. */
function withStoredForms(options: QueryOptions | undefined, answer: Promise<unknown>): Promise<unknown> {
  const { instance, fields } = options ?? {}
  if (!(instance instanceof Model) || !Array.isArray(fields) || !storedFormsOf(instance.constructor)) return answer
  return answer.then((result) => {
    setStoredForms(instance, (name) => fields.includes(name))
    return result
  })
}

/** Whether a statement was sent, and its connection lost before the answer. Errors of a connection that could not be opened have no SQL. */
function isUnanswered(error: unknown, dialect: Dialect): error is DatabaseError {
  if (!(error instanceof DatabaseError) || !error.sql || wasNotSent(error)) return false
  return dialect.isLost(error) || isLostConnection(error)
}

/** Whether the changes of an unanswered statement may be there: the database rolls back a transaction of the program that was not committed. */
function mayBeKept(
  sequelize: Sequelize,
  dialect: Dialect,
  sql: string,
  transaction: GivenTransaction | null | undefined,
): boolean {
  const statements = [sql, ...laterStatements(sql, sequelize.getDialect())]
  if (!transaction) return statements.some(mayWrite)
  const commits = (text: string) => isCommit(text) || dialect.isCommitting?.(text) === true
  return statements.some(commits) || dialect.mayEndTransaction?.(sql, sequelize) === true
}

const isCommit = startsWithKeyword('COMMIT', 'END', 'PREPARE\\s+TRANSACTION')

function refusalOf(sequelize: Sequelize, sql: unknown, options: QueryOptions | undefined): Promise<never> | undefined {
  try {
    boundaryOf(sequelize, options?.transaction)?.assertStatement(textOf(sql))
    return undefined
  } catch (error) {
    return Promise.reject(refusalInSession(sequelize, error))
  }
}

function queryInScope(
  scope: TransactionScope,
  query: (sql: unknown, options?: object) => Promise<unknown>,
  sql: unknown,
  options: QueryOptions | undefined,
): Promise<unknown> {
  const { sequelize, transaction } = scope
  const joined = options?.transaction ? options : { ...options, transaction }
  const { query: text, bind = options?.bind, values } = isQueryObject(sql) ? sql : { query: sql, values: undefined }
  const execute = () => {
    const isFast = joined.transaction === transaction && values === undefined && isPlain(sequelize, text, joined)
    if (!isFast) return query(sql, joined)
    const answer = transaction.query(text, joined, bind)
    if (joined.instance) markSent(joined.instance)
    return answer
  }
  const executeAndMark = () => {
    if (instance) markWritten(transaction, instance)
    return markResult(transaction, execute())
  }
  const instance = joined.instance instanceof Model ? joined.instance : undefined
  try {
    if (instance) assertUsable(instance)
  } catch (error) {
    return Promise.reject(markQueryError(error, scope))
  }
  const source = isQueryObject(sql) && (sql.bind ?? sql.values) !== undefined ? sql : joined
  return scope.query(String(text), executeAndMark, source, (error) => isCaughtBySequelize(joined, error))
}

function joinTransactions(sequelize: Sequelize): void {
  const internals = sequelizeInternals(sequelize)
  const transaction = internals.transaction.bind(sequelize)

  internals.transaction = async (options?: TransactionWork | TransactionOptions, work?: TransactionWork) => {
    const [given, callback] = typeof options === 'function' ? [undefined, options] : [options, work]
    const scope = currentScope(sequelize)
    if (!scope) return transaction(options, work)
    if (given?.transaction === null) {
      if (scope.transaction.holdsConnection)
        throw markQueryError(new SecondConnectionError(OUTSIDE), noSession(sequelize))
      return transaction(options, work)
    }
    scope.assertOpen()
    if (callback) return inSavepoint(scope, () => callback(scope.transaction))
    // findOrCreate() inside a transaction never ends the one that it gets: a savepoint would do nothing.
    if (given && 'where' in given) return given.transaction ?? scope.transaction
    return transaction({ ...given, transaction: given?.transaction ?? scope.transaction })
  }
}

/** One per model, so that a class of two databases, or a subclass, has only one savepoint. */
const nestedMethods = new WeakSet<object>()

/**
 * findCreateFind() continues when its INSERT fails. In a session the INSERT runs in a savepoint, because a failed statement outside of one is
 * the end of the transaction.
 */
export function nestFindCreateFind(models: readonly ModelStatic<Model>[]): void {
  for (const model of models) {
    const original = model.findCreateFind
    if (nestedMethods.has(original)) continue
    const nested = function (this: ModelStatic<Model>, options: FindOrCreateOptions) {
      const sequelize = sequelizeOf(this)
      const scope = options?.transaction === null ? undefined : currentScope(sequelize)
      const joins = scope && (!options?.transaction || belongsTo(options.transaction, scope))
      return original.call(joins ? withNestedCreate(this, scope) : this, options)
    }
    nestedMethods.add(nested)
    Object.defineProperty(model, 'findCreateFind', { value: nested, configurable: true, writable: true })
  }
}

/** bulkCreate() gives its instances to no query. */
export function markBulkCreated(models: readonly ModelStatic<Model>[]): void {
  for (const model of models) {
    const original = model.bulkCreate
    if (markingMethods.has(original)) continue
    const marking = async function (this: ModelStatic<Model>, rows: never, options?: BulkCreateOptions) {
      const transaction = currentScope(sequelizeOf(this))?.transaction
      const instances = await original.call(this, rows, options)
      for (const instance of instances) {
        setStoredForms(instance, (name) => !instanceInternals(instance)._changed.has(name))
        if (transaction) markWritten(transaction, instance)
      }
      return instances
    }
    markingMethods.add(marking)
    Object.defineProperty(model, 'bulkCreate', { value: marking, configurable: true, writable: true })
  }
}

const markingMethods = new WeakSet<object>()

function withNestedCreate(model: ModelStatic<Model>, scope: TransactionScope): ModelStatic<Model> {
  const create = (...args: Parameters<typeof model.create>) => inSavepoint(scope, () => model.create(...args))
  return new Proxy(model, {
    get(target, key) {
      if (key === 'create') return create
      const member: unknown = Reflect.get(target, key)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function textOf(sql: unknown): string {
  return String(isQueryObject(sql) ? sql.query : sql)
}

function belongsTo(transaction: GivenTransaction, scope: TransactionScope): boolean {
  for (let at: GivenTransaction | null | undefined = transaction; at; at = at.parent)
    if (at === scope.transaction) return true
  return false
}

// Sequelize sends reads outside a transaction to a replica, which may not yet have what was committed last.
function onPrimary(sequelize: Sequelize, options: QueryOptions | undefined): QueryOptions | undefined {
  const { replication } = sequelizeInternals(sequelize).options
  return replication ? { useMaster: true, ...options } : options
}

// Sequelize's own writes are { query, bind }. Programs may also pass { query, values }, whose values Sequelize writes into the SQL.
function isQueryObject(
  sql: unknown,
): sql is { readonly query: unknown; readonly bind?: unknown; readonly values?: unknown } {
  return typeof sql === 'object' && sql !== null && 'query' in sql
}
