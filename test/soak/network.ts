import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network between the app and its database that can be cut, and that can keep what is sent for a while. */
export class Network {
  readonly #sockets = new Set<Socket>()
  readonly #server
  #isFrozen = false

  constructor(target: URL, defaultPort: number) {
    this.#server = createServer((client) => {
      const upstream = connect(Number(target.port || defaultPort), target.hostname)
      this.#join(client, upstream)
      this.#join(upstream, client)
    })
  }

  /** The URL of the target, through this network. */
  async through(target: URL): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const { port } = this.#server.address() as AddressInfo // it listens on TCP
    return Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.on('data', (chunk) => to.write(chunk))
    from.on('error', () => {}) // its 'close' follows
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
    if (this.#isFrozen) from.pause()
  }

  /** Delivers nothing until it is thawed, as a stopped process does; closed connections are noticed then. */
  freeze(): void {
    this.#isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  thaw(): void {
    this.#isFrozen = false
    for (const socket of this.#sockets) socket.resume()
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}
