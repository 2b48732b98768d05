import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { TestContext } from 'node:test'
import { type AppOptions, createApp } from 'sequitur'
import { type TestApp, testApp } from 'sequitur/testing'
import type { Constructor } from '../../src/di/token.js'

export interface LoggedApp extends TestApp {
  /** What was logged as an error or a warning. */
  readonly log: string[]
}

/** Starts an app of these controllers, closed at the end of the test. */
export async function api(
  t: TestContext,
  controllers: readonly Constructor[],
  options: Partial<AppOptions> = {},
): Promise<LoggedApp> {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = await testApp({ controllers, logger: { info() {}, warn: write, error: write }, ...options })
  t.after(app.close)
  return { ...app, log }
}

/** The message of the boot error of these controllers. */
export function bootMessage(controllers: readonly Constructor[], options: Partial<AppOptions> = {}): string {
  try {
    createApp({ controllers, logger: false, ...options })
  } catch (error) {
    if (error instanceof Error && error.name.endsWith('Error')) return `${error.name}: ${error.message}`
    throw error
  }
  return 'it booted'
}

/** Opens a server that is not the app's, with Node's own limits, and resolves to its URL. */
export async function foreign(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A connection that speaks HTTP by hand. */
export interface Connection {
  /** Sends a text; lines may end in a bare \n. */
  send(text: string): void
  /** Sends a text and reads nothing before all of it is sent. Rejects when the other side stops taking it. */
  sendAll(text: string): Promise<void>
  /** Waits until what was received matches, and returns all of it. Rejects when the connection closes before. */
  received(pattern: RegExp): Promise<string>
  /** Everything that was received, once the other side has closed. */
  readonly closed: Promise<string>
  destroy(): void
}

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

/** Sends one request by hand and resolves to everything that comes back until the server closes. */
export function exchange(t: TestContext, url: string, message: string): Promise<string> {
  const { closed, send } = connection(t, url)
  send(message)
  return closed
}

/** A promise and the way to resolve it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}
