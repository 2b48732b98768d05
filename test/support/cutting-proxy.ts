import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const CUTS = ['before the request', 'in the request', 'in the response'] as const

/** Where a test ends what it has started. */
type Ending = Pick<TestContext, 'after'>

/**
 * A proxy that cuts each tenth connection: before its request, in it, or in a response. The others end after some parts of responses, wherever that is, so
 * that there are many.
 *
 * @param url of the server, or what returns it for each connection: undefined where there is none.
 * @param most parts that a connection forwards. Default 8.
 */
export async function cuttingProxy(t: Ending, url: string | (() => string | undefined), most = 8) {
  const urlOf = typeof url === 'string' ? () => url : url
  const cuts = { 'before the request': 0, 'in the request': 0, 'in the response': 0, later: 0 }
  let connections = 0
  const listening = await listen(t, (client) => {
    const number = connections++
    const place = number % 10 === 9 ? CUTS[Math.floor(number / 10) % CUTS.length] : undefined
    const target = urlOf()
    if (place === 'before the request' || target === undefined) {
      cuts['before the request']++
      client.on('error', () => {}).destroy()
      return
    }
    const server = connectTo(target, client)
    const end = (where: keyof typeof cuts) => {
      cuts[where]++
      client.destroy()
    }
    client.on('data', (chunk: Buffer) => {
      if (place !== 'in the request') server.write(chunk)
      else server.write(chunk.subarray(0, anyNumber(chunk.length)), () => end(place))
    })
    let left = place === 'in the response' ? 1 + anyNumber(500) : Infinity
    let parts = 1 + anyNumber(most)
    server.on('data', (chunk: Buffer) => {
      const isLast = chunk.length >= left || --parts < 0
      forward(client, isLast ? chunk.subarray(0, Math.min(left, anyNumber(chunk.length + 1))) : chunk, () => {
        if (isLast) end(place ?? 'later')
      })
      left -= chunk.length
    })
  })
  return { url: listening, cuts }
}

/** A proxy that ends the connection of the first response with this text, of which it forwards what `kept` returns: nothing by default. */
export async function proxyThatLoses(
  t: TestContext,
  url: string,
  text: string,
  kept = (chunk: Buffer) => chunk.subarray(0, 0),
) {
  let connections = 0
  let hasLost = false
  const listening = await listen(t, (client) => {
    connections++
    const server = connectTo(url, client)
    client.pipe(server)
    server.on('data', (chunk: Buffer) => {
      const isLost = !hasLost && String(chunk).includes(text)
      hasLost ||= isLost
      forward(client, isLost ? kept(chunk) : chunk, () => {
        if (isLost) client.destroy()
      })
    })
  })
  return { url: listening, connections: () => connections }
}

/** The URL of a proxy. */
/** A proxy on a free port. @returns its address, with the scheme of HTTP. */
export async function listen(t: Ending, forwardClient: (client: Socket) => void): Promise<string> {
  const proxy = createServer(forwardClient)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => proxy.close())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** A connection to the server that ends together with that of the client. */
export function connectTo(url: string, client: Socket): Socket {
  const { port, hostname } = new URL(url)
  const server = connect(Number(port), hostname)
  client.on('error', () => {}).on('close', () => server.destroy())
  return server.on('error', () => {}).on('close', () => client.destroy())
}

function forward(socket: Socket, chunk: Uint8Array, written: () => void): void {
  if (!socket.destroyed) socket.write(chunk, written)
}

/** From 0, below the limit. */
function anyNumber(limit: number): number {
  return Math.floor(Math.random() * limit)
}
