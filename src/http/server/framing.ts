import type { IncomingMessage } from 'node:http'
import type { ErrorStatus } from '../../core/error-status.js'

/** Beyond 2,000 names and values together, Node ignores headers by default: the checks below would not see them. */
const MAX_HEADERS = 1_000

/** Source: RFC 9110, 7.2: uri-host [ ":" port ]. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

const AUTHORITY = /^https?:\/\/([^/?]*)/i

/**
 * The fault of a request that Node accepts, but that another server, such as a proxy in front of this one, may read in another way: the HTTP
 * version, where the body ends, and the host. Such differences allow request smuggling.
 */
export function faultOf({ httpVersion, headers, rawHeaders, url = '' }: IncomingMessage): ErrorStatus | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return { status: 505, detail: 'This server supports HTTP/1.1 and HTTP/1.0.' }
  if (rawHeaders.length >= 2 * MAX_HEADERS) return { status: 431, detail: 'The request has too many headers.' }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && httpVersion === '1.0')
    return { status: 400, detail: 'HTTP/1.0 has no Transfer-Encoding.' }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return { status: 501, detail: 'This server supports no transfer coding but chunked.' }
  const hosts = headers.host === undefined ? 0 : countOf(rawHeaders, 'host')
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return { status: 400, detail: `A request must have one Host header; this one has ${hosts === 0 ? 'none' : hosts}.` }
  if (!HOST.test(headers.host ?? '')) return { status: 400, detail: 'The Host header is not a valid host.' }
  const authority = url.startsWith('/') ? undefined : authorityOf(url)
  if (authority !== undefined && headers.host !== undefined && !isSameHost(authority, headers.host))
    return { status: 400, detail: 'The Host header differs from the host in the request target.' }
  return undefined
}

/** `http://user@host:81/path` -> `host:81`, the authority without its user (RFC 9112, 3.2.2). */
function authorityOf(target: string): string | undefined {
  const authority = AUTHORITY.exec(target)?.[1]
  return authority?.slice(authority.lastIndexOf('@') + 1)
}

// Proxies and virtual hosts choose by either of the two.
function isSameHost(authority: string, host: string): boolean {
  return authority.toLowerCase() === host.toLowerCase()
}

/** The number of headers with this name, given in lower case. `headers` has only the first of some that are repeated. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count++
  return count
}
