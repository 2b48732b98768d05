// Waits for seconds: the time in which a body is ignored.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Body, Controller, file, Get, type Middleware, Post } from 'sequitur'
import { MAX_IGNORED_BYTES, QUIET } from '../../src/http/output/unread-body.js'
import { api } from '../support/api.js'
import { connection } from '../support/connection.js'
import { until } from '../support/waiting.js'

@Controller()
class Notes {
  @Get('/notes') list() {
    return 'list'
  }
  @Post('/notes') add(@Body({ type: 'any' }) note: unknown) {
    return note
  }
  @Get('/file', { produces: 'text/plain' }) file() {
    return file(Readable.from(['a file']), { type: 'text/plain' })
  }
}

const answering: Middleware = (request, response, next) =>
  request.url === '/middleware' ? response.end('mine') : next()

/** More than the kernel holds of what a client has sent, in bytes: Linux may let its buffers grow to 36 MiB. */
const IN_TRANSIT = 40 * 2 ** 20

const chunk = Buffer.alloc(65_536, ' ')
const chunked = Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')])
const LENGTHS = ['Content-Length: 1000000000000', 'Transfer-Encoding: chunked'] as const

/** Sends a request whose body never ends. Resolves to what it received and sent when the server closes the connection. */
async function sendEndless(t: TestContext, url: string, line: string, length: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  const part = length.startsWith('Transfer') ? chunked : chunk
  const send = () => {
    while (!socket.destroyed && socket.write(part));
  }
  let text = ''
  socket.setEncoding('latin1').on('data', (received: string) => (text += received))
  socket.write(`${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${length}\r\n\r\n`)
  socket.on('drain', send)
  send()
  await new Promise((resolve) => socket.once('close', resolve))
  return { text, sent: socket.bytesWritten - socket.writableLength }
}

for (const length of LENGTHS) {
  for (const [line, status] of [
    ['POST /notes', 413],
    ['POST /nothing', 404],
    ['DELETE /notes', 405],
    ['GET /notes', 200],
    ['HEAD /notes', 200],
    ['OPTIONS /notes', 204],
    ['GET /file', 200],
    ['GET /docs', 200],
    ['GET //notes', 400],
    ['POST /middleware', 200],
  ] as const) {
    test(`after a response to ${line} with an endless body (${length}) a bounded part of it is read`, async (t) => {
      const { url, log } = await api(t, [Notes], { middleware: [answering] })
      const { text, sent } = await sendEndless(t, url, line, length)
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.ok(sent < MAX_IGNORED_BYTES + IN_TRANSIT, `${sent} bytes were sent`)
      assert.deepEqual(log, [])
    })
  }
}

test('a response that closes the connection because of an unread body says so', async (t) => {
  const { url } = await api(t, [Notes])
  for (const length of LENGTHS) {
    assert.match((await sendEndless(t, url, 'POST /nothing', length)).text, /\r\nconnection: close\r\n/i)
  }
})

test('a short body that nothing reads does not end its connection', async (t) => {
  const { url } = await api(t, [Notes])
  const { send, received } = connection(t, url)
  send('POST /nothing HTTP/1.1\nHost: a\nContent-Length: 1000\n\n')
  await received(/^HTTP\/1\.1 404 [^]*}$/)
  send('x'.repeat(1000))
  send('GET /notes HTTP/1.1\nHost: a\n\n')
  assert.match(await received(/"list"$/), /HTTP\/1\.1 404 [^]*HTTP\/1\.1 200 /)
})

for (const line of ['POST /notes', 'POST /nothing']) {
  test(`the time in which the body of ${line} is ignored is bounded, also in the server of another program`, async (t) => {
    const { app } = await api(t, [Notes], { bodyLimit: 10 })
    const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, app.handler).listen(0, '127.0.0.1')
    t.after(() => server.close().closeAllConnections())
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    client.write(`${line} HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n`)
    const timer = setInterval(() => client.write('x'), 50)
    t.after(() => (clearInterval(timer), client.destroy()))
    let text = ''
    client.setEncoding('latin1').on('data', (received: string) => (text += received))
    await until('the server has closed the connection', () => client.destroyed)
    assert.match(text, /^HTTP\/1\.1 4\d\d /)
  })
}

test('a client whose bytes have come while the process was busy has not stopped sending', async (t) => {
  let serverSide: Socket | undefined
  const middleware: Middleware = (request, _response, next) => {
    serverSide = request.socket
    next()
  }
  const { url } = await api(t, [Notes], { middleware: [middleware] })
  const { send, received, closed } = connection(t, url)
  const head = 'POST /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3000\r\n\r\n'
  send(head)
  await received(/^HTTP\/1\.1 404 [^]*}$/)
  send('x'.repeat(1000))
  const end = performance.now() + 2 * QUIET
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, QUIET / 10))
  send('x'.repeat(2000))
  assert.match(await closed, /^HTTP\/1\.1 404 [^]*}$/)
  assert.equal(serverSide?.bytesRead, head.length + 3000)
})
