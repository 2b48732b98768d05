import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Explanation, toProblem } from './problem.js'

/** Where an app listens. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface ServerLimits {
  /** Milliseconds for the headers, for the whole request, and for a connection that idles. */
  readonly headers: number
  readonly request: number
  readonly keepAlive: number
  /** In bytes. */
  readonly body: number
}

/** A server that listens. */
export interface OpenServer {
  readonly address: Address
  /** Takes no more connections; once `finished` has resolved, cuts those that are left. */
  close(finished: Promise<void>): Promise<void>
}

/** @throws when the address cannot be had, in words that say what to do. */
export async function openServer(
  listener: RequestListener,
  limits: ServerLimits,
  port: number,
  host: string,
): Promise<OpenServer> {
  const server = newServer(listener, limits)
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw cannotListen(error, port, host)
  }
  return { address: addressOf(server, host), close: (finished) => close(server, finished) }
}

function newServer(listener: RequestListener, { headers, request, keepAlive, body }: ServerLimits): Server {
  const headersTimeout = Math.min(headers, request)
  const server = createServer({
    headersTimeout,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    // Node looks for late clients only every so often: at its 30 seconds, a limit of 15 could last 45.
    connectionsCheckingInterval: Math.min(headersTimeout, 5000),
  })
  const answering = new WeakMap<Socket, ServerResponse>()
  const answer: RequestListener = (request, response) => {
    answering.set(request.socket, response)
    listener(request, response)
  }
  server.on('request', answer)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Whoever asks first is spared sending a body that would be refused.
    if (Number(request.headers['content-length'] ?? 0) <= body) response.writeContinue()
    answer(request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    refuse(error, socket, answering.get(socket)),
  )
  return server
}

async function close(server: Server, finished: Promise<void>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  await finished
  server.closeAllConnections()
  await closed
}

const REFUSALS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}

// What cannot be read as HTTP never becomes a request: there is no response to write to, only the socket.
function refuse({ code }: NodeJS.ErrnoException, socket: Socket, response: ServerResponse | undefined): void {
  if (response?.req.complete && !response.writableFinished) return answerLast(response)
  const answered = response !== undefined && !response.req.complete && response.headersSent
  if (code === 'ECONNRESET' || !socket.writable || answered) {
    socket.destroy()
    return
  }
  const [status, detail] = REFUSALS[code ?? ''] ?? [400, 'The request is not valid HTTP.']
  socket.end(problemMessage({ status, detail }), () => socket.destroy())
}

// The fault is in what came after a whole request: that one still gets its answer.
function answerLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

function problemMessage(explanation: Explanation): string {
  const problem = toProblem(explanation)
  const body = JSON.stringify(problem)
  return [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there. End it, or listen on another port; 0 takes a free one.',
  EACCES: 'this user may not. Ports below 1024 often need privileges; listen on a higher one.',
  EADDRNOTAVAIL: 'this machine does not have that address.',
  ENOTFOUND: 'that host name has no address.',
}

function cannotListen(cause: unknown, port: number, host: string): Error {
  const { code = '', message } = cause as NodeJS.ErrnoException // all that listen() fails with
  return Object.assign(new Error(`Cannot listen on ${host}:${port}: ${REASONS[code] ?? message}`, { cause }), { code })
}

function addressOf(server: Server, host: string): Address {
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return { host, port, url: `http://${shown}:${port}` }
}
