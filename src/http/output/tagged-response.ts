import type { ValueVersion, VersionOf } from '../../schema/shape/shape.js'
import { type Conditions, withoutContent } from './file-response.js'
import { digestOf, matchesWeakly } from './entity-tag.js'
import type { OutgoingResponse } from './outgoing-response.js'
import { Reply } from './reply.js'
import type { StreamRequest } from './declared-stream.js'

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
