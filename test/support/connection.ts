import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { TestContext } from 'node:test'

/*
 * HTTP below the client: messages written byte by byte, and servers that are not apps.
 */

/** Starts a plain Node server beside the app, with Node's default limits, and returns its URL. */
export async function plainServer(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A TCP connection to which a test writes HTTP itself, byte by byte. */
export interface Connection {
  /** Writes a message. Its lines may end in \n, which is sent as \r\n. */
  send(text: string): void
  /** Writes a message, and reads nothing before all of it is written. Rejects when the server closes the connection before. */
  sendAll(text: string): Promise<void>
  /** Waits until the received text matches, and returns all of it. Rejects when the connection closes before. */
  received(pattern: RegExp): Promise<string>
  /** All of the received text, once the server has closed the connection. */
  readonly closed: Promise<string>
  destroy(): void
}

/** Opens a connection to the server of the URL, destroyed at the end of the test. */
export function connection(t: TestContext, url: string): Connection {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  t.after(() => socket.destroy())
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => (text += chunk))
  const closed = new Promise<string>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('end', () => resolve(text))
  })
  closed.catch(() => {})
  const write = (message: string, done?: (error?: Error | null) => void) =>
    void socket.write(message.replaceAll(/\r?\n/g, '\r\n'), 'latin1', done)
  return {
    closed,
    send: (message) => write(message),
    sendAll: async (message) => {
      socket.pause()
      await new Promise<void>((resolve, reject) => write(message, (error) => (error ? reject(error) : resolve())))
      socket.resume()
    },
    destroy: () => void socket.destroy(),
    received: async (pattern) => {
      while (!pattern.test(text)) {
        const more = new Promise<false>((resolve) => socket.once('data', () => resolve(false)))
        const hasClosed = await Promise.race([more, closed.then(() => true)])
        if (hasClosed && !pattern.test(text)) throw new Error(`The connection closed on ${JSON.stringify(text)}`)
      }
      return text
    },
  }
}

/** Writes one request on a new connection, and returns all that the server sends until it closes. */
export function exchange(t: TestContext, url: string, message: string): Promise<string> {
  const { closed, send } = connection(t, url)
  send(message)
  return closed
}
