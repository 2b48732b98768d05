import { escapePointer } from '../../core/json-pointer.js'
import { propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { type Pagination, paginationOf } from '../routing/paginated.js'
import type { Route } from '../routing/route.js'

/*
 * OpenAPI has no words for pages. Generators of clients read an extension; without one, each page is a call of its own.
 */

/** The extensions of an operation that returns pages: what a client needs to walk through all of them. */
export function paginationExtensions(route: Route): Readonly<Record<string, object>> {
  const pagination = paginationOf(route.plan)
  const described = pagination && route.response && describe(pagination, route.response)
  if (!described) return {}
  // Redocly CLI has read both of the latter names.
  return { 'x-pagination': described, 'x-redocly-pagination': described, 'x-redoclyPagination': described }
}

/** With pointers (RFC 6901) into the response, which may be an envelope of the program's own; undefined if they are not found. */
function describe({ style, parameter }: Pagination, response: Shape): object | undefined {
  const items = pointerTo(response, ({ kind }) => kind === 'array')
  if (items === undefined) return undefined
  if (style === 'offset') return { style, offsetParam: parameter, items }
  const nextCursor = pointerTo(response, (_, name) => name === parameter)
  return nextCursor === undefined ? undefined : { style, cursorParam: parameter, nextCursor, items }
}

/** Envelopes have a property for the rows, and an object next to it. */
const MOST_LEVELS = 2

/** The pointer to the only property that matches, of those that are the least deep. */
function pointerTo(shape: Shape, matches: (shape: Shape, name: string) => boolean): string | undefined {
  let level: readonly (readonly [pointer: string, shape: Shape])[] = [['', shape]]
  for (let depth = 0; depth < MOST_LEVELS; depth++) {
    const below = level.flatMap(([pointer, parent]) =>
      parent.kind === 'object'
        ? propertiesOf(parent, 'output').map(([name, property]) => ({
            name,
            pointer: `${pointer}/${escapePointer(name)}`,
            shape: property.shape,
          }))
        : [],
    )
    const found = below.filter((one) => matches(one.shape, one.name))
    if (found.length > 0) return found.length === 1 ? found[0]?.pointer : undefined
    level = below.map((one) => [one.pointer, one.shape])
  }
  return undefined
}
