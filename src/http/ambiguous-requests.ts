import type { IncomingMessage } from 'node:http'
import type { ErrorStatus } from '../core/error-status.js'
import { BadRequest } from './errors.js'

/*
 * Requests that another server, such as a proxy in front of this one, may read differently: they are refused, or normalized.
 */

/** A target that is in normal form already, as most are: nothing is percent-encoded, no segment begins with a dot, only the last may be empty. */
const PLAIN =
  /^\/(?:[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*(?:\/[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*)*\/?)?(?:\?[!"$-~]*)?$/

/**
 * The normal form of a request target (RFC 9112, 3.2). Two targets with the same path for the router have the same normal form, but for
 * one trailing slash, so that middleware can compare strings. It is path and query, without the origin; the path is percent-encoded only where RFC 3986 requires it, in
 * upper case. An encoded slash or backslash stays encoded: it is a character of its segment.
 *
 * @throws BadRequest for a target that a proxy could read as another path: `.` and `..` segments, a backslash, a fragment, `//` at the start,
 * an invalid percent-encoding, characters that a URL does not have.
 */
export function normalTarget(target: string): string {
  if (target === '*' || PLAIN.test(target)) return target
  requireVisible(target)
  const { path, query } = splitQuery(originForm(target))
  return `${normalPath(path || '/')}${query}`
}

/** `'/heros?limit=1'` -> `{ path: '/heros', query: '?limit=1' }` */
function splitQuery(target: string): { readonly path: string; readonly query: string } {
  const at = target.indexOf('?')
  return at < 0 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at) }
}

/** @throws BadRequest for an invalid percent-encoding. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new BadRequest('The URL has an invalid percent-encoding.', { cause })
  }
}

function requireVisible(target: string): void {
  if (/[^\x21-\x7e]/.test(target)) throw new BadRequest('The URL has a character that must be percent-encoded.')
  if (target.includes('#')) throw new BadRequest('The URL has a fragment, which is not sent to a server.')
}

const ORIGIN = /^https?:\/\/[^/?\\]+(?=[/?]|$)/i

// A client that treats the server as a proxy sends 'http://host/path?query'. A server that removes a prefix may leave '' or '?query'.
function originForm(target: string): string {
  if (target === '' || target.startsWith('/') || target.startsWith('?')) return target
  const origin = ORIGIN.exec(target)?.[0]
  if (origin === undefined) throw new BadRequest('The request target is not a path.')
  return target.slice(origin.length)
}

function normalPath(path: string): string {
  // In '//host/path', browsers and new URL() read the first segment as a host.
  if (path.startsWith('//')) throw new BadRequest('The path begins with two slashes.')
  if (path.includes('\\')) throw new BadRequest('The path has a backslash. In a value write it as %5C.')
  return path.split('/').map(normalSegment).join('/')
}

function normalSegment(text: string): string {
  const decoded = decodePercent(text)
  if (isDotSegment(decoded)) throw new BadRequest("The path has a segment '.' or '..'.")
  return encodeSegment(decoded)
}

/** Whether a decoded segment is one that clients resolve before they send the path. */
export function isDotSegment(text: string): boolean {
  return text === '.' || text === '..'
}

// RFC 3986 allows these characters in a segment, which encodeURIComponent() encodes.
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
}

/** Beyond 2,000 names and values together, Node ignores headers by default: the checks below would not see them. */
const MAX_HEADERS = 1_000

/** Source: RFC 9110, 7.2: uri-host [ ":" port ]. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** The last valid host: most requests have the same one. */
let lastHost = ''

function isHost(text: string): boolean {
  if (text === lastHost) return true
  if (!HOST.test(text)) return false
  lastHost = text
  return true
}

const AUTHORITY = /^https?:\/\/([^/?]*)/i

/**
 * The fault of a request that Node accepts, but that another server, such as a proxy in front of this one, may read differently: the HTTP
 * version, where the body ends, the host, and headers that only one of them checks. Such differences allow request smuggling.
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
  if (headers.host === undefined && httpVersion === '1.1')
    return { status: 400, detail: 'A request must have one Host header; this one has none.' }
  const repeated = repeatedIn(rawHeaders)
  if (repeated === 'host') return { status: 400, detail: 'A request must have one Host header; this one has several.' }
  if (!isHost(headers.host ?? '')) return { status: 400, detail: 'The Host header is not a valid host.' }
  const authority = url.startsWith('/') ? undefined : authorityOf(url)
  if (authority !== undefined && headers.host !== undefined && !isSameHost(authority, headers.host))
    return { status: 400, detail: 'The Host header differs from the host in the request target.' }
  if (repeated) return { status: 400, detail: `A request must have one ${repeated} header at most.` }
  return undefined
}

/** Headers of which Node takes the first, and a proxy that checks them perhaps the last. Node itself refuses two lengths, and Bun two that differ. */
const SINGLE = ['host', 'authorization', 'content-type', 'content-length'] as const

/** `http://user@host:81/path` -> `host:81`, the authority without its user (RFC 9112, 3.2.2). */
function authorityOf(target: string): string | undefined {
  const authority = AUTHORITY.exec(target)?.[1]
  return authority?.slice(authority.lastIndexOf('@') + 1)
}

// Proxies and virtual hosts choose by either of the two.
function isSameHost(authority: string, host: string): boolean {
  return authority.toLowerCase() === host.toLowerCase()
}

/** The first of the single headers that a request has several times; `headers` has only one of them. */
function repeatedIn(rawHeaders: readonly string[]): string | undefined {
  for (const name of SINGLE) {
    let count = 0
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count++
    if (count > 1) return name
  }
  return undefined
}
