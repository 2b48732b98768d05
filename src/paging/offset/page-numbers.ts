import type { PageMeta } from '../page.js'

/** The part of a list that a client requests. */
export interface OffsetWindow {
  readonly offset: number
  readonly limit: number
}

/** The bounds of the number of all rows. */
export interface TotalBounds {
  readonly least: number
  readonly most: number
}

/** The bounds of the total that follow from the rows that were read from an offset: if these are less than `requested`, the list ends with them. */
export function boundsOfTotal(read: readonly unknown[], offset: number, requested: number): TotalBounds {
  if (read.length === 0) return { least: 0, most: offset }
  const least = offset + read.length
  return { least, most: read.length < requested ? least : Infinity }
}

/** `total_pages = ceil(total / limit)`, `page_number = floor(offset / limit) + 1`: specification, "Offset page". */
export function metaOf(total: number, { offset, limit }: OffsetWindow): PageMeta {
  return {
    offset,
    total_items: total,
    total_pages: Math.ceil(total / limit),
    // The largest offset, with pages of one row, would have a number that JSON readers cannot represent.
    page_number: Math.min(Math.floor(offset / limit) + 1, Number.MAX_SAFE_INTEGER),
  }
}

/** The other pages of a list that is not counted. */
export function uncountedNeighboursOf(hasNext: boolean, { offset, limit }: OffsetWindow) {
  return {
    first: { offset: 0, limit },
    prev: offset > 0 ? { offset: Math.max(offset - limit, 0), limit } : undefined,
    next: hasNext ? { offset: offset + limit, limit } : undefined,
  }
}

/** The other pages of the list, by their relation to this one. */
export function neighboursOf(total: number, { offset, limit }: OffsetWindow) {
  const last = Math.max(Math.ceil(total / limit) - 1, 0) * limit
  return {
    first: { offset: 0, limit },
    prev: offset > 0 ? { offset: Math.max(Math.min(offset - limit, last), 0), limit } : undefined,
    next: offset + limit < total ? { offset: offset + limit, limit } : undefined,
    last: { offset: last, limit },
  }
}
