import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { type AppOptions, Controller, createApp, Get, type HealthOptions, ServiceUnavailable } from 'sequitur'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { api, bootMessage } from '../support/api.js'
import { plainServer } from '../support/connection.js'
import { serve } from '../support/processes.js'
import { gate, until } from '../support/waiting.js'

@Controller('/notes')
class Notes {
  @Get() list() {
    return ['first']
  }
}

/** The status and the body of a response. */
async function said(response: Response | Promise<Response>): Promise<unknown> {
  const { status } = await response
  return [status, await (await response).json()]
}

test('a started app without a database is alive and ready', async (t) => {
  const { fetch } = await api(t, [Notes], { health: true })
  assert.deepEqual(await said(fetch('/livez')), [200, { status: 'ok' }])
  assert.deepEqual(await said(fetch('/readyz')), [200, { status: 'ok', checks: {} }])
  assert.equal((await fetch('/readyz')).headers.get('cache-control'), 'no-store')
})

for (const health of [undefined, false] as const) {
  test(`health: ${health} has no checks`, async (t) => {
    const { fetch } = await api(t, [Notes], health === undefined ? {} : { health })
    assert.deepEqual([(await fetch('/livez')).status, (await fetch('/readyz')).status], [404, 404])
  })
}

for (const path of ['/livez', '/readyz', '/livez/', '/%6Civez', '/readyz?verbose']) {
  test(`HEAD ${path} has the length of GET and no body; POST is a 405`, async (t) => {
    const { fetch } = await api(t, [Notes], { health: true })
    const length = (await (await fetch(path)).arrayBuffer()).byteLength
    const head = await fetch(path, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(length)])
    assert.equal(await head.text(), '')
    const post = await fetch(path, { method: 'POST' })
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
    const options = await fetch(path, { method: 'OPTIONS' })
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
  })
}

test('the checks precede middleware, and have no prefix', async (t) => {
  const refuse = () => {
    throw new ServiceUnavailable('Too many requests.')
  }
  const { fetch } = await api(t, [Notes], { health: true, middleware: [refuse], prefix: '/api' })
  assert.equal((await fetch('/api/notes')).status, 503)
  assert.equal((await fetch('/api/readyz')).status, 503)
  assert.deepEqual([(await fetch('/livez')).status, (await fetch('/readyz')).status], [200, 200])
})

test('the paths are those of the options', async (t) => {
  const { fetch } = await api(t, [Notes], { health: { livez: '/health/live', readyz: '/health/ready' } })
  const statuses = ['/health/live', '/health/ready', '/livez', '/readyz'].map(
    async (path) => (await fetch(path)).status,
  )
  assert.deepEqual(await Promise.all(statuses), [200, 200, 404, 404])
})

const failing: readonly (readonly [name: string, check: () => unknown, log: RegExp])[] = [
  ['throws', () => assert.fail('queue is away'), /queue is away/],
  ['rejects', () => Promise.reject(new Error('queue is away')), /queue is away/],
  ['rejects with nothing', () => Promise.reject(), /the check failed without an error/],
  ['resolves to false', async () => false, /the check returned false/],
  ['does not end', () => new Promise(() => {}), /no answer within 20 ms/],
]

for (const [what, check, line] of failing) {
  test(`an app is not ready while one of its checks ${what}, and one line says so`, async (t) => {
    let isAway = true
    const checks = { cache: () => 'PONG', queue: () => (isAway ? check() : undefined) }
    const lines: string[] = []
    const write = (text: string) => void lines.push(text)
    const { fetch } = await api(t, [Notes], {
      health: { checks, timeout: 20 },
      logger: { info: write, warn: write, error: write },
    })
    lines.length = 0 // that it listens
    for (let n = 0; n < 3; n++) {
      const [status, { checks: results, status: state }] = (await said(fetch('/readyz'))) as [number, never]
      assert.deepEqual([status, state, results], [503, 'unavailable', { cache: 'ok', queue: 'failed' }])
    }
    assert.equal((await fetch('/livez')).status, 200)
    isAway = false
    assert.equal((await fetch('/readyz')).status, 200)
    assert.equal(lines.length, 2)
    assert.match(lines[0] ?? '', /^Not ready, as this check fails: queue\. /)
    assert.match(lines[0] ?? '', line)
    assert.equal(lines[1], 'Ready again: all checks pass.')
  })
}

test('requests that come while the checks run share their result', async (t) => {
  const { opened, open } = gate()
  let calls = 0
  const check = async () => {
    calls++
    await opened
  }
  const { fetch } = await api(t, [Notes], { health: { checks: { check }, timeout: 10_000 } })
  const answers = Array.from({ length: 5 }, () => fetch('/readyz'))
  await until('the check runs', () => calls > 0)
  await fetch('/livez') // so that all of them have arrived
  open()
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  assert.equal(calls, 1)
  await fetch('/readyz')
  assert.equal(calls, 2)
})

test('from the first moment of app.close() the app is not ready, but alive', async (t) => {
  const { opened, open } = gate()
  const running = gate()
  @Controller('/slow')
  class Slow {
    @Get() async get() {
      running.open()
      await opened
      return 'finished'
    }
  }
  const app = createApp({ controllers: [Slow], health: true, logger: false })
  t.after(() => app.close())
  const { url } = await app.listen(0)
  const slow = fetch(`${url}/slow`)
  await running.opened
  const closed = app.close()
  const ready = await app.inject('/readyz')
  assert.deepEqual([ready.statusCode, ready.json()], [503, { status: 'closing' }])
  const live = await app.inject('/livez')
  assert.deepEqual([live.statusCode, live.json()], [200, { status: 'ok' }])
  assert.equal((await app.inject('/slow')).statusCode, 503)
  open()
  assert.equal(await (await slow).json(), 'finished')
  await closed
})

test('a check that is running when the app begins to close reports that it closes', async (t) => {
  const { opened, open } = gate()
  const running = gate()
  const check = () => {
    running.open()
    return opened
  }
  const app = createApp({ controllers: [Notes], health: { checks: { check }, timeout: 10_000 }, logger: false })
  await app.start()
  t.after(() => app.close())
  const ready = app.inject('/readyz')
  await running.opened
  const closed = app.close()
  open()
  assert.deepEqual((await ready).json(), { status: 'closing' })
  await closed
})

test('a check starts an app that is mounted in another server, which is not ready before', async (t) => {
  const { opened, open } = gate()
  const lifespan = {
    provisions: [],
    adopt() {},
    start: () => opened,
    stop: async () => {},
    unitOpenerOf: () => undefined,
    findErrorStatus: () => undefined,
  }
  const app = createApp({ controllers: [Notes], lifespan, health: { timeout: 20 }, logger: false })
  t.after(() => app.close())
  const url = await plainServer(t, app.handler)
  assert.deepEqual(await said(fetch(`${url}/livez`)), [200, { status: 'ok' }])
  assert.deepEqual(await said(fetch(`${url}/readyz`)), [503, { status: 'unavailable', checks: { startup: 'failed' } }])
  open()
  await until('it is ready', async () => (await fetch(`${url}/readyz`)).status === 200)
  assert.deepEqual(await said(fetch(`${url}/readyz`)), [200, { status: 'ok', checks: { database: 'ok' } }])
})

interface Answer {
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly body: string
}

function request(url: string, agent: Agent | false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const read = async (response: IncomingMessage) => {
      let body = ''
      for await (const text of response.setEncoding('utf8')) body += text
      resolve({ status: response.statusCode, connection: response.headers.connection, body })
    }
    get(url, agent === false ? { agent, headers: { connection: 'keep-alive' } } : { agent }, (response) =>
      read(response).catch(reject),
    ).on('error', reject)
  })
}

const PROGRAM = 'test/support/programs/draining.ts'

test('within the shutdown delay after SIGTERM, new connections are served, each once, while /readyz is 503', async (t) => {
  const { url, output, stop } = await serve([PROGRAM], { SHUTDOWN_DELAY: '3000' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const kept = await request(url, agent)
  assert.deepEqual([kept.status, kept.connection], [200, 'keep-alive'])
  const ended = stop('SIGTERM')
  await until('it closes', () => output().includes('SIGTERM: closing after the running requests'))
  const served = { status: 200, connection: 'close', body: '"served"' }
  assert.deepEqual(await request(url, agent), served)
  assert.deepEqual(await request(url, agent), served) // on a new connection
  const ready = { status: 503, connection: 'close', body: '{"status":"closing"}' }
  assert.deepEqual(await request(`${url}/readyz`, false), ready)
  assert.equal((await request(`${url}/livez`, false)).status, 200)
  assert.equal(await ended, 0)
})

test('without a delay, a connection that is kept alive is still told after SIGTERM that the app is alive and not ready', async (t) => {
  for (const [path, status] of [
    ['/readyz', 503],
    ['/livez', 200],
  ] as const) {
    const { url, output, stop } = await serve([PROGRAM], { SHUTDOWN_DELAY: '0' })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    assert.equal((await request(url, agent)).status, 200)
    const ended = stop('SIGTERM')
    await until('it closes', () => output().includes('SIGTERM: closing'), 1)
    let answer: Answer
    do {
      answer = await request(`${url}${path}`, agent)
      assert.equal(answer.status, status)
    } while (answer.connection !== 'close') // until nothing listens: a client that is told to connect anew must find that
    assert.equal(await ended, 0)
  }
})

test('the paths are in the OpenAPI document only if they are documented', async () => {
  const of = (health: HealthOptions) =>
    createApp({
      controllers: [Notes],
      health,
      info: { title: 'Notes', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
    }).openapi()
  assert.deepEqual(Object.keys(of({}).paths ?? {}), ['/notes'])
  const document = of({ documented: true, readyz: '/ready' })
  assert.deepEqual(Object.keys(document.paths ?? {}), ['/notes', '/livez', '/ready'])
  assert.deepEqual(Object.keys(document.paths?.['/ready']?.get?.responses ?? {}), ['200', '503', '4XX', 'default'])
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  assert.ok(valid, JSON.stringify(errors))
  const config = await createConfig({ extends: ['recommended'] })
  assert.deepEqual(await lintFromString({ source: JSON.stringify(document), config }), [])
})

const mistakes: readonly (readonly [health: unknown, message: RegExp, more?: Partial<AppOptions>])[] = [
  ['/livez', /^BootError: createApp\(\): health is '\/livez'\. Write true, or an object such as/],
  [null, /health is null\. Write true/],
  [[], /health is a list\. Write true/],
  [{ livez: '/notes' }, /^BootError: Notes\.list has the path \/notes, which belongs to a health check\. .*livez: '/],
  [{ readyz: '/notes' }, /^BootError: Notes\.list has the path \/notes, which belongs to a health check\. .*readyz: '/],
  [{ readyz: '/livez' }, /livez and readyz are both '\/livez'\. Write another path for one of them/],
  [{ readyz: '/docs' }, /health\.readyz is '\/docs', which belongs to the documentation/],
  [{ livez: '/openapi.json' }, /health\.livez is '\/openapi\.json', which belongs to the documentation/],
  ...['livez', '/', '/:id', '/a/*rest', '/live/', '/..', '/caf\u00e9', '/a%20b', 5, null].map(
    (livez) => [{ livez }, /health\.livez is .*\. Write a path without variables, such as '\/readyz'\./] as const,
  ),
  [{ timeout: 0 }, /health\.timeout is 0\. Write a whole number of milliseconds/],
  [{ documented: 1 }, /health\.documented is of type number\. Write true or false/],
  [{ checks: [] }, /health\.checks is a list\. Write \{ queue: /],
  [{ checks: { queue: true } }, /health\.checks\.queue is true\. Write \{ queue: /],
]

for (const [health, message, more] of mistakes) {
  test(`health: ${JSON.stringify(health)} fails at startup`, () => {
    assert.match(bootMessage([Notes], { health: health as true, ...more }), message)
  })
}

test('without documentation, its paths are free', async (t) => {
  const { fetch } = await api(t, [Notes], { health: { readyz: '/docs' }, docs: false })
  assert.equal((await fetch('/docs')).status, 200)
})
