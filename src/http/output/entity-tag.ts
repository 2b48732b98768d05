import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { OutgoingResponse } from './outgoing-response.js'
import type { ValueVersion, VersionOf } from '../../schema/shape/shape.js'
import { Reply } from './reply.js'
import type { StreamRequest } from './declared-stream.js'

/*
 * Entity tags. Source: RFC 9110, 8.8.3 and 13.1.
 */

/** An entity tag, and what may stand before and after it in a list. */
const ITEM = /[ \t,]*((?:W\/)?"[^"]*")[ \t]*(?=,|$)/y

/** The tags of `If-Match` or `If-None-Match`, weak ones with their `W/`; `'*'` is any. None if the header is no list of tags. */
export function parseEntityTags(header: string): readonly string[] | '*' {
  if (header.trim() === '*') return '*'
  const tags: string[] = []
  ITEM.lastIndex = 0
  let end = 0
  for (let match = ITEM.exec(header); match; match = ITEM.exec(header)) {
    if (match[1] !== undefined) tags.push(match[1])
    end = ITEM.lastIndex
  }
  return /[^ \t,]/.test(header.slice(end)) ? [] : tags
}

/** Whether `If-None-Match` has this tag; a weak one counts as well. */
export function matchesWeakly(header: string, etag: string): boolean {
  const tags = parseEntityTags(header)
  const own = withoutWeak(etag)
  return tags === '*' || tags.some((tag) => withoutWeak(tag) === own)
}

function withoutWeak(etag: string): string {
  return etag.replace(/^W\//, '')
}

/** Identifies a text; 132 bits of its SHA-256. */
function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22)
}

/** The parts of a request that conditions and ranges are read from. */
export interface Conditions {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** Headers of the content, which a 304 does not have. */
const CONTENT_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-disposition',
  'content-encoding',
])

/** The headers of a 304. */
export function withoutContent(headers: OutgoingResponse['headers']): OutgoingResponse['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONTENT_HEADERS.has(name)))
}

type Respond = (value: unknown, request: StreamRequest) => OutgoingResponse

/**
 * Adds the ETag to the responses with the usual status, and answers `If-None-Match` with 304. The body is not built for a 304 if the version of the
 * value is enough.
 *
 * @param caching headers of these responses, unless the handler sets them.
 */
export function taggedRespond(
  respond: Respond,
  usual: number,
  versionOf: VersionOf,
  caching: OutgoingResponse['headers'],
): Respond {
  return (value, request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const version = versionIn(value, versionOf, isRead)
    // The status and the headers of a Reply have to be checked.
    if (isRead && usual === 200 && version?.coversBody && !(value instanceof Reply)) {
      const etag = `"${version.version}"`
      if (isUnmodified(request, etag)) return { status: 304, headers: { ...caching, etag } }
    }
    const response = respond(value, request)
    if (response.status !== usual || typeof response.body !== 'string') return response
    const etag = response.headers['etag'] ?? tagOf(version, response.body, isRead)
    if (etag === undefined) return response
    const headers = { ...caching, ...response.headers, ...bothVary(caching, response.headers), etag }
    return isRead && usual === 200 && isUnmodified(request, String(etag))
      ? { status: 304, headers: withoutContent(headers) }
      : { ...response, headers }
  }
}

function bothVary(
  { vary }: OutgoingResponse['headers'],
  own: OutgoingResponse['headers'],
): OutgoingResponse['headers'] {
  return vary === undefined || own['vary'] === undefined ? {} : { vary: `${String(vary)}, ${String(own['vary'])}` }
}

function versionIn(value: unknown, versionOf: VersionOf, isRead: boolean): ValueVersion | undefined {
  const plain: unknown = value instanceof Reply ? value.value : value
  return typeof plain === 'object' && plain !== null ? versionOf(plain, isRead ? 'read' : 'written') : undefined
}

// The value that a write returns may differ from the one that a read sends, such as in the precision of a date: its digest would be the tag of nothing.
function tagOf(version: ValueVersion | undefined, body: string, isRead: boolean): string | undefined {
  if (version?.coversBody) return `"${version.version}"`
  if (!isRead) return version && `"${version.version}"`
  return version ? `"${version.version}-${digestOf(body)}"` : `"${digestOf(body)}"`
}

function isUnmodified({ headers }: Conditions, etag: OutgoingResponse['headers'][string]): boolean {
  const tags = headers['if-none-match']
  return tags !== undefined && matchesWeakly(tags, String(etag))
}
