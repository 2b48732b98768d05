import { atPlaces, type OrderColumn, type Place, rangesAfter, reversed } from '../keyset.js'
import type { Rows } from '../lazy-instances.js'
import type { PlacedRow } from '../list.js'
import type { CursorPosition } from './cursor.js'
import type { CursorList } from './cursor-list.js'

/** Which page to read. */
export interface PageRequest {
  /** The position, with all values of the order; without it, the first page is read. */
  readonly start: CursorPosition | undefined
  readonly limit: number
  /** The page that ends before the start, instead of the one that begins after it. */
  readonly isBackward: boolean
  /** Whether the result has a position to go back from the page. */
  readonly isTwoWay: boolean
}

/** The rows of a page. */
export interface PageRows {
  readonly rows: Rows
  /** The position where the page after this one begins; undefined at the end of the list. */
  readonly next: CursorPosition | undefined
  /** The position where the page before this one ends; undefined at the start of the list, and if the page is not two-way. */
  readonly prev: CursorPosition | undefined
}

/** Reads a page, in the order of the list. */
export async function readPage(
  list: CursorList,
  { start, limit, isBackward, isTwoWay }: PageRequest,
): Promise<PageRows> {
  const forward = list.order.columns
  const columns = isBackward ? reversed(forward) : forward
  // One row more than the page has shows that there is another page.
  const read = await readFrom(list, columns, start, limit + 1)
  const page = read.slice(0, limit)
  const ahead = read.length > limit ? positionAt(page.at(-1), page) : undefined
  const origin =
    isTwoWay && start ? (positionAt(page[0], page) ?? { ...start, inclusive: !start.inclusive }) : undefined
  const behind = origin && (await readFrom(list, reversed(columns), origin, 1)).length > 0 ? origin : undefined
  const rows = await list.wholeRows(isBackward ? page.toReversed() : page)
  return isBackward ? { rows, next: behind, prev: ahead } : { rows, next: ahead, prev: behind }
}

async function readFrom(
  list: CursorList,
  columns: readonly OrderColumn[],
  start: CursorPosition | undefined,
  count: number,
): Promise<PlacedRow[]> {
  if (!start) return list.placedRows({ limit: count })
  const rows = start.inclusive ? await list.placedRows({ condition: atPlaces(columns, [start.place]), limit: 1 }) : []
  for (const range of rangesAfter(columns, start.place, start.shared)) {
    const limit = count - rows.length
    if (limit > 0) rows.push(...(await list.placedRows({ ...range, limit })))
  }
  return rows
}

/** The position of one of the page's rows; undefined for an empty page. */
function positionAt(row: PlacedRow | undefined, page: readonly PlacedRow[]): CursorPosition | undefined {
  return row && { place: row.place, shared: sharedColumns(page[0]?.place ?? [], page.at(-1)?.place ?? []) }
}

function sharedColumns(first: Place, last: Place): number {
  const changed = first.findIndex((value, index) => value !== last[index])
  return changed < 0 ? last.length - 1 : changed
}
