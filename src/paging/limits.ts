import { BootError } from '../core/boot-error.js'
import { integer, type OptionChecks } from '../core/option-checks.js'
import { inputDependency } from '../http/input/parameters.js'

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
