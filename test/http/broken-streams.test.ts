// Waits for seconds: the ends of streams that nothing reads.
import assert from 'node:assert/strict'

import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Controller, Events, events, Field, file, Get, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { databaseApp, sqliteFile } from '../support/databases.js'

/*
 * The end of the connection is the end of a body without a length and without chunks, as in HTTP/1.0. A broken one is reset.
 */

class Line {
  @Field({ type: 'integer' }) number!: number
}

const NUMBERS = 'WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)'
const numbers = (value: string) =>
  rows({
    kind: 'sql',
    texts: [`${NUMBERS} SELECT ${value} AS number FROM numbers`],
    values: [],
  } as unknown as ReturnType<typeof sql<Line>>)

async function* parts(count: number, end: 'fails' | 'ends' | 'waits') {
  for (let number = 0; number < count; number++) yield `${number}\n`
  if (end === 'fails') throw new Error('The source is broken.')
  if (end === 'waits') await new Promise(() => {})
}

@Controller('/')
class Streams {
  @Get('/rows', Rows.of(Line)) rows() {
    return numbers('n')
  }
  @Get('/broken-rows', Rows.of(Line)) brokenRows() {
    return numbers('CASE WHEN n < 4000 THEN n END')
  }
  @Get('/stream', { produces: 'text/plain' }) stream() {
    return file(Readable.from(parts(100, 'ends')), { type: 'text/plain' })
  }
  @Get('/broken-stream', { produces: 'text/plain' }) brokenStream() {
    return file(Readable.from(parts(100, 'fails')), { type: 'text/plain' })
  }
  @Get('/waiting-stream', { produces: 'text/plain' }) waitingStream() {
    return file(Readable.from(parts(100, 'waits')), { type: 'text/plain' })
  }
  @Get('/broken-events', Events.of(Line)) brokenEvents() {
    const source = async function* () {
      yield { data: { number: 1 } }
      throw new Error('The source is broken.')
    }
    return events(source())
  }
}

const start = (t: TestContext) => databaseApp(t, sqliteFile, [], [Streams], { timeouts: { drain: 50 } })

/** Sends a request, and returns what a client takes as its body, and how the connection has ended. */
async function read(url: string, head: string, onData?: () => void, isHalfClosed = false) {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  let end = 'none'
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => ((text += chunk), onData?.()))
  socket.on('end', () => ((end = 'end'), socket.end()))
  socket.on('error', (error: NodeJS.ErrnoException) => (end = String(error.code)))
  if (isHalfClosed) socket.end(`${head}\r\n\r\n`)
  else socket.write(`${head}\r\n\r\n`)
  await new Promise((resolve) => socket.on('close', resolve))
  return { text, end }
}

for (const path of ['/broken-rows', '/broken-stream', '/broken-events'])
  for (const head of [`GET ${path} HTTP/1.0`, `GET ${path} HTTP/1.0\r\nConnection: keep-alive`])
    test(`a broken response is reset: ${JSON.stringify(head)}`, async (t) => {
      const { url } = await start(t)
      const accepts = path === '/broken-rows' ? ['application/x-ndjson', 'application/json', 'text/csv'] : ['*/*']
      for (const accept of accepts) assert.equal((await read(url, `${head}\r\nAccept: ${accept}`)).end, 'ECONNRESET')
    })

test('a whole response of HTTP/1.0 ends, and is not reset', async (t) => {
  const { url } = await start(t)
  const lines = await read(url, 'GET /rows HTTP/1.0')
  assert.deepEqual([lines.end, lines.text.match(/"number":/g)?.length], ['end', 5000])
  const stream = await read(url, 'GET /stream HTTP/1.0')
  assert.deepEqual([stream.end, stream.text.endsWith('\n98\n99\n')], ['end', true])
})

test('with chunks or not, a broken response of HTTP/1.1 is not whole', async (t) => {
  const { url } = await start(t)
  for (const more of ['', '\r\nConnection: close']) {
    const { text } = await read(url, `GET /broken-stream HTTP/1.1\r\nHost: a${more}`)
    assert.ok(text.includes('chunked') && !text.endsWith('0\r\n\r\n'))
  }
})

test('the end of the app resets a response that is not whole', async (t) => {
  const { url, app } = await start(t)
  const close = () => void app.close()
  assert.equal((await read(url, 'GET /waiting-stream HTTP/1.0', close)).end, 'ECONNRESET')
})
