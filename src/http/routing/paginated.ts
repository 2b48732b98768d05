import { MetadataKey } from '../../di/metadata.js'
import { NamedToken, type Token } from '../../di/token.js'
import type { Plan } from '../../di/plan.js'

/** The way from one page of a list to the next one. */
export interface Pagination {
  readonly style: 'cursor' | 'offset'
  /** The query parameter of the cursor, or of the offset. */
  readonly parameter: string
}

const paginations = new MetadataKey<Pagination>()

/** Documents that a route whose handler injects this type returns pages. Subclasses inherit it. */
export function documentPagination(type: object, pagination: Pagination): void {
  paginations.write(type, pagination)
}

/** How the pages of a route follow each other; undefined if it has none. */
export function paginationOf({ steps }: Plan<unknown>): Pagination | undefined {
  for (const { token } of steps) {
    const found = ofToken(token)
    if (found) return found
  }
  return undefined
}

function ofToken(token: Token): Pagination | undefined {
  return token instanceof NamedToken ? undefined : paginations.inherited(token)
}
