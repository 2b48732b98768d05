import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EventStream } from './events.js'
import { breakOff, resetIfBroken } from './break-off.js'
import { DeferredStream, openDeferred } from './deferred-stream.js'
import { closesUnread, endAfterReading, mustClose } from './unread-body.js'
import { types } from 'node:util'
import { shown } from '../../core/options.js'

/** The response that is written to the client. */
export interface OutgoingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Headers that are set after those, in their place if they have the same names. */
  readonly added?: Readonly<Record<string, string>> | undefined
  /** Headers that are sent in addition to those, even with the same names, such as several `set-cookie`. */
  readonly appended?: readonly (readonly [name: string, value: string])[] | undefined
  readonly body?: string | Uint8Array | Readable | (() => Readable) | undefined
}

/** Destroys the stream of a response that is not written. */
export function discard(body: unknown): void {
  if (body instanceof Readable) body.on('error', () => {}).destroy()
}

/** @throws the error of a stream that has failed, and a TypeError for one that was destroyed or read to its end. */
export function refuseUnreadable(stream: Readable): void {
  if (stream.errored) throw stream.errored
  if (stream.readable) return
  throw new TypeError(
    stream.readableEnded
      ? 'The stream of the response was already read to its end. Return a new stream, or the bytes that were read.'
      : 'The stream of the response was destroyed before it was sent. Do not call destroy(), and do not close what it reads from (using, finally, pipeline): the stream is read after the COMMIT, and destroyed then.',
  )
}

interface EarlyEnd {
  isBySource: boolean
  /** The error of the source, if the client was still connected. */
  error?: Error
}

/** Tells who ends a response too early. Call it before the stream is read. */
function watchEnd(source: Readable, response: ServerResponse): EarlyEnd {
  const end: EarlyEnd = { isBySource: false }
  source.once('error', (error) => {
    if (!response.destroyed) end.error = error
  })
  source.once('close', () => {
    end.isBySource = !source.readableEnded && !response.destroyed
  })
  return end
}

/**
 * Writes a response to the client; no other function does. For a stream, the promise resolves when all of it is written, or the connection is
 * closed, and rejects when it fails.
 *
 * @throws for a header that HTTP does not allow, before anything is written.
 */
export function writeReply(
  response: ServerResponse,
  reply: OutgoingResponse,
  request: IncomingMessage,
): Promise<void> | undefined {
  if (response.headersSent && !response.writableEnded) breakOff(response) // half a response must not look complete
  if (response.headersSent || response.destroyed) {
    discard(reply.body)
    return undefined
  }
  const { status, headers, added, appended, body } = reply
  // Middleware may have set it, for what it looks at itself.
  for (const [name, value] of Object.entries(headers))
    if (name === 'vary') response.appendHeader(name, value)
    else response.setHeader(name, value)
  if (added) for (const [name, value] of Object.entries(added)) response.setHeader(name, value)
  if (appended) for (const [name, value] of appended) response.appendHeader(name, value)
  response.statusCode = status
  if (mustClose(request)) response.setHeader('connection', 'close')
  if (body instanceof Readable || typeof body === 'function') return stream(response, body, request)
  // Middleware has set it: with a length it would be another framing of the same response.
  if (response.hasHeader('transfer-encoding')) response.removeHeader('transfer-encoding')
  // A wrong length, such as one copied from the response of another server, would make the client read into the next response.
  if (status === 204 || status === 304) response.removeHeader('content-length')
  else response.setHeader('content-length', body === undefined ? 0 : Buffer.byteLength(body))
  // Node omits the body for HEAD, but middleware that wraps end() may not.
  const sent = request.method === 'HEAD' ? undefined : typeof body === 'string' ? besideHeaders(body, response) : body
  if (!closesUnread(response, request)) response.end(sent)
  else {
    if (sent === undefined) response.flushHeaders()
    else response.write(sent)
    endAfterReading(response, request)
  }
  return undefined
}

const BEYOND_ASCII = /[\x80-\xff]/ // Node refuses others

/** Node writes the headers in the encoding of a body that is a string: those of HEAD, of bytes, and of a stored response would be other bytes. */
function besideHeaders(body: string, response: ServerResponse): string | Uint8Array {
  const values = Object.values(response.getHeaders()).flat()
  return values.some((value) => BEYOND_ASCII.test(String(value))) ? Buffer.from(body) : body
}

async function stream(
  response: ServerResponse,
  body: Readable | (() => Readable),
  request: IncomingMessage,
): Promise<void> {
  if (request.method === 'HEAD') {
    discard(body)
    return void response.end()
  }
  let early: EarlyEnd | undefined
  try {
    const length = lengthOf(response.getHeader('content-length'))
    const source = body instanceof Readable ? body : body()
    refuseUnreadable(source) // nothing was sent yet
    early = watchEnd(source, response)
    if (source instanceof DeferredStream && !(await openDeferred(source, response))) return
    if (length === undefined) resetIfBroken(response)
    if (source instanceof EventStream) response.flushHeaders() // its first event may come late
    const end = !closesUnread(response, request)
    writeOnlyBytes(source, response)
    if (length === undefined) await pipeline(source, response, { end })
    else await pipeline(source, exactLength(length), response, { end })
    if (!end) endAfterReading(response, request)
  } catch (error) {
    discard(body)
    // The error may have any code: the source may read from another response, which was closed too early.
    if (early?.error) throw early.error
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE')) throw error
    // Otherwise the client has closed the connection, which is not an error of the program.
    if (early?.isBySource) throw destroyedWhileSent(error)
  }
}

function destroyedWhileSent(cause: Error): TypeError {
  return new TypeError(
    'The stream of the response was destroyed before its end, so the connection was closed. Destroy it with an error that says why, or not at all.',
    { cause },
  )
}

/** A chunk of a stream: bytes, or a string in UTF-8. */
type Chunk = Uint8Array | string

/**
 * Passes the chunks on and compares their length with `content-length`.
 *
 * @throws when there are more bytes, before it passes on the first excess one, or fewer. The connection must not be used again then.
 */
function exactLength(length: number): (chunks: AsyncIterable<Chunk>) => AsyncGenerator<Chunk> {
  return async function* (chunks) {
    let count = 0
    for await (const chunk of chunks) {
      count += Buffer.byteLength(chunk)
      if (count > length) throw mismatch('more', length)
      yield chunk
    }
    if (count < length) throw mismatch(`only ${count}`, length)
  }
}

function mismatch(given: string, length: number): Error {
  return new Error(`The content-length is ${length} bytes, but the stream has ${given}: the connection was closed.`)
}

/** The value of a `content-length` header; undefined without one. @throws TypeError for a value that is not a whole number. */
function lengthOf(header: unknown): number | undefined {
  if (header === undefined) return undefined
  const text = String(header)
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new TypeError(`The header content-length is ${JSON.stringify(text)}. Write the number of bytes.`)
}

/**
 * Destroys the stream, with an error that says why, instead of writing a chunk that is neither bytes nor a string. Node throws for one where nothing can
 * catch it, which ends the process. Only a stream of objects has such chunks. Replaces a method of this one response.
 */
function writeOnlyBytes(source: Readable, response: ServerResponse): void {
  if (!source.readableObjectMode) return
  const { write } = response
  response.write = function (this: ServerResponse, ...args: unknown[]) {
    const [chunk] = args
    if (typeof chunk === 'string' || types.isUint8Array(chunk)) return Reflect.apply(write, this, args)
    source.destroy(notBytes(chunk))
    return false
  }
}

function notBytes(chunk: unknown): TypeError {
  return new TypeError(
    `The stream of the response has ${shown(chunk)} as a chunk, so the connection was closed. A stream is sent as bytes: let it give strings or a Uint8Array, such as \`\${JSON.stringify(row)}\\n\`.`,
  )
}
