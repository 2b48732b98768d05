import {
  BaseError,
  DatabaseError,
  EmptyResultError,
  type Model,
  QueryTypes,
  type Sequelize,
  UniqueConstraintError,
} from 'sequelize'
import { isMysql } from '../is-mysql.js'
import { codeOf, type Dialect } from '../dialect.js'
import { rememberOrigin } from './failed-statements.js'
import {
  type InstanceInternals,
  instanceInternals,
  newTransactionId,
  type Query,
  type QueryClass,
  queryGeneratorOf,
  sequelizeInternals,
  type SequelizeOptions,
} from './internals.js'
import type { DirectResult, SendDirect, Settle, StatementForm } from '../direct-statement.js'

const disabled = new WeakSet<Sequelize>()

/** Makes every statement of the instance use Sequelize's query path. Results with and without the fast path must be equal. */
export function disableFastPath(sequelize: Sequelize): void {
  disabled.add(sequelize)
}

/**
 * Whether statements, connections and rows may bypass Sequelize's query path. Not if an option of the instance needs it: it measures the time, logs
 * the values, or shortens or quotes names differently.
 */
export function hasFastPath(sequelize: Sequelize): boolean {
  if (disabled.has(sequelize)) return false
  const { benchmark, logQueryParameters, minifyAliases, quoteIdentifiers } = sequelizeInternals(sequelize).options
  return !benchmark && !logQueryParameters && !minifyAliases && quoteIdentifiers !== false
}

/** Sends statements to the driver without Sequelize; undefined if they must take Sequelize's query path. */
export function senderOf(sequelize: Sequelize, { direct }: Pick<Dialect, 'direct'>): SendDirect | undefined {
  return hasFastPath(sequelize) ? direct : undefined
}

export interface QueryOptions {
  readonly model?: unknown
  readonly instance?: InstanceInternals
  readonly bind?: unknown
  readonly nest?: boolean
  readonly plain?: boolean
  readonly type?: string
  readonly [other: string]: unknown
}

/** Removes work from an instance's queries that does not change their results. */
export function lightenQueries(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
  dialect.Query = withLateStackTraces(dialect.Query)
  if (sequelize.getDialect() === 'postgres') dialect.Query = withLateLogErrors(dialect.Query)
  queryGeneratorOf(sequelize).generateTransactionId = newTransactionId
}

// Sequelize takes a stack trace before every statement, for the case that it fails. Here it is taken after the failure: as all callers
// are async functions, they are on that stack trace as well.
function withLateStackTraces(Query: QueryClass): QueryClass {
  return class QueryWithLateStackTraces extends Query {
    override run(sql: string, parameters?: unknown): Promise<unknown> {
      return withoutStackTraces(() => super.run(sql, parameters)).catch((error: unknown) => {
        throw error instanceof Error ? withStackOfHere(error) : error
      })
    }

    // For some errors of PostgreSQL, Sequelize's method throws instead of returning: its UnknownConstraintError, or a TypeError if the
    // server's error has no detail.
    override formatError(error: Error, stack?: string): Error {
      const formatted = withoutSql(this.#format(error, stack), error)
      rememberOrigin(formatted, this)
      return formatted
    }

    #format(error: Error, stack?: string): Error {
      try {
        return super.formatError(error, stack)
      } catch (thrown) {
        return thrown instanceof BaseError ? thrown : new DatabaseError(error as Error & { sql: string }) // added before formatError() is called
      }
    }
  }
}

/**
 * The driver mariadb adds the statement to the messages of its errors, and so the values that Sequelize has written into it; only the server's own
 * message stays. Called when the error has its class, which Sequelize finds by the whole message.
 */
function withoutSql(formatted: Error, original: Error & { readonly sqlMessage?: unknown }): Error {
  const { message, sqlMessage } = original
  if (typeof sqlMessage !== 'string' || sqlMessage === message) return formatted
  for (const error of [formatted, original]) {
    error.message = error.message.replace(message, () => sqlMessage)
    if (error.stack !== undefined) error.stack = error.stack.replace(message, () => sqlMessage)
  }
  return formatted
}

/** Whether an error was reported by the database, or by the connection to it: not one of a model that has not sent its statement. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof BaseError && 'original' in error && error.original !== undefined
}

/**
 * Whether the method of Sequelize that sends this query expects the error, and continues. On PostgreSQL it sends statements that do not fail
 * instead: findOrCreate() a function that catches the exception, describeTable() a query of the catalog.
 */
export function isCaughtBySequelize({ exception, type }: QueryOptions, error: unknown): boolean {
  if (type === QueryTypes.DESCRIBE) return codeOf(error) === 'ER_NO_SUCH_TABLE'
  return Boolean(exception) && error instanceof UniqueConstraintError
}

/**
 * On PostgreSQL, Sequelize logs a statement when it was sent. If the log throws, nothing would wait for the answer: an error of the database, or a
 * connection that is closed, would be an unhandled rejection and end the process. Here the error of the log waits for the answer.
 */
function withLateLogErrors(Query: QueryClass): QueryClass {
  return class QueryWithLateLogErrors extends Query {
    #failure: { readonly error: unknown } | undefined

    override _logQuery(...args: readonly unknown[]): () => void {
      try {
        return super._logQuery(...args)
      } catch (error) {
        this.#failure = { error }
        return () => {}
      }
    }

    override async run(sql: string, parameters?: unknown): Promise<unknown> {
      const result = await super.run(sql, parameters)
      if (this.#failure) throw this.#failure.error
      return result
    }
  }
}

function withoutStackTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Replaces an error's stack trace with the current one, which includes all async callers. */
export function withStackOfHere<E extends Error>(error: E): E {
  Error.captureStackTrace(error, withStackOfHere)
  return error
}

/** Options that only Sequelize's query() supports. Not `retry`: in a transaction, a retry would hide the first error. */
const SEQUELIZE_ONLY = ['replacements', 'mapToModel', 'searchPath', 'alter', 'completesTransaction'] as const

/** Whether plainQuery() can execute a query of a session. */
export function isPlain(sequelize: Sequelize, sql: unknown, options: QueryOptions): sql is string {
  if (!hasFastPath(sequelize) || typeof sql !== 'string') return false
  if (SEQUELIZE_ONLY.some((name) => options[name] !== undefined)) return false
  return !sequelizeInternals(sequelize).hasHook('beforeQuery') && !sequelizeInternals(sequelize).hasHook('afterQuery')
}

/** Like Sequelize's query() for a query that {@link isPlain}, without retries and without its rarely used options. */
export function plainQuery(
  sequelize: Sequelize,
  ownDialect: Dialect,
  { connection, text, bind, options }: PlainQuery,
): Promise<unknown> {
  const { dialect, options: defaults } = sequelizeInternals(sequelize)
  const [sql, values] =
    bind === undefined
      ? [text.trim(), undefined]
      : dialect.Query.formatBindParameters(text.trim(), bind, defaults.dialect)
  const query = () => new dialect.Query(connection, sequelize, withDefaults(options, defaults))
  const send = options['benchmark'] ? undefined : senderOf(sequelize, ownDialect)
  if (send && ownDialect.runQuery) {
    const created = query()
    return ownDialect.runQuery(created, { sequelize, connection, sql, values }) ?? created.run(sql, values)
  }
  const readResult = send && resultReaderOf(options, query)
  if (!send || !readResult) return query().run(sql, values)
  return sendDirectly(
    sequelize,
    send,
    { connection, text: sql, values, logging: options['logging'], query },
    readResult,
  )
}

interface PlainQuery {
  readonly connection: unknown
  readonly text: string
  readonly bind: unknown
  readonly options: QueryOptions
}

function withDefaults(options: QueryOptions, defaults: SequelizeOptions): object {
  const { instance, model = instance?.constructor } = options
  const modelOrRaw = model === undefined ? { raw: true } : { model }
  return { logging: defaults.logging, ...defaults.query, ...options, ...modelOrRaw, type: typeOf(options) }
}

/** The SQL with the placeholders of the driver, which Sequelize's generator numbers. */
export function withPlaceholders(sequelize: Sequelize, sql: string, values: readonly unknown[]): string {
  const { dialect, options } = sequelizeInternals(sequelize)
  return isMysql(options.dialect) ? dialect.Query.formatBindParameters(sql, values, options.dialect)[0] : sql
}

/** A query that is not run: it makes an error of the database one of Sequelize, with the instance that could not be written. */
export function writeQuery(sequelize: Sequelize, connection: unknown, instance: Model): Query {
  const { dialect, options } = sequelizeInternals(sequelize)
  const given = { instance: instanceInternals(instance), type: QueryTypes.INSERT }
  return new dialect.Query(connection, sequelize, withDefaults(given, options))
}

function typeOf({ type, instance, model, nest, plain }: QueryOptions): string {
  return type ?? (instance || model || nest || plain ? QueryTypes.SELECT : QueryTypes.RAW)
}

/** Converts a driver's result as Sequelize does; undefined if Sequelize would inspect the SQL to choose the conversion. */
function resultReaderOf(options: QueryOptions, query: () => Query): ((result: DirectResult) => unknown) | undefined {
  const { instance, returning, exception } = options
  const type = typeOf(options)
  if (type === QueryTypes.SELECT) return ({ rows }) => query().handleSelectQuery(rows)
  if (type !== QueryTypes.INSERT || !instance || !returning || exception) return undefined
  return ({ rows }) => [withInsertedValues(instance, rows[0]), rows.length]
}

/** Sets the attributes of an instance to the columns of a row. */
export function withInsertedValues(instance: InstanceInternals, row: unknown): InstanceInternals {
  if (typeof row !== 'object' || row === null) throw new EmptyResultError('')
  const { fieldAttributeMap } = instance.constructor
  const columns: [string, unknown][] = Object.entries(row)
  for (const [column, value] of columns) instance.dataValues[fieldAttributeMap[column] ?? column] = value
  return instance
}

/** Logs a statement as Sequelize does, with the `logging` option of the query or of the instance. */
export function logStatement(
  sequelize: Sequelize,
  text: string,
  logging = sequelizeInternals(sequelize).options.logging,
): void {
  if (logging) sequelizeInternals(sequelize).log(`Executing (default): ${text}`, { logging })
}

interface Request {
  readonly connection: unknown
  readonly text: string
  readonly values: readonly unknown[] | undefined
  readonly form?: StatementForm | undefined
  readonly readsAlone?: boolean | undefined
  /** Sequelize's option `logging` of this query; by default that of the instance. */
  readonly logging?: unknown
  /** Creates the query object that formats an error; it knows the model. */
  readonly query?: (() => Query) | undefined
}

/** Sends a statement to the driver without Sequelize. Errors are converted to Sequelize's errors. */
export function sendDirectly<T>(
  sequelize: Sequelize,
  send: SendDirect,
  request: Request,
  readResult: (result: DirectResult) => T,
): Promise<T> {
  return new Promise((resolve, reject) => sendThen(sequelize, send, request, readResult, { resolve, reject }))
}

/** Like {@link sendDirectly}, without a promise, which costs time. */
export function sendThen<T>(
  sequelize: Sequelize,
  send: SendDirect,
  request: Request,
  readResult: (result: DirectResult) => T,
  settle: Settle<T>,
): void {
  const internals = sequelizeInternals(sequelize)
  const { connection, text, values, form, readsAlone, logging = internals.options.logging } = request
  if (logging) logStatement(sequelize, text, logging)
  // The driver calls this function: an exception in it would end the process.
  const done = (error: Error | null, result: DirectResult) => {
    try {
      if (error) settle.reject(toSequelizeError(sequelize, error, request))
      else {
        settle.received?.(result)
        settle.resolve(readResult(result)) // may throw: the constructor of a model is the program's code
      }
    } catch (thrown) {
      settle.reject(thrown)
    }
  }
  send(connection, text, values, done, form, readsAlone)
}

/** Sends a statement without values and rows, such as COMMIT, by Sequelize's query path. */
export function sendCommand(sequelize: Sequelize, connection: object, text: string, settle: Settle<unknown>): void {
  const { dialect, options } = sequelizeInternals(sequelize)
  const { logging = false } = options
  const query = new dialect.Query(connection, sequelize, { logging, type: QueryTypes.RAW, raw: true, isCommand: true })
  query.run(text).then(settle.resolve, settle.reject)
}

/** The driver's error of a statement, as Sequelize's. */
export function toSequelizeError(
  sequelize: Sequelize,
  error: Error,
  { connection, text, values, query }: Request,
): Error {
  const { dialect } = sequelizeInternals(sequelize)
  Object.assign(error, { sql: text, parameters: values?.length ? values : undefined })
  return (query?.() ?? new dialect.Query(connection, sequelize, {})).formatError(error)
}
