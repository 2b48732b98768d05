import type { PageMeta } from '../page.js'

/** The part of a list that a client requests. */
export interface OffsetWindow {
  readonly offset: number
  readonly limit: number
}

/**
 * The number of all rows, if a page shows it: a page that is not full ends with the last row.
 * Undefined for a full page, and for an empty one that begins behind the end.
 */
export function totalShownBy(rows: readonly unknown[], { offset, limit }: OffsetWindow): number | undefined {
  const isLastPage = rows.length < limit && (rows.length > 0 || offset === 0)
  return isLastPage ? offset + rows.length : undefined
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

/** The other pages of the list, by their relation to this one. */
export function neighboursOf(total: number, { offset, limit }: OffsetWindow) {
  const at = (start: number) => ({ offset: start, limit })
  const last = Math.max(Math.ceil(total / limit) - 1, 0) * limit
  return {
    first: at(0),
    prev: offset > 0 ? at(Math.max(Math.min(offset - limit, last), 0)) : undefined,
    next: offset + limit < total ? at(offset + limit) : undefined,
    last: at(last),
  }
}
