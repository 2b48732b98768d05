import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** What ends a host: the context of a test, or the hooks of a file. */
interface End {
  after(work: () => Promise<void>): void
}

/** A host of its own for a server: a proxy that can be switched off, and on again, at the same port. */
export class SwitchedHost {
  readonly #sockets = new Set<Socket>()
  #isSilent = false
  #port = 0
  readonly #server

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      this.#add(client)
      if (this.#isSilent) return
      const upstream = this.#add(connect(Number(target.port || 3306), target.hostname))
      client.pipe(upstream)
      upstream.pipe(client)
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => client.destroy())
    })
  }

  static async start(t: End, target: string): Promise<SwitchedHost> {
    const host = new SwitchedHost(new URL(target))
    await host.switchOn()
    t.after(() => host.switchOff())
    return host
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  #add(socket: Socket): Socket {
    this.#sockets.add(socket)
    socket.on('error', () => {}) // its 'close' event follows
    socket.on('close', () => this.#sockets.delete(socket))
    return socket
  }

  /** Connections are refused, and the open ones are closed. */
  async switchOff(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Connections are accepted, and nothing is answered, as by a frozen server. */
  freeze(): void {
    this.#isSilent = true
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  async switchOn(): Promise<void> {
    this.#isSilent = false
    if (this.#server.listening) return
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (address !== null && typeof address === 'object') this.#port = address.port
  }
}
