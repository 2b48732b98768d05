import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const CUTS = ['before the request', 'in the request', 'in the response'] as const

/**
 * A proxy that cuts each tenth connection: before its request, in it, or in a response. The others end after some parts of responses, wherever that is, so
 * that there are many.
 */
export async function cuttingProxy(t: TestContext, url: string) {
  const cuts = { 'before the request': 0, 'in the request': 0, 'in the response': 0, later: 0 }
  let connections = 0
  const proxy = createServer((client) => {
    const number = connections++
    const place = number % 10 === 9 ? CUTS[Math.floor(number / 10) % CUTS.length] : undefined
    if (place === 'before the request') {
      cuts[place]++
      client.on('error', () => {}).destroy()
      return
    }
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    const end = (where: keyof typeof cuts) => {
      cuts[where]++
      client.destroy()
    }
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const)
      socket.on('error', () => {}).on('close', () => other.destroy())
    client.on('data', (chunk: Buffer) => {
      if (place !== 'in the request') server.write(chunk)
      else server.write(chunk.subarray(0, anyNumber(chunk.length)), () => end(place))
    })
    let left = place === 'in the response' ? 1 + anyNumber(500) : Infinity
    let parts = 1 + anyNumber(8)
    server.on('data', (chunk: Buffer) => {
      const isLast = chunk.length >= left || --parts < 0
      forward(client, isLast ? chunk.subarray(0, Math.min(left, anyNumber(chunk.length + 1))) : chunk, () => {
        if (isLast) end(place ?? 'later')
      })
      left -= chunk.length
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => proxy.close())
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cuts }
}

function forward(socket: Socket, chunk: Uint8Array, written: () => void): void {
  if (!socket.destroyed) socket.write(chunk, written)
}

/** From 0, below the limit. */
function anyNumber(limit: number): number {
  return Math.floor(Math.random() * limit)
}
