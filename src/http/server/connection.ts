import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
    if (response.socket) return
    if (++this.#waiting === MAX_WAITING) this.#stopReading()
    response.once('socket', () => {
      if (this.#waiting-- === MAX_WAITING) this.#socket.off('resume', pause).resume()
    })
  }

  // Node resumes reading as soon as the body of a request is complete.
  #stopReading(): void {
    this.#socket.pause().on('resume', pause)
  }

  /** Forgets the latest response if it has ended. */
  readonly forget = (): void => {
    if (this.last?.writableFinished && this.last.req.complete) this.last = undefined
  }

  /** Closes the connection when its client has read nothing of the waiting response during the last {@link WRITE_CHECKS} checks. */
  closeIfUnread(): void {
    const sent = sentBytes(this.#socket)
    if (this.#socket.writableLength === 0 || sent !== this.#sent) this.#checksWithoutRead = 0
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

function sentBytes(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null } // not in the types; null once it is closed
  const { bytesWritten, writeQueueSize } = handle ?? {}
  if (typeof bytesWritten === 'number' && typeof writeQueueSize === 'number') return bytesWritten - writeQueueSize
  return -socket.writableLength // without the counts of the handle: it changes when a write is complete
}
