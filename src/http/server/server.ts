import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { ErrorStatus } from '../../core/error-status.js'
import { Connection, LOOKS } from './connection.js'
import { faultOf } from './framing.js'
import { toProblem } from '../problem.js'
import { writeReply } from '../output/outgoing-response.js'

/** Where an app listens. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface ServerLimits {
  /** Milliseconds for the headers, for the whole request, for a client to take some of its answer, and for a connection that idles. */
  readonly headers: number
  readonly request: number
  readonly write: number
  readonly keepAlive: number
  /** In bytes. */
  readonly body: number
  /** The most that are open at a time. */
  readonly connections: number | undefined
}

/** A server that listens. */
export interface OpenServer {
  readonly address: Address
  /** Takes no more connections; once `finished` has resolved, cuts those that are left. */
  close(finished: Promise<void>): Promise<void>
}

/**
 * @param warn told that connections are refused.
 * @throws when the address cannot be had, in words that say what to do.
 */
export async function openServer(
  listener: RequestListener,
  limits: ServerLimits,
  { port, host, warn }: { readonly port: number; readonly host: string; readonly warn: (line: string) => void },
): Promise<OpenServer> {
  const server = newServer(listener, limits)
  refuseConnections(server, limits.connections, warn)
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw cannotListen(error, port, host)
  }
  return { address: addressOf(server, host), close: (finished) => close(server, finished) }
}

function newServer(listener: RequestListener, { headers, request, write, keepAlive, body }: ServerLimits): Server {
  const headersTimeout = Math.min(headers, request)
  // Node looks for late clients only every so often: at its 30 seconds, a limit of 15 could last 45.
  const checkEvery = Math.min(headersTimeout, 5000)
  const server = createServer({
    headersTimeout,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    connectionsCheckingInterval: checkEvery,
    // No flag of the command line makes it read what others read in another way.
    insecureHTTPParser: false,
    requireHostHeader: false, // framing.ts does, with an answer in order
  })
  server.maxHeadersCount = 0 // Node leaves the later ones out; framing.ts refuses them
  const connections = watchConnections(server)
  checkWhileOpen(server, write / LOOKS, connections, (connection) => connection.look())
  checkWhileOpen(server, checkEvery, connections, (connection) => connection.endIdle(keepAlive + headersTimeout))
  const answer: RequestListener = (request, response) => {
    connections.get(request.socket)?.add(response)
    const fault = faultOf(request)
    if (fault) refuseRequest(fault, request, response)
    else listener(request, response)
  }
  server.on('request', answer)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Whoever asks first is spared sending a body that would be refused.
    if (!faultOf(request) && Number(request.headers['content-length'] ?? 0) <= body) response.writeContinue()
    answer(request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    connections.get(request.socket)?.add(response)
    refuseRequest(UNKNOWN_EXPECTATION, request, response)
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => refuseTunnel(socket))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    refuse(error, socket, connections.get(socket)?.last),
  )
  return server
}

/** The connections that are open, by their socket. */
function watchConnections(server: Server): ReadonlyMap<Socket, Connection> {
  const connections = new Map<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket))
    socket.once('close', () => connections.delete(socket))
  })
  return connections
}

function checkWhileOpen(
  server: Server,
  milliseconds: number,
  connections: ReadonlyMap<Socket, Connection>,
  check: (connection: Connection) => void,
): void {
  const timer = setInterval(() => {
    for (const connection of connections.values()) check(connection)
  }, milliseconds)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

function refuseConnections(server: Server, most: number | undefined, warn: (line: string) => void): void {
  if (most === undefined) return
  server.maxConnections = most
  let quietUntil = 0
  // Whoever can open connections must not be able to fill the log.
  server.on('drop', () => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + 60_000
    warn(`${most} connections are open, as many as maxConnections allows: others are closed at once`)
  })
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
function refuse({ code }: NodeJS.ErrnoException, socket: Socket, last: ServerResponse | undefined): void {
  if (last?.req.complete && !last.writableFinished) return answerLast(last)
  // Its own answer has begun, or an earlier one is still to come: what is written now would be taken for a part of it.
  const answered = last !== undefined && !last.req.complete && (last.headersSent || !last.socket)
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

const UNKNOWN_EXPECTATION: ErrorStatus = { status: 417, detail: 'This server knows no expectation but 100-continue.' }

/** Answers what can be read, but not with certainty in one way; the connection ends with it. */
function refuseRequest({ status, detail }: ErrorStatus, request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'content-type': 'application/problem+json', connection: 'close' }
  const reply = { status, headers, body: JSON.stringify(toProblem({ status, detail })) }
  // Where the rest of what just came cannot be read as HTTP either, that is answered first.
  setImmediate(() => request.socket.writable && void writeReply(response, reply, request))
}

// Node hands the bare socket over, and no longer listens to its errors.
function refuseTunnel(socket: Socket): void {
  socket.on('error', () => {})
  socket.end(problemMessage({ status: 501, detail: 'This server is no proxy.' }), () => socket.destroy())
}

function problemMessage(explanation: ErrorStatus): string {
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
