import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import type { ErrorStatus } from '../../core/error-status.js'
import { fitting } from '../../core/option-checks.js'
import { StartupError } from '../../core/startup-error.js'
import {
  answerRequests,
  checkWhileOpen,
  type Connections,
  type RequestAcceptor,
  watchConnections,
  WRITE_CHECKS,
} from './connections.js'
import { type ErrorBodies, type Problem, toProblem } from '../problem.js'
import { writeReply } from '../output/outgoing-response.js'

/** The address of a listening app. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface ServerLimits {
  /** In milliseconds, as in the `timeouts` of the app. */
  readonly headers: number
  readonly request: number
  readonly write: number
  readonly keepAlive: number
  /** The largest body of a request, in bytes. */
  readonly body: number
  /** The most connections that are open at a time. */
  readonly connections: number | undefined
}

const portNumber = fitting(
  (port) => Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535,
  'a whole number from 0 to 65535, such as 8000, or 0 for any free port',
)

const hostName = fitting(
  (host) => typeof host === 'string' && host !== '',
  `'127.0.0.1', or '0.0.0.0' to accept connections from other machines`,
)

/** @throws BootError for a port or a host that Node would take for something else: a text is a pipe, no host is every one. */
export function requireAddress(port: unknown, host: unknown): void {
  portNumber(port, 'listen(): the port')
  hostName(host, 'listen(): the host')
}

/** A listening server. */
export interface OpenServer {
  readonly address: Address
  /** Accepts no more connections; with a grace, after those that wait to be accepted. */
  stopListening(grace: number): Promise<void>
  /** Called after that. Closes idle connections after `grace` milliseconds, the others when `finished` has resolved. */
  close(finished: Promise<void>, grace: number): Promise<void>
}

interface ListenOptions {
  readonly port: number
  readonly host: string
  /** Receives a line when connections are refused. */
  readonly warn: (line: string) => void
  /** The bodies of the responses to what never becomes a request. */
  readonly bodies: ErrorBodies
  /** Called in a worker of a cluster when it is to disconnect: closes the app, and with it the server. */
  readonly disconnect: () => void
}

/**
 * Listens on the address.
 *
 * @throws an Error that states what to do, when it cannot listen there.
 */
export async function openServer(
  listener: RequestAcceptor,
  limits: ServerLimits,
  { port, host, warn, bodies, disconnect }: ListenOptions,
): Promise<OpenServer> {
  const { server, connections } = newServer(listener, limits, bodies)
  refuseConnections(server, limits.connections, warn)
  if (cluster.isWorker) {
    refuseDisconnected()
    closeByApp(server, disconnect)
  }
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw cannotListen(error, port, host)
  }
  return {
    address: addressOf(server, host),
    stopListening: (grace) => stopListening(server, grace),
    close: (finished, grace) => closeConnections(server, connections, grace, finished),
  }
}

// The primary process listens for its workers: without it, listen() would never end.
function refuseDisconnected(): void {
  if (!process.connected) throw new StartupError('The primary process has disconnected this worker before it listened.')
}

/**
 * worker.disconnect() calls close() of each server. That of Node waits until clients close the connections that they keep alive, and then leaves the
 * databases of the app open, so that the worker never ends.
 */
function closeByApp(server: Server, disconnect: () => void): void {
  const close = server.close.bind(server)
  server.close = (done) => {
    if (!server.listening) return close(done) // the app closes already
    if (done) server.once('close', done)
    disconnect()
    return server
  }
}

/** Turns of the event loop after which the server stops listening although clients still connect. */
const MAX_TURNS = 1000

/** Checks of idle connections within the grace. */
const CHECKS = 10

/**
 * Closes a server that no longer listens, without resetting connections that clients still use: for `grace` milliseconds those that are kept
 * alive stay open, so that the requests on them are answered; then each is closed that has been idle for as long. When `finished` has resolved,
 * those that remain are closed after two graces at the latest.
 */
async function closeConnections(
  server: Server,
  connections: Connections,
  grace: number,
  finished: Promise<void>,
): Promise<void> {
  const closed = once(server, 'close')
  if (grace === 0) server.closeIdleConnections()
  const timer = grace === 0 ? undefined : closeIdle(connections, grace)
  await finished
  const late = new AbortController()
  await Promise.race([closed, wait(2 * grace, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
  clearInterval(timer)
  server.closeAllConnections()
  server.close() // ends Node's own checks of timeouts
  await closed
}

/** Stops listening; the open connections stay open. With a grace, those that wait to be accepted are accepted first. */
async function stopListening(server: Server, grace: number): Promise<void> {
  if (grace > 0) await untilQueueIsEmpty(server)
  if (process.versions['bun'] !== undefined) return stopListeningOnBun(server)
  // The method of http.Server would close idle connections, too.
  NetServer.prototype.close.call(server)
}

interface BunServer {
  closeIdleConnections(): number
}

/** Bun's http.Server is no net.Server. Its close() closes idle connections by a method of an object that it keeps under a symbol. */
function stopListeningOnBun(server: Server): void {
  const kept = Object.getOwnPropertySymbols(server).map((symbol) => Reflect.get(server, symbol))
  const inner = kept.find((part): part is BunServer => typeof part?.closeIdleConnections === 'function')
  if (inner) inner.closeIdleConnections = () => 0
  server.close()
}

// The system resets connections that the server has not accepted. In each turn of the event loop, Node accepts one.
async function untilQueueIsEmpty(server: Server): Promise<void> {
  let accepted = false
  const count = () => (accepted = true)
  server.on('connection', count).on('drop', count)
  await turn() // ends the turn in which this function was called
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    accepted = false
    await turn()
    if (!accepted) break
  }
  server.off('connection', count).off('drop', count)
}

function closeIdle(connections: Connections, grace: number): NodeJS.Timeout {
  const end = performance.now() + grace
  return setInterval(() => {
    const limit = performance.now() < end ? Infinity : grace
    for (const connection of connections.values()) connection.closeIfIdle(limit)
  }, grace / CHECKS)
}

function newServer(
  listener: RequestAcceptor,
  { headers, request, write, keepAlive, body }: ServerLimits,
  bodies: ErrorBodies,
) {
  const headersTimeout = Math.min(headers, request)
  // Node checks timeouts at an interval. With its default of 30 seconds, a limit of 15 seconds could last 45.
  const checkEvery = Math.min(headersTimeout, 5000)
  const server = createServer({
    headersTimeout,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    connectionsCheckingInterval: checkEvery,
    // Overrides the command line option --insecure-http-parser.
    insecureHTTPParser: false,
    requireHostHeader: false, // ambiguous-requests.ts checks it, with a response of this package
  })
  server.maxHeadersCount = 0 // no limit: Node would ignore further headers, ambiguous-requests.ts refuses the request
  const connections = watchConnections(server)
  checkWhileOpen(server, write / WRITE_CHECKS, connections, (connection) => connection.closeIfUnread())
  checkWhileOpen(server, checkEvery, connections, (connection) => connection.closeIfIdle(keepAlive + headersTimeout))
  answerRequests(server, connections, listener, body)
  refuseOthers(server, connections, bodies)
  return { server, connections }
}

/** Responds to what never becomes a request of the app. */
function refuseOthers(server: Server, connections: Connections, bodies: ErrorBodies): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    connections.get(request.socket)?.add(response)
    refuseExpectation(request, response, bodies)
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => refuseTunnel(socket, bodies))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseBytes(error, socket, connections.get(socket)?.last, bodies),
  )
}

function refuseConnections(server: Server, most: number | undefined, warn: (line: string) => void): void {
  if (most === undefined) return
  server.maxConnections = most
  let quietUntil = 0
  // At most one line in a minute: a client that opens many connections must not fill the log.
  server.on('drop', () => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + 60_000
    warn(`${most} connections are open, as many as maxConnections allows: others are closed at once`)
  })
}

function headersOf({ mediaType }: ErrorBodies) {
  return { 'content-type': mediaType, 'x-content-type-options': 'nosniff' }
}

const REFUSALS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}

// Bytes that are not HTTP never become a request: there is no response to write to, only the socket.
function refuseBytes(
  { code }: NodeJS.ErrnoException,
  socket: Socket,
  last: ServerResponse | undefined,
  bodies: ErrorBodies,
): void {
  if (last?.req.complete && !last.writableFinished) return closeAfter(last)
  // Its own response has begun, or an earlier one is still to come: the client would read this as a part of that.
  const isResponding = last !== undefined && !last.req.complete && (last.headersSent || !last.socket)
  if (code === 'ECONNRESET' || !socket.writable || isResponding) {
    socket.destroy()
    return
  }
  const [status, detail] = REFUSALS[code ?? ''] ?? [400, 'The request is not valid HTTP.']
  socket.end(problemMessage({ status, detail }, bodies), () => socket.destroy())
}

// The invalid bytes came after a complete request, which still receives its response.
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

function refuseExpectation(request: IncomingMessage, response: ServerResponse, bodies: ErrorBodies): void {
  const problem = toProblem({ status: 417, detail: 'This server supports no expectation but 100-continue.' })
  const headers = { ...headersOf(bodies), connection: 'close' }
  const reply = { status: problem.status, headers, body: bodyOf(problem, bodies) }
  // If the bytes that follow are not HTTP, 'clientError' is emitted first and responds to that.
  setImmediate(() => request.socket.writable && void writeReply(response, reply, request))
}

// After 'connect' Node no longer handles the errors of the socket.
function refuseTunnel(socket: Socket, bodies: ErrorBodies): void {
  socket.on('error', () => {})
  socket.end(problemMessage({ status: 501, detail: 'This server is not a proxy.' }, bodies), () => socket.destroy())
}

function problemMessage(status: ErrorStatus, bodies: ErrorBodies): string {
  const problem = toProblem(status)
  const body = bodyOf(problem, bodies)
  return [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    ...Object.entries(headersOf(bodies)).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

// The format of the program may throw: these responses have no log.
function bodyOf(problem: Problem, { write }: ErrorBodies): string {
  try {
    return write(problem)
  } catch {
    return ''
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there. End it, or listen on another port; 0 chooses a free one.',
  EACCES: 'this user is not allowed to. Ports below 1024 often require privileges; listen on a higher one.',
  EADDRNOTAVAIL: 'this machine does not have that address.',
  ENOTFOUND: 'that host name has no address.',
}

function cannotListen(cause: unknown, port: number, host: string): Error {
  const { code = '', message } = cause as NodeJS.ErrnoException // listen() fails with system errors only
  return Object.assign(new StartupError(`Cannot listen on ${host}:${port}: ${REASONS[code] ?? message}`, { cause }), {
    code,
  })
}

function addressOf(server: Server, host: string): Address {
  const { port } = server.address() as AddressInfo // a string or null only for pipes, and before it listens
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return { host, port, url: `http://${shown}:${port}` }
}
