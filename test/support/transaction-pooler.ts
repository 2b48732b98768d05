import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A proxy that assigns other server connections to clients between transactions, as PgBouncer does. */
export interface TransactionPooler {
  /** The same URL, through the pooler. */
  readonly url: string
  /** Assigns each client the server connection of the next one. Call it while no transaction is open. */
  rotate(): void
}

interface Client {
  readonly socket: Socket
  upstream: Socket
}

/**
 * A pooler in which each client keeps its server connection until `rotate()` is called.
 *
 * @param options.hidesProcess whether it announces other process numbers than the server, as poolers do that pass cancel requests on.
 */
export async function transactionPooler(
  t: TestContext,
  url: string,
  { hidesProcess = false } = {},
): Promise<TransactionPooler> {
  const server = new URL(url)
  const clients = new Set<Client>()
  const pool = createServer((socket) => {
    const client: Client = { socket, upstream: connect(Number(server.port), server.hostname) }
    const { upstream: first } = client
    clients.add(client)
    socket.on('data', (bytes) => void client.upstream.write(bytes))
    first.on('data', (bytes) => {
      if (hidesProcess) renumberProcess(bytes)
      ;[...clients].find(({ upstream }) => upstream === first)?.socket.write(bytes)
    })
    for (const end of [socket, first]) end.on('error', () => {}) // its 'close' event follows, and closes the other side
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
    rotate() {
      const [first, ...rest] = [...clients].map(({ upstream }) => upstream)
      for (const client of clients) client.upstream = rest.shift() ?? (first as Socket)
    },
  }
}

/** The type and the length of PostgreSQL's message BackendKeyData; the number of the process follows. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12])

function renumberProcess(bytes: Buffer): void {
  const index = bytes.indexOf(KEY_DATA)
  if (index >= 0) bytes.writeInt32BE(bytes.readInt32BE(index + KEY_DATA.length) + 1, index + KEY_DATA.length)
}
