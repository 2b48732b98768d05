import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api'
import * as fc from 'fast-check'
import { pino } from 'pino'
import {
  type AppOptions,
  Controller,
  events,
  Events,
  Get,
  guard,
  HttpError,
  Inject,
  Injectable,
  type LogFields,
  type LogOptions,
  Post,
  provide,
  RequestLogger,
  Session,
  sql,
  token,
} from 'sequitur'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { NameController } from '../../example/recipes/logged.js'
import { Hero } from '../../example/hero.js'
import { api, bootMessage } from '../support/api.js'
import { runs } from '../support/fuzz.js'
import { telemetry } from '../support/telemetry.js'
import { gate, until } from '../support/waiting.js'
import { anyCharacter } from '../support/any-character.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${CALLER}-01`

type Level = 'info' | 'warn' | 'error'

/** What a handler logs. */
let note: (log: RequestLogger) => void = () => {}

let leaving = gate()
let behind = gate()

@Injectable()
class Service {
  constructor(readonly log: RequestLogger) {}
}

@Injectable()
class Required {
  constructor(log: RequestLogger) {
    log.info('required')
  }
}

const guarded = guard([RequestLogger], (log) => (log.info('guarded'), true))

class Mine {
  constructor(readonly log: RequestLogger) {}
}
const mine = token<Mine>('mine')

@Controller('/things')
class Things {
  @Get('/:id') one(id: number, log: RequestLogger) {
    note(log)
    return { id }
  }
  @Get('/service') service(service: Service, @Inject(mine) { log }: Mine) {
    service.log.info('of a service')
    log.warn('of a factory')
  }
  @Get('/required', { requires: [Required, guarded] }) required() {}
  @Post('/', { status: 201 }) async create(session: Session, log: RequestLogger) {
    await session.execute(sql`CREATE TABLE t (a)`)
    session.afterCommit(() => log.info('committed'))
    session.afterEnd(async () => log.info('ended'))
  }
  @Get('/late') async late(log: RequestLogger, signal: AbortSignal) {
    leaving.open()
    await once(signal, 'abort')
    log.info('the client is gone')
    behind.open()
  }
  @Get('/events', Events.of(Number)) ticks(log: RequestLogger) {
    return events(
      (async function* () {
        await Promise.resolve()
        log.info('streaming')
        yield { data: 1 }
      })(),
    )
  }
  @Get('/fails') fails(): never {
    throw new Error('it fails')
  }
  @Get('/busy') busy(): never {
    throw new HttpError(503, 'Later.', { headers: { 'retry-after': '1' } })
  }
}

const providers = [provide(mine, { factory: (log) => new Mine(log), inject: [RequestLogger], lifetime: 'request' })]

/** An app whose log is collected: [level, text]. */
async function logged(t: TestContext, log: LogOptions = {}, options: Partial<AppOptions> = {}) {
  const lines: [level: Level, text: string][] = []
  const write = (level: Level) => (text: string) => void lines.push([level, text])
  const logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const controllers = [Things]
  const app = await testApp({ controllers, providers, lifespan: memoryDatabase(), logger, log, ...options })
  t.after(app.close)
  lines.length = 0
  const entries = () => lines.map(([, text]) => JSON.parse(text) as Record<string, unknown>)
  return { ...app, lines, entries }
}

const r1 = { 'x-request-id': 'r1' }

test('as JSON, an entry has the time, the level, the request, the message and the fields', async (t) => {
  const app = await logged(t)
  note = (log) => {
    log.info('first', { hero: 3, name: 'Ann', at: new Date(0), big: 2n ** 64n, none: null, no: undefined, nan: NaN })
    log.warn('second')
    log.error('third', new TypeError('wrong', { cause: 'this' }), { hero: 4 })
  }
  await app.fetch('/things/7?token=secret', { headers: r1 })
  const [first, second, third, ...others] = app.entries().map(({ time, ...entry }) => {
    assert.ok(!Number.isNaN(Date.parse(String(time))))
    return entry
  })
  assert.deepEqual(others, [])
  const context = { id: 'r1', method: 'GET', route: '/things/:id' }
  assert.deepEqual(first, {
    level: 'info',
    ...context,
    message: 'first',
    hero: 3,
    name: 'Ann',
    at: '1970-01-01T00:00:00.000Z',
    big: '18446744073709551616',
    none: null,
    nan: 'NaN',
  })
  assert.deepEqual(second, { level: 'warn', ...context, message: 'second' })
  const { error, ...rest } = third ?? {}
  assert.deepEqual(rest, { level: 'error', ...context, message: 'third', hero: 4 })
  assert.match(String(error), /^TypeError: wrong\n {4}at [^]*\n {2}caused by this$/)
  assert.deepEqual(
    app.lines.map(([level]) => level),
    ['info', 'warn', 'error'],
  )
})

test('as text, an entry is a readable line', async (t) => {
  const app = await logged(t, { format: 'text' })
  note = (log) => {
    log.info('A hero', { hero: 3 })
    log.error('Failed', new Error('why'))
  }
  await app.fetch('/things/7', { headers: { ...r1, traceparent } })
  assert.deepEqual(app.lines[0], ['info', `GET /things/:id [r1 trace_id=${TRACE}] A hero {"hero":3}`])
  assert.match(app.lines[1]?.[1] ?? '', /^GET \/things\/:id \[r1 trace_id=\w+\] Failed Error: why\n {4}at /)
})

test('pino gets an object and a message', async (t) => {
  const lines: string[] = []
  const app = await logged(t, {}, { logger: pino({}, { write: (line: string) => void lines.push(line) }) })
  lines.length = 0
  note = (log) => log.error('Failed', new Error('why'), { hero: 3 })
  await app.fetch('/things/7', { headers: { ...r1, traceparent } })
  await app.fetch('/things/fails', { headers: { ...r1, traceparent } })
  const [noted, failed] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const { level, id, method, route, hero, msg, trace_id, err } = noted ?? {}
  assert.deepEqual([level, id, method, route, hero, msg], [50, 'r1', 'GET', '/things/:id', 3, 'Failed'])
  assert.deepEqual([trace_id, (err as Error).message], [TRACE, 'why'])
  assert.deepEqual([failed?.['trace_id'], failed?.['msg']], [TRACE, `GET /things/fails [r1 trace_id=${TRACE}]`])
})

test('it is injected where the request is known: services, factories, requires, guards; and usable in callbacks and streams', async (t) => {
  const app = await logged(t)
  const messages = async (path: string, method = 'GET') => {
    app.lines.length = 0
    await (await app.fetch(path, { method, headers: r1 })).arrayBuffer()
    return app.entries().map(({ id, message }) => `${id}: ${message}`)
  }
  assert.deepEqual(await messages('/things/service'), ['r1: of a service', 'r1: of a factory'])
  assert.deepEqual(await messages('/things/required'), ['r1: required', 'r1: guarded'])
  assert.deepEqual(await messages('/things/', 'POST'), ['r1: committed', 'r1: ended'])
  assert.deepEqual(await messages('/things/events'), ['r1: streaming'])
})

test('it may be used when the client is gone', async (t) => {
  const app = await logged(t)
  leaving = gate()
  behind = gate()
  const { port, hostname } = new URL(app.url)
  const socket = connect(Number(port), hostname, () =>
    socket.write('GET /things/late HTTP/1.1\r\nHost: a\r\nX-Request-Id: r1\r\n\r\n'),
  )
  await leaving.opened
  socket.destroy()
  await behind.opened
  assert.deepEqual(
    app.entries().map(({ id, message }) => `${id}: ${message}`),
    ['r1: the client is gone'],
  )
})

test('what lives as long as the app cannot inject it', () => {
  @Injectable({ lifetime: 'application' })
  class Shared {
    constructor(readonly log: RequestLogger) {}
  }
  @Controller('/')
  class OfService {
    @Get('/') get(_shared: Shared) {}
  }
  @Controller('/', { lifetime: 'application' })
  class OfApp {
    constructor(readonly log: RequestLogger) {}
    @Get('/') get() {}
  }
  @Controller('/')
  class OfFactory {
    @Get('/') get(@Inject(mine) _mine: Mine) {}
  }
  const factory = provide(mine, { factory: (log) => new Mine(log), inject: [RequestLogger] })
  for (const [controllers, name, options] of [
    [[OfService], 'Shared', {}],
    [[OfApp], 'OfApp', {}],
    [[OfFactory], 'mine', { providers: [factory] }],
  ] as const)
    assert.match(
      bootMessage(controllers, options),
      new RegExp(
        `${name} lives as long as the app, but injects RequestLogger, which lives for one request[^]*Set the lifetime of ${name} to 'request'`,
      ),
    )
})

test('a class that logs says nothing of who the client is: @Idempotent() needs no `of` for it', () => {
  @Controller('/')
  class Payments {
    @Idempotent() @Post('/', { requires: [Required] }) pay(_log: RequestLogger) {}
  }
  assert.equal(bootMessage([Payments], { models: [IdempotencyRecord], lifespan: memoryDatabase() }), 'it started')
})

test('a test may replace it, also by the console', async (t) => {
  const texts: string[] = []
  const value = { info: (text: string) => void texts.push(text), warn() {}, error() {} }
  const app = await logged(t, {}, { providers: [...providers, provide(RequestLogger, { value })] })
  note = (log) => log.info('replaced')
  await app.fetch('/things/7')
  assert.deepEqual([texts, app.lines], [['replaced'], []])
  assert.ok(new Service(console).log)
})

test('nothing is written with logger: false', async (t) => {
  const { fetch } = await logged(t, {}, { logger: false })
  note = (log) => log.info('nowhere')
  assert.equal((await fetch('/things/7')).status, 200)
})

for (const [what, fail] of [
  ['throws', () => assert.fail('The disk is full.')],
  ['rejects', () => Promise.reject(new Error('The disk is full.'))],
] as const)
  test(`a logger that ${what} changes no response, and no COMMIT`, async (t) => {
    const written = t.mock.method(process.stderr, 'write', () => true).mock
    const logger = { info: fail, warn: fail, error: fail }
    const lifespan = memoryDatabase()
    const app = await testApp({ controllers: [Things], providers, lifespan, logger })
    t.after(app.close)
    assert.equal((await app.fetch('/things/', { method: 'POST' })).status, 201)
    note = (log) => log.error('Failed', new Error('why'))
    assert.equal((await app.fetch('/things/7')).status, 200)
    await until('it is reported', () => written.calls.length > 0)
    written.restore()
    assert.match(String(written.calls[0]?.arguments[0]), /The logger of the app failed/)
  })

/** Strings with what may begin another entry, or change how a line is displayed. */
const hostileText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc
    .array(
      fc.constantFrom(
        '\n',
        '\r',
        '\u2028',
        '\x1b[2K',
        '\0',
        '\u202e',
        '\ud800',
        '"',
        '\\',
        '{"level":"error"}',
        '[r2]',
        'x',
      ),
      {
        maxLength: 50,
      },
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('"', '\n', '\u202e', 'x').map((text) => text.repeat(10_000)),
  fc.constantFrom('id', 'level', 'time', 'message', 'route', 'method', 'trace_id', 'error', '__proto__', 'toJSON'),
)
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

for (const format of ['json', 'text', 'object'] as const)
  test(`whatever strings a program logs, an entry is one, of this request, and bounded, as ${format}`, async (t) => {
    const objects: object[] = []
    const add = (fields: object | string) => void (typeof fields === 'object' && objects.push(fields))
    const app = await logged(t, { format }, format === 'object' ? { logger: { info: add, warn: add, error: add } } : {})
    const value = fc.oneof(hostileText, fc.double(), fc.bigInt(), fc.date({ noInvalidDate: false }), fc.anything())
    const input = fc.record({
      message: hostileText,
      fields: fc.dictionary(hostileText, value, { maxKeys: 80 }),
      error: fc.option(hostileText, { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(input, async ({ message, fields, error }) => {
        app.lines.length = objects.length = 0
        note = (log) => log.error(message, error === undefined ? undefined : new Error(error), fields as LogFields)
        assert.equal((await app.fetch('/things/7', { headers: r1 })).status, 200)
        if (format === 'object') {
          const [entry, ...others] = objects as Record<string, unknown>[]
          assert.deepEqual([entry?.['id'], entry?.['route'], others], ['r1', '/things/:id', []])
          for (const [name, text] of Object.entries(entry ?? {}))
            if (name !== 'err') assert.doesNotMatch(`${name}${String(text)}`, UNSAFE)
          return
        }
        const [[, text = ''] = [], ...others] = app.lines
        assert.equal(others.length, 0)
        assert.ok(text.length <= 65_536, `${text.length} characters`)
        if (format === 'text') {
          const [first = '', ...further] = text.split('\n')
          assert.ok(first.startsWith('GET /things/:id [r1] '))
          for (const line of further) assert.match(line, /^(?: {4}at | {2}\| | {2}- | {2}caused by | {2}\()|^$/)
          for (const line of [first, ...further]) assert.doesNotMatch(line, UNSAFE)
          return
        }
        assert.doesNotMatch(text, UNSAFE)
        const entry = JSON.parse(text) as Record<string, unknown>
        assert.deepEqual([entry['id'], entry['level'], entry['route']], ['r1', 'error', '/things/:id'])
        assert.equal(typeof entry['message'], 'string')
        assert.equal(typeof entry['error'], error === undefined ? 'undefined' : 'string')
      }),
      { numRuns: runs(100) },
    )
  })

test('the fields of every entry cannot be replaced: their names do not compile, and get an underscore', async (t) => {
  const app = await logged(t)
  note = (log) => {
    // @ts-expect-error the name is taken
    log.info('mine', { id: 'r2' })
    log.info('mine', Object.fromEntries([['level', 'error']]))
  }
  await app.fetch('/things/7', { headers: r1 })
  const [first, second] = app.entries()
  assert.deepEqual([first?.['id'], first?.['id_']], ['r1', 'r2'])
  assert.deepEqual([second?.['level'], second?.['level_']], ['info', 'error'])
})

test('more fields than an entry has room for are counted', async (t) => {
  const app = await logged(t)
  const fields = (value: (at: number) => number | string) =>
    Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, value(at)]))
  note = (log) => {
    log.info(
      'many',
      fields((at) => at),
    )
    log.info(
      'long',
      fields(() => '"'.repeat(1_000)),
    )
  }
  await app.fetch('/things/7')
  const [many, long] = app.entries()
  assert.deepEqual([many?.['f49'], many?.['f50'], many?.['omitted']], [49, undefined, 10])
  assert.deepEqual([String(long?.['f3']).length, long?.['f4'], long?.['omitted']], [1_000, undefined, 56])
})

for (const [what, header, expected] of [
  ['traceparent', traceparent, TRACE],
  ['one of a later version', `01-${TRACE}-${CALLER}-01-more`, TRACE],
  ['no traceparent', undefined, undefined],
  ['one with more', `${traceparent}-more`, undefined],
  ['one of the version ff', `ff${traceparent.slice(2)}`, undefined],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${CALLER}-01`, undefined],
  ['a caller of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  ['capitals', traceparent.toUpperCase(), undefined],
  ['two', `${traceparent}, ${traceparent}`, undefined],
] as const)
  test(`with ${what}, entries have ${expected ? 'the trace of the caller' : 'no trace'}`, async (t) => {
    const app = await logged(t, { requests: true })
    note = (log) => log.info('mine')
    await app.fetch('/things/7', { headers: { ...r1, ...(header === undefined ? {} : { traceparent: header }) } })
    await until('both are there', () => app.lines.length === 2)
    for (const entry of app.entries()) assert.deepEqual([entry['trace_id'], entry['span_id']], [expected, undefined])
  })

test('the errors of a request have its trace, also if nothing else is logged of it', async (t) => {
  const app = await api(t, [Things], { providers, lifespan: memoryDatabase() })
  for (const path of ['/things/fails', '/things/busy']) {
    app.log.length = 0
    await app.fetch(path, { headers: { ...r1, traceparent } })
    assert.ok(app.log[0]?.startsWith(`GET ${path} [r1 trace_id=${TRACE}] `), app.log[0])
  }
})

test('with openTelemetry(), entries have the trace and the span of the request, with and without a caller', async (t) => {
  const app = await logged(t, { requests: true })
  const { spans } = telemetry(t)
  note = (log) => log.info('mine')
  for (const headers of [{ traceparent }, {}]) {
    app.lines.length = 0
    await app.fetch('/things/7', { headers })
    await until('both are there', () => app.lines.length === 2)
    const { traceId, spanId } =
      (await spans()).all.findLast(({ name }) => name === 'GET /things/:id')?.spanContext() ?? {}
    assert.equal(traceId === TRACE, 'traceparent' in headers)
    for (const entry of app.entries()) assert.deepEqual([entry['trace_id'], entry['span_id']], [traceId, spanId])
  }
})

test('without an SDK, openTelemetry() leaves the trace of the caller', async (t) => {
  const app = await logged(t, { requests: true })
  const startSpan = () => trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  telemetry(t, { tracerProvider: { getTracer: () => ({ startSpan, startActiveSpan: () => assert.fail() }) } })
  await app.fetch('/things/7', { headers: { traceparent } })
  await until('it is there', () => app.lines.length > 0)
  assert.equal(app.entries().at(-1)?.['trace_id'], TRACE)
})

test('logged.ts: what is committed is logged, with the request', async (t) => {
  const lifespan = memoryDatabase()
  const lines: string[] = []
  const logger = { info: (line: string) => void lines.push(line), warn() {}, error() {} }
  const app = await testApp({ controllers: [NameController], models: [Hero], lifespan, logger })
  t.after(app.close)
  await Hero.create({ name: 'Robin', secret_identity: 'Tim Drake', age: 17 })
  lines.length = 0
  assert.equal((await app.fetch('/names/1', { method: 'POST', headers: r1, json: { name: 'Red Robin' } })).status, 204)
  assert.equal((await app.fetch('/names/2', { method: 'POST', json: { name: 'Nobody' } })).status, 404)
  const [entry, ...others] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const { message, hero_id, before, name, id, route } = entry ?? {}
  assert.deepEqual([message, hero_id, before, name], ['A hero was renamed', 1, 'Robin', 'Red Robin'])
  assert.deepEqual([id, route, others], ['r1', '/names/:hero_id', []])
})
