import type { ReplyHeaders } from '../http/output/reply.js'
import type { Request } from '../http/request.js'

/** What stands in the query of another page; the rest of it stays as it is. */
export type PageQuery = Readonly<Record<string, string | number>>

interface Link {
  readonly relation: string
  readonly text: string
}

/** Sets the `Link` header (RFC 8288): where other pages of the same list are. */
export function setLinks(
  request: Request,
  headers: ReplyHeaders,
  pages: Readonly<Record<string, PageQuery | undefined>>,
): void {
  const links = Object.entries(pages).flatMap(([relation, page]) =>
    page ? [{ relation, text: linkTo(request, page, relation) }] : [],
  )
  const kept = fitting(links)
  if (kept.length > 0) headers.set('link', kept.map(({ text }) => text).join(', '))
}

/** Characters. A client chooses how long its query is, and proxies take an answer whose headers do not fit into 4 KiB for a failure. */
const LONGEST_HEADER = 2048

/** The first ones are needed to go on. */
const BY_IMPORTANCE = ['next', 'prev', 'first', 'last']

function fitting(links: readonly Link[]): readonly Link[] {
  let left = LONGEST_HEADER
  const kept = new Set<Link>()
  for (const link of links.toSorted((a, b) => importance(a) - importance(b))) {
    if (link.text.length > left) continue
    left -= link.text.length
    kept.add(link)
  }
  return links.filter((link) => kept.has(link))
}

function importance({ relation }: Link): number {
  return BY_IMPORTANCE.indexOf(relation)
}

function linkTo(request: Request, page: PageQuery, relation: string): string {
  const query = new URLSearchParams()
  for (const [name, values] of request.query)
    if (!Object.hasOwn(page, name)) for (const value of values) query.append(name, value)
  for (const [name, value] of Object.entries(page)) query.set(name, String(value))
  return `<${pathOf(request)}?${query.toString()}>; rel="${relation}"`
}

/** What must not stand in a path (RFC 3986): `>` would end the link, and begin another. */
const NOT_IN_PATHS = /[^\w\-.~!$&'()*+,;=:@/%]/gu

// Connect and Express cut the path where they mount an app off the URL, and keep the whole one here.
function pathOf({ raw, path }: Request): string {
  const whole = (raw as { originalUrl?: unknown }).originalUrl
  const given = typeof whole === 'string' && whole.startsWith('/') ? (whole.split('?')[0] as string) : path
  // What follows two slashes would be another host.
  return (given.startsWith('//') ? '/.' : '') + given.replace(NOT_IN_PATHS, percentEncoded)
}

function percentEncoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&')
}
