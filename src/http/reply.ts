import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Headers } from './errors.js'

/** What will be written to the client, in one piece. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body?: string | Uint8Array
}

/** Milliseconds without a byte after which a client is taken to have stopped sending what nobody reads. */
const QUIET = 500

/**
 * The only place that writes to a client. Resolves when the reply was handed to the network, or the client is gone.
 *
 * @throws for a header that HTTP does not allow; nothing was written then.
 */
export function writeReply(response: ServerResponse, reply: Reply, request: IncomingMessage): Promise<void> {
  if (response.headersSent && !response.writableEnded) response.destroy() // half an answer must not look like a whole one
  if (response.headersSent || response.destroyed) return Promise.resolve()
  const { status, headers, body } = reply
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  if (body !== undefined) response.setHeader('content-length', Buffer.byteLength(body))
  // Node leaves the body out for HEAD by itself, but middleware that wraps end() may not.
  const sent = request.method === 'HEAD' ? undefined : body
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.once('finish', resolve)
    if (sent !== undefined && closesUnread(response, request)) endAfterReading(response, sent, request)
    else response.end(sent)
  })
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
