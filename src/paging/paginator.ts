import type { Model } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { integer, type OptionChecks, unchecked } from '../core/option-checks.js'
import { shown } from '../core/options.js'
import { Session } from '../db/session/session.js'
import type { Select, Sql } from '../db/statements/statement.js'
import { inputDependency } from '../http/input/parameters.js'

/*
 * What the paginators by offset and by cursor have in common.
 */

/** The number of rows in a page. */
export interface Limits {
  /** The limit of a request without `limit`. */
  readonly defaultSize: number
  readonly maxSize: number
}

/** Page sizes, by the names of this package or of the specification. */
export interface SizeOptions {
  /** The page size of a request without `limit`. Default 10. */
  readonly defaultPageSize?: number
  /** The largest `limit` of a request. Default 100. */
  readonly maxPageSize?: number
  readonly default_page_size?: number
  readonly max_page_size?: number
}

const size = integer('rows', 1, Number.MAX_SAFE_INTEGER - 1)

export const SIZE_OPTIONS: OptionChecks<SizeOptions> = {
  defaultPageSize: size,
  maxPageSize: size,
  default_page_size: size,
  max_page_size: size,
}

const DEFAULT_LIMITS: Limits = { defaultSize: 10, maxSize: 100 }

/** @throws BootError for sizes that are not integers with 1 <= default <= max. */
export function limitsOf(options: SizeOptions): Limits {
  const defaultSize = sizeOf(options, 'defaultPageSize', 'default_page_size') ?? DEFAULT_LIMITS.defaultSize
  const maxSize = sizeOf(options, 'maxPageSize', 'max_page_size') ?? DEFAULT_LIMITS.maxSize
  if (defaultSize > maxSize)
    throw new BootError(
      `newPagination(): defaultPageSize (${defaultSize}) is larger than maxPageSize (${maxSize}). Write a defaultPageSize from 1 to ${maxSize}, or a larger maxPageSize.`,
    )
  return { defaultSize, maxSize }
}

function sizeOf(options: SizeOptions, name: keyof SizeOptions, other: keyof SizeOptions): number | undefined {
  if (options[name] !== undefined && options[other] !== undefined)
    throw new BootError(`newPagination(): ${name} and ${other} are the same option. Write one of them.`)
  return options[name] ?? options[other]
}

export function limitInput({ defaultSize, maxSize }: Limits) {
  return inputDependency('query', {
    name: 'limit',
    type: 'integer',
    minimum: 1,
    maximum: maxSize,
    default: defaultSize,
    description: 'How many records to send at most.',
  })
}

/** The database of a paginator, for apps with several. */
export interface DatabaseOptions {
  /** The session class of the database for raw SQL, if it is not the first: `audit.Session`. Models are read from their own database. */
  readonly session?: typeof Session
}

export const DATABASE_OPTIONS: OptionChecks<DatabaseOptions> = { session: unchecked }

/** The session that a paginator injects. @throws BootError for an option that is not a class of sessions. */
export function sessionTokenOf({ session = Session }: DatabaseOptions): typeof Session {
  if (session === Session || session?.prototype instanceof Session) return session
  throw new BootError(
    `newPagination(): session must be a class of sessions, got ${shown(session)}. Write newPagination({ session: audit.Session }), with audit = newLifespan(...).`,
  )
}

export type AnyStatement = Select<Model> | Sql<unknown>

/** The error for a value that `select` and `sql` did not make, with what to write instead. */
export function notAStatement(value: unknown): BootError {
  const name = typeof value === 'function' && value.name ? value.name : 'Hero'
  return new BootError(`paginate(): got ${shown(value)}, which is not a statement. Write paginate(select(${name})).`)
}
