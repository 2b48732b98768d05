import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'

/** When a client is stopped: its message was not sent, was sent, or was answered, and it does not know that. */
export const MOMENTS = ['unsent', 'sent', 'answered'] as const
export type Moment = (typeof MOMENTS)[number]

export interface Stop {
  /** The number of the message, from 1, of those of all connections since the proxy was told. */
  readonly message: number
  readonly moment: Moment
  /** Stops the client; undefined to cut its connections. */
  readonly stop?: (() => void) | undefined
}

/** A proxy in front of a server that stops its client at a message. */
export interface StoppingProxy {
  readonly url: string
  /** Counts messages from 1 again. @param stop undefined to count them only. */
  next(stop: Stop | undefined): void
  /** How many messages there were. */
  readonly count: number
  /** Whether the client was stopped. */
  readonly hasStopped: boolean
}

export async function stoppingProxy(t: Pick<TestContext, 'after'>, url: string): Promise<StoppingProxy> {
  const target = new URL(url)
  const address = {
    port: Number(target.port || (target.protocol.startsWith('postgres') ? 5432 : 3306)),
    host: target.hostname,
  }
  let stop: Stop | undefined
  let count = 0
  let hasStopped = false
  const proxy = createServer((client) => {
    const server = connect(address)
    let isLast = false
    const end = () => {
      hasStopped = true
      stop?.stop?.()
      client.destroy()
      server.destroy()
    }
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const)
      socket
        .setNoDelay()
        .on('error', () => {})
        .on('close', () => other.destroy())
    client.on('data', (chunk: Buffer) => {
      const isIt = ++count === stop?.message
      if (isIt && stop?.moment === 'unsent') return end()
      isLast ||= isIt
      server.write(chunk, () => {
        if (isIt && stop?.moment === 'sent') end()
      })
    })
    server.on('data', (chunk: Buffer) => (isLast ? end() : client.write(chunk)))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.after(() => proxy.close())
  const { port } = proxy.address() as AddressInfo // of TCP
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    next(given) {
      stop = given
      count = 0
      hasStopped = false
    },
    get count() {
      return count
    },
    get hasStopped() {
      return hasStopped
    },
  }
}
