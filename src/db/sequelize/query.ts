import { BaseError, DatabaseError, EmptyResultError, QueryTypes, type Sequelize } from 'sequelize'
import type { Dialect, DirectResult, SendDirect } from '../dialect.js'
import { hasFastPath } from './fast-path.js'
import {
  type InstanceInternals,
  type Query,
  type QueryClass,
  queryGeneratorOf,
  sequelizeInternals,
  type SequelizeOptions,
} from './internals.js'

export interface QueryOptions {
  readonly model?: unknown
  readonly instance?: InstanceInternals
  readonly bind?: unknown
  readonly nest?: boolean
  readonly plain?: boolean
  readonly type?: string
  readonly [other: string]: unknown
}

let transactions = 0

/** Makes an instance's queries cheaper; what they do stays. */
export function lightenQueries(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
  dialect.Query = withOwnErrors(dialect.Query)
  // The name of a transaction is seen in logs only: a number serves as well as a UUID, and costs no entropy.
  queryGeneratorOf(sequelize).generateTransactionId = () => String(++transactions)
}

// Sequelize takes a stack trace before every statement, to show it should the statement fail. Here it is taken when it has failed:
// whoever awaits the statement is on it, as the way to it is all async functions.
function withOwnErrors(Query: QueryClass): QueryClass {
  return class OwnErrorsQuery extends Query {
    override run(sql: string, parameters?: unknown): Promise<unknown> {
      return withoutStacks(() => super.run(sql, parameters)).catch((error: unknown) => {
        throw error instanceof Error ? withStackOfHere(error) : error
      })
    }

    // For some errors of PostgreSQL, Sequelize's own method throws: its error of an unknown index, or a TypeError where the server gave no detail.
    override formatError(error: Error, stack?: string): unknown {
      try {
        return super.formatError(error, stack)
      } catch (thrown) {
        return thrown instanceof BaseError ? thrown : new DatabaseError(error as Error & { sql: string }) // put there by who sent it
      }
    }
  }
}

function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Gives an error the way to here: in async functions it has all who await them. */
export function withStackOfHere<E extends Error>(error: E): E {
  const { stack = '' } = new Error()
  error.stack = `${error.name}: ${error.message}\n${stack.slice(stack.indexOf('\n') + 1)}`
  return error
}

/** Options of Sequelize's query() that only its own way of querying knows. Not `retry`: in a transaction it only hides what went wrong. */
const RARE = ['replacements', 'mapToModel', 'searchPath', 'alter', 'completesTransaction'] as const

/** Whether a query of a session may take the short way below. */
export function isPlain(sequelize: Sequelize, sql: unknown, options: QueryOptions): sql is string {
  if (!hasFastPath(sequelize) || typeof sql !== 'string') return false
  if (RARE.some((name) => options[name] !== undefined)) return false
  return !sequelizeInternals(sequelize).hasHook('beforeQuery') && !sequelizeInternals(sequelize).hasHook('afterQuery')
}

/** What Sequelize's query() does for a plain query in a transaction, without the retries and the look-ups for rare options. */
export function plainQuery(
  sequelize: Sequelize,
  ours: Dialect,
  { connection, text, bind, options }: Asked,
): Promise<unknown> {
  const { dialect, options: defaults } = sequelizeInternals(sequelize)
  const [sql, values] =
    bind === undefined
      ? [text.trim(), undefined]
      : dialect.Query.formatBindParameters(text.trim(), bind, defaults.dialect)
  const query = () => new dialect.Query(connection, sequelize, completed(options, defaults))
  const send = options['benchmark'] ? undefined : directSender(sequelize, ours)
  const pick = send && pickOf(options, query)
  if (!send || !pick) return query().run(sql, values)
  return sendDirectly(
    sequelize,
    send,
    { connection, text: sql, values: values ?? [], logging: options['logging'], query },
    pick,
  )
}

interface Asked {
  readonly connection: unknown
  readonly text: string
  readonly bind: unknown
  readonly options: QueryOptions
}

function completed(options: QueryOptions, defaults: SequelizeOptions): object {
  const { instance, model = instance?.constructor } = options
  const aboutModel = model === undefined ? { raw: true } : { model }
  return { logging: defaults.logging, ...defaults.query, ...options, ...aboutModel, type: typeOf(options) }
}

function typeOf({ type, instance, model, nest, plain }: QueryOptions): string {
  return type ?? (instance || model || nest || plain ? QueryTypes.SELECT : QueryTypes.RAW)
}

/** What Sequelize makes of the answer, where it does not look at the text for what that may be. */
function pickOf(options: QueryOptions, query: () => Query): ((result: DirectResult) => unknown) | undefined {
  const { instance, returning, exception } = options
  const type = typeOf(options)
  if (type === QueryTypes.SELECT) return ({ rows }) => query().handleSelectQuery(rows)
  if (type !== QueryTypes.INSERT || !instance || !returning || exception) return undefined
  return ({ rows }) => [inserted(instance, rows[0] as Row | undefined), rows.length]
}

type Row = Readonly<Record<string, unknown>>

function inserted(instance: InstanceInternals, row: Row | undefined): InstanceInternals {
  if (row === undefined) throw new EmptyResultError('')
  const { fieldAttributeMap } = instance.constructor
  for (const [column, value] of Object.entries(row)) instance.dataValues[fieldAttributeMap[column] ?? column] = value
  return instance
}

/** What sends a statement past Sequelize; undefined where Sequelize measures, or changes names in the text and back in the rows. */
export function directSender(sequelize: Sequelize, { direct }: Dialect): SendDirect | undefined {
  const { benchmark, logQueryParameters, minifyAliases, quoteIdentifiers } = sequelizeInternals(sequelize).options
  const isStandard = !benchmark && !logQueryParameters && !minifyAliases && quoteIdentifiers !== false
  return isStandard && hasFastPath(sequelize) ? direct : undefined
}

/** Logs a statement as Sequelize does, to where one query is logged, or all. */
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
  readonly values: readonly unknown[]
  /** Whether all of the text is the program's own, and comes again as it is. */
  readonly isConstant?: boolean
  /** Where one query is logged; by default where all are. */
  readonly logging?: unknown
  /** Who knows the model that an error is about. */
  readonly query?: () => Query
}

/** A statement sent past Sequelize: no query object, no guess from the text what it is. Its errors are Sequelize's all the same. */
export function sendDirectly<T>(
  sequelize: Sequelize,
  send: SendDirect,
  request: Request,
  pick: (result: DirectResult) => T,
): Promise<T> {
  const { connection, text, values, isConstant, logging } = request
  logStatement(sequelize, text, logging)
  return new Promise((resolve, reject) => {
    // The driver calls back: what is thrown there has no caller, and would end the process.
    const done = (error: Error | null, result: DirectResult) => {
      try {
        if (error) reject(explained(sequelize, error, request))
        else resolve(pick(result)) // a model's own class may throw when it is built
      } catch (thrown) {
        reject(thrown as Error)
      }
    }
    send(connection, text, values, done, isConstant)
  })
}

function explained(sequelize: Sequelize, error: Error, { connection, text, values, query }: Request): Error {
  const { dialect } = sequelizeInternals(sequelize)
  Object.assign(error, { sql: text, parameters: values })
  return (query?.() ?? new dialect.Query(connection, sequelize, {})).formatError(error) as Error // all that it makes are errors
}
