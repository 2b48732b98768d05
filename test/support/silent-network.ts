import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A proxy to a server that can stop forwarding: packets are lost, and neither side is notified. */
export interface SilentNetwork {
  /** The URL of the server, through this proxy. */
  readonly url: string
  /** Stops forwarding on the open connections; new connections work. `losesClose`: that one side closes a connection is not forwarded, either. */
  silence(options?: { readonly losesClose?: boolean; readonly losesNew?: boolean }): void
  /** Holds back what the server sends on the open connections, until the returned function is called. */
  hold(): () => void
  /** New connections work again, after a silence with `losesNew`, in which nothing was forwarded on them. */
  recover(): void
}

export async function silentNetwork(t: TestContext, url: string): Promise<SilentNetwork> {
  const server = new URL(url)
  const pairs = new Set<readonly [Socket, Socket]>()
  const silent = new Set<readonly [Socket, Socket]>()
  let losesConnections = false
  const network = createServer((client) => {
    if (losesConnections) {
      client.on('error', () => {}).resume()
      t.after(() => client.destroy())
      return
    }
    const upstream = connect(Number(server.port || 3306), server.hostname)
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.pipe(upstream)
    upstream.pipe(client)
    for (const socket of pair) {
      socket.on('error', () => {}) // its 'close' event follows, and closes the other side
      socket.on('close', () => {
        if (silent.has(pair)) return
        pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    network.close()
  })
  const { port } = network.address() as { port: number }
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    hold() {
      const held = [...pairs]
      for (const [, upstream] of held) upstream.pause()
      return () => held.forEach(([, upstream]) => upstream.resume())
    },
    recover: () => void (losesConnections = false),
    silence({ losesClose = false, losesNew = false } = {}) {
      losesConnections = losesNew
      for (const pair of pairs) {
        const [client, upstream] = pair
        if (losesClose) silent.add(pair)
        client.unpipe(upstream).resume()
        upstream.unpipe(client).resume()
      }
    },
  }
}
