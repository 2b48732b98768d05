import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Where a connection is cut. */
const CUTS = ['before COMMIT', 'before its answer', 'before COMMIT arrives'] as const
type Cut = (typeof CUTS)[number]

export interface CuttingProxy {
  readonly url: string
  readonly cuts: Readonly<Record<Cut, number>>
  /** Cuts nothing more. */
  rest(): void
  close(): void
}

/**
 * A proxy to a database that cuts one of so many connections at COMMIT: before the database has it; after that, before the client has the answer; or at once
 * for the client, while COMMIT reaches the database later.
 */
export async function cuttingAtCommit(url: string, oneOf: number): Promise<CuttingProxy> {
  const address = new URL(url)
  const cuts = { 'before COMMIT': 0, 'before its answer': 0, 'before COMMIT arrives': 0 }
  const sockets = new Set<Socket>()
  let isResting = false
  const proxy = createServer((client) => {
    const server = connect(Number(address.port), address.hostname)
    let isCut = false
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {}) // its 'close' event follows
      socket.on('close', () => {
        sockets.delete(socket)
        if (!isCut) other.destroy()
      })
    }
    server.on('data', (bytes: Buffer) => {
      if (!client.destroyed) client.write(bytes)
    })
    client.on('data', (bytes: Buffer) => {
      const isHit = !isResting && bytes.includes('COMMIT') && randomInt(oneOf) === 0
      if (!isHit) return void server.write(bytes)
      const cut = CUTS[randomInt(CUTS.length)] ?? CUTS[0]
      cuts[cut]++
      isCut = true
      switch (cut) {
        case 'before COMMIT':
          server.destroy()
          client.destroy()
          break
        case 'before its answer':
          server.write(bytes, () => client.destroy())
          void endSoon(server, 100)
          break
        case 'before COMMIT arrives':
          client.destroy()
          void wait(randomInt(400)).then(() => server.write(bytes, () => void endSoon(server, 100)))
      }
      return undefined
    })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo // of TCP
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    cuts,
    rest: () => void (isResting = true),
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function endSoon(socket: Socket, milliseconds: number): Promise<void> {
  await wait(milliseconds)
  socket.destroy()
}
