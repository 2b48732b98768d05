import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import {
  Body,
  Controller,
  file,
  Get,
  HttpError,
  Item,
  Field,
  type Middleware,
  notFound,
  Post,
  redirect,
  reply,
} from 'sequitur'
import { api } from '../support/api.js'
import { connection } from '../support/connection.js'
import { until } from '../support/waiting.js'

/*
 * Responses that nobody else sees are written in one call, others header by header. With middleware they are written in the second way: both
 * ways send the same bytes.
 */

class Hero {
  @Field() name!: string
}

@Controller()
class Answers {
  @Get('/value') value() {
    return { text: 'a value' }
  }
  @Get('/later') async later() {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return 'later'
  }
  @Get('/declared', Item.of(Hero)) declared() {
    return { data: { name: 'Zoë ☃' } }
  }
  @Get('/large') large() {
    return 'é'.repeat(400_000)
  }
  @Get('/hal', { produces: 'application/hal+json' }) hal() {
    return {}
  }
  @Get('/nothing') nothing() {}
  @Get('/reset', { status: 205 }) reset() {}
  @Get('/bytes', { produces: '*/*' }) bytes() {
    return file(Buffer.from('bytes'))
  }
  @Get('/stream', { produces: 'text/plain' }) stream() {
    return file(Readable.from(['a', 'b']), { type: 'text/plain' })
  }
  @Get('/elsewhere', { status: 303 }) elsewhere() {
    return redirect('/value', { status: 303 })
  }
  @Get('/headers') headers() {
    return reply('more', { headers: { 'x-request-id': 'mine', 'set-cookie': ['a=1', 'b=2'] } })
  }
  @Get('/missing') missing() {
    notFound()
  }
  @Get('/refused') refused() {
    throw new HttpError(429, 'Later.', { headers: { 'Retry-After': '3' } })
  }
  @Get('/broken') broken() {
    throw new Error('odd')
  }
  @Post('/bodies') bodies(@Body({ type: 'integer' }) body: number) {
    return body
  }
}

const passing: Middleware = (_request, _response, next) => next()

const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: a', 'X-Request-Id: id', ...headers, '', ''].join('\n')
const post = (body: string, ...headers: string[]) =>
  head('POST /bodies', 'Content-Type: application/json', `Content-Length: ${body.length}`, ...headers) + body
const last = head('GET /value', 'Connection: close')

const messages: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      '/value /later /declared /large /hal /nothing /reset /bytes /stream /elsewhere /headers /missing /refused /broken',
      '/no-route /openapi.json /value?a=% /a% /value/',
    ]
      .flatMap((paths) => paths.split(' '))
      .flatMap((path) =>
        ['GET', 'HEAD', 'OPTIONS', 'DELETE'].map((method) => [`${method} ${path}`, head(`${method} ${path}`) + last]),
      ),
  ),
  'a body': post('1') + last,
  'an invalid body': post('"a"') + last,
  'a body that is not read': head('GET /value', 'Content-Length: 3') + 'abc' + last,
  'a chunked body that is not read': head('GET /value', 'Transfer-Encoding: chunked') + '3\nabc\n0\n\n' + last,
  'a long body that is not read': head('GET /value', 'Content-Length: 1000000') + 'a'.repeat(1_000_000),
  '100-continue': post('1', 'Expect: 100-continue') + last,
  'an upgrade': head('GET /value', 'Upgrade: websocket', 'Connection: upgrade'),
  'pipelined requests': head('GET /later') + head('GET /value') + head('HEAD /value') + head('GET /nothing') + last,
  'bytes that are not HTTP': head('GET /value') + 'not http\n\n',
  'bytes that are not HTTP behind a request that takes longer': head('GET /later') + 'not http\n\n',
  'bytes that are not HTTP behind pipelined requests': head('GET /later') + head('GET /value') + 'not http\n\n',
  'a wrong host': 'GET /value HTTP/1.1\nHost: a b\n\n',
  'HTTP/1.0': 'GET /value HTTP/1.0\nX-Request-Id: id\n\n',
  'HTTP/1.0 that keeps its connection': `GET /value HTTP/1.0\nConnection: keep-alive\nX-Request-Id: id\n\n${last}`,
}

/** @param first a message that is answered before the other is sent: the first request of a connection starts in a later turn. */
async function answerOf(t: TestContext, url: string, message: string, first = ''): Promise<string> {
  const { send, received, closed } = connection(t, url)
  send(first)
  if (first !== '') await received(/\r\n\r\n/)
  send(message)
  return (await closed).replaceAll(/^Date: .*\r$/gm, 'Date: now\r').replaceAll(/[\da-f-]{36}/g, 'a uuid')
}

for (const [which, first, compared] of [
  ['first', '', Object.keys(messages).filter((name) => !name.includes('chunked'))], // whether its body is read then depends on the time
  ['second', head('GET /nothing'), Object.keys(messages)],
] as const)
  test(`responses to the ${which} request of a connection have the same bytes with and without middleware`, async (t) => {
    const short = await api(t, [Answers])
    const general = await api(t, [Answers], { middleware: [passing] })
    for (const name of compared) {
      const message = messages[name] ?? ''
      const reference = await answerOf(t, general.url, message, first)
      assert.match(reference, /^HTTP\/1\.1 \d{3} /, name)
      assert.equal(await answerOf(t, short.url, message, first), reference, name)
    }
  })

/** The headers that are set one by one for a request. */
async function setHeaders(t: TestContext, url: string): Promise<number> {
  const { mock } = t.mock.method(ServerResponse.prototype, 'setHeader')
  await answerOf(t, url, last)
  mock.restore()
  return mock.callCount()
}

test('a response that nobody else sees is written without setting its headers one by one', async (t) => {
  assert.equal(await setHeaders(t, (await api(t, [Answers])).url), 0)
  assert.equal(await setHeaders(t, (await api(t, [Answers], { middleware: [passing] })).url), 4)
})

test('a tool that subscribes to the responses of the process can read their headers', async (t) => {
  const { url } = await api(t, [Answers])
  const seen: unknown[] = []
  // of the types of Node: the message has the response
  const read = (message: unknown) =>
    seen.push((message as { response: ServerResponse }).response.getHeader('content-type'))
  subscribe('http.server.response.finish', read)
  t.after(() => unsubscribe('http.server.response.finish', read))
  await answerOf(t, url, last)
  assert.deepEqual(seen, ['application/json; charset=utf-8'])
})

for (const event of ['finish', 'close'])
  test(`a tool that listens to '${event}' of every response can read its headers`, async (t) => {
    const { url } = await api(t, [Answers])
    const seen: unknown[] = []
    const { emit } = Server.prototype
    t.after(() => (Server.prototype.emit = emit))
    Server.prototype.emit = function (this: Server, name: string, ...values: unknown[]) {
      const [, response] = values
      if (name === 'request' && response instanceof ServerResponse)
        response.on(event, () => seen.push(response.getHeader('content-type')))
      return Reflect.apply(emit, this, [name, ...values]) as boolean
    }
    await answerOf(t, url, last)
    await until(`the response has emitted '${event}'`, () => seen.length > 0)
    assert.deepEqual(seen, ['application/json; charset=utf-8'])
  })
