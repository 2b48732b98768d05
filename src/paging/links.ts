import type { ReplyHeaders } from '../http/output/reply.js'
import type { Request } from '../http/request.js'

/**
 * The query parameters of another page, without those that are undefined. All others are those of the request. Their names are made of letters, digits
 * and `_`, and are the same for all pages of a list.
 */
export type PageQuery = Readonly<Record<string, string | number | undefined>>

interface Link {
  readonly relation: string
  readonly text: string
}

/** Sets the `Link` header (RFC 8288), with the URLs of other pages by their relations. */
export function setLinks(
  request: Request,
  headers: ReplyHeaders,
  pages: Readonly<Record<string, PageQuery | undefined>>,
): void {
  const links: Link[] = []
  let header = ''
  let start: string | undefined
  for (const relation in pages) {
    const page = pages[relation]
    if (!page) continue
    start ??= `<${pathOf(request)}?${keptQuery(request, page)}`
    const text = `${start}${queryOf(page)}>; rel="${relation}"`
    links.push({ relation, text })
    header += header === '' ? text : `, ${text}`
  }
  if (header.length > MAX_HEADER_LENGTH) header = mostImportant(links)
  if (header !== '') headers.set('link', header)
}

/** Characters. Proxies reject a response whose headers exceed 4 KiB, and clients choose the length of the query, which links repeat. */
const MAX_HEADER_LENGTH = 2048

/** If not all links fit, the least important are left out. */
const BY_IMPORTANCE = ['next', 'prev', 'first', 'last']

function mostImportant(links: readonly Link[]): string {
  let remaining = MAX_HEADER_LENGTH
  const kept = new Set<Link>()
  for (const link of links.toSorted((a, b) => importance(a) - importance(b))) {
    if (link.text.length > remaining) continue
    remaining -= link.text.length
    kept.add(link)
  }
  return links.flatMap((link) => (kept.has(link) ? link.text : [])).join(', ')
}

function importance({ relation }: Link): number {
  return BY_IMPORTANCE.indexOf(relation)
}

function queryOf(page: PageQuery): string {
  let query = ''
  for (const name in page) {
    const value = page[name]
    if (value === undefined) continue
    query += `${query === '' ? '' : '&'}${name}=${typeof value === 'number' ? value : formEncoded(value)}`
  }
  return query
}

/** The parameters of the request that a page does not set, before those that it sets. */
function keptQuery({ query }: Request, page: PageQuery): string {
  let kept: URLSearchParams | undefined
  for (const [name, values] of query) {
    if (Object.hasOwn(page, name)) continue
    kept ??= new URLSearchParams()
    for (const value of values) kept.append(name, value)
  }
  return kept ? `${kept.toString()}&` : ''
}

/** As URLSearchParams writes names and values, which costs time. */
function formEncoded(text: string): string {
  return /^[\w.*-]*$/.test(text) ? text : new URLSearchParams({ '': text }).toString().slice(1)
}

/** Characters that RFC 3986 forbids in a path: `>` would end the link and start another. */
const NOT_IN_PATHS = /[^\w\-.~!$&'()*+,;=:@/%]/gu

/** Most paths, for which the test takes less time than the replacement. */
const PLAIN_PATH = /^\/[\w-][\w/-]*$/

// Connect and Express remove the path at which they mount an app from the URL, and keep the original here.
function pathOf({ raw, path }: Request): string {
  const original: unknown = 'originalUrl' in raw ? raw.originalUrl : undefined
  const [given = path] = typeof original === 'string' && original.startsWith('/') ? original.split('?') : []
  // Two slashes at the start of a link would be followed by a host.
  if (PLAIN_PATH.test(given)) return given
  return (given.startsWith('//') ? '/.' : '') + given.replace(NOT_IN_PATHS, percentEncoded)
}

function percentEncoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&')
}
