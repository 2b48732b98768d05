import { rangesAfter } from '../keyset.js'
import type { Row } from '../lazy-instances.js'
import type { List, PlacedRow } from '../list.js'
import type { CursorPosition } from './cursor-body.js'

/** The rows of a page. */
export interface PageRows {
  readonly rows: Row[]
  /** The position after the last row; undefined at the end of the list. */
  readonly next: CursorPosition | undefined
}

/** Reads the page after a position, whose place has all values of the order; without one, the first page. */
export async function readPage(list: List, start: CursorPosition | undefined, limit: number): Promise<PageRows> {
  // One row more than the page has shows that there is a next page.
  const read = await readAfter(list, start, limit + 1)
  const page = read.slice(0, limit)
  const next = read.length > limit ? positionAfter(page) : undefined
  return { rows: await list.wholeRows(page), next }
}

async function readAfter(list: List, start: CursorPosition | undefined, count: number): Promise<PlacedRow[]> {
  if (!start) return list.placedRows({ limit: count })
  const rows: PlacedRow[] = []
  for (const range of rangesAfter(list.order.columns, start.place, start.shared)) {
    const limit = count - rows.length
    if (limit > 0) rows.push(...(await list.placedRows({ ...range, limit })))
  }
  return rows
}

function positionAfter(page: readonly PlacedRow[]): CursorPosition {
  const [first = [], last = []] = [page[0]?.place, page.at(-1)?.place]
  const changed = first.findIndex((value, index) => value !== last[index])
  return { place: last, shared: changed < 0 ? last.length - 1 : changed }
}
