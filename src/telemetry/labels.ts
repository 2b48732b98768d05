import { isMysql } from '../db/is-mysql.js'
import type { DatabaseFacts, StatementEnded } from '../core/events/channels.js'
import { summarizeQuery } from '../db/sql/query-summary.js'

const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])

/** The method of a request, or `_OTHER` for those that are not of HTTP: a client can invent any number of them. */
export function knownMethod(method: string): string {
  return KNOWN.has(method) ? method : '_OTHER'
}

/** The code of an error of the database: a SQLSTATE of PostgreSQL, an error number of MySQL and MariaDB, a result code of SQLite. */
export function databaseErrorCode(error: unknown, { dialect }: DatabaseFacts): string | undefined {
  const original = property(error, 'original') ?? error // Sequelize's errors have the driver's
  const code = (isMysql(dialect) ? property(original, 'errno') : undefined) ?? property(original, 'code')
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
}

/** The class of an error. Its name and its message may contain anything. */
export function errorClass(error: unknown): string {
  return (error instanceof Error && error.constructor.name) || 'Error'
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Whether no connection of the pool was free in time. By its name: this folder must not import Sequelize. */
export function isAcquireTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'SequelizeConnectionAcquireTimeoutError'
}

/** The maximum number of values of one label of a metric. Metrics keep a series for each combination of labels until the process ends. */
const MAX_VALUES = 500

/** Keeps a label bounded: after so many different values, the further ones are `other`. */
export class BoundedLabel {
  readonly #known = new Set<string>()

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= MAX_VALUES) return 'other'
    this.#known.add(value)
    return value
  }
}

/** For how many shapes of statements a process keeps the summary. */
const MAX_KNOWN = 1_000

const known = new Map<string, string>()

/** The operations and tables of a statement: `SELECT "hero" "team"`. */
export function summaryOf({ shape, database }: StatementEnded): string {
  const found = known.get(shape)
  if (found !== undefined) return found
  const summary = summarizeQuery(shape, database.dialect)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(shape, summary)
  return summary
}

/** The value of the label `database`. Queries at startup, before every session, have no description. */
export function databaseLabel({ description, dialect }: DatabaseFacts): string {
  return description || dialect
}

/** In seconds, as the conventions of OpenTelemetry recommend: of requests, and of what happens in databases. */
export const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Of jobs, which may take hours. */
export const JOB_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 7_200]
export const DATABASE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
