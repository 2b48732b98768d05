import type { OutgoingResponse } from '../http/output/outgoing-response.js'
import { CONNECTION_HEADERS } from '../http/output/respond.js'

/** A response as its row keeps it. */
export interface StoredResponse {
  readonly status: number
  /** As JSON. */
  readonly headers: string
  readonly body: Uint8Array | null
}

/** The header of a response that was stored. */
export const REPLAYED = 'idempotency-replayed'

/** They belong to the connection, or to one request. */
const NOT_STORED: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'content-length',
  'date',
  'x-request-id',
  REPLAYED,
])

/**
 * @param limit bytes of the body.
 * @throws TypeError for a body that cannot be stored.
 */
export function toStored(
  { status, headers, added, body }: OutgoingResponse,
  route: string,
  limit: number,
): StoredResponse {
  const all = Object.entries({ ...headers, ...added }).map(([name, value]) => [name.toLowerCase(), value] as const)
  const stored = Object.fromEntries(all.filter(([name]) => !NOT_STORED.has(name)))
  return { status, headers: JSON.stringify(stored), body: bytesOf(body, route, limit) }
}

function bytesOf(body: OutgoingResponse['body'], route: string, limit: number): Uint8Array | null {
  if (body === undefined) return null
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError(
      `${route} has @Idempotent(), but returned a stream or a file, which cannot be stored for a client that asks again. Return JSON, or bytes: file(bytes, { type }); or remove the decorator.`,
    )
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (bytes.byteLength <= limit) return bytes
  throw new TypeError(
    `${route} has @Idempotent(), but its response has ${bytes.byteLength} bytes, and at most ${limit} are stored. Return less, such as a link to the result; or write @Idempotent({ responseLimit: ${bytes.byteLength} }).`,
  )
}

/** The response that was stored. */
export function fromStored({ status, headers, body }: StoredResponse): OutgoingResponse {
  // toStored() has written it.
  const stored = JSON.parse(headers) as OutgoingResponse['headers']
  return { status, headers: { ...stored, [REPLAYED]: 'true' }, body: body ?? undefined }
}
