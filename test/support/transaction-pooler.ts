import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** What stands between clients and a server and hands the server's connections around between transactions, as PgBouncer does. */
export interface TransactionPooler {
  /** The same URL, through the pooler. */
  readonly url: string
  /** Gives each client the server connection of the next one. To be called while no transaction is open. */
  handAround(): void
}

interface Client {
  readonly socket: Socket
  upstream: Socket
}

/** A pooler in which each client keeps its server connection until they are handed around. */
export async function transactionPooler(t: TestContext, url: string): Promise<TransactionPooler> {
  const server = new URL(url)
  const clients = new Set<Client>()
  const pool = createServer((socket) => {
    const client: Client = { socket, upstream: connect(Number(server.port), server.hostname) }
    const { upstream: first } = client
    clients.add(client)
    socket.on('data', (bytes) => void client.upstream.write(bytes))
    first.on('data', (bytes) => void [...clients].find(({ upstream }) => upstream === first)?.socket.write(bytes))
    for (const end of [socket, first]) end.on('error', () => {}) // the other end is closed all the same
    socket.on('close', () => {
      clients.delete(client)
      client.upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => pool.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const { socket } of clients) socket.destroy()
    pool.close()
  })
  const { port } = pool.address() as { port: number }
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    handAround() {
      const [first, ...rest] = [...clients].map(({ upstream }) => upstream)
      for (const client of clients) client.upstream = rest.shift() ?? (first as Socket)
    },
  }
}
