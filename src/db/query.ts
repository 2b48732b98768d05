import { EmptyResultError, QueryTypes, type Sequelize } from 'sequelize'
import type { Dialect, DirectResult } from './dialect.js'

/** What Sequelize calls one execution of a statement on a connection. */
interface Query {
  run(sql: string, parameters?: unknown): Promise<unknown>
  formatError(error: unknown, stack?: string): unknown
  handleSelectQuery(rows: readonly unknown[]): unknown
  /** SQLite only: reads a value of a column of this type. */
  applyParsers(type: string, value: unknown): unknown
}

interface QueryClass {
  new (connection: unknown, sequelize: Sequelize, options: object): Query
  formatBindParameters(sql: string, values: unknown, dialect: string): [sql: string, parameters?: readonly unknown[]]
}

/** The parts of a Sequelize instance that its types leave out. */
interface Inside {
  readonly options: {
    readonly logging?: unknown
    readonly dialect: string
    readonly query?: object
    readonly benchmark?: boolean
    readonly logQueryParameters?: boolean
    readonly minifyAliases?: boolean
    readonly quoteIdentifiers?: boolean
  }
  readonly dialect: { Query: QueryClass; readonly queryGenerator: { generateTransactionId: () => string } }
  hasHook(name: string): boolean
  log(text: string, options: object): void
}

export function insideOf(sequelize: Sequelize): Inside {
  return sequelize as unknown as Inside
}

/** The parts of a model's instance that are read and written here. */
interface Instance {
  readonly constructor: { readonly fieldAttributeMap: Readonly<Record<string, string>> }
  readonly dataValues: Record<string, unknown>
}

export interface QueryOptions {
  readonly model?: unknown
  readonly instance?: Instance
  readonly bind?: unknown
  readonly nest?: boolean
  readonly plain?: boolean
  readonly type?: string
  readonly [other: string]: unknown
}

let transactions = 0

/** Makes an instance's queries cheaper; what they do stays. */
export function lightenQueries(sequelize: Sequelize): void {
  const { dialect } = insideOf(sequelize)
  dialect.Query = withLateStack(dialect.Query)
  // The name of a transaction is seen in logs only: a number serves as well as a UUID, and costs no entropy.
  dialect.queryGenerator.generateTransactionId = () => String(++transactions)
}

// Sequelize takes a stack trace before every statement, to show it should the statement fail. Here it is taken when it has failed:
// whoever awaits the statement is on it, as the way to it is all async functions.
function withLateStack(Query: QueryClass): QueryClass {
  return class LateStackQuery extends Query {
    override run(sql: string, parameters?: unknown): Promise<unknown> {
      return withoutStacks(() => super.run(sql, parameters)).catch((error: unknown) => {
        throw error instanceof Error ? withStackOfHere(error) : error
      })
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
  if (typeof sql !== 'string' || RARE.some((name) => options[name] !== undefined)) return false
  return !insideOf(sequelize).hasHook('beforeQuery') && !insideOf(sequelize).hasHook('afterQuery')
}

/** What Sequelize's query() does for a plain query in a transaction, without the retries and the look-ups for rare options. */
export function plainQuery(
  sequelize: Sequelize,
  ours: Dialect,
  { connection, text, bind, options }: Asked,
): Promise<unknown> {
  const { dialect, options: defaults } = insideOf(sequelize)
  const [sql, values] =
    bind === undefined
      ? [text.trim(), undefined]
      : dialect.Query.formatBindParameters(text.trim(), bind, defaults.dialect)
  const query = () => new dialect.Query(connection, sequelize, completed(options, defaults))
  const pick = options['benchmark'] || !canSendDirectly(sequelize, ours) ? undefined : pickOf(options, query)
  if (pick === undefined) return query().run(sql, values)
  return sendDirectly(
    sequelize,
    ours,
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

function completed(options: QueryOptions, defaults: Inside['options']): object {
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

function inserted(instance: Instance, row: Row | undefined): Instance {
  if (row === undefined) throw new EmptyResultError('')
  const { fieldAttributeMap } = instance.constructor
  for (const [column, value] of Object.entries(row)) instance.dataValues[fieldAttributeMap[column] ?? column] = value
  return instance
}

/** Whether a statement can be sent past Sequelize. Not where it measures, or changes names in the text and back in the rows. */
export function canSendDirectly(sequelize: Sequelize, { direct }: Dialect): boolean {
  const { benchmark, logQueryParameters, minifyAliases, quoteIdentifiers } = insideOf(sequelize).options
  return direct !== undefined && !benchmark && !logQueryParameters && !minifyAliases && quoteIdentifiers !== false
}

/** Logs a statement as Sequelize does, to where one query is logged, or all. */
export function logStatement(sequelize: Sequelize, text: string, logging = insideOf(sequelize).options.logging): void {
  if (logging) insideOf(sequelize).log(`Executing (default): ${text}`, { logging })
}

interface Request {
  readonly connection: unknown
  readonly text: string
  readonly values: readonly unknown[]
  /** Where one query is logged; by default where all are. */
  readonly logging?: unknown
  /** Who knows the model that an error is about. */
  readonly query?: () => Query
}

/** A statement sent past Sequelize: no query object, no guess from the text what it is. Its errors are Sequelize's all the same. */
export function sendDirectly<T>(
  sequelize: Sequelize,
  { direct }: Dialect,
  request: Request,
  pick: (result: DirectResult) => T,
): Promise<T> {
  const { connection, text, values, logging } = request
  logStatement(sequelize, text, logging)
  return new Promise((resolve, reject) => {
    direct?.(connection, text, values, (error, result) => {
      if (error) return reject(explained(sequelize, error, request))
      try {
        resolve(pick(result)) // a model's own class may throw when it is built
      } catch (failure) {
        reject(failure as Error)
      }
    })
  })
}

function explained(sequelize: Sequelize, error: Error, { connection, text, values, query }: Request): unknown {
  const { dialect } = insideOf(sequelize)
  Object.assign(error, { sql: text, parameters: values })
  return (query?.() ?? new dialect.Query(connection, sequelize, {})).formatError(error)
}
