import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import {
  Controller,
  createApp,
  events,
  Events,
  file,
  Get,
  Header,
  type Lifespan,
  notFound,
  Post,
  Query,
  reply,
} from 'sequitur'
import type { RequestRecord } from 'sequitur/diagnostics'
import { api } from '../support/api.js'
import { endedRequests, observed } from '../support/observed.js'
import { root, run } from '../support/processes.js'
import { gate } from '../support/waiting.js'

const leaving = gate()
const store = new AsyncLocalStorage<RequestRecord>()

@Controller('/things')
class Things {
  @Get('/:id') one(id: number) {
    return id === 404 ? notFound('No such thing') : { id, text: 'é' }
  }
  @Get('/fails') fails(): never {
    throw new Error('broken')
  }
  @Get('/slow') async slow(signal: AbortSignal) {
    leaving.open()
    await once(signal, 'abort')
  }
  @Get('/bytes', { produces: 'text/plain' }) bytes() {
    return file(Readable.from([Buffer.alloc(70_000), Buffer.alloc(30_000)]), { type: 'text/plain' })
  }
  @Get('/events', Events.of(Number)) ticks() {
    return events(
      (async function* () {
        await Promise.resolve()
        yield { data: store.getStore()?.path.length ?? 0 }
      })(),
    )
  }
  @Get('/stored') stored() {
    return { id: store.getStore()?.id ?? null }
  }
  @Post('/') create(@Query() limit: number, @Header('x-colour') colour: string) {
    return reply({ limit, colour }, { status: 201 })
  }
}

test('a request has one record from its start to its end', async (t) => {
  const started = observed(t, 'sequitur.request.start')
  const ended = endedRequests(t)
  const app = await api(t, [Things], { prefix: '/api' })
  const response = await app.fetch('/api/things/7?secret=1', { headers: { 'x-request-id': 'r1' } })
  const body = await response.arrayBuffer()
  const record = await ended.next()
  assert.equal(started[0], record)
  assert.equal(record.id, 'r1')
  assert.deepEqual(
    [record.method, record.path, record.route, record.handler, record.status],
    ['GET', '/api/things/7', '/api/things/:id', 'Things.one', 200],
  )
  assert.equal(record.bytes, body.byteLength)
  assert.ok(record.milliseconds > 0)
  assert.equal(record.raw.headers['x-request-id'], 'r1')
  assert.deepEqual(
    [record.isAborted, record.error, record.statements, record.transaction],
    [false, undefined, 0, undefined],
  )
})

test('at its start a request has no route and no status', async (t) => {
  const started: unknown[] = []
  const listener = (record: unknown) => {
    const { route, handler, status } = record as RequestRecord
    started.push({ route, handler, status })
  }
  channel('sequitur.request.start').subscribe(listener)
  t.after(() => channel('sequitur.request.start').unsubscribe(listener))
  const app = await api(t, [Things])
  await app.fetch('/things/7')
  assert.deepEqual(started, [{ route: undefined, handler: undefined, status: undefined }])
})

for (const [path, status, route, error] of [
  ['/nothing/here?token=1', 404, undefined, /nothing at this address/],
  ['/things/404', 404, '/things/:id', /No such thing/],
  ['/things/fails', 500, '/things/fails', /broken/],
  ['/docs', 200, '/docs', undefined],
] as const)
  test(`the record of ${path} has its route, status, error and bytes`, async (t) => {
    const ended = endedRequests(t)
    const app = await api(t, [Things])
    const response = await app.fetch(path)
    const body = await response.arrayBuffer()
    const record = await ended.next()
    assert.deepEqual([record.status, record.route, record.path], [status, route, path.split('?')[0]])
    assert.equal(record.bytes, body.byteLength)
    if (error) assert.match(String(record.error), error)
    else assert.equal(record.error, undefined)
  })

test('a stream is counted, and ends its request', async (t) => {
  const ended = endedRequests(t)
  const app = await api(t, [Things])
  await (await app.fetch('/things/bytes')).arrayBuffer()
  assert.equal((await ended.next()).bytes, 100_000)
})

test('a response to HEAD has no bytes', async (t) => {
  const ended = endedRequests(t)
  const app = await api(t, [Things])
  await app.fetch('/things/7', { method: 'HEAD' })
  const { bytes, route } = await ended.next()
  assert.deepEqual([bytes, route], [0, '/things/:id'])
})

test('what middleware makes of a body is counted', async (t) => {
  const ended = endedRequests(t)
  const app = await api(t, [Things], {
    middleware: [
      (_request, response, next) => {
        const { end } = response
        response.end = (() => Reflect.apply(end, response, ['x'])) as typeof end
        response.setHeader = (() => response) as typeof response.setHeader // no content-length
        next()
      },
    ],
  })
  assert.equal(await (await app.fetch('/things/7')).text(), 'x')
  assert.equal((await ended.next()).bytes, 1)
})

test('a response of middleware ends its request without a route', async (t) => {
  const ended = endedRequests(t)
  const app = await api(t, [Things], { middleware: [(_request, response) => void response.writeHead(418).end('no')] })
  await app.fetch('/things/7')
  const { status, route, bytes } = await ended.next()
  assert.deepEqual([status, route, bytes], [418, undefined, 2])
})

test('a request whose client closes the connection is aborted', async (t) => {
  const ended = endedRequests(t)
  const app = await api(t, [Things])
  const request = send(`${app.url}/things/slow`).end()
  request.on('error', () => {})
  await leaving.opened
  request.destroy()
  const record = await ended.next()
  assert.deepEqual([record.isAborted, record.status, record.route], [true, undefined, '/things/slow'])
})

test('refused inputs are published without their values', async (t) => {
  const refused = observed(t, 'sequitur.input.refused')
  const app = await api(t, [Things])
  const response = await app.fetch('/things?limit=secret', { method: 'POST' })
  assert.equal(response.status, 422)
  assert.equal(refused.length, 1)
  assert.deepEqual(refused[0]?.issues, [
    { in: 'header', path: '/x-colour' },
    { in: 'query', path: '/limit' },
  ])
  assert.deepEqual([refused[0]?.status, refused[0]?.request.route], [422, '/things'])
  assert.doesNotMatch(JSON.stringify(refused[0]?.issues), /secret/)
})

test('the handler, and a stream of events behind it, run in the stores that are bound to the start', async (t) => {
  const start = channel('sequitur.request.start')
  start.bindStore(store)
  t.after(() => start.unbindStore(store))
  const app = await api(t, [Things], { middleware: [(_request, _response, next) => void setImmediate(next)] })
  const stored = await app.fetch('/things/stored', { headers: { 'x-request-id': 'r2' } })
  assert.deepEqual(await stored.json(), { id: 'r2' })
  assert.match(await (await app.fetch('/things/events')).text(), /data: 14\n/)
})

test('requests that are refused while the app closes are published, and so is its shutdown', async (t) => {
  const ended = endedRequests(t)
  const shutdowns = observed(t, 'sequitur.shutdown')
  const app = createApp({ controllers: [Things], logger: false })
  await app.inject('/things/7')
  await app.close()
  assert.equal((await app.inject('/things/7')).statusCode, 503)
  await ended.next()
  const { status, route, error } = await ended.next()
  assert.deepEqual([status, route], [503, undefined])
  assert.match(String(error), /shutting down/i)
  assert.deepEqual(shutdowns, [
    { state: 'draining', requests: 0 },
    { state: 'closed', requests: 0 },
  ])
})

test('nothing is recorded for a request that nobody listens to', async (t) => {
  const given: unknown[] = []
  const lifespan: Lifespan = {
    provisions: [],
    adopt() {},
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    unitOpenerOf: () => (_attempt, request) => {
      given.push(request)
      throw notFound('no unit')
    },
    findErrorStatus: () => undefined,
  }
  const app = await api(t, [Things], { lifespan })
  await app.fetch('/things/7')
  observed(t, 'sequitur.statement')
  await app.fetch('/things/7', { headers: { 'x-request-id': 'r3' } })
  assert.deepEqual(
    given.map((request) => (request as RequestRecord | undefined)?.id),
    [undefined, 'r3'],
  )
})

test('a subscriber that throws changes no response, and is an uncaught exception', async () => {
  const { code, output } = await run([`${root}test/support/programs/throwing-subscriber.ts`], {})
  assert.match(output, /^200 \{"id":7\}$/m)
  assert.match(output, /^uncaught: subscriber failed$/m)
  assert.equal(code, 0)
})
