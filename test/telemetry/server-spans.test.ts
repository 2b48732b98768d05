import assert from 'node:assert/strict'
import { hasSubscribers } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { context, diag, DiagLogLevel, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { Controller, file, Get, Post, Request } from 'sequitur'
import { api } from '../support/api.js'
import { picked, telemetry, tracer } from '../support/telemetry.js'
import { gate, until } from '../support/waiting.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${CALLER}-01`

function activeSpanId(): string | undefined {
  return trace.getSpan(context.active())?.spanContext().spanId
}

class OutOfStock extends Error {}

let waiting = gate()
let arrived = gate()

@Controller('/heros')
class Heros {
  @Get('/:hero_id')
  get(hero_id: number) {
    return { hero_id }
  }

  @Post('/')
  async active() {
    const before = activeSpanId()
    await sleep(1)
    return { before, after: activeSpanId(), inside: tracer.startActiveSpan('mine', (span) => (span.end(), 'mine')) }
  }

  @Get('/fails')
  fails() {
    throw new OutOfStock('S3CRET of the server')
  }

  @Get('/waits')
  async waits(request: Request) {
    arrived.open()
    await Promise.race([waiting.opened, once(request.signal, 'abort')])
  }

  @Get('/stream', { produces: 'text/plain' })
  stream() {
    const parts = async function* () {
      yield 'first'
      await waiting.opened
      yield 'last'
    }
    return file(Readable.from(parts()), { type: 'text/plain' })
  }
}

test('a request has a span by the conventions of OpenTelemetry', async (t) => {
  const { fetch, url } = await api(t, [Heros])
  const { spans } = telemetry(t)
  const response = await fetch('/heros/7?token=S3CRET', { headers: { 'user-agent': 'tests' } })
  const span = (await spans()).one('GET /heros/:hero_id')
  assert.equal(span.kind, SpanKind.SERVER)
  assert.equal(span.status.code, SpanStatusCode.UNSET)
  assert.deepEqual(span.events, [])
  const { 'network.peer.port': peerPort, ...attributes } = span.attributes
  assert.equal(typeof peerPort, 'number')
  assert.deepEqual(attributes, {
    'http.request.method': 'GET',
    'http.route': '/heros/:hero_id',
    'http.response.status_code': 200,
    'http.response.header.x-request-id': [response.headers.get('x-request-id')],
    'url.path': '/heros/:hero_id',
    'url.scheme': 'http',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(url).port),
    'client.address': '127.0.0.1',
    'network.peer.address': '127.0.0.1',
    'network.protocol.version': '1.1',
    'user_agent.original': 'tests',
  })
})

test('no value of a path is in a span, unless it is asked for', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t)
  await fetch('/heros/7')
  await fetch('/heros/S3CRET') // a 422
  await fetch('/villains')
  const { all } = await spans(3)
  assert.deepEqual(
    all.map(({ attributes }) => attributes['url.path']),
    ['/heros/:hero_id', '/heros/:hero_id', '/villains'],
  )
  assert.doesNotMatch(JSON.stringify(all.map(({ name, attributes, events }) => [name, attributes, events])), /S3CRET/)
})

test('the path as it was sent is an attribute when it is asked for', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t, { urlPath: true })
  await fetch('/heros/7?a=1')
  assert.equal((await spans()).one('GET /heros/:hero_id').attributes['url.path'], '/heros/7')
})

test('the query string is an attribute when it is asked for', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t, { urlQuery: true })
  await fetch('/heros/7?a=1&b=2')
  assert.equal((await spans()).one('GET /heros/:hero_id').attributes['url.query'], 'a=1&b=2')
})

test('a request goes on with the trace of its caller, and its span is active in the handler', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t)
  const response = await fetch('/heros', { method: 'POST', headers: { traceparent } })
  const all = await spans()
  const span = all.one('POST /heros')
  const { traceId, spanId } = span.spanContext()
  assert.equal(traceId, TRACE)
  assert.equal(span.parentSpanContext?.spanId, CALLER)
  assert.deepEqual(await response.json(), { before: spanId, after: spanId, inside: 'mine' })
  assert.deepEqual(all.pathOf(all.one('mine')), ['mine', 'POST /heros'])
})

test('requests that run at the same time have their own spans', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t)
  const active = async () => {
    const response = await fetch('/heros', { method: 'POST' })
    return (await response.json()) as { before: string; after: string }
  }
  const answers = await Promise.all(Array.from({ length: 20 }, active))
  await spans(20)
  assert.equal(new Set(answers.map(({ before }) => before)).size, 20)
  for (const { before, after } of answers) assert.equal(before, after)
})

test('the span is active in middleware', async (t) => {
  const seen: (string | undefined)[] = []
  const middleware = [(_request: unknown, _response: unknown, next: () => void) => (seen.push(activeSpanId()), next())]
  const { fetch } = await api(t, [Heros], { middleware })
  const { spans } = telemetry(t)
  await fetch('/heros/7')
  assert.deepEqual(seen, [(await spans()).one('GET /heros/:hero_id').spanContext().spanId])
})

test('a request without a route has its method as its name', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t)
  await fetch('/villains/S3CRET')
  await fetch('/heros/7', { method: 'PROPFIND' })
  const all = await spans(2)
  assert.deepEqual(picked(all.one('GET'), 'http.route', 'http.response.status_code'), {
    'http.route': undefined,
    'http.response.status_code': 404,
  })
  assert.deepEqual(picked(all.one('HTTP'), 'http.request.method', 'http.request.method_original'), {
    'http.request.method': '_OTHER',
    'http.request.method_original': 'PROPFIND',
  })
})

test('the span of a failed request has the class of the error, and not its message', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t)
  await fetch('/heros/fails')
  const span = (await spans()).one('GET /heros/fails')
  assert.deepEqual(span.status, { code: SpanStatusCode.ERROR })
  assert.deepEqual(picked(span, 'error.type', 'http.response.status_code'), {
    'error.type': 'OutOfStock',
    'http.response.status_code': 500,
  })
  assert.deepEqual(span.events, [])
})

test('the span of a failed request has the exception when it is asked for', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t, { exceptions: true })
  await fetch('/heros/fails')
  const [event] = (await spans()).one('GET /heros/fails').events
  assert.equal(event?.attributes?.['exception.message'], 'S3CRET of the server')
})

test('the span of a request whose client has gone ends', async (t) => {
  arrived = gate()
  waiting = gate()
  const { url } = await api(t, [Heros])
  const { spans } = telemetry(t)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write('GET /heros/waits HTTP/1.1\r\nhost: a\r\n\r\n')
  await arrived.opened
  socket.destroy()
  const span = (await spans()).one('GET /heros/waits')
  assert.equal(span.status.code, SpanStatusCode.ERROR)
  assert.equal(span.attributes['error.type'], 'aborted')
})

test('the span of a stream ends when the stream does', async (t) => {
  waiting = gate()
  const { fetch } = await api(t, [Heros])
  const { spans } = telemetry(t)
  const response = await fetch('/heros/stream')
  assert.equal(response.status, 200)
  const reader = response.body?.getReader()
  await reader?.read()
  await fetch('/heros/7')
  assert.deepEqual((await spans(1)).names, ['GET /heros/:hero_id'])
  waiting.open()
  await reader?.read()
  assert.deepEqual((await spans(2)).names, ['GET /heros/:hero_id', 'GET /heros/stream'])
})

test('ignored requests have no spans, nor has what they do', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans, points } = telemetry(t, { ignore: ({ method }) => method === 'POST' })
  await fetch('/heros', { method: 'POST' })
  await fetch('/heros/7')
  assert.deepEqual((await spans()).names, ['GET /heros/:hero_id'])
  assert.equal((await points('http.server.request.duration')).length, 1)
})

test('two apps of one process have spans, each request one', async (t) => {
  const [one, two] = [await api(t, [Heros]), await api(t, [Heros])]
  const { spans } = telemetry(t, { urlPath: true })
  await one.fetch('/heros/1')
  await two.fetch('/heros/2')
  const all = await spans(2)
  assert.deepEqual(
    all.all.map(({ attributes }) => attributes['url.path']),
    ['/heros/1', '/heros/2'],
  )
})

test('openTelemetry() refuses a second call', (t) => {
  telemetry(t)
  assert.throws(() => telemetry(t), { name: 'BootError', message: /^openTelemetry\(\) was called already/ })
})

test('after stop() there are no spans, and those of running requests have ended', async (t) => {
  arrived = gate()
  waiting = gate()
  const { fetch } = await api(t, [Heros])
  const { spans, stop, points } = telemetry(t)
  const running = fetch('/heros/waits')
  await arrived.opened
  stop()
  assert.equal(hasSubscribers('sequitur.request.start') || hasSubscribers('sequitur.statement'), false)
  assert.deepEqual((await spans(1)).names, ['GET'])
  waiting.open()
  await running
  assert.equal((await fetch('/heros/7')).status, 200)
  assert.equal((await spans(1)).all.length, 1)
  assert.deepEqual(
    (await points('http.server.active_requests')).map(({ value }) => value),
    [0],
  )
})

test('a stop() that is called late does not stop another openTelemetry()', async (t) => {
  const { fetch } = await api(t, [Heros])
  const first = telemetry(t)
  first.stop()
  const second = telemetry(t)
  first.stop()
  await fetch('/heros/7')
  assert.equal((await second.spans()).all.length, 1)
})

test('a function of the program that throws fails no request', async (t) => {
  const reported: unknown[] = []
  const ignored = () => {}
  const error = (...values: unknown[]) => void reported.push(...values)
  diag.setLogger({ error, warn: ignored, info: ignored, debug: ignored, verbose: ignored }, DiagLogLevel.ERROR)
  t.after(() => diag.disable())
  const { fetch } = await api(t, [Heros])
  telemetry(t, {
    ignore: () => {
      throw new Error('broken')
    },
  })
  assert.equal((await fetch('/heros/7')).status, 200)
  await until('it is reported', () => reported.some((value) => value instanceof Error && value.message === 'broken'))
})
