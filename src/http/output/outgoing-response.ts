import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { exactLength, lengthOf } from './exact-length.js'

/** What will be written to the client, in one piece or from a stream. */
export interface OutgoingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array | Readable | (() => Readable)
}

/** Lets go of a reply that will not be written. */
export function discard(body: OutgoingResponse['body']): void {
  if (body instanceof Readable) body.on('error', () => {}).destroy()
}

/** Milliseconds without a byte after which a client is taken to have stopped sending what nobody reads. */
const QUIET = 500

/**
 * The only place that writes to a client. Resolves when the reply was handed to the network, or the client is gone.
 *
 * @throws for a header that HTTP does not allow; nothing was written then.
 */
export async function writeReply(
  response: ServerResponse,
  reply: OutgoingResponse,
  request: IncomingMessage,
): Promise<void> {
  if (response.headersSent && !response.writableEnded) response.destroy() // half an answer must not look like a whole one
  if (response.headersSent || response.destroyed) return discard(reply.body)
  const { status, headers, body } = reply
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  if (body instanceof Readable || typeof body === 'function') return stream(response, body, request)
  // The handler's own length, for example copied from another server's response, would make a client wait for more bytes.
  if (status === 204 || status === 304) response.removeHeader('content-length')
  else response.setHeader('content-length', body === undefined ? 0 : Buffer.byteLength(body))
  // Node leaves the body out for HEAD by itself, but middleware that wraps end() may not.
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
    if (source.errored) throw source.errored // after COMMIT; nothing was sent yet
    await (length === undefined ? pipeline(source, response) : pipeline(source, exactLength(length), response))
  } catch (error) {
    discard(body)
    // Of a client that went away nobody needs to know.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

function closesUnread(response: ServerResponse, request: IncomingMessage): boolean {
  const closes = !response.shouldKeepAlive || response.getHeader('connection') === 'close'
  return closes && request.complete === false
}

// A connection closed on bytes that nobody read is reset, and takes the reply with it: first the rest of the request is thrown away.
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
