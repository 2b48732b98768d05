import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { exactLength, lengthOf } from './exact-length.js'

/** The response that is written to the client. */
export interface OutgoingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array | Readable | (() => Readable)
}

/** Destroys the stream of a response that is not written. */
export function discard(body: OutgoingResponse['body']): void {
  if (body instanceof Readable) body.on('error', () => {}).destroy()
}

/** Milliseconds without a byte of the request's body after which the client has probably stopped sending it. */
const QUIET = 500

/**
 * Writes a response to the client; no other function does. Resolves when all is passed to the network, or the connection is closed.
 *
 * @throws for a header that HTTP does not allow, before anything is written, and for a stream that fails.
 */
export async function writeReply(
  response: ServerResponse,
  reply: OutgoingResponse,
  request: IncomingMessage,
): Promise<void> {
  if (response.headersSent && !response.writableEnded) response.destroy() // half a response must not look complete
  if (response.headersSent || response.destroyed) return discard(reply.body)
  const { status, headers, body } = reply
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  if (body instanceof Readable || typeof body === 'function') return stream(response, body, request)
  // A wrong length, such as one copied from the response of another server, would make the client read into the next response.
  if (status === 204 || status === 304) response.removeHeader('content-length')
  else response.setHeader('content-length', body === undefined ? 0 : Buffer.byteLength(body))
  // Node omits the body for HEAD, but middleware that wraps end() may not.
  const sent = request.method === 'HEAD' ? undefined : body
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.once('finish', resolve)
    if (sent !== undefined && closesUnread(response, request)) endAfterReading(response, sent, request)
    else response.end(sent)
  })
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
  try {
    const length = lengthOf(response.getHeader('content-length'))
    const source = body instanceof Readable ? body : body()
    if (source.errored) throw source.errored // the stream failed before it was read: nothing was sent yet
    await (length === undefined ? pipeline(source, response) : pipeline(source, exactLength(length), response))
  } catch (error) {
    discard(body)
    // The client has closed the connection, which is not an error of the program.
    const isClosedByClient = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!isClosedByClient) throw error
  }
}

function closesUnread(response: ServerResponse, request: IncomingMessage): boolean {
  const closes = !response.shouldKeepAlive || response.getHeader('connection') === 'close'
  return closes && request.complete === false
}

// Closing a connection with unread bytes resets it, and the client may lose the response. So the rest of the request is read and ignored first.
function endAfterReading(response: ServerResponse, body: string | Uint8Array, request: IncomingMessage): void {
  const end = () => {
    clearTimeout(quiet)
    response.end()
  }
  const quiet = setTimeout(end, QUIET)
  request.once('close', end).once('end', end)
  request.on('data', () => quiet.refresh())
  response.write(body)
}
