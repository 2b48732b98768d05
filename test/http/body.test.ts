// Needs a process of its own: it measures memory.
import assert from 'node:assert/strict'
import { memoryUsage } from 'node:process'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Body, Controller, Field, Get, type Middleware, Post } from 'sequitur'
import { api, bootMessage } from '../support/api.js'
import { connection, exchange } from '../support/connection.js'

class Note {
  @Field() text!: string
}

@Controller('/notes')
class Notes {
  @Post() add(note: Note) {
    return note.text.length
  }

  @Post('/any') any(@Body({ type: 'any', optional: true }) value: unknown) {
    return { value }
  }

  @Get() list() {
    return 'list'
  }
}

const good = '{"text":"abc"}'

const refused: readonly (readonly [sentence: string, status: number, detail: RegExp, headers: object, body: string])[] =
  [
    ['text/plain', 415, /as application\/json, not text\/plain/, { 'content-type': 'text/plain' }, good],
    ['a form', 415, /not application\/x-www-form-urlencoded/, form(), 'text=abc'],
    ['application/jsonp', 415, /not application\/jsonp/, { 'content-type': 'application/jsonp' }, good],
    ['another charset', 415, /in UTF-8, not latin1/, { 'content-type': 'application/json; charset=Latin1' }, good],
    ['a compressed body', 415, /without Content-Encoding/, { ...json(), 'content-encoding': 'gzip' }, good],
    ['what is not JSON', 400, /The body is not JSON: /, json(), '{"text":'],
    ['single quotes', 400, /The body is not JSON/, json(), "{'text':'abc'}"],
    [
      'a prototype',
      400,
      /The body has a property that could change a prototype/,
      json(),
      '{"__proto__":{"admin":true},"text":"a"}',
    ],
    ['a prototype in an escape', 400, /could change a prototype/, json(), '{"\\u005f_proto__":{},"text":"a"}'],
    [
      'a prototype by way of the constructor',
      400,
      /could change a prototype/,
      json(),
      '{"constructor":{"prototype":{}}}',
    ],
    ['nothing', 422, /does not fit/, json(), ''],
    ['null', 422, /does not fit/, json(), 'null'],
    ['a list', 422, /does not fit/, json(), '[]'],
    ['half of a surrogate pair', 422, /does not fit/, json(), '{"text":"\\ud800"}'],
  ]

function json() {
  return { 'content-type': 'application/json' }
}

function form() {
  return { 'content-type': 'application/x-www-form-urlencoded' }
}

for (const [sentence, status, detail, headers, body] of refused) {
  test(`${sentence} as a body is a ${status}`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch('/notes', { method: 'POST', headers: { ...headers }, body })
    assert.equal(response.status, status)
    assert.match(((await response.json()) as { detail: string }).detail, detail)
  })
}

for (const type of [
  'application/json',
  'APPLICATION/JSON; Charset="UTF-8"',
  'application/json;charset=utf8',
  'application/merge-patch+json',
  'application/vnd.api+json; profile=x',
]) {
  test(`a body of ${type} is JSON`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch('/notes', { method: 'POST', headers: { 'content-type': type }, body: good })
    assert.equal(await response.json(), 3)
  })
}

test('a body without a content type is a 415', async (t) => {
  const { fetch } = await api(t, [Notes])
  const response = await fetch('/notes', { method: 'POST', body: new Blob([good]) })
  assert.equal(response.status, 415)
  assert.match(await response.text(), /with this Content-Type/)
})

test('invalid UTF-8 is a 400', async (t) => {
  const { fetch } = await api(t, [Notes])
  const body = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
  const response = await fetch('/notes', { method: 'POST', headers: json(), body })
  assert.equal(response.status, 400)
  assert.match(await response.text(), /not valid UTF-8/)
})

/** A list in a list in a list. */
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

for (const [sentence, body, status] of [
  ['of a hundred levels', nested(100), 201],
  ['of a hundred and one levels', nested(101), 400],
  ['of lists and objects, a hundred and one levels', '{"a":['.repeat(50) + '[]' + ']}'.repeat(50), 400],
  ['of half a million levels', nested(500_000), 400],
  ['of half a million levels that never end', '['.repeat(500_000), 400],
  ['of a thousand lists side by side', `[${Array(1000).fill('[]').join()}]`, 201],
  ['with brackets in a string', JSON.stringify({ text: '['.repeat(200) }), 201],
  ['with brackets in a string after a quotation mark', JSON.stringify({ text: `"\\${'{'.repeat(200)}` }), 201],
  ['with nested lists after a string that ends in a backslash', `["\\\\",${nested(100)}]`, 400],
] as const) {
  test(`a body ${sentence} is a ${status}`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch('/notes/any', { method: 'POST', headers: json(), body })
    assert.equal(response.status, status)
    assert.match(await response.text(), status === 400 ? /nested too deeply: more than 100/ : /^{"value":/)
  })
}

test('a missing body is reported as required', async (t) => {
  const { fetch } = await api(t, [Notes])
  const { errors } = (await (await fetch('/notes', { method: 'POST' })).json()) as { errors: unknown }
  assert.deepEqual(errors, [{ in: 'body', path: '', message: 'is required' }])
})

test('an optional body may be missing', async (t) => {
  const { fetch } = await api(t, [Notes])
  assert.deepEqual(await (await fetch('/notes/any', { method: 'POST' })).json(), {})
})

test('a body arrives in chunks', async (t) => {
  const { url } = await api(t, [Notes])
  const head = 'POST /notes HTTP/1.1\nHost: a\nConnection: close\nContent-Type: application/json\n'
  const answer = await exchange(t, url, `${head}Transfer-Encoding: chunked\n\n7\n{"text"\n7\n:"abc"}\n0\n\n`)
  assert.match(answer, /^HTTP\/1\.1 201 [^]*\r\n\r\n3$/)
})

test('a letter may be cut in two by a chunk', async (t) => {
  const { url } = await api(t, [Notes])
  const { send, received, closed } = connection(t, url)
  send('POST /notes HTTP/1.1\nHost: a\nConnection: close\nExpect: 100-continue\n')
  send('Content-Type: application/json\nContent-Length: 13\n\n')
  await received(/100 Continue/)
  send('{"text":"\u00c3')
  send('\u00a4"}')
  assert.match(await closed, /\r\n\r\n1$/)
})

test('a body on GET is ignored', async (t) => {
  const { url } = await api(t, [Notes])
  const answer = await exchange(t, url, 'GET /notes HTTP/1.1\nHost: a\nConnection: close\nContent-Length: 3\n\n{"a')
  assert.match(answer, /\r\n\r\n"list"$/)
})

test('a body of exactly the limit is taken', async (t) => {
  const { fetch } = await api(t, [Notes], { bodyLimit: good.length })
  assert.equal(await (await fetch('/notes', { method: 'POST', headers: json(), body: good })).json(), 3)
})

test('a body over the limit is a 413', async (t) => {
  const { fetch } = await api(t, [Notes], { bodyLimit: good.length - 1 })
  const response = await fetch('/notes', { method: 'POST', headers: json(), body: good })
  assert.equal(response.status, 413)
  assert.match(await response.text(), /"detail":"The body is larger than 13 bytes\."/)
})

test('a route may have a limit of its own, below and above that of the app', async (t) => {
  @Controller('/sized')
  class Sized {
    @Post('/small', { bodyLimit: 20 }) small(@Body({ type: 'any' }) text: string) {
      return text.length
    }
    @Post('/large', { bodyLimit: 5000 }) large(@Body({ type: 'any' }) text: string) {
      return text.length
    }
    @Post('/usual') usual(@Body({ type: 'any' }) text: string) {
      return text.length
    }
  }
  const { fetch, url } = await api(t, [Sized], { bodyLimit: 1000 })
  const send = async (path: string, size: number) => {
    const response = await fetch(`/sized/${path}`, { method: 'POST', json: 'x'.repeat(size - 2) })
    return response.status
  }
  for (const [path, limit] of Object.entries({ small: 20, large: 5000, usual: 1000 }))
    assert.deepEqual([await send(path, limit), await send(path, limit + 1)], [201, 413], path)
  const head = 'POST /sized/large HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n'
  const answer = await exchange(
    t,
    url,
    `${head}Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n"${'x'.repeat(1998)}"`,
  )
  assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
})

test('the limit of a route is a number of bytes, and that of a body', () => {
  const message = (bodyLimit: number, isRead: boolean) => {
    @Controller('/')
    class Read {
      @Post('/', { bodyLimit }) post(@Body({ type: 'any' }) _body: unknown) {}
    }
    @Controller('/')
    class Unread {
      @Get('/', { bodyLimit }) get() {}
    }
    return bootMessage([isRead ? Read : Unread])
  }
  assert.match(message(0, true), /BootError: Read\.post: bodyLimit is 0\. Write a whole number of bytes/)
  assert.match(message(1.5, true), /bodyLimit is 1\.5/)
  assert.match(message(10, false), /BootError: Unread\.get: bodyLimit limits a body, and the handler takes none/)
  assert.equal(message(10, true), 'it started')
})

const large = 8 * 1024 * 1024

test('a client that sends far too much can read its 413', async (t) => {
  const { fetch } = await api(t, [Notes])
  const response = await fetch('/notes', { method: 'POST', headers: json(), body: 'x'.repeat(large) })
  assert.equal(response.status, 413)
  assert.match(await response.text(), /larger than 1048576 bytes/)
})

test('a client that sends far too much in chunks can read its 413', async (t) => {
  const { fetch } = await api(t, [Notes], { bodyLimit: 1000 })
  const body = new ReadableStream({
    start(controller) {
      for (let sent = 0; sent < large; sent += 65_536) controller.enqueue(new Uint8Array(65_536))
      controller.close()
    },
  })
  const response = await fetch('/notes', { method: 'POST', headers: json(), body, duplex: 'half' } as RequestInit)
  assert.equal(response.status, 413)
})

test('a client that reads only once it has sent everything gets its 413 and the end of the connection', async (t) => {
  const { url } = await api(t, [Notes])
  const { sendAll, closed } = connection(t, url)
  const head = `POST /notes HTTP/1.1\nHost: a\nContent-Type: application/json\nContent-Length: ${large}\n\n`
  await sendAll(head + 'x'.repeat(large))
  assert.match(await closed, /^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n[^]*larger than 1048576 bytes\."}$/i)
})

test('of a body that is refused with 413 nothing is kept while its connection stays open', async (t) => {
  const { url } = await api(t, [Notes], { bodyLimit: large })
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  const before = memoryUsage().arrayBuffers
  const unfinished = Array.from({ length: 4 }, () => connection(t, url))
  for (const { sendAll, received } of unfinished) {
    const head = 'POST /notes HTTP/1.1\nHost: a\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n'
    await sendAll(`${head}${(2 * large).toString(16)}\n${'x'.repeat(large + 1)}`)
    await received(/^HTTP\/1\.1 413 [^]*}$/)
  }
  collect()
  const kept = memoryUsage().arrayBuffers - before
  assert.ok(kept < large, `${kept} bytes of ${unfinished.length * large}`)
})

test('a client that sends much to where nothing is can read its 404', async (t) => {
  const { url } = await api(t, [Notes])
  const { sendAll, closed } = connection(t, url)
  await sendAll(`POST /nothing HTTP/1.1\nHost: a\nConnection: close\nContent-Length: ${large}\n\n${'x'.repeat(large)}`)
  assert.match(await closed, /^HTTP\/1\.1 404 [^]*}$/)
})

test('a client that sends Expect: 100-continue before too large a body is refused at once', async (t) => {
  const { url } = await api(t, [Notes])
  const { send, received } = connection(t, url)
  send(`POST /notes HTTP/1.1\nHost: a\nContent-Type: application/json\nContent-Length: ${large}\n`)
  send('Expect: 100-continue\n\n')
  assert.match(await received(/bytes\."}$/), /^HTTP\/1\.1 413 /)
})

test('a body that breaks off is not handed to the handler', async (t) => {
  let calls = 0
  @Controller()
  class Counting {
    @Post() count(note: Note) {
      calls += note.text.length
    }
  }
  const { url, app, log } = await api(t, [Counting])
  const { send, destroy, received } = connection(t, url)
  send('POST / HTTP/1.1\nHost: a\nContent-Type: application/json\nContent-Length: 14\nExpect: 100-continue\n\n')
  await received(/100 Continue/)
  send('{"text":"abc"')
  destroy()
  await app.close()
  assert.deepEqual([calls, log], [0, []])
})

test('a request that ends without its end is a 400', async (t) => {
  const { app } = await api(t, [Notes])
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/notes',
    headers: { ...json(), 'content-length': '14' },
    payload: good,
    simulate: { close: true, end: false, split: false, error: false },
  })
  assert.equal(statusCode, 400)
})

test('a body that middleware has read is a 500, and the log states what to do', async (t) => {
  const reading: Middleware = (request, _response, next) => void request.on('end', next).resume()
  const { fetch, log } = await api(t, [Notes], { middleware: [reading] })
  assert.equal((await fetch('/notes', { method: 'POST', headers: json(), body: good })).status, 500)
  assert.match(log.join(), /The body was already read, by .* such as express\.json\(\)\. Remove that/)
})
