import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  type App,
  type AppOptions,
  Body,
  Controller,
  createApp,
  Get,
  Inject,
  Injectable,
  type Lifespan,
  type Middleware,
  Post,
  provide,
  Request,
  token,
} from 'sequitur'
import { api } from '../support/api.js'
import { connection, exchange, plainServer } from '../support/connection.js'
import { gate } from '../support/waiting.js'

@Controller()
class Hello {
  @Get() hello() {
    return 'hello'
  }
}

function newApp(t: TestContext, options: Partial<AppOptions> = {}): App {
  const app = createApp({ controllers: [Hello], logger: false, ...options })
  t.after(() => app.close())
  return app
}

/** A lifespan that records its starts and stops, and fails on request. */
function recorded(name: string, calls: string[], fails: { start?: Error; stop?: Error } = {}): Lifespan {
  return {
    provisions: [],
    adopt() {},
    async start() {
      calls.push(`start ${name}`)
      if (fails.start) throw fails.start
    },
    async stop() {
      calls.push(`stop ${name}`)
      if (fails.stop) throw fails.stop
    },
    unitOpenerOf: () => undefined,
    findErrorStatus: () => undefined,
  }
}

/** A controller whose requests wait for a gate. */
function waiting() {
  const entered = gate()
  const exit = gate()
  const seen: { signal?: AbortSignal } = {}
  @Controller()
  class Waiting {
    @Get('/wait') async wait(signal: AbortSignal) {
      seen.signal = signal
      entered.open()
      await exit.opened
      return 'done'
    }

    @Get() hello() {
      return 'hello'
    }
  }
  return { Waiting, entered, exit, seen }
}

test('app.inject answers without a socket', async (t) => {
  const { statusCode, headers, body } = await newApp(t).inject({ url: '/', headers: { 'x-request-id': 'a' } })
  assert.deepEqual([statusCode, headers['x-request-id'], body], [200, 'a', '"hello"'])
})

test('app.inject sends a body', async (t) => {
  @Controller()
  class Echo {
    @Post() echo(n: number) {
      return n
    }
  }
  const app = newApp(t, { controllers: [Echo] })
  assert.equal((await app.inject({ method: 'POST', url: '/', query: { n: '3' }, payload: { a: 1 } })).body, '3')
})

test('app.handler answers in another http server, and starts the app', async (t) => {
  const calls: string[] = []
  const app = newApp(t, { lifespan: recorded('db', calls) })
  const url = await plainServer(t, app.handler)
  assert.equal(await (await fetch(url)).json(), 'hello')
  assert.deepEqual(calls, ['start db'])
})

test('a request whose response was closed before app.handler received it is not waited for', async (t) => {
  const log: string[] = []
  const logger = {
    info() {},
    warn: (line: string) => void log.push(line),
    error: (line: string) => void log.push(line),
  }
  const app = newApp(t, { logger, timeouts: { drain: 200 } })
  await app.start()
  const handled = gate()
  const url = await plainServer(t, (request, response) => {
    response.once('close', () => {
      app.handler(request, response)
      handled.open()
    })
    response.destroy()
  })
  await assert.rejects(fetch(url))
  await handled.opened
  await app.close()
  assert.deepEqual(log, [])
})

test('app.start twice starts once', async (t) => {
  const calls: string[] = []
  const app = newApp(t, { lifespan: recorded('db', calls) })
  await Promise.all([app.start(), app.start()])
  await app.start()
  assert.deepEqual(calls, ['start db'])
})

test('lifespans are stopped in reverse order', async (t) => {
  const calls: string[] = []
  const app = newApp(t, { lifespan: [recorded('a', calls), recorded('b', calls)] })
  await app.start()
  await app.close()
  assert.deepEqual(calls, ['start a', 'start b', 'stop b', 'stop a'])
})

test('a lifespan that cannot start stops those before it, and its error is what app.start rejects with', async (t) => {
  const calls: string[] = []
  const away = new Error('away')
  const first = recorded('a', calls, { stop: new Error('stuck') })
  const app = newApp(t, { lifespan: [first, recorded('b', calls, { start: away })] })
  await assert.rejects(app.start(), away)
  assert.deepEqual(calls, ['start a', 'start b', 'stop a'])
})

test('an app that could not start may be started again', async (t) => {
  const fails = { start: new Error('away') }
  const app = newApp(t, { lifespan: recorded('db', [], fails) })
  await assert.rejects(app.start())
  Object.assign(fails, { start: undefined })
  assert.equal((await app.inject('/')).statusCode, 200)
})

test('one lifespan that cannot stop does not keep the others open', async (t) => {
  const calls: string[] = []
  const stuck = new Error('stuck')
  const app = createApp({
    controllers: [Hello],
    logger: false,
    lifespan: [recorded('a', calls), recorded('b', calls, { stop: stuck })],
  })
  t.after(() => app.close().catch(() => {}))
  await app.start()
  await assert.rejects(app.close(), (error: AggregateError) => error.errors[0] === stuck)
  assert.deepEqual(calls.slice(2), ['stop b', 'stop a'])
})

test('a lifespan whose stop throws at once does not keep the others open', async (t) => {
  const calls: string[] = []
  const stuck = new Error('stuck')
  const stop = () => {
    throw stuck
  }
  const lifespan = [recorded('a', calls), { ...recorded('b', calls), stop }]
  const app = createApp({ controllers: [Hello], logger: false, lifespan })
  t.after(() => app.close().catch(() => {}))
  await app.start()
  await assert.rejects(app.close(), (error: AggregateError) => error.errors[0] === stuck)
  assert.deepEqual(calls.slice(2), ['stop a'])
})

test('a lifespan whose stop never ends is named by close(), and the others are stopped', async (t) => {
  const calls: string[] = []
  const entered = gate()
  const stop = () => {
    entered.open()
    return new Promise<never>(() => {})
  }
  const lifespan = [recorded('a', calls), { ...recorded('b', calls), publicName: 'the cache', stop }]
  const app = createApp({ controllers: [Hello], logger: false, lifespan, timeouts: { drain: 0 } })
  await app.start()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const refused = assert.rejects(app.close(), ({ errors }: AggregateError) =>
    String(errors[0]).startsWith('Error: The stop of the cache has not ended in time'),
  )
  await entered.opened
  t.mock.timers.tick(60_000)
  await refused
  assert.deepEqual(calls.slice(2), ['stop a'])
})

test('an app that is closed while a lifespan starts opens nothing more, and closes that one', async (t) => {
  const calls: string[] = []
  const [entered, started] = [gate(), gate()]
  const start = async () => {
    entered.open()
    await started.opened
  }
  const app = newApp(t, { lifespan: [{ ...recorded('a', calls), start }, recorded('b', calls)] })
  const refused = assert.rejects(app.listen(0), { message: 'This app was closed while it started.' })
  await entered.opened
  const closing = app.close()
  started.open()
  await closing
  await refused
  assert.deepEqual(calls, ['stop a'])
})

test('a lifespan that does not start in time does not keep the app open, and is stopped when it has started', async (t) => {
  const calls: string[] = []
  const [entered, started, stopped] = [gate(), gate(), gate()]
  const late: Lifespan = {
    ...recorded('late', calls),
    async start(_log, _report, _warn, signal) {
      entered.open()
      await started.opened
      calls.push(`start late, aborted: ${signal?.aborted}`)
    },
    async stop() {
      calls.push('stop late')
      stopped.open()
    },
  }
  const app = newApp(t, { lifespan: [recorded('a', calls), late], timeouts: { drain: 0 } })
  const refused = assert.rejects(app.start(), { message: 'This app was closed while it started.' })
  await entered.opened
  await app.close()
  await refused
  started.open()
  await stopped.opened
  assert.deepEqual(calls, ['start a', 'stop a', 'start late, aborted: true', 'stop late'])
})

test('app.close waits for what a failed start closes', async (t) => {
  const calls: string[] = []
  const [entered, exit] = [gate(), gate()]
  const stop = async () => {
    entered.open()
    await exit.opened
    calls.push('stop a')
  }
  const away = new Error('away')
  const app = newApp(t, { lifespan: [{ ...recorded('a', calls), stop }, recorded('b', calls, { start: away })] })
  const refused = assert.rejects(app.start(), away)
  await entered.opened
  const closing = app.close().then(() => calls.push('closed'))
  exit.open()
  await Promise.all([closing, refused])
  assert.deepEqual(calls, ['start a', 'start b', 'stop a', 'closed'])
})

test('a request that waits for the start of an app that is closed receives 503, and nothing is logged', async (t) => {
  const entered = gate()
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const start = () => {
    entered.open()
    return new Promise<never>(() => {})
  }
  const logger = { info: write, warn: write, error: write }
  const app = newApp(t, { lifespan: { ...recorded('db', []), start }, logger, timeouts: { drain: 0 } })
  const answer = fetch(await plainServer(t, app.handler))
  await entered.opened
  await app.close()
  const { status, headers } = await answer
  assert.deepEqual([status, headers.get('retry-after'), headers.get('connection'), ...log], [503, '1', 'close'])
})

test('values of the app are disposed when it closes', async (t) => {
  const disposed: string[] = []
  @Injectable({ lifetime: 'application' })
  class Cache {
    [Symbol.dispose]() {
      disposed.push('cache')
    }
  }
  @Controller()
  class Cached {
    @Get() get(cache: Cache) {
      return cache instanceof Cache
    }
  }
  const app = newApp(t, { controllers: [Cached] })
  assert.equal((await app.inject('/')).body, 'true')
  await app.close()
  assert.deepEqual(disposed, ['cache'])
})

test('a value of the app may be made asynchronously, before the first request', async (t) => {
  const name = token<string>('name')
  @Controller()
  class Named {
    readonly #name: string
    constructor(@Inject(name) name: string) {
      this.#name = name
    }
    @Get() get() {
      return this.#name
    }
  }
  const app = newApp(t, { controllers: [Named], providers: [provide(name, { factory: async () => 'robin' })] })
  assert.equal((await app.inject('/')).body, '"robin"')
})

test('app.listen resolves to the address', async (t) => {
  const lines: string[] = []
  const logger = { info: (line: string) => void lines.push(line), warn() {}, error() {} }
  const { host, port, url } = await newApp(t, { logger }).listen(0)
  assert.equal(host, '127.0.0.1')
  assert.equal(url, `http://127.0.0.1:${port}`)
  assert.deepEqual(lines, [`Listening on ${url}, documentation at ${url}/docs`])
})

test('app.listen on a taken port rejects with what to do, and closes what was started', async (t) => {
  const other = createTcpServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const calls: string[] = []
  const app = newApp(t, { lifespan: recorded('db', calls) })
  await assert.rejects(app.listen(port), {
    message: `Cannot listen on 127.0.0.1:${port}: another program listens there. End it, or listen on another port; 0 chooses a free one.`,
    code: 'EADDRINUSE',
  })
  assert.deepEqual(calls, ['start db', 'stop db'])
})

test('app.listen on a taken port rejects with that, also if what was started cannot be closed', async (t) => {
  const other = createTcpServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const log: string[] = []
  const logger = { info() {}, warn() {}, error: (line: string) => void log.push(line) }
  const app = createApp({ controllers: [Hello], lifespan: recorded('db', [], { stop: new Error('stuck') }), logger })
  await assert.rejects(app.listen(port), { code: 'EADDRINUSE' })
  assert.match(log.join('\n'), /^After the failed start: AggregateError: Not everything could be closed[^]*stuck/)
})

test('a server that opens while the app closes is closed, also if something else cannot be', async () => {
  const app = createApp({
    controllers: [Hello],
    logger: false,
    lifespan: recorded('db', [], { stop: new Error('stuck') }),
  })
  await app.start()
  const listening = app.listen(0).catch((error: Error) => error.message)
  await assert.rejects(app.close(), /Not everything could be closed/)
  const [, url = ''] = /listened on (http:.*)\.$/.exec(String(await listening)) ?? []
  await assert.rejects(fetch(url), ({ cause }: Error) => String(cause).includes('ECONNREFUSED'))
})

test('app.listen on a port that is none rejects', async (t) => {
  await assert.rejects(newApp(t).listen(70_000), /^BootError: listen\(\): the port is 70000\. Write a whole number/)
})

test('app.close twice closes once', async (t) => {
  const calls: string[] = []
  const app = newApp(t, { lifespan: recorded('db', calls) })
  await app.start()
  await Promise.all([app.close(), app.close()])
  await app.close()
  assert.deepEqual(calls, ['start db', 'stop db'])
})

test('app.close before app.start stops nothing', async (t) => {
  const calls: string[] = []
  await newApp(t, { lifespan: recorded('db', calls) }).close()
  assert.deepEqual(calls, [])
})

for (const [sentence, use] of [
  ['started', (app: App) => app.start()],
  ['listened with', (app: App) => app.listen(0)],
] as const) {
  test(`a closed app cannot be ${sentence} again`, async (t) => {
    const calls: string[] = []
    const app = newApp(t, { lifespan: recorded('db', calls) })
    await app.close()
    await assert.rejects(use(app), /This app was closed\. Make a new one/)
    assert.deepEqual(calls, [])
  })
}

test('a closed app answers with 503', async (t) => {
  const app = newApp(t)
  await app.close()
  const { statusCode, headers } = await app.inject('/')
  assert.deepEqual([statusCode, headers['retry-after'], headers.connection], [503, '1', 'close'])
})

test('an app that is closed while it starts answers with 503, and logs nothing', async (t) => {
  const started = gate()
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const lifespan = { ...recorded('db', []), start: () => started.opened }
  const app = newApp(t, { lifespan, logger: { info: write, warn: write, error: write } })
  const starting = assert.rejects(app.start(), { message: 'This app was closed while it started.' })
  const closing = app.close()
  const { statusCode, headers } = await app.inject('/')
  started.open()
  await Promise.all([starting, closing])
  assert.deepEqual([statusCode, headers['retry-after'], headers.connection, ...log], [503, '1', 'close'])
})

test('app.close while the app is starting to listen leaves no server behind', async (t) => {
  const app = newApp(t)
  await app.start()
  const listening = assert.rejects(app.listen(0), /was closed before it listened/)
  await app.close()
  await listening
})

test('app.close lets a running request be answered', async (t) => {
  const { Waiting, entered, exit } = waiting()
  const { fetch, close } = await api(t, [Waiting])
  const answer = fetch('/wait')
  await entered.opened
  const closing = close()
  exit.open()
  assert.equal(await (await answer).json(), 'done')
  await closing
})

test('while it drains, an open connection receives 503 and is closed', async (t) => {
  const { Waiting, entered, exit } = waiting()
  const { url, close } = await api(t, [Waiting])
  const open = connection(t, url)
  open.send('GET / HTTP/1.1\nHost: a\n\n')
  await open.received(/"hello"$/)
  open.send('GET / HTTP/1.1\nHo') // its request has begun, so it is not idle
  const running = exchange(t, url, 'GET /wait HTTP/1.1\nHost: a\n\n')
  await entered.opened
  const closing = close()
  open.send('st: a\n\n')
  const refused = (await open.closed).slice((await open.received(/"hello"/)).indexOf('"hello"'))
  assert.match(refused, /HTTP\/1\.1 503 [^]*\r\nconnection: close\r\nretry-after: 1\r\n/i)
  exit.open()
  assert.match(await running, /\r\nconnection: close\r\n[^]*"done"$/i)
  await closing
})

test('once it drains, the port refuses', async (t) => {
  const { Waiting, entered, exit } = waiting()
  const { url, close, fetch } = await api(t, [Waiting])
  const answer = fetch('/wait')
  await entered.opened
  const closing = close()
  await new Promise((resolve) => setImmediate(resolve))
  await assert.rejects(connection(t, url).closed, { code: 'ECONNREFUSED' })
  exit.open()
  await answer
  await closing
})

test('idle connections do not keep the app from closing', async (t) => {
  const { url, close } = await api(t, [Hello])
  const used = connection(t, url)
  used.send('GET / HTTP/1.1\nHost: a\n\n')
  await used.received(/"hello"$/)
  await close()
  assert.match(await used.closed, /"hello"$/)
})

test('a request that outlasts the drain is answered with 503, and the log has it', async (t) => {
  const { Waiting, entered, exit, seen } = waiting()
  const { fetch, close, log } = await api(t, [Waiting], { timeouts: { drain: 20 } })
  const answer = fetch('/wait')
  await entered.opened
  await close()
  assert.equal((await answer).status, 503)
  assert.equal(seen.signal?.reason.message, 'The server is shutting down.')
  assert.equal(log[0], '1 request(s) still ran after 20 ms and were aborted')
  exit.open()
})

test('a stream of middleware that outlasts the drain is cut off', async (t) => {
  const stream: Middleware = (_request, response) => void response.write('half')
  const { fetch, close } = await api(t, [Hello], { middleware: [stream], timeouts: { drain: 20 } })
  const response = await fetch('/')
  await close()
  await assert.rejects(response.text())
})

test("a client that closes the connection aborts the handler's signal, and nothing is logged", async (t) => {
  const { Waiting, entered, exit, seen } = waiting()
  const { url, close, log } = await api(t, [Waiting])
  const client = connection(t, url)
  client.send('GET /wait HTTP/1.1\nHost: a\n\n')
  await entered.opened
  const aborted = once(seen.signal as AbortSignal, 'abort')
  client.destroy()
  await aborted
  assert.equal(seen.signal?.reason.name, 'ClientGone')
  exit.open()
  await close()
  assert.deepEqual(log, [])
})

test('what a client sent behind the request that runs never begins once it has gone away, and is not waited for', async (t) => {
  const { Waiting, entered, exit } = waiting()
  let begun = 0
  @Controller()
  class Behind {
    @Get('/behind') behind() {
      begun++
    }
  }
  const { url, close, log } = await api(t, [Waiting, Behind])
  const client = connection(t, url)
  client.send(['/wait', '/behind', '/behind'].map((path) => `GET ${path} HTTP/1.1\nHost: a\n\n`).join(''))
  await entered.opened
  client.destroy()
  exit.open()
  await close()
  assert.deepEqual([begun, log], [0, []])
})

test('a client that goes away while the app still starts leaves nothing running', async (t) => {
  @Controller()
  class Taking {
    @Post() take(@Body({ type: 'any' }) body: unknown) {
      return body
    }
  }
  const started = gate()
  const log: string[] = []
  const logger = {
    info() {},
    warn: (line: string) => void log.push(line),
    error: (line: string) => void log.push(line),
  }
  const lifespan = { ...recorded('db', []), start: () => started.opened }
  const app = newApp(t, { controllers: [Taking], lifespan, logger, timeouts: { drain: 50 } })
  const server = createServer(app.handler).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = connection(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.send('POST / HTTP/1.1\nHost: a\nContent-Type: application/json\nContent-Length: 2\n\n1')
  const [, response] = await once(server, 'request')
  client.destroy()
  await once(response, 'close')
  started.open()
  await app.close()
  assert.deepEqual(log, [])
})

test('a handler that takes too long is answered with 503, and its signal is aborted', async (t) => {
  const { Waiting, exit, seen } = waiting()
  const { fetch, log } = await api(t, [Waiting], { timeouts: { handler: 20 } })
  const response = await fetch('/wait')
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '1')
  assert.match(await response.text(), /"detail":"The answer took too long\."/)
  assert.equal(seen.signal?.reason.name, 'HandlerTimeout')
  assert.match(log.join(), /^GET \/wait .*no result after 20 ms/s)
  exit.open()
})

test('each handler that takes too long is one line of the log, with the request id of its response', async (t) => {
  const exit = gate()
  @Controller()
  class Slow {
    @Get('/one') async one() {
      await exit.opened
    }
    @Get('/two') async two() {
      await exit.opened
    }
  }
  const { fetch, log } = await api(t, [Slow], { timeouts: { handler: 20 } })
  const paths = ['/one', '/two', '/one', '/two', '/two']
  const lines = await Promise.all(
    paths.map(async (path) => {
      const { instance } = (await (await fetch(path)).json()) as { instance: string }
      return `GET ${path} [${instance.replace('urn:request:', '')}] The answer took too long. (no result after 20 ms)`
    }),
  )
  exit.open()
  assert.deepEqual(log.toSorted(), lines.toSorted())
})

test('a request whose time is up before its body has come is not handed to the handler', async (t) => {
  let calls = 0
  @Controller()
  class Counting {
    @Post() post(@Body({ type: 'any' }) body: unknown) {
      calls++
      return body
    }
  }
  const { url } = await api(t, [Counting], { timeouts: { handler: 100 } })
  const { send, received, closed } = connection(t, url)
  send('POST / HTTP/1.1\nHost: a\nConnection: close\nContent-Type: application/json\nContent-Length: 2\n\n1')
  await received(/^HTTP\/1\.1 503 /)
  send('2')
  assert.match(await closed, /^HTTP\/1\.1 503 /)
  assert.equal(calls, 0)
})

for (const head of ['Content-Length: 2\n\n1', 'Transfer-Encoding: chunked\n\n1\n1\n']) {
  test(
    `in another server too, a body that never ends (${head.split(':')[0]}) is a 503 and the end of the connection`,
    { timeout: 20_000 },
    async (t) => {
      @Controller()
      class Taking {
        @Post() take(@Body({ type: 'any' }) body: unknown) {
          return body
        }
      }
      const app = newApp(t, { controllers: [Taking], timeouts: { handler: 20 } })
      const { send, received, closed } = connection(t, await plainServer(t, app.handler))
      send(`POST / HTTP/1.1\nHost: a\nContent-Type: application/json\n${head}`)
      await received(/^HTTP\/1\.1 503 [^]*took too long/)
      assert.match(await closed, /\r\nconnection: close\r\n/i)
    },
  )
}

test('a timeout whose body had come leaves the connection open', async (t) => {
  const { Waiting, exit } = waiting()
  const { url } = await api(t, [Waiting], { timeouts: { handler: 20 } })
  const { send, received } = connection(t, url)
  send('GET /wait HTTP/1.1\nHost: a\n\n')
  assert.doesNotMatch(await received(/took too long/), /\r\nconnection: close\r\n/i)
  send('GET / HTTP/1.1\nHost: a\n\n')
  assert.match(await received(/"hello"$/), /200 OK/)
  exit.open()
})

test('middleware whose time is up before its turn is not called', async (t) => {
  const started = gate()
  let turns = 0
  const app = newApp(t, {
    lifespan: {
      ...recorded('db', []),
      start: () => {
        setTimeout(started.open, 60) // from the arrival of the request on, as its own time
        return started.opened
      },
    },
    middleware: [() => void turns++],
    timeouts: { handler: 20, drain: 20 },
  })
  const answer = await fetch(await plainServer(t, app.handler), { signal: AbortSignal.timeout(20_000) })
  assert.deepEqual([answer.status, turns], [503, 0])
})

test('each of the requests that overlap is late after its own time', async (t) => {
  const { Waiting, exit } = waiting()
  const { fetch } = await api(t, [Waiting], { timeouts: { handler: 80 } })
  const late: Promise<Response>[] = []
  for (let count = 0; count < 4; count++) {
    late.push(fetch('/wait'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.equal((await fetch('/')).status, 200)
  }
  assert.deepEqual(
    (await Promise.all(late)).map(({ status }) => status),
    [503, 503, 503, 503],
  )
  assert.equal((await fetch('/wait')).status, 503) // also after a time without requests
  exit.open()
})

test('a signal that a handler asks for after the abort is aborted, with the same reason', async (t) => {
  const exit = gate()
  const reasons: unknown[] = []
  @Controller()
  class Late {
    @Get() async get(request: Request) {
      await exit.opened
      reasons.push(request.signal.aborted, request.signal.reason.message)
    }
  }
  const { fetch } = await api(t, [Late], { timeouts: { handler: 20 } })
  assert.equal((await fetch('/')).status, 503)
  exit.open()
  await exit.opened
  assert.deepEqual(reasons, [true, 'The answer took too long.'])
})

test('the signal of a request that was answered is not aborted', async (t) => {
  const { Waiting, exit, seen } = waiting()
  exit.open()
  const { fetch, close } = await api(t, [Waiting])
  await (await fetch('/wait')).text()
  await close()
  assert.equal(seen.signal?.aborted, false)
})

test('what a handler does after its time is up changes nothing and is not logged', async (t) => {
  const exit = gate()
  const failed = gate()
  @Controller()
  class Late {
    @Get() async get() {
      await exit.opened
      failed.open()
      throw new Error('late')
    }
  }
  const { fetch, log } = await api(t, [Late], { timeouts: { handler: 20 } })
  assert.equal((await fetch('/')).status, 503)
  exit.open()
  await failed.opened
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(log.length, 1)
})

test('a value of the request that cannot be disposed is logged, and the response stays', async (t) => {
  @Injectable()
  class Handle {
    [Symbol.dispose]() {
      throw new Error('stuck')
    }
  }
  @Controller()
  class Using {
    @Get() get(handle: Handle) {
      return handle instanceof Handle
    }
  }
  const { fetch, log } = await api(t, [Using])
  assert.equal(await (await fetch('/')).json(), true)
  assert.match(log.join(), /could not be disposed[^]*Error: stuck/)
})
