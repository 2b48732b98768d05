import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { pino } from 'pino'
import {
  type AppOptions,
  Controller,
  createApp,
  events,
  Events,
  Get,
  type LogOptions,
  Post,
  Session,
  sql,
} from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { runs } from '../support/fuzz.js'
import { endedRequests } from '../support/observed.js'
import { gate, until } from '../support/waiting.js'
import { anyCharacter } from '../support/any-character.js'

let leaving = gate()

@Controller('/things')
class Things {
  @Get('/:id') async one(id: number, session: Session) {
    await session.execute(sql`SELECT ${id} AS id`)
    return { id }
  }
  @Post('/') async create(session: Session) {
    await session.execute(sql`CREATE TABLE IF NOT EXISTS t (a, b)`)
    await session.execute(sql`INSERT INTO t VALUES (${'secret'}, 1)`)
  }
  @Get('/fails') fails(): never {
    throw new Error('outer', { cause: Object.assign(new TypeError('inner'), { parameters: ['secret'] }) })
  }
  @Get('/slow') async slow(signal: AbortSignal) {
    leaving.open()
    await once(signal, 'abort')
  }
  @Get('/events', Events.of(Number)) ticks() {
    return events(
      (async function* () {
        await Promise.resolve()
        yield { data: 1 }
      })(),
    )
  }
  @Get('/quiet') quiet() {}
}

interface Entry {
  readonly level: string
  readonly [field: string]: unknown
}

/** An app whose log is collected: [level, text]. */
async function logged(t: TestContext, log: LogOptions, options: Partial<AppOptions> = {}) {
  const lines: [level: string, text: string][] = []
  const write = (level: string) => (text: string) => void lines.push([level, text])
  const logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const app = await testApp({ controllers: [Things], lifespan: memoryDatabase(), logger, log, ...options })
  t.after(app.close)
  lines.length = 0
  const entry = async (at = 0): Promise<Entry> => {
    await until('the entry is there', () => lines.length > at)
    return JSON.parse(lines[at]?.[1] ?? '') as Entry
  }
  return { ...app, lines, entry }
}

test('a request has one entry, without its variables and its query', async (t) => {
  const app = await logged(t, { requests: true })
  await app.fetch('/things/7?token=secret', { headers: { 'x-request-id': 'r1', authorization: 'secret' } })
  const { time, milliseconds, statementMilliseconds, ...entry } = await app.entry()
  assert.deepEqual(entry, {
    level: 'info',
    id: 'r1',
    method: 'GET',
    route: '/things/:id',
    handler: 'Things.one',
    status: 200,
    bytes: 8,
    statements: 1,
    transaction: 'commit',
  })
  assert.ok(Number(milliseconds) >= Number(statementMilliseconds))
  assert.ok(!Number.isNaN(Date.parse(String(time))))
  assert.doesNotMatch(app.lines[0]?.[1] ?? '', /secret|7\?/)
})

test('as text, the entry is a readable line', async (t) => {
  const app = await logged(t, { requests: true, format: 'text' })
  const ended = endedRequests(t)
  await app.fetch('/things/7', { headers: { 'x-request-id': 'r1' } })
  await app.fetch('/things/quiet', { headers: { 'x-request-id': 'r2' } })
  await ended.next()
  await ended.next()
  const [first, second] = app.lines
  assert.match(
    first?.[1] ?? '',
    /^GET \/things\/:id 200 in [\d.]+ ms, 8 bytes, 1 statement in [\d.]+ ms, commit \[r1\]$/,
  )
  assert.match(second?.[1] ?? '', /^GET \/things\/quiet 204 in [\d.]+ ms, 0 bytes \[r2\]$/)
})

test('pino gets an object and a message; errors are objects with their causes, and without other properties', async (t) => {
  const lines: string[] = []
  const app = await logged(
    t,
    { requests: true },
    { logger: pino({}, { write: (line: string) => void lines.push(line) }) },
  )
  lines.length = 0
  const ended = endedRequests(t)
  await app.fetch('/things/fails', { headers: { 'x-request-id': 'r1' } })
  await ended.next()
  const [failure, request, ...others] = lines.map((line) => JSON.parse(line) as Record<string, never>)
  assert.deepEqual(others, [])
  const { msg, err } = failure as unknown as { msg: string; err: Record<string, unknown> }
  assert.equal(msg, 'GET /things/fails [r1]')
  assert.deepEqual([err['type'], err['message']], ['Error', 'outer: inner'])
  assert.match(String(err['stack']), /request-log\.test[^]*caused by: TypeError: inner/)
  assert.doesNotMatch(lines.join(''), /secret/)
  assert.equal(request?.['status'], 500)
  assert.match(String(request?.['msg']), /^GET \/things\/fails 500 in /)
})

for (const [what, path, expected] of [
  ['without a route', '/nothing/here?token=secret', { path: '/nothing/here', status: 404 }],
  ['with refused inputs', '/things/secret', { route: '/things/:id', status: 422 }],
  ['for the documentation', '/docs', { route: '/docs', status: 200 }],
  ['for a stream', '/things/events', { route: '/things/events', status: 200 }],
] as const)
  test(`a request ${what} has one entry`, async (t) => {
    const app = await logged(t, { requests: true })
    const ended = endedRequests(t)
    await (await app.fetch(path)).arrayBuffer()
    await ended.next()
    const entry = await app.entry()
    assert.deepEqual({ ...entry, ...expected }, entry)
    assert.equal(app.lines.length, 1)
    assert.doesNotMatch(app.lines[0]?.[1] ?? '', /secret/)
  })

test('an error has its own entry besides that of its request', async (t) => {
  const app = await logged(t, { requests: true })
  const ended = endedRequests(t)
  await app.fetch('/things/fails', { headers: { 'x-request-id': 'r1' } })
  await ended.next()
  assert.deepEqual(
    app.lines.map(([level]) => level),
    ['error', 'info'],
  )
  assert.match(app.lines[0]?.[1] ?? '', /^GET \/things\/fails \[r1\] Error: outer/)
})

test('a request whose client is gone has one entry, and is aborted', async (t) => {
  const app = await logged(t, { requests: true })
  leaving = gate()
  const request = send(`${app.url}/things/slow`).end()
  request.on('error', () => {})
  await leaving.opened
  request.destroy()
  const { aborted, status } = await app.entry()
  assert.deepEqual([aborted, status], [true, undefined])
  assert.equal(app.lines.length, 1)
})

test('requests that middleware answers, or that arrive while the app closes, have one entry', async (t) => {
  const lines: string[] = []
  const logger = { info: (line: string) => void lines.push(line), warn() {}, error() {} }
  const middleware: AppOptions['middleware'] = [(_request, response) => void response.writeHead(418).end()]
  const app = createApp({
    controllers: [Things],
    lifespan: memoryDatabase(),
    logger,
    middleware,
    log: { requests: true },
  })
  const ended = endedRequests(t)
  await app.inject('/things/7')
  await app.close()
  await app.inject('/things/7')
  await ended.next()
  await ended.next()
  const entries = lines.map((line) => JSON.parse(line) as Entry)
  assert.deepEqual(
    entries.map(({ status, path }) => [status, path]),
    [
      [418, '/things/7'],
      [503, '/things/7'],
    ],
  )
})

test('a slow request is a warning with the shapes of its slowest statements, without values', async (t) => {
  const app = await logged(t, { slow: 0 })
  const ended = endedRequests(t)
  await app.fetch('/things', { method: 'POST' })
  await ended.next()
  assert.deepEqual(
    app.lines.map(([level]) => level),
    ['warn'],
  )
  const { slowest } = (await app.entry()) as unknown as { slowest: readonly { shape: string; milliseconds: number }[] }
  assert.deepEqual(slowest.map(({ shape }) => shape.split(' ')[0]).toSorted(), ['CREATE', 'INSERT'])
  assert.ok(Number(slowest[0]?.milliseconds) >= Number(slowest[1]?.milliseconds))
  assert.doesNotMatch(app.lines[0]?.[1] ?? '', /secret/)
})

test('a request that is fast enough has no entry, unless requests are logged', async (t) => {
  const app = await logged(t, { slow: 3_600_000 })
  const ended = endedRequests(t)
  await app.fetch('/things/7')
  await ended.next()
  assert.deepEqual(app.lines, [])
})

test('a logger that throws changes no response', async (t) => {
  const broken = (): never => {
    throw new Error('no log')
  }
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  const app = await logged(t, { requests: true }, { logger: silent })
  const ended = endedRequests(t)
  silent.info = broken
  assert.equal((await app.fetch('/things/quiet')).status, 204)
  await ended.next()
})

const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

test('no path, method or id forges an entry', async (t) => {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const options = {
    controllers: [Things],
    logger: { info: write, warn: write, error() {} },
    lifespan: memoryDatabase(),
  }
  const apps = (['json', 'text'] as const).map((format) =>
    createApp({ ...options, lifespan: memoryDatabase(), log: { requests: true, format } }),
  )
  t.after(() => Promise.all(apps.map((app) => app.close())))
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('\n{"level":"info"}', '\r\nGET / 200', '\u202e', '\u2028x'),
  )
  await fc.assert(
    fc.asyncProperty(text, text, text, fc.nat(1), async (path, id, method, which) => {
      lines.length = 0
      const headers = { 'x-request-id': id.replaceAll(/[^\t\x20-\x7e]/g, '') }
      const verb = (method.replaceAll(/[^\x21-\x7e]/g, '') || 'GET') as 'GET'
      await apps[which]
        ?.inject({ url: '/', method: verb, headers, remoteAddress: '::1', path: `/${path}` } as never)
        .catch(() => {})
      await apps[which]?.inject({ url: { pathname: `/x${path}` }, headers })
      for (const line of lines) {
        assert.doesNotMatch(line, UNSAFE)
        assert.ok(line.length < 2_000)
        if (which === 0) JSON.parse(line)
      }
    }),
    { numRuns: runs(200) },
  )
  assert.ok(lines.length > 0)
})
