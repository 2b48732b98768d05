import { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { faultOf } from '../ambiguous-requests.js'
import { continueWhenRead } from '../input/body.js'

/** The connections that are open, by their socket. */
export type Connections = ReadonlyMap<Socket, Connection>

export function watchConnections(server: Server): Connections {
  const connections = new Map<Socket, Connection>()
  // One function for all of them: thousands of connections may be idle.
  function remove(this: Socket): void {
    connections.delete(this)
  }
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket))
    socket.on('close', remove)
  })
  return connections
}

export function checkWhileOpen(
  server: Server,
  milliseconds: number,
  connections: Connections,
  check: (connection: Connection) => void,
): void {
  const timer = setInterval(() => {
    for (const connection of connections.values()) check(connection)
  }, milliseconds)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

/** Answers requests. */
export interface RequestAcceptor {
  /** @param closed called when the response is closed. */
  accept(request: IncomingMessage, response: ServerResponse, isOwn: true, closed?: () => void): void
}

/** Gives the requests of a server to the listener; while clients connect, each in a turn of the event loop of its own. */
export function answerRequests(
  server: Server,
  connections: Connections,
  listener: RequestAcceptor,
  bodyLimit: number,
): void {
  const turns = new RequestTurns()
  server.on('connection', () => turns.accepted())
  const respond: RequestListener = (request, response) => {
    const connection = connections.get(request.socket)
    connection?.add(response)
    if (turns.isTaken)
      turns.wait(() => request.socket.destroyed || listener.accept(request, response, true, connection?.forget))
    else if (!request.socket.destroyed) listener.accept(request, response, true, connection?.forget)
  }
  server.on('request', respond)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Without '100 Continue' the client does not send a body that would be refused. A form, and the body of a route with its own limit, may be larger.
    if (!faultOf(request)) {
      const isSmall = Number(request.headers['content-length'] ?? 0) <= bodyLimit
      if (isSmall) response.writeContinue()
      else continueWhenRead(request, () => response.headersSent || response.writeContinue())
    }
    respond(request, response)
  })
}

/** Pipelined requests of one connection that wait for earlier responses. When there are as many, reading from it stops. */
const MAX_WAITING = 16

/** Checks within the time in which a client must read some more of its response. */
export const WRITE_CHECKS = 4

/** Node's handle of a socket, which counts what the kernel has taken: `socket.bytesWritten` counts a write as soon as it begins. */
interface Handle {
  readonly bytesWritten?: unknown
  readonly writeQueueSize?: unknown
}

/** Limits of one connection: pipelined requests, time without reading the response, and time until the next request. */
export class Connection {
  /** The response to the latest request, until that is read and answered: an idle connection keeps neither. */
  last: ServerResponse | undefined
  readonly #socket: Socket
  /** The response that has the socket. */
  #current: ServerResponse | undefined
  #waiting = 0
  #sent = 0
  #checksWithoutRead = 0
  #requests = 0
  #requestsAtLastCheck = 0
  #idleSince = performance.now()

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Counts a request until its response has the socket: Node gives it to one response at a time. */
  add(response: ServerResponse): void {
    this.last = response
    this.#requests++
    if (response.socket) {
      this.#current = response
      return
    }
    if (++this.#waiting === MAX_WAITING) this.#stopReading()
    response.once('socket', () => {
      this.#current = response
      if (this.#waiting-- === MAX_WAITING) this.#socket.off('resume', pause).resume()
    })
  }

  // Node resumes reading as soon as the body of a request is complete.
  #stopReading(): void {
    this.#socket.pause().on('resume', pause)
  }

  /** Forgets the latest response if it has ended. */
  readonly forget = (): void => {
    if (this.last?.writableFinished && this.last.req.complete) this.last = this.#current = undefined
  }

  /** Closes the connection when its client has read nothing of the waiting response during the last {@link WRITE_CHECKS} checks. */
  closeIfUnread(): void {
    // The socket of Bun holds nothing itself: its responses do, and each counts its own bytes.
    const waiting = Math.max(this.#socket.writableLength, this.#current?.writableLength ?? 0)
    // It falls on Bun while nothing is read: what waits has the frames of chunks, `bytesWritten` has not.
    const sent = sentBytes(this.#socket, waiting)
    if (waiting === 0 || sent > this.#sent) this.#checksWithoutRead = 0
    else if (++this.#checksWithoutRead > WRITE_CHECKS) this.#socket.destroy()
    this.#sent = sent
  }

  /**
   * Closes the connection when no request has come within `limit` milliseconds after it was opened, or after its last response. Node's own
   * timer restarts with every byte, also of the empty lines that HTTP allows before a request.
   */
  closeIfIdle(limit: number): void {
    this.forget()
    const now = performance.now()
    const isIdle = this.last === undefined && this.#requests === this.#requestsAtLastCheck
    if (!isIdle) this.#idleSince = now
    else if (now - this.#idleSince > limit) this.#socket.destroy()
    this.#requestsAtLastCheck = this.#requests
  }
}

function pause(this: Socket): void {
  this.pause()
}

function sentBytes(socket: Socket, waiting: number): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null } // not in the types; null once it is closed
  const { bytesWritten, writeQueueSize } = handle ?? {}
  if (typeof bytesWritten === 'number' && typeof writeQueueSize === 'number') return bytesWritten - writeQueueSize
  return (socket.bytesWritten || 0) - waiting // without the counts of the handle
}

/**
 * Starts requests so that new connections are accepted between them. Node accepts one connection in each turn of the event loop, and would run
 * all requests that have arrived in the same turn: connections would wait as long as all of these take.
 */
class RequestTurns {
  #waiting: (() => unknown)[] = []
  #accepted = false
  /** Whether clients are connecting: a request has to wait. */
  isTaken = false

  /** Called for each connection that is accepted. */
  accepted(): void {
    this.#accepted = true
    this.#schedule()
  }

  /** Starts a request as the only one of its turn. */
  wait(request: () => unknown): void {
    // In its own asynchronous context: a tool that observes the process may have made one for the request.
    this.#waiting.push(AsyncResource.bind(request))
  }

  #schedule(): void {
    if (this.isTaken) return
    this.isTaken = true
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    const ready = this.#waiting.splice(0, this.#accepted ? 1 : Infinity)
    this.isTaken = false
    if (this.#accepted) this.#schedule()
    this.#accepted = false
    for (const start of ready) start()
  }
}
