// Waits for seconds: the time limits of connections.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { beforeEach, test, type TestContext } from 'node:test'
import { type AppOptions, Controller, Field, file, Get, Post, Request } from 'sequitur'
import { api } from '../support/api.js'
import { connection } from '../support/connection.js'
import { gate, until } from '../support/waiting.js'

/** More than the kernel takes for a client that does not read. */
const LARGE = 48 * 2 ** 20
const large = Buffer.alloc(LARGE, 'x')
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** The server's side of the latest request of the test, and the stream of the latest answer. */
let serverSide: Socket | undefined
let source: Readable | undefined
beforeEach(() => (serverSide = source = undefined))

function endless(): Readable {
  return (source = new Readable({
    read() {
      this.push(large.subarray(0, 65_536))
    },
  }))
}

@Controller()
class Answers {
  constructor(request: Request) {
    serverSide = request.raw.socket
  }
  @Get('/text') text() {
    return 'x'.repeat(LARGE)
  }
  @Get('/bytes', { produces: '*/*' }) bytes() {
    return file(large)
  }
  @Get('/stream', { produces: '*/*' }) stream() {
    return file(endless())
  }
  @Get('/number') number(n: number) {
    return n
  }
}

const pushing = (request: { url: string; socket: Socket }, response: ServerResponse, next: () => void) => {
  if (request.url !== '/pushing') return next()
  serverSide = request.socket
  // As programs that push events without waiting for 'drain'.
  const timer = setInterval(() => response.write(large.subarray(0, 2 ** 20)), 10)
  response.once('close', () => clearInterval(timer))
}

function open(t: TestContext, url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  return socket.on('error', () => {})
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

const limits = (timeouts: NonNullable<AppOptions['timeouts']>) => ({ timeouts, docs: false })

for (const path of ['/text', '/bytes', '/stream', '/pushing']) {
  test(`a client that never reads ${path} loses its connection`, async (t) => {
    const { url, log } = await api(t, [Answers], { ...limits({ write: 200 }), middleware: [pushing] })
    open(t, url).pause().write(get(path))
    await until('the server has closed', () => serverSide?.destroyed === true)
    if (path === '/stream') await until('the source is destroyed', () => source?.destroyed === true)
    assert.deepEqual(log, [])
  })
}

test('a client that never reads loses its connection also where the handle of a socket counts nothing', async (t) => {
  const uncounted = ({ socket }: { socket: object }, _response: unknown, next: () => void) => {
    const handle: object = Reflect.get(socket, '_handle')
    for (const name of ['bytesWritten', 'writeQueueSize']) Object.defineProperty(handle, name, { value: undefined })
    next()
  }
  const { url } = await api(t, [Answers], { ...limits({ write: 200 }), middleware: [uncounted] })
  open(t, url).pause().write(get('/bytes'))
  await until('the server has closed', () => serverSide?.destroyed === true)
})

test('a client that reads slowly but steadily gets everything', async (t) => {
  const { url } = await api(t, [Answers], limits({ write: 200 }))
  const client = open(t, url)
  let [received, step] = [0, 0]
  client.on('data', (chunk: Buffer) => {
    received += chunk.length
    if ((step += chunk.length) < 2 ** 20) return
    step = 0
    client.pause()
    setTimeout(() => client.resume(), 20)
  })
  client.write('GET /bytes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await closed(client)
  assert.ok(received > LARGE, `${received} bytes`)
})

test('a stream that has nothing to send for a while is not cut off', async (t) => {
  @Controller()
  class Quiet {
    @Get('/', { produces: '*/*' }) get() {
      async function* events() {
        yield 'one '
        await new Promise((resolve) => setTimeout(resolve, 500))
        yield 'two'
      }
      return file(Readable.from(events()))
    }
  }
  const { fetch } = await api(t, [Quiet], limits({ write: 50 }))
  assert.equal(await (await fetch('/')).text(), 'one two')
})

test('a handler that takes longer than a client may take to read is not cut off', async (t) => {
  @Controller()
  class Slow {
    @Get('/') async get() {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return 'late'
    }
  }
  const { fetch } = await api(t, [Slow], limits({ write: 50 }))
  assert.equal(await (await fetch('/')).json(), 'late')
})

test('a client that sends many requests and reads no answer holds the answers of a few', async (t) => {
  let made = 0
  @Controller()
  class Megabytes {
    @Get('/') get(request: Request) {
      serverSide = request.raw.socket
      made++
      return 'x'.repeat(2 ** 20)
    }
  }
  const { url, log } = await api(t, [Megabytes], limits({ write: 200 }))
  open(t, url).pause().write(get('/').repeat(5000))
  await until('the server has closed', () => serverSide?.destroyed === true)
  assert.ok(made < 100, `${made} answers were made`)
  assert.deepEqual(log, [])
})

/** One request that waits until the gate is opened. */
function waiting() {
  const [entered, exit] = [gate(), gate()]
  @Controller('/wait')
  class Waiting {
    @Get() async wait(request: Request) {
      serverSide = request.raw.socket
      entered.open()
      await exit.opened
      return 'waited'
    }
  }
  return { Waiting, entered, exit }
}

test('while a request runs, those behind it on the connection wait, and no more of them are read than a few', async (t) => {
  const { Waiting, entered, exit } = waiting()
  let begun = 0
  const counting = (request: { url: string }, _response: unknown, next: () => void) => {
    if (request.url !== '/wait') begun++
    next()
  }
  const { url } = await api(t, [Waiting, Answers], { middleware: [counting] })
  const client = open(t, url)
  client.write(get('/wait') + get('/number?n=1').repeat(500_000))
  await entered.opened
  let read = -1
  const isQuiet = () => read === (read = serverSide?.bytesRead ?? NaN)
  await until('the server reads no more', isQuiet, 300)
  assert.ok(read < 2 ** 20, `${read} bytes were read`)
  assert.equal(begun, 0)
  client.destroy()
  exit.open()
})

test('requests that waited behind another are all answered, in their order', async (t) => {
  const { Waiting, entered, exit } = waiting()
  const { url } = await api(t, [Waiting, Answers])
  const { send, closed } = connection(t, url)
  const numbers = Array.from({ length: 3000 }, (_, n) => n)
  const last = 'GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  send(get('/wait') + numbers.map((n) => get(`/number?n=${n}`)).join('') + last)
  await entered.opened
  exit.open()
  const answered = [...(await closed).matchAll(/\r\n\r\n(\d+)HTTP/g)].map(([, n]) => Number(n))
  assert.deepEqual(answered, numbers)
})

test('what comes behind a request of which the answer ends the connection never begins', async (t) => {
  let begun = 0
  @Controller()
  class Counting {
    @Post('/') post() {
      return ++begun
    }
  }
  const { url } = await api(t, [Counting])
  const { send, closed } = connection(t, url)
  const post = (more = '') => `POST / HTTP/1.1\nHost: a\n${more}Content-Length: 0\n\n`
  send(post() + post('Connection: close\n') + post() + post())
  assert.equal((await closed).match(/HTTP\/1\.1 201/g)?.length, 2)
  assert.equal(begun, 2)
})

test('beyond maxConnections a connection is closed without a byte, and the log has one line of it', async (t) => {
  const { url, log } = await api(t, [Answers], { maxConnections: 2 })
  const clients = [connection(t, url), connection(t, url)]
  for (const { send, received } of clients) {
    send(get('/number?n=1'))
    await received(/\r\n\r\n1$/)
  }
  for (let extra = 0; extra < 3; extra++) assert.equal(await connection(t, url).closed.catch(() => ''), '')
  assert.deepEqual(log, ['2 connections are open, as many as maxConnections allows: others are closed at once'])
  clients[0]?.destroy()
  await until('another one is let in', async () => {
    const { send, received } = connection(t, url)
    send(get('/number?n=2'))
    return received(/\r\n\r\n2$/).then(
      () => true,
      () => false,
    )
  })
})

test('a connection on which nothing comes is answered with 408 and closed', async (t) => {
  const { url } = await api(t, [Answers], limits({ headers: 50 }))
  assert.match(await connection(t, url).closed, /^HTTP\/1\.1 408 /)
})

for (const bytes of ['\r\n', '\n']) {
  test(`a client that keeps an idle connection open by ${JSON.stringify(bytes)} loses it`, async (t) => {
    const { url, log } = await api(t, [Answers], limits({ keepAlive: 600, headers: 600 }))
    const client = open(t, url)
    const begin = performance.now() // before the server begins to count
    client.write(get('/number?n=1'))
    await once(client, 'data')
    const timer = setInterval(() => client.write(bytes), 50)
    t.after(() => clearInterval(timer))
    await until('the connection is closed', () => serverSide?.destroyed === true)
    const after = performance.now() - begin
    assert.ok(after >= 1200, `closed after ${after} ms`)
    assert.deepEqual(log, [])
  })
}

test('a client that begins its next request just before an idle connection ends is answered', async (t) => {
  const { url } = await api(t, [Answers], limits({ keepAlive: 1600, headers: 1600, request: 10_000 }))
  const { send, received } = connection(t, url)
  send(get('/number?n=1'))
  await received(/\r\n\r\n1$/)
  for (const part of ['\r\n', 'GET /number?n=2 HTTP/1.1\r\n', 'Host: a\r\n\r\n']) {
    await new Promise((resolve) => setTimeout(resolve, 800))
    send(part)
  }
  await received(/\r\n\r\n2$/)
})

for (const [sentence, header] of [
  ['that ends the connection', 'Connection: close\r\n'],
  ['that keeps the connection', ''],
] as const) {
  test(`a client that goes on sending after an answer ${sentence} loses it when the time for a request is up`, async (t) => {
    const { url, log } = await api(t, [Answers], limits({ headers: 600, request: 600 }))
    const client = open(t, url)
    client.write(`POST /nothing HTTP/1.1\r\nHost: a\r\n${header}Transfer-Encoding: chunked\r\n\r\n`)
    const timer = setInterval(() => client.write('1\r\nx\r\n'), 5)
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await closed(client)
    clearInterval(timer)
    assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1)
    assert.match(text, /^HTTP\/1\.1 404 /)
    assert.deepEqual(log, [])
  })
}

test('a client that requests a tunnel and resets the connection ends nothing else', async (t) => {
  const { url, fetch } = await api(t, [Answers])
  for (let attempt = 0; attempt < 20; attempt++) {
    const client = open(t, url)
    await once(client, 'connect')
    client.write('CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n')
    client.resetAndDestroy()
  }
  assert.equal(await (await fetch('/number?n=1')).json(), 1)
})

// From two listeners of an event, Node makes an array that V8 may place in the old space, where it keeps its request until a full collection.
test('the response of a request without middleware has one listener of each event', async (t) => {
  class Input {
    @Field() n!: number
  }
  @Controller()
  class Listeners {
    @Post('/listeners') async count(request: Request, input: Input) {
      const { _httpMessage: response } = request.raw.socket as unknown as { readonly _httpMessage: ServerResponse }
      return { n: input.n, close: response.listenerCount('close'), finish: response.listenerCount('finish') }
    }
  }
  const { url } = await api(t, [Listeners])
  const response = await fetch(`${url}/listeners`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"n":1}',
  })
  assert.deepEqual(await response.json(), { n: 1, close: 1, finish: 1 })
})
