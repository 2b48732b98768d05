import assert from 'node:assert/strict'
import { EventEmitter, on } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import compression from 'compression'
import {
  Controller,
  Events,
  events,
  type EventsOptions,
  Field,
  Get,
  Header,
  HttpError,
  Item,
  Post,
  reply,
  select,
  type ServerEvent,
  Session,
} from 'sequitur'
import { api, bootMessage } from '../support/api.js'
import { connection } from '../support/connection.js'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { Hero } from '../support/hero.js'
import { until } from '../support/waiting.js'

class Tick {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) text?: string
}

type Source = (signal: AbortSignal, last: number) => AsyncIterable<ServerEvent<Tick>>

/** An app that sends the events of a source. */
function streaming(t: TestContext, source: Source, options?: EventsOptions, timeouts = {}) {
  @Controller()
  class Ticks {
    @Get('/ticks', Events.of(Tick)) ticks(
      signal: AbortSignal,
      @Header('last-event-id', { type: 'integer', default: 0 }) last: number,
    ) {
      return events(source(signal, last), options)
    }
    @Post('/ticks', Events.of(Tick)) post(signal: AbortSignal) {
      return events(source(signal, 0), options)
    }
    @Get('/next') next() {
      return 'next'
    }
  }
  return api(t, [Ticks], { timeouts })
}

const get = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\nHost: a\n\n`

async function* ticks(count: number): AsyncGenerator<ServerEvent<Tick>> {
  for (let number = 1; number <= count; number++) yield { data: { number } }
}

/** A source that waits forever for its next event, and records what happens to it. */
function waiting(first: readonly ServerEvent<Tick>[] = []) {
  const state = { returned: 0, asked: 0 }
  const source: AsyncIterable<ServerEvent<Tick>> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const value = first[state.asked++]
        return value ? { done: false, value } : new Promise(() => {})
      },
      return: async () => {
        state.returned++
        return { done: true, value: undefined }
      },
    }),
  }
  return { state, source }
}

test('events are sent in order, with their fields, and only with declared properties', async (t) => {
  const { fetch } = await streaming(t, async function* () {
    yield { data: { number: 1, text: 'a\nb\u2028', secret: 'x' } as Tick, id: 'a b', event: 'tick', retry: 500 }
    yield { data: { number: 2 }, id: '' }
  })
  const response = await fetch('/ticks')
  assert.equal(response.status, 200)
  assert.deepEqual(
    ['content-type', 'cache-control', 'content-length'].map((name) => response.headers.get(name)),
    ['text/event-stream', 'no-cache, no-transform', null],
  )
  assert.equal(
    await response.text(),
    'event: tick\nid: a b\nretry: 500\ndata: {"number":1,"text":"a\\nb\u2028"}\n\nid: \ndata: {"number":2}\n\n',
  )
  assert.equal((await fetch('/ticks', { method: 'POST' })).status, 200)
})

test('HEAD has the headers of the stream, and its source is released', async (t) => {
  const { source, state } = waiting()
  const { fetch } = await streaming(t, () => source)
  const response = await fetch('/ticks', { method: 'HEAD' })
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream'])
  assert.deepEqual([state.asked, state.returned], [0, 1])
})

test('the headers are sent before the first event', { timeout: 10_000 }, async (t) => {
  const { url } = await streaming(t, () => waiting().source, { heartbeat: 60_000 })
  const { send, received } = connection(t, url)
  send(get('/ticks'))
  await received(/text\/event-stream[^]*\r\n\r\n/)
})

test('comments are sent while there is no event, and the source is not asked again for one', async (t) => {
  const { source, state } = waiting()
  const { url } = await streaming(t, () => source, { heartbeat: 20 })
  const { send, received } = connection(t, url)
  send(get('/ticks'))
  await received(/(?:3\r\n:\n\n\r\n){3}/)
  assert.equal(state.asked, 1)
})

test('compressing middleware neither compresses nor keeps an event', async (t) => {
  @Controller()
  class Ticks {
    @Get('/', Events.of(Tick)) get() {
      return events(waiting([{ data: { number: 1 } }]).source)
    }
  }
  const { url } = await api(t, [Ticks], { middleware: [compression({ threshold: 0 })] })
  const { send, received } = connection(t, url)
  send('GET / HTTP/1.1\nHost: a\nAccept-Encoding: gzip\n\n')
  assert.doesNotMatch(await received(/data: \{"number":1\}\n\n/), /content-encoding/i)
})

test('a stream is not cut off by timeouts.handler or timeouts.write', async (t) => {
  const source: Source = async function* () {
    yield { data: { number: 1 } }
    await wait(400)
    yield { data: { number: 2 } }
  }
  const { fetch, log } = await streaming(t, source, {}, { handler: 50, write: 50 })
  assert.equal(await (await fetch('/ticks')).text(), 'data: {"number":1}\n\ndata: {"number":2}\n\n')
  assert.deepEqual(log, [])
})

test('a client that connects again is sent what follows its last event', async (t) => {
  const { fetch } = await streaming(t, async function* (_signal, last) {
    yield { data: { number: last + 1 }, id: String(last + 1) }
  })
  const response = await fetch('/ticks', { headers: { 'last-event-id': '41' } })
  assert.equal(await response.text(), 'id: 42\ndata: {"number":42}\n\n')
  assert.equal((await fetch('/ticks', { headers: { 'last-event-id': 'x' } })).status, 422)
})

test('when the client leaves, return() of the source is called and its signal is aborted, also while it waits', async (t) => {
  const { source, state } = waiting([{ data: { number: 1 } }])
  let given: AbortSignal | undefined
  const { url, log } = await streaming(t, (signal) => {
    given = signal
    return source
  })
  const { send, received, destroy } = connection(t, url)
  send(get('/ticks'))
  await received(/"number":1/)
  destroy()
  await until('the source is released', () => state.returned === 1)
  assert.equal(given?.aborted, true)
  assert.deepEqual(log, [])
})

test('a source of an event emitter leaves no listeners behind', async (t) => {
  const emitter = new EventEmitter()
  const source: Source = async function* (signal) {
    for await (const [number] of on(emitter, 'tick', { signal })) yield { data: { number: Number(number) } }
  }
  const { url, log } = await streaming(t, source)
  const { send, received, destroy } = connection(t, url)
  send(get('/ticks'))
  await until('it listens', () => emitter.listenerCount('tick') === 1)
  emitter.emit('tick', 7)
  await received(/"number":7/)
  destroy()
  await until('it listens no more', () => emitter.listenerCount('tick') === 0)
  assert.deepEqual(log, [])
})

test('close() ends the streams at once, as a whole response, and releases their sources', async (t) => {
  const { source, state } = waiting([{ data: { number: 1 } }])
  const { url, close, log } = await streaming(t, () => source)
  const { send, received, closed } = connection(t, url)
  send(get('/ticks'))
  await received(/"number":1/)
  const start = performance.now()
  await close()
  assert.ok(performance.now() - start < 5_000)
  assert.match(await closed, /\r\n0\r\n\r\n$/)
  assert.equal(state.returned, 1)
  assert.deepEqual(log, [])
})

test('close() aborts the signal of a source that waits for its next event', async (t) => {
  let hasEnded = false
  const source: Source = async function* (signal) {
    try {
      yield { data: { number: 1 } }
      await wait(60_000, undefined, { signal })
    } finally {
      hasEnded = true
    }
  }
  const { url, close, log } = await streaming(t, source)
  const { send, received } = connection(t, url)
  send(get('/ticks'))
  await received(/"number":1/)
  await close()
  await until('the source has ended', () => hasEnded)
  assert.deepEqual(log, [])
})

for (const [what, failing, entry] of [
  ['throws', async () => Promise.reject(new Error('no more')), /GET \/ticks .*no more/s],
  ['throws a 404', async () => Promise.reject(new HttpError(404, 'deleted')), /GET \/ticks .*HttpError: deleted/s],
  [
    'has data that do not fit',
    async () => ({ data: { number: 'x' } as never }),
    /GET \/ticks .*does not fit its declared response/s,
  ],
  [
    'has an id of two lines',
    async () => ({ data: { number: 2 }, id: 'a\ndata: b' }),
    /id of an event is "a\\ndata: b"/,
  ],
  ['has a name of two lines', async () => ({ data: { number: 2 }, event: 'a\r' }), /event of an event is "a\\r"/],
  ['has a retry that is no time', async () => ({ data: { number: 2 }, retry: 1.5 }), /retry of an event is 1\.5/],
] as const) {
  test(`a source that ${what} closes the connection before the end of the response, and the error is logged`, async (t) => {
    const { url, log } = await streaming(t, async function* () {
      yield { data: { number: 1 } }
      yield await failing()
    })
    const { send, closed } = connection(t, url)
    send(get('/ticks') + get('/next'))
    const text = await closed.catch(() => '')
    assert.doesNotMatch(text, /\r\n0\r\n\r\n|next"/)
    await until('the error is logged', () => entry.test(log.join('\n')))
    assert.equal(log.length, 1)
  })
}

test('a source is not asked for more than the client reads', async (t) => {
  let asked = 0
  const text = 'x'.repeat(10_000)
  const { url } = await streaming(t, async function* () {
    for (;;) yield { data: { number: ++asked, text } }
  })
  const response = await fetch(new URL('/ticks', url))
  let before = -1
  await until('it is asked no more', async () => {
    const same = asked === before
    before = asked
    await wait(100)
    return same && asked === before && asked > 0
  })
  assert.ok(asked < 5_000, `${asked} events of 10 kB`)
  const reader = response.body?.getReader()
  for (let read = 0; read < 20_000_000;) read += (await reader?.read())?.value?.length ?? 0
  assert.ok(asked > before)
  await reader?.cancel()
})

test('the transaction of the handler is committed before the first byte, and there is no event without it', async (t) => {
  let asked = 0
  @Controller()
  class Saving {
    @Post('/heroes', Events.of(Tick)) async create(name: string, session: Session) {
      session.add(Hero.build({ name }))
      async function* source() {
        asked++
        yield { data: { number: 1 } }
      }
      return events(source())
    }
    @Get('/names') async names(session: Session) {
      return (await session.all(select(Hero))).map(({ name }) => name)
    }
  }
  const { fetch } = await databaseApp(t, sqliteMemory, [Hero], [Saving])
  const create = () => fetch('/heroes?name=Robin', { method: 'POST' })
  assert.equal(await (await create()).text(), 'data: {"number":1}\n\n')
  assert.deepEqual(await (await fetch('/names')).json(), ['Robin'])
  assert.deepEqual([(await create()).status, asked], [409, 1])
})

// Read by the compiler: what is not an event of a tick must not compile.
@Controller()
export class NotTicks {
  // @ts-expect-error the data are no ticks
  @Get('/data', Events.of(Tick)) data() {
    async function* source() {
      yield { data: { number: 'one' } }
    }
    return events(source())
  }
  // @ts-expect-error a value is no stream
  @Get('/value', Events.of(Tick)) value() {
    return { number: 1 }
  }
}

@Controller()
class Mistakes {
  @Get('/value', Events.of(Tick)) value() {
    return { number: 1 } as never
  }
  @Get('/undeclared') undeclared() {
    return events(ticks(1))
  }
  @Get('/item', Item.of(Tick), { produces: 'text/event-stream' }) item() {
    return events(ticks(1)) as never
  }
  @Get('/list', Events.of(Tick)) list() {
    return events<Tick>([{ data: { number: 1 } }] as never)
  }
  @Get('/heartbeat', Events.of(Tick)) heartbeat() {
    return events(ticks(1), { heartbeat: 0 })
  }
  @Get('/option', Events.of(Tick)) option() {
    return events(ticks(1), { heartbeet: 1 } as never)
  }
  @Get('/none', Events.of(Tick), { responses: { 204: 'No more events' } }) none() {
    return reply(undefined as never, { status: 204 })
  }
}

for (const [path, message] of [
  ['/value', /Mistakes\.value declares events, but returned a value\. Write return events\(source\)/],
  [
    '/undeclared',
    /Mistakes\.undeclared sent events, but does not declare them\. Write @Get\('\/', Events\.of\(Tick\)\)/,
  ],
  ['/item', /Mistakes\.item sent events, but does not declare them/],
  ['/list', /the source is .*Pass an async iterable/],
  ['/heartbeat', /heartbeat is 0\. Write a whole number of milliseconds/],
  ['/option', /heartbeet/],
] as const) {
  test(`GET ${path} is a 500, and the log states what to write`, async (t) => {
    const { fetch, log } = await api(t, [Mistakes])
    assert.equal((await fetch(path)).status, 500)
    assert.match(log.join('\n'), message)
  })
}

test('a route of events may send another declared response: 204 tells a browser not to connect again', async (t) => {
  const { fetch } = await api(t, [Mistakes])
  assert.equal((await fetch('/none')).status, 204)
})

test('a declaration of events that can never be sent fails at startup', () => {
  @Controller()
  class Produces {
    @Get('/', Events.of(Tick), { produces: 'text/plain' }) get() {
      return events(ticks(1))
    }
  }
  @Controller()
  class Created {
    @Get('/', Events.of(Tick), { status: 201 }) get() {
      return events(ticks(1))
    }
  }
  @Controller()
  class Listed {
    @Get('/', [Events.of(Tick)]) get() {
      return [] as never
    }
  }
  @Controller()
  class Other {
    @Get('/', Tick, { responses: { 202: Events.of(Tick) } }) get() {
      return { number: 1 }
    }
  }
  assert.match(bootMessage([Produces]), /Produces\.get declares events and produces text\/plain\. Remove produces/)
  assert.match(bootMessage([Created]), /Created\.get declares events with the status 201\. Remove the status/)
  assert.match(bootMessage([Listed]), /Events\.of\(\) is only the response of a route/)
  assert.match(bootMessage([Other]), /Events\.of\(\) is only the response of a route/)
})

test('events are documented as text/event-stream, with the schema of their data', async (t) => {
  const { app } = await streaming(t, () => ticks(1))
  const { paths, components } = app.openapi()
  assert.deepEqual(paths?.['/ticks']?.get?.responses?.['200'], {
    description: 'Server-sent events; the data of each is JSON with this schema, which is also x-event-data',
    content: {
      'text/event-stream': {
        schema: { $ref: '#/components/schemas/Tick' },
        'x-event-data': { $ref: '#/components/schemas/Tick' },
      },
    },
  })
  assert.ok(components?.schemas?.['Tick'])
})

class Tock {
  @Field({ type: 'integer' }) hour!: number
}

const made = <T extends object>(type: new () => T, values: T) => Object.assign(new type(), values)

test('of several classes, each event is sent as its own class declares it', async (t) => {
  async function* source(): AsyncGenerator<ServerEvent<Tick | Tock>> {
    yield { event: 'tick', data: made(Tick, { number: 1 }) }
    yield { event: 'tock', data: Object.assign(made(Tock, { hour: 2 }), { secret: 'x' }) }
    yield { data: { number: 3 } } // the compiler does not know the classes of values
  }
  @Controller()
  class Clock {
    @Get('/clock', Events.of(Tick, Tock)) clock() {
      return events(source())
    }
  }
  const { app, fetch, log } = await api(t, [Clock])
  const reader = (await fetch('/clock')).body?.getReader()
  let text = ''
  try {
    for (let part; !(part = await reader?.read())?.done;) text += Buffer.from(part?.value ?? []).toString()
  } catch {
    // The connection is closed.
  }
  assert.equal(text, 'event: tick\ndata: {"number":1}\n\nevent: tock\ndata: {"hour":2}\n\n')
  assert.match(log.join('\n'), /is Object, declared an instance of Tick or Tock/)
  const refs = ['Tick', 'Tock'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
  const content = app.openapi().paths?.['/clock']?.get?.responses?.['200']
  assert.ok(content && 'content' in content)
  assert.deepEqual(content.content?.['text/event-stream'], { schema: { anyOf: refs }, 'x-event-data': { anyOf: refs } })
})

test('several types of events that are no classes with fields fail at startup', () => {
  @Controller()
  class Clock {
    // @ts-expect-error an object of types is no class
    @Get('/clock', Events.of(Tick, { hour: 'integer' })) clock() {
      return events(ticks(1))
    }
    // @ts-expect-error Tock is not declared
    @Get('/tocks', Events.of(Tick, Tick)) tocks() {
      return events(
        (async function* () {
          yield { data: made(Tock, { hour: 1 }) }
        })(),
      )
    }
  }
  @Controller()
  class Texts {
    @Get('/texts', Events.of(Tick, String)) texts() {
      return events(ticks(1))
    }
  }
  assert.match(bootMessage([Clock]), /Events\.of\(\): several types have to be classes with @Field\(\)s/)
  assert.match(bootMessage([Texts]), /Events\.of\(\): several types have to be classes with @Field\(\)s, got 'string'/)
})
