import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** An address that leads to one server, and later to another, as that of a balancer does. Open connections stay where they are. */
export interface MovableAddress {
  /** The URL of the server, by this address. */
  readonly url: string
  moveTo(url: string): void
}

export async function movableAddress(t: TestContext, url: string): Promise<MovableAddress> {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  const address = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => {}) // 'close' follows
      socket.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    address.close()
  })
  const { port } = address.address() as { port: number }
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    moveTo(other) {
      target = new URL(other)
    },
  }
}
