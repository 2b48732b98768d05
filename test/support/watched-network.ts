import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/**
 * A proxy to a server. `receive` gets what clients send, and forwards it or closes a connection; when one side closes, so does the other.
 *
 * @returns the URL of the server, through this proxy.
 */
export async function watchedNetwork(
  t: TestContext,
  url: string,
  receive: (bytes: Buffer, client: Socket, upstream: Socket) => void,
): Promise<string> {
  const server = new URL(url)
  const network = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => {}) // its 'close' event follows
      socket.on('close', () => other.destroy())
    }
    client.on('data', (bytes) => receive(bytes, client, upstream))
    upstream.pipe(client)
  })
  await once(network.listen(0, '127.0.0.1'), 'listening')
  t.after(() => network.close())
  const { port } = network.address() as AddressInfo // of TCP
  return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href
}
