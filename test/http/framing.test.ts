import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Body, Controller, Get, Post } from 'sequitur'
import { api } from '../support/api.js'
import { connection, plainServer } from '../support/connection.js'
import { runs } from '../support/fuzz.js'

/*
 * Where two servers in a row disagree on where a request ends, the second takes a part of one client's body for the request of another. What
 * can be read in two ways is refused, and nothing that follows it on the connection is answered.
 */

let handled: string[] = []

@Controller()
class Echo {
  @Get() get() {
    handled.push('GET /')
    return 'got'
  }
  @Post() post(@Body({ type: 'any', optional: true }) body: unknown) {
    handled.push(`POST / ${JSON.stringify(body)}`)
    return { body }
  }
  @Get('/next') next() {
    handled.push('GET /next')
    return 'next'
  }
}

/** Sends these bytes as they are; resolves to all that came back once the other side has closed. */
function send(t: TestContext, url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.setEncoding('latin1')
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => {}).on('close', () => resolve(text))
    socket.write(bytes, 'latin1')
  })
}

function statusesOf(answer: string): number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

const lines = (...list: string[]) => [...list, '', ''].join('\r\n')
const get = (...headers: string[]) => lines('GET / HTTP/1.1', 'Host: a', ...headers)
const post = (header: string, body: string) =>
  lines('POST / HTTP/1.1', 'Host: a', 'Content-Type: application/json', header) + body
const chunks = (body: string) => post('Transfer-Encoding: chunked', body)
const coded = (coding: string, more = '') => post(`Transfer-Encoding: ${coding}${more}`, '2\r\n[]\r\n0\r\n\r\n')
const sized = (length: string) => post(`Content-Length:${length}`, '[]')
/** What would be answered if the one before it ended where another server may think it does. */
const NEXT = lines('GET /next HTTP/1.1', 'Host: a', 'Connection: close')

const refused: readonly (readonly [sentence: string, bytes: string, status?: number])[] = [
  ['a length beside chunks', post('Content-Length: 6\r\nTransfer-Encoding: chunked', '0\r\n\r\n')],
  ['chunks beside a length', post('Transfer-Encoding: chunked\r\nContent-Length: 6', '0\r\n\r\n')],
  ['two lengths', sized(' 2\r\nContent-Length: 3')],
  ['a Host that is none', lines('GET / HTTP/1.1', 'Host: a b/c@d')],
  [
    'a coding behind a thousand headers',
    post(`${'x:\r\n'.repeat(1_100)}Transfer-Encoding: gzip, chunked`, '2\r\n[]\r\n0\r\n\r\n'),
    431,
  ],
  ['an expectation beside two codings', coded('gzip, chunked', '\r\nExpect: 100-continue'), 501],
  ['the same length twice', sized(' 2\r\nContent-Length: 2')],
  ['a list of lengths', sized(' 2, 2')],
  ['a negative length', sized(' -2')],
  ['a length with a plus sign', sized(' +2')],
  ['a hexadecimal length', sized(' 0x2')],
  ['a length with an exponent', sized(' 2e0')],
  ['a length with a point', sized(' 2.0')],
  ['a length with a space in it', sized(' 1 2')],
  ['a length beyond 64 bits', sized(' 18446744073709551618')],
  ['an empty length', sized('')],
  ['a space before the colon of a length', post('Content-Length : 2', '[]')],
  ['a space before the colon of a coding', post('Transfer-Encoding : chunked', '0\r\n\r\n')],
  ['a space before a colon', get('X-A : b')],
  ['a folded header', get('X-A: b', ' folded')],
  ['a folded first header', lines('GET / HTTP/1.1', '\tHost: a')],
  ['a folded coding', coded('\r\n chunked')],
  ['bare line feeds', 'GET / HTTP/1.1\nHost: a\n\n'],
  ['one bare line feed', 'GET / HTTP/1.1\r\nHost: a\nX-B: c\r\n\r\n'],
  ['a bare line feed at the end', 'GET / HTTP/1.1\r\nHost: a\r\n\n'],
  ['a bare carriage return in a value', get('X-B: c\rd')],
  ['a bare carriage return at the end', 'GET / HTTP/1.1\r\nHost: a\r\rX: y\r\n\r\n'],
  ['NUL in a value', get('X-A: b\0c')],
  ['NUL in a name', get('X-\0A: b')],
  ['NUL in the target', lines('GET /\0 HTTP/1.1', 'Host: a')],
  ['a control character in a value', get('X-A: b\x01c')],
  ['DEL in a value', get('X-A: b\x7fc')],
  ['a name with a bracket', get('X(A: b')],
  ['a name that is not ASCII', get('X\xe4: b')],
  ['an empty name', get(': b')],
  ['a line without a colon', get('nothing')],
  ['chunks with bare line feeds', chunks('2\n[]\n0\n\n')],
  ['the size of a chunk before a bare line feed', chunks('2\n[]\r\n0\r\n\r\n')],
  ['a chunk before a bare line feed', chunks('2\r\n[]\n0\r\n\r\n')],
  ['a chunk beyond 64 bits', chunks('ffffffffffffffff2\r\n[]\r\n0\r\n\r\n')],
  ['a chunk of a negative size', chunks('-2\r\n[]\r\n0\r\n\r\n')],
  ['a chunk of a size with a plus sign', chunks('+2\r\n[]\r\n0\r\n\r\n')],
  ['a chunk of a size with 0x', chunks('0x2\r\n[]\r\n0\r\n\r\n')],
  ['a space before the size of a chunk', chunks(' 2\r\n[]\r\n0\r\n\r\n')],
  ['a space after the size of a chunk', chunks('2 \r\n[]\r\n0\r\n\r\n')],
  ['a chunk without a size', chunks('\r\n[]\r\n0\r\n\r\n')],
  ['a chunk that is longer than its size', chunks('2\r\n[]]\r\n0\r\n\r\n')],
  ['a line feed in a chunk extension', chunks('2;a\nb\r\n[]\r\n0\r\n\r\n')],
  ['chunk extensions without end', chunks(`2;${'a'.repeat(20_000)}\r\n[]\r\n0\r\n\r\n`), 413],
  ['a length as a trailer', chunks('2\r\n[]\r\n0\r\nContent-Length: 5\r\n\r\n')],
  ['a folded trailer', chunks('2\r\n[]\r\n0\r\nX: y\r\n z\r\n\r\n')],
  ['trailers without end', chunks(`2\r\n[]\r\n0\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`), 431],
  ['chunked, identity', coded('chunked, identity')],
  ['chunked twice', coded('chunked, chunked')],
  ['chunked in two headers', coded('chunked', '\r\nTransfer-Encoding: chunked')],
  ['identity after chunked in two headers', coded('chunked', '\r\nTransfer-Encoding: identity')],
  ['identity', coded('identity')],
  ['xchunked', coded('xchunked')],
  ['chunked in quotation marks', coded('"chunked"')],
  ['chunked after a vertical tab', coded('\x0bchunked')],
  ['identity, chunked', coded('identity, chunked'), 501],
  ['gzip, chunked', coded('gzip, chunked'), 501],
  ['chunks in HTTP/1.0', coded('chunked').replace('HTTP/1.1', 'HTTP/1.0')],
  ['no host', lines('GET / HTTP/1.1')],
  ['two hosts', get('Host: b')],
  ['two Authorization headers', get('Authorization: Bearer a', 'authorization: Bearer b')],
  ['the same Authorization twice', get('Authorization: Bearer a', 'Authorization: Bearer a')],
  ['two content types', post('Content-Type: a/b\r\nContent-Length: 2', '[]')],
  ['a target of another host', lines('GET http://b/ HTTP/1.1', 'Host: a')],
  ['a target of another port', lines('GET http://a:81/ HTTP/1.1', 'Host: a')],
  ['a target with the host as its user', lines('GET http://a@b/ HTTP/1.1', 'Host: a')],
  ['a target with an empty host', lines('GET http:///admin HTTP/1.1', 'Host: a')],
  ['a target of a host, and an empty Host', lines('GET http://a/ HTTP/1.1', 'Host:')],
  ['a target of another host in HTTP/1.0', lines('GET http://b/ HTTP/1.0', 'Host: a')],
  ['HTTP/0.9', 'GET /\r\n\r\n', 505],
  ['HTTP/0.9 by name', lines('GET / HTTP/0.9'), 505],
  ['HTTP/2.0 by name', lines('GET / HTTP/2.0', 'Host: a'), 505],
  ['HTTP/1.2', lines('GET / HTTP/1.2', 'Host: a')],
  ['http/1.1', lines('GET / http/1.1', 'Host: a')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['the beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an unknown method', lines('FOO / HTTP/1.1', 'Host: a')],
  ['a method in lower case', lines('get / HTTP/1.1', 'Host: a')],
  ['a method without end', 'A'.repeat(100_000)],
  ['a request line without end', `GET /${'a'.repeat(100_000)}`, 431],
  ['a space in the target', lines('GET /a b HTTP/1.1', 'Host: a')],
  ['a tab in the target', lines('GET /a\tb HTTP/1.1', 'Host: a')],
  ['tabs around the target', lines('GET\t/\tHTTP/1.1', 'Host: a')],
  ['a space before the method', ` ${get()}`],
  ['an unknown expectation', get('Expect: the-best'), 417],
  ['CONNECT', lines('CONNECT a:80 HTTP/1.1', 'Host: a'), 501],
]

for (const [sentence, bytes, status = 400] of refused) {
  test(`${sentence} is refused with ${status}, and nothing after it is answered`, async (t) => {
    handled = []
    const { url, log } = await api(t, [Echo])
    const answer = await send(t, url, bytes + NEXT)
    assert.deepEqual(statusesOf(answer), [status])
    assert.match(answer, /\r\ncontent-type: application\/problem\+json\r\n/)
    assert.match(answer, /\r\nx-content-type-options: nosniff\r\n/)
    assert.deepEqual([handled, log], [[], []])
  })
}

for (const [sentence, bytes, status] of [
  ['two hosts', get('Host: b'), 400],
  ['the same host twice', get('Host: a'), 400],
  ['a Host that is none', lines('GET / HTTP/1.1', 'Host: a b/c@d'), 400],
  ['a target of another host', lines('GET http://b/ HTTP/1.1', 'Host: a'), 400],
  ['two codings', coded('gzip, chunked'), 501],
  ['more headers than Node keeps', post(`${'x:\r\n'.repeat(1_100)}Content-Length: 2`, '[]'), 431],
] as const) {
  test(`${sentence}, sent to the server of another program that calls app.handler: ${status}, and nothing after it is answered`, async (t) => {
    handled = []
    const { app, log } = await api(t, [Echo])
    const answer = await send(t, await plainServer(t, app.handler), bytes + NEXT)
    assert.deepEqual(statusesOf(answer), [status])
    assert.deepEqual([handled, log], [[], []])
  })
}

const taken: readonly (readonly [sentence: string, bytes: string, statuses: readonly number[]])[] = [
  ['a body of a length', sized(' 2'), [201, 200]],
  ['a body in chunks', coded('chunked'), [201, 200]],
  ['a body in chunks, in capitals', coded('CHUNKED'), [201, 200]],
  ['a body on GET', `${get('Content-Length: 3')}GET`, [200, 200]],
  ['empty lines before a request', `\r\n\r\n${get()}`, [200, 200]],
  ['TRACE, of which nothing is sent back', lines('TRACE / HTTP/1.1', 'Host: a', 'Cookie: secret'), [405, 200]],
  ['a target of the same host', lines('GET HTTP://A:81/?b=http://b/ HTTP/1.1', 'Host: a:81'), [200, 200]],
  ['a target of the same host, with a user', lines('GET http://b:c@a/ HTTP/1.1', 'Host: a'), [200, 200]],
  ['a target of a host in HTTP/1.0 without a Host', lines('GET http://a/ HTTP/1.0'), [200]],
  ['HTTP/1.0 without a host', lines('GET / HTTP/1.0'), [200]],
  ['an upgrade to WebSocket', get('Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: x'), [200]],
  ['an upgrade to HTTP/2', get('Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMA'), [200]],
]

for (const [sentence, bytes, statuses] of taken) {
  test(`${sentence} is answered in its order: ${statuses.join(', ')}`, async (t) => {
    const { url, log } = await api(t, [Echo], { timeouts: { keepAlive: 50 } })
    const answer = await send(t, url, bytes + NEXT)
    assert.deepEqual(statusesOf(answer), statuses)
    assert.doesNotMatch(answer, /secret/)
    assert.deepEqual(log, [])
  })
}

test('a host is judged by itself, whatever other requests had', async (t) => {
  const { url } = await api(t, [Echo])
  const host = fc.constantFrom('', 'a', 'b:81', '[::1]', 'a b', 'a/b', 'a@b', 'b:81x', '[::1')
  const valid = new Set(['', 'a', 'b:81', '[::1]'])
  await fc.assert(
    fc.asyncProperty(fc.array(host, { minLength: 2, maxLength: 8 }), async (hosts) => {
      for (const name of hosts.flatMap((each) => [each, each])) {
        const answer = await send(t, url, lines('GET / HTTP/1.1', `Host: ${name}`, 'Connection: close'))
        assert.deepEqual(statusesOf(answer), [valid.has(name) ? 200 : 400], name)
      }
    }),
    { numRuns: runs(20) },
  )
})

const UPGRADES = [
  ['Upgrade: websocket', 'Connection: Upgrade'],
  ['Upgrade: x', 'Connection: keep-alive, upgrade'],
  ['Upgrade: x', 'Connection: Upgrade', 'Content-Length: 0'],
  ['Upgrade: x'],
]

for (const headers of UPGRADES) {
  test(`nothing behind a request with ${headers.join(', ')} is read as a request`, async (t) => {
    const { url, log } = await api(t, [Echo])
    for (const separate of [true, false]) {
      handled = []
      const { closed, send, received } = connection(t, url)
      const next = ['POST /posted HTTP/1.1', 'Host: a', `Content-Length: ${NEXT.length}`, '', ''].join('\r\n')
      send(get(...headers) + next)
      if (separate) await received(/^HTTP/)
      send(NEXT)
      const answer = await closed.catch((error: NodeJS.ErrnoException) => error.code)
      if (answer !== 'ECONNRESET') assert.deepEqual(statusesOf(String(answer)), [200])
      assert.deepEqual(handled, ['GET /'])
    }
    assert.deepEqual(log, [])
  })
}

test('whatever bytes are put into a request, there are no more answers than it has requests, and the app goes on', async (t) => {
  const { url, fetch, log } = await api(t, [Echo], { timeouts: { headers: 600, request: 600, keepAlive: 50 } })
  const whole = fc.constantFrom(
    get(),
    get('X-A: b'),
    sized(' 2'),
    coded('chunked'),
    chunks('1\r\n[\r\n1\r\n]\r\n0\r\n\r\n'),
  )
  const piece = fc.constantFrom(
    '\r',
    '\n',
    '\r\n',
    ' ',
    '\t',
    '\0',
    ':',
    ',',
    ';',
    '0',
    '-',
    '\x85',
    'Content-Length: 1',
    'chunked',
  )
  const place = fc.double({ min: 0, max: 1, noNaN: true })
  const law = fc.asyncProperty(whole, piece, place, async (request, text, where) => {
    const at = Math.floor(where * request.length)
    handled = []
    const statuses = statusesOf(await send(t, url, request.slice(0, at) + text + request.slice(at) + NEXT))
    assert.ok(statuses.length <= 2 && handled.length <= 2, `${statuses.join()} ${handled.join()}`)
    if (statuses[0] !== undefined && statuses[0] < 400 && statuses.length === 2)
      assert.equal(handled.at(-1), 'GET /next')
    assert.equal((await fetch('/')).status, 200)
  })
  await fc.assert(law, { numRuns: runs(150) })
  assert.deepEqual(log, [])
})
