import type { ServerResponse } from 'node:http'
import type { Headers } from './errors.js'

/** What will be written to the client, in one piece. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body?: string | Uint8Array
}

/** The only place that writes to a client. Resolves when the reply was handed to the network, or the client is gone. */
export function writeReply(response: ServerResponse, reply: Reply, method: string): Promise<void> {
  if (response.headersSent || response.destroyed) return Promise.resolve()
  const { status, headers, body } = reply
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  if (body !== undefined) response.setHeader('content-length', Buffer.byteLength(body))
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.once('finish', resolve)
    // Node leaves the body out for HEAD by itself, but middleware that wraps end() may not.
    response.end(method === 'HEAD' ? undefined : body)
  })
}
