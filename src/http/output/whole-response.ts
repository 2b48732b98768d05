import { channel } from 'node:diagnostics_channel'
import { type IncomingMessage, ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import type { OutgoingResponse } from './outgoing-response.js'

/*
 * The short path of writing: a status, headers that were checked at startup, and a string, in one writeHead() and one write to the socket.
 * outgoing-response.ts writes everything else, and the same bytes for these.
 */

type Headers = OutgoingResponse['headers']

/** Source: RFC 9110, 5.5, without the bytes beyond ASCII: Node writes them in the encoding of the body. */
const ALLOWED = /^[\t\x20-\x7e]*$/

/** Headers that many responses share, as the list that writeHead() takes. */
const lists = new WeakMap<Headers, readonly string[]>()

/** Prepares headers that are made at startup and never changed. Those that HTTP does not allow fail with their response. */
export function sharedHeaders(headers: Readonly<Record<string, string>>): Headers {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    if (Object.values(headers).every((value) => ALLOWED.test(value))) lists.set(headers, Object.entries(headers).flat())
  } catch {
    // The general path throws the error, with the route of the response.
  }
  return headers
}

export const NO_HEADERS = sharedHeaders({})

const { writeHead, write, end } = ServerResponse.prototype
const requestStart = channel('http.server.request.start')
const responseFinish = channel('http.server.response.finish')

/**
 * Whether only this package can see the headers of a response, and how it is written. Called before its first listener is added, for a
 * response of this package's server without middleware: what remains are tools that observe all of the process's requests.
 */
export function isUnobserved(response: ServerResponse): boolean {
  return (
    response.writeHead === writeHead &&
    response.write === write &&
    response.end === end &&
    response.listenerCount('finish') === 1 && // Node's own
    response.listenerCount('close') === 0 &&
    response.getHeaderNames().length === 0 &&
    !requestStart.hasSubscribers &&
    !responseFinish.hasSubscribers
  )
}

const NONE: readonly string[] = []

/** Undefined if one replaces another header, or is not allowed by HTTP. */
function addedList(headers: Headers, added: Readonly<Record<string, string>>): readonly string[] | undefined {
  const list: string[] = []
  for (const name of Object.keys(added)) {
    const value = added[name] ?? ''
    if (Object.hasOwn(headers, name) || !ALLOWED.test(value)) return undefined
    list.push(name, value)
  }
  return list
}

/** The longest body that is copied after its head. */
const MAX_LENGTH = 64 * 1024

/**
 * Writes a response of which nothing, not even a header, is written yet. Returns false, and has done nothing, unless its headers are shared
 * ones, its body is a short string or missing, the request is read to its end, and everything before it was sent.
 *
 * @param first the headers of every response: names and values.
 */
export function writeWhole(
  response: ServerResponse,
  { status, headers, added, appended, body = '' }: OutgoingResponse,
  request: IncomingMessage,
  first: readonly string[],
): boolean {
  const { socket } = response
  const list = lists.get(headers)
  const more = added ? addedList(headers, added) : NONE
  if (!list || !more || appended || typeof body !== 'string' || !socket || !request.complete) return false
  // Otherwise a client that reads no responses would have all of its requests answered, in memory.
  if (socket.writableLength > 0 || body.length > MAX_LENGTH) return false
  if (response.headersSent || response.destroyed || response.getHeaderNames().length > 0) return false
  const hasLength = status !== 204 && status !== 304
  const size = Buffer.byteLength(body)
  const length = hasLength ? ['content-length', String(size)] : NONE
  response.writeHead(status, [...first, ...list, ...more, ...length])
  if (body !== '' && request.method !== 'HEAD') {
    // Node writes the end of a response as a chunk of its own, unless all else is written: the kernel would be given two buffers.
    socket.cork()
    response.write(body, size === body.length ? 'latin1' : 'utf8') // of ASCII, the same bytes, which V8 copies at once
    socket.uncork()
  }
  response.end()
  return true
}
