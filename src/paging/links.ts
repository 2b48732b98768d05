import type { ReplyHeaders } from '../http/reply-headers.js'
import type { Request } from '../http/request.js'

/** What stands in the query of another page; the rest of it stays as it is. */
export type PageQuery = Readonly<Record<string, string | number>>

/** Sets the `Link` header (RFC 8288): where other pages of the same list are. */
export function setLinks(
  request: Request,
  headers: ReplyHeaders,
  links: Readonly<Record<string, PageQuery | undefined>>,
): void {
  const given = Object.entries(links).flatMap(([rel, query]) =>
    query ? [`<${urlOf(request, query)}>; rel="${rel}"`] : [],
  )
  if (given.length > 0) headers.set('link', given.join(', '))
}

function urlOf(request: Request, page: PageQuery): string {
  const query = new URLSearchParams()
  for (const [name, values] of request.query) if (!(name in page)) for (const value of values) query.append(name, value)
  for (const [name, value] of Object.entries(page)) query.set(name, String(value))
  return `${pathOf(request)}?${query.toString()}`
}

// Connect and Express cut the path where they mount an app off the URL, and keep the whole one here.
function pathOf({ raw, path }: Request): string {
  const whole = (raw as { originalUrl?: unknown }).originalUrl
  return typeof whole === 'string' && whole.startsWith('/') ? (whole.split('?')[0] as string) : path
}
