import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Controller, createApp, Events, Field, Get, newLifespan, withSession } from 'sequitur'
import { Event, Feed, FeedEvent, feedsOf } from 'sequitur/feeds'
import { until } from '../../test/support/waiting.js'

/*
 * The memory of an app with followers that receive little, next to a node:http server with as many streams (`--plain`), and with followers that never read while 10 kB are
 * published again and again (`--slow`): KiB for each follower, and its growth over time.
 *
 * node --expose-gc --conditions=sequitur-source --import tsx --import sequitur/register bench/feeds/followers.ts <url> [followers] [seconds] [--slow | --plain | --program=<file>]
 */

@Event('bench.entered')
class Entered {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
}

const TOPICS = 100
const TEXT = 'x'.repeat(10_000)
/** Milliseconds that a stream lasts: longer than a measurement. */
const LONG = 24 * 3_600_000
/** Connections that are opened at a time. */
const AT_ONCE = 50

@Controller('/events')
class BenchController {
  @Get('/:topic', Events.of(Entered))
  follow(feed: Feed, topic: string) {
    return feed.follow([Entered], { topics: [topic], maxAge: LONG }) // these clients do not connect again
  }
}

const args = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const [url = '', followers = '10000', seconds = '60'] = args
const isSlow = process.argv.includes('--slow')
const isPlain = process.argv.includes('--plain')
/** Another server that sends the same messages. */
const program = process.argv.find((argument) => argument.startsWith('--program='))?.slice('--program='.length)

/** The server: it sends its memory each second, after a collection. */
async function serve(send: (message: object) => void): Promise<void> {
  const address = isPlain ? await listenPlain() : await listenApp()
  send({ url: address })
  setInterval(() => {
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    send({ rss, heapUsed, sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length })
  }, 1_000)
}

async function listenApp(): Promise<string> {
  const database = newLifespan(url, { sync: true, poolSize: 5 })
  const app = createApp({
    controllers: [BenchController],
    models: [FeedEvent],
    lifespan: database,
    logger: false,
  })
  const { url: address } = await app.listen(0)
  process.on('message', ({ number, text }: Entered) => {
    void withSession(database, async (session) =>
      feedsOf(session).publish(Entered, { number, text }, { topic: topicOf(number) }),
    )
  })
  return address
}

async function listenPlain(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' })
    response.write('id: 0\n\n')
    const beat = setInterval(() => response.write(':\n\n'), 15_000)
    response.on('close', () => clearInterval(beat))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // of TCP
}

const topicOf = (number: number) => `topic-${number % TOPICS}`

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  /** That are open. */
  readonly sockets: number
}

async function measure(): Promise<void> {
  const child = fork(program ?? fileURLToPath(import.meta.url), process.argv.slice(2), {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  let address = ''
  let memory: Memory | undefined
  child.on('message', (message: { readonly url: string } | Memory) => {
    if ('url' in message) address = message.url
    else memory = message
  })
  await until('the server listens', () => address !== '', 20, 60_000)
  const settled = async () => {
    await wait(5_000)
    return memory ?? { rss: 0, heapUsed: 0, sockets: 0 }
  }
  const before = await settled()
  const sockets = await openAll(address, Number(followers))
  const after = await settled()
  const kib = (bytes: number) => Number((bytes / 1_024 / Number(followers)).toFixed(1))
  console.log(
    JSON.stringify({
      followers: Number(followers),
      kibOfEach: kib(after.rss - before.rss),
      heapKibOfEach: kib(after.heapUsed - before.heapUsed),
    }),
  )
  let number = 0
  let most = 0
  for (let second = 1; second <= Number(seconds); second++) {
    if (!isPlain && program === undefined)
      for (let n = 0; n < (isSlow ? TOPICS : 10); n++) child.send({ number: number++, text: isSlow ? TEXT : 'x' })
    await wait(1_000)
    const { rss, heapUsed, sockets: open } = memory ?? after
    most = Math.max(most, rss)
    if (second % 10 === 0 || second === Number(seconds)) {
      console.log(
        JSON.stringify({ second, events: number, open, rssMib: mib(rss), heapMib: mib(heapUsed), mostMib: mib(most) }),
      )
    }
  }
  for (const socket of sockets) socket.destroy()
  child.kill('SIGKILL')
}

const mib = (bytes: number) => Math.round(bytes / 2 ** 20)

async function openAll(address: string, count: number): Promise<readonly Socket[]> {
  const { port } = new URL(address)
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, (_, n) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {}) // it is counted as closed
      const path = `/events/${topicOf(sockets.length + n)}`
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n`)
      return socket
    })
    await Promise.all(some.map((socket) => once(socket, 'data')))
    // One that never reads learns of no end; its own memory stays small.
    for (const socket of some) if (isSlow) socket.pause()
    sockets.push(...some)
  }
  return sockets
}

if (process.send) await serve((message) => process.send?.(message))
else await measure()
