import { BootError } from '../di/errors.js'

/** How long a page is, and how long it may be asked to be. */
export interface Limits {
  readonly standard: number
  readonly most: number
}

export const DEFAULT_LIMITS: Limits = { standard: 10, most: 100 }

/** @throws BootError for sizes that are not whole numbers with 1 <= standard <= most. */
export function checkedLimits({ standard, most }: Limits): Limits {
  for (const [name, size] of [
    ['defaultPageSize', standard],
    ['maxPageSize', most],
  ] as const) {
    if (!Number.isInteger(size) || size < 1)
      throw new BootError(`newPagination(): ${name} must be a whole number from 1, got ${size}.`)
  }
  if (standard > most)
    throw new BootError(`newPagination(): defaultPageSize (${standard}) is larger than maxPageSize (${most}).`)
  return { standard, most }
}
