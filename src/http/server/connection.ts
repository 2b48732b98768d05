import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait for the answers to earlier ones; beyond them nothing more is read from it. */
const MOST_WAITING = 16

/** Looks within the time after which a client is taken to read no more. */
export const LOOKS = 4

/** Where Node keeps what the kernel has taken: `socket.bytesWritten` counts a write as soon as it begins. */
interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/** What one connection may hold: few waiting requests, and an answer only as long as the client takes it. */
export class Connection {
  /** The answer to the latest request. */
  last: ServerResponse | undefined
  readonly #socket: Socket
  #waiting = 0
  #sent = 0
  #looks = 0
  #lastChecked: ServerResponse | undefined
  #idleSince = 0

  constructor(socket: Socket) {
    this.#socket = socket
    // Node reads on by itself as soon as a request is read to its end.
    socket.on('resume', () => this.#waiting >= MOST_WAITING && socket.pause())
  }

  /** Counts a request, until its turn has come: Node gives the socket to one answer at a time. */
  add(response: ServerResponse): void {
    this.last = response
    if (response.socket) return
    if (++this.#waiting === MOST_WAITING) this.#socket.pause()
    response.once('socket', () => {
      if (this.#waiting-- === MOST_WAITING) this.#socket.resume()
    })
  }

  /** Ends the connection when its client has taken nothing of what is to be written since {@link LOOKS} looks ago. */
  look(): void {
    const sent = sentBytes(this.#socket)
    if (this.#socket.writableLength === 0 || sent !== this.#sent) this.#looks = 0
    else if (++this.#looks > LOOKS) this.#socket.destroy()
    this.#sent = sent
  }

  /**
   * Ends the connection when `limit` milliseconds after its last answer no other request has come. Node's own limit starts again with every
   * byte, also with those of empty lines, which may stand before a request.
   */
  endIdle(limit: number): void {
    const { last } = this
    const now = performance.now()
    const isIdle = last?.writableFinished === true && last.req.complete && last === this.#lastChecked
    if (!isIdle) this.#idleSince = now
    else if (now - this.#idleSince > limit) this.#socket.destroy()
    this.#lastChecked = last
  }
}

function sentBytes(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null } // not in the types; null once it is closed
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
