// How long 500 new connections wait while 32 clients are busy: the app, Fastify and node:http, each in a process of its own.
//   npm run build && node --import tsx --import sequitur/register bench/burst.ts [rounds]
// It measures what is built. Rounds are interleaved, and the clients share the machine with the server: read the ratios.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import { Controller, createApp, Get } from 'sequitur'

const CLIENTS = 32
const NEW = 500
/** Milliseconds of CPU of one request. */
const WORK = 1

function work(): { readonly done: true } {
  const end = performance.now() + WORK
  while (performance.now() < end);
  return { done: true }
}

@Controller('/')
class Busy {
  @Get() get() {
    return work()
  }
}

const servers: Readonly<Record<string, () => Promise<number>>> = {
  async sequitur() {
    return (await createApp({ controllers: [Busy], logger: false }).listen(0)).port
  },
  async fastify() {
    const app = fastify()
    app.get('/', () => work())
    await app.listen({ port: 0 })
    return (app.server.address() as AddressInfo).port // a TCP server that listens
  },
  async 'node:http'() {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(work()))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port // a TCP server that listens
  },
}

/** One burst: the waiting times of the new connections in milliseconds, sorted, and the requests of the busy clients meanwhile. */
async function burst(port: number): Promise<{ readonly waits: number[]; readonly served: number }> {
  const load = { served: 0, isOver: false }
  const client = async (agent: Agent) => {
    while (!load.isOver) {
      const [response] = await once(get({ port, agent }), 'response')
      await once(response.resume(), 'end')
      load.served++
    }
    agent.destroy()
  }
  const clients = Array.from({ length: CLIENTS }, () => client(new Agent({ keepAlive: true, maxSockets: 1 })))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const before = load.served
  const waits = await Promise.all(
    Array.from({ length: NEW }, async () => {
      const start = performance.now()
      const socket = connect(port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      await once(socket.resume(), 'close')
      return performance.now() - start
    }),
  )
  const served = load.served - before
  load.isOver = true
  await Promise.all(clients)
  return { waits: waits.toSorted((a, b) => a - b), served }
}

async function compare(rounds: number): Promise<void> {
  const measured = new Map(Object.keys(servers).map((name) => [name, { median: [0], last: [0], served: [0] }]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, { median, last, served }] of measured) {
      const child = fork(new URL(import.meta.url), [name])
      const [port] = await once(child, 'message')
      const result = await burst(Number(port))
      child.kill()
      await once(child, 'exit')
      median[round] = result.waits[NEW / 2] ?? Number.NaN
      last[round] = result.waits.at(-1) ?? Number.NaN
      served[round] = result.served
    }
  }
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  for (const [name, { median, last, served }] of measured) {
    console.log(
      `${name.padEnd(10)} half answered after ${middle(median).toFixed(0).padStart(6)} ms, all after ${middle(last).toFixed(0).padStart(6)} ms; meanwhile ${middle(served)} requests of busy clients`,
    )
  }
}

const [argument = '3'] = process.argv.slice(2)
const listen = servers[argument]
if (listen) process.send?.(await listen())
else await compare(Number(argument))
