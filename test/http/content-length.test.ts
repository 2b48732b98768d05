import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Controller, file, Get, reply } from 'sequitur'
import { api } from '../support/api.js'
import { connection } from '../support/connection.js'
import { until } from '../support/waiting.js'
import { runs } from '../support/fuzz.js'

/** A route that sends a file which is changed between the check of its size and the reading of it. */
function changing(t: TestContext, content: string, change: (path: string) => void, isRooted: boolean) {
  const root = mkdtempSync(join(tmpdir(), 'sequitur-length-'))
  t.after(() => rmSync(root, { recursive: true }))
  const path = join(root, 'a.log')
  @Controller()
  class Files {
    @Get('/file', { produces: '*/*' }) async get() {
      writeFileSync(path, content)
      const found = await (isRooted ? file('a.log', { root }) : file(path))
      change(path)
      return found
    }
    @Get('/next') next() {
      return 'the next answer'
    }
  }
  return Files
}

const request = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\nHost: a\n\n`

for (const isRooted of [false, true])
  for (const content of ['', 'a', 'abc'])
    test(`a file of ${content.length} bytes that grows${isRooted ? ' below a root' : ''} is sent as it was, and the next answer after it`, async (t) => {
      const { url } = await api(t, [changing(t, content, (path) => appendFileSync(path, 'HTTP/1.1 '), isRooted)])
      const { send, received } = connection(t, url)
      send(request('/file'))
      await received(new RegExp(`content-length: ${content.length}\r\n[^]*\r\n\r\n${content}$`, 'i'))
      send(request('/next'))
      assert.match(
        await received(/the next answer"$/),
        new RegExp(`\r\n\r\n${content}HTTP/1\\.1 200 OK\r\n[^]*"the next answer"$`),
      )
    })

for (const isRooted of [false, true])
  test(`a file that shrinks${isRooted ? ' below a root' : ''} ends the connection, and the log states why`, async (t) => {
    const { url, log } = await api(t, [changing(t, 'abcdef', (path) => truncateSync(path, 2), isRooted)])
    const { send, closed } = connection(t, url)
    send(request('/file') + request('/next'))
    assert.match(await ended(closed), /^(?:HTTP\/1\.1 200 [^]*content-length: 6\r\n[^]*\r\n\r\n(?:ab?)?)?$/i)
    await until('the log says why', () =>
      Promise.resolve(/content-length is 6 bytes, but the stream has only [02]/.test(log.join())),
    )
  })

test('HEAD of a file that changes has its length, no body, and leaves the connection open', async (t) => {
  for (const change of [(path: string) => appendFileSync(path, 'x'), (path: string) => truncateSync(path, 0)]) {
    const { url } = await api(t, [changing(t, 'abc', change, true)])
    const { send, received } = connection(t, url)
    send(request('/file', 'HEAD'))
    await received(/content-length: 3\r\n[^]*\r\n\r\n$/i)
    send(request('/next'))
    assert.match(await received(/the next answer"$/), /\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*"the next answer"$/)
  }
})

/** A route that sends these chunks under this length. */
function streaming(chunks: readonly (string | Uint8Array)[], length: string) {
  @Controller()
  class Streams {
    @Get('/stream', { produces: '*/*' }) get() {
      return file(Readable.from(chunks), { headers: { 'Content-Length': length } })
    }
    @Get('/next') next() {
      return 'the next answer'
    }
  }
  return Streams
}

/** All that came, also when the connection was reset. */
function ended(closed: Promise<string>): Promise<string> {
  return closed.catch(() => '')
}

test('whatever a stream gives, its content-length is what is sent, or the connection ends', async (t) => {
  const chunk = fc.oneof(fc.constantFrom('a', 'é', 'bc', ''), fc.uint8Array({ maxLength: 4 }))
  const length = fc.nat({ max: 12 })
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 5 }), length, async (chunks, announced) => {
      const { url, close } = await api(t, [streaming(chunks, String(announced))])
      const { send, closed, received } = connection(t, url)
      send(request('/stream') + request('/next'))
      const bytes = Buffer.concat(chunks.map((part) => Buffer.from(part)))
      const isExact = bytes.length === announced
      const text = await (isExact ? received(/the next answer"$/) : ended(closed))
      const headersEnd = text.indexOf('\r\n\r\n') // they may be broken off, too
      const body = headersEnd < 0 ? '' : text.slice(headersEnd + 4)
      if (isExact) assert.equal(body.slice(0, body.indexOf('HTTP/1.1 200 OK')), bytes.toString('latin1'))
      else assert.ok(body.length <= announced && !text.includes('the next answer'), JSON.stringify(text))
      await close()
    }),
    { numRuns: runs(60) },
  )
})

test('a stream with more or fewer bytes than announced is destroyed, and the log states which', async (t) => {
  const { url, log } = await api(t, [streaming(['abc', 'def', 'ghi'], '4')])
  await ended(exchangeAll(t, url))
  await until('the log says why', () =>
    Promise.resolve(/GET \/stream .*content-length is 4 bytes, but the stream has more/.test(log.join())),
  )
})

function exchangeAll(t: TestContext, url: string): Promise<string> {
  const { send, closed } = connection(t, url)
  send(request('/stream'))
  return closed
}

for (const length of ['abc', '-1', '1.5', '5, 5', '']) {
  test(`a stream with the content-length ${JSON.stringify(length)} is a 500, and is destroyed`, async (t) => {
    const stream = Readable.from(['abcde'])
    @Controller()
    class Streams {
      @Get('/', { produces: '*/*' }) get() {
        return file(stream, { headers: { 'content-length': length } })
      }
    }
    const { fetch, log } = await api(t, [Streams])
    assert.equal((await fetch('/')).status, 500)
    assert.match(log.join(), /header content-length is ".*"\. Write the number of bytes\./)
    assert.equal(stream.destroyed, true)
  })
}

test('a content-length beside no body is not sent: the next answer would be taken for the body', async (t) => {
  @Controller()
  class Empty {
    @Get('/empty', { responses: { 303: 'Elsewhere' } }) empty(status: number) {
      return reply(undefined, { status, headers: { 'Content-Length': '5', location: '/' } })
    }
    @Get('/next') next() {
      return 'the next answer'
    }
  }
  const { url } = await api(t, [Empty])
  for (const status of [204, 303]) {
    const { send, received } = connection(t, url)
    send(request(`/empty?status=${status}`) + request('/next'))
    const text = await received(/the next answer"$/)
    assert.doesNotMatch(text.slice(0, text.indexOf('\r\n\r\n')), /content-length: 5/i)
  }
})
