// The memory that 1,000 idle keep-alive connections cost, each of which has made one request: the app, and node:http by hand.
//   npm run build && node --expose-gc --import tsx --import sequitur/register bench/connections.ts [rounds] [connections] [warm-up]
// Each server is a process of its own. MiB of RSS from /proc, after a collection of garbage, so it runs on Linux only. Bounded: it ends by itself.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Controller, createApp, Get } from 'sequitur'

const [ROUNDS = 3, CONNECTIONS = 1000, WARM_UP = 1] = process.argv.slice(2).map(Number)
/** Connections that are opened at the same time: fewer than a server queues. As many, times the warm-up, have come and gone before. */
const AT_ONCE = 50
const REQUEST = 'GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n'

@Controller('/hello')
class Hello {
  @Get() get() {
    return { hello: 'world' }
  }
}

// As long as the measurement takes, no server closes an idle connection.
const KEEP_ALIVE = 60_000

const servers: Readonly<Record<string, () => Promise<number>>> = {
  async sequitur() {
    const app = createApp({ controllers: [Hello], logger: false, timeouts: { keepAlive: KEEP_ALIVE } })
    return (await app.listen(0)).port
  },
  async 'node:http'() {
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, (_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ hello: 'world' }))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port // a TCP server that listens
  },
}

/** A connection that has made one request. */
async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(REQUEST)
  const [answer] = await once(socket, 'data')
  if (!String(answer).startsWith('HTTP/1.1 200')) throw new Error(String(answer))
  return socket
}

async function open(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const next = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, () => connected(port))
    sockets.push(...(await Promise.all(next)))
  }
  return sockets
}

function rss(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** The RSS of a server before and after. After a warm-up of 40 the code is compiled, which is no cost of the connections. */
async function measure(name: string): Promise<readonly [number, number]> {
  const child = fork(new URL(import.meta.url), ['--serve', name])
  try {
    const [port] = (await once(child, 'message')) as [number] // its first message
    const collected = async () => {
      child.send('collect')
      await once(child, 'message')
      return rss(child.pid as number) // it has sent a message, so it runs
    }
    for (let round = 0; round < WARM_UP; round++) for (const socket of await open(port, AT_ONCE)) socket.destroy()
    const before = await collected()
    const sockets = await open(port, CONNECTIONS)
    const after = await collected()
    for (const socket of sockets) socket.destroy()
    return [before, after]
  } finally {
    child.kill()
  }
}

const served = process.argv[2] === '--serve' ? servers[process.argv[3] ?? ''] : undefined
if (served) {
  process.on('message', () => {
    // Twice: the first collection may only finish one that is under way.
    setTimeout(() => (globalThis.gc?.(), globalThis.gc?.(), process.send?.('collected')), 500)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(await served())
} else
  for (let round = 0; round < ROUNDS; round++)
    for (const name of Object.keys(servers)) {
      const [before, after] = await measure(name)
      console.log(
        `${name.padEnd(10)} ${before.toFixed(1)} MiB, with ${CONNECTIONS} idle connections ${after.toFixed(1)}: ${(after - before).toFixed(1)} more`,
      )
    }
