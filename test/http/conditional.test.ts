import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Controller, file, type FileOptions, Get, Post, select, Session } from 'sequitur'
import { api } from '../support/api.js'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { conformsTo } from '../support/documented.js'
import { runs } from '../support/fuzz.js'
import { Hero } from '../support/hero.js'

const CONTENT = 'abcdefghij'
const MODIFIED = new Date('2026-01-31T12:00:00.500Z')
const HTTP_DATE = 'Sat, 31 Jan 2026 12:00:00 GMT'

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'sequitur-range-'))
  t.after(() => rmSync(made, { recursive: true }))
  return made
}

/** An app that sends a file by its path, without and with a root, an empty file, a stream and bytes. */
async function files(t: TestContext, options: FileOptions = {}) {
  const root = folder(t)
  const path = join(root, 'a.txt')
  writeFileSync(path, CONTENT)
  writeFileSync(join(root, 'empty'), '')
  utimesSync(path, MODIFIED, MODIFIED)
  const type = 'text/plain'
  @Controller()
  class Files {
    @Get('/path', { produces: type }) path() {
      return file(path, { type, ...options })
    }
    @Get('/root', { produces: type }) root() {
      return file('a.txt', { type, root, ...options })
    }
    @Get('/empty', { produces: type }) empty() {
      return file('empty', { type, root })
    }
    @Get('/stream', { produces: type }) stream() {
      return file(Readable.from([CONTENT]), { type })
    }
    @Get('/bytes', { produces: type }) bytes() {
      return file(Buffer.from(CONTENT), { type })
    }
    @Post('/path', { produces: type, status: 200 }) post() {
      return file(path, { type })
    }
  }
  const app = await api(t, [Files])
  const conforms = conformsTo(app.app)
  const send = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await app.fetch(url, { method, headers })
    return { status: response.status, headers: response.headers, text: await response.text(), response }
  }
  return { ...app, conforms, send, root, path }
}

for (const url of ['/path', '/root']) {
  test(`${url}: a file has an ETag and a date, and is not sent again to who has it`, async (t) => {
    const { send, path } = await files(t, { name: 'a.txt' })
    const first = await send(url)
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]+"$/)
    assert.deepEqual(
      ['last-modified', 'accept-ranges', 'cache-control', 'content-length'].map((name) => first.headers.get(name)),
      [HTTP_DATE, 'bytes', 'no-cache', '10'],
    )
    for (const method of ['GET', 'HEAD'])
      for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const { status, headers, text } = await send(url, { 'if-none-match': condition }, method)
        assert.deepEqual([status, text, headers.get('etag'), headers.get('content-disposition')], [304, '', etag, null])
      }
    assert.equal((await send(url, { 'if-none-match': '"x"', 'if-modified-since': HTTP_DATE })).status, 200)
    writeFileSync(path, 'changed')
    const changed = await send(url, { 'if-none-match': etag })
    assert.deepEqual([changed.status, changed.text], [200, 'changed'])
  })

  test(`${url}: If-Modified-Since is compared with the date of the file, and ignored when it is no date of HTTP`, async (t) => {
    const { send } = await files(t)
    const statuses = async (...dates: string[]) =>
      Promise.all(dates.map(async (date) => (await send(url, { 'if-modified-since': date })).status))
    assert.deepEqual(await statuses(HTTP_DATE, 'Sun, 01 Feb 2026 00:00:00 GMT'), [304, 304])
    assert.deepEqual(
      await statuses('Sat, 31 Jan 2026 11:59:59 GMT', '2026-02-01', '', 'Xxx, 99 Xxx 2026 00:00:00 GMT'),
      [200, 200, 200, 200],
    )
  })

  test(`${url}: one range is a 206 with exactly these bytes`, async (t) => {
    const { send } = await files(t)
    for (const [range, text, content] of [
      ['bytes=0-0', 'a', 'bytes 0-0/10'],
      ['bytes=2-4', 'cde', 'bytes 2-4/10'],
      ['bytes=7-', 'hij', 'bytes 7-9/10'],
      ['bytes=-2', 'ij', 'bytes 8-9/10'],
      ['bytes=-99', CONTENT, 'bytes 0-9/10'],
      ['BYTES=8-99999999999999999999', 'ij', 'bytes 8-9/10'],
    ] as const) {
      const part = await send(url, { range })
      const { headers } = part
      assert.deepEqual(
        [part.status, part.text, headers.get('content-range'), headers.get('content-length')],
        [206, text, content, String(text.length)],
      )
      assert.ok(headers.get('etag'))
    }
  })

  test(`${url}: a range beyond the end is a 416 with the size`, async (t) => {
    const { send, conforms } = await files(t)
    for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
      const { status, headers, response, text } = await send(url, { range })
      assert.deepEqual([status, headers.get('content-range')], [416, 'bytes */10'])
      conforms('get', url, response, text)
    }
  })

  test(`${url}: what is no single range of bytes is ignored, as is every range of HEAD`, async (t) => {
    const { send } = await files(t)
    for (const range of [
      'bytes=4-2',
      'bytes=-',
      'bytes=',
      'bytes=a-b',
      'lines=0-1',
      'bytes=0-1,3-4',
      'bytes 0-1',
      '0-1',
    ]) {
      const { status, text } = await send(url, { range })
      assert.deepEqual([status, text], [200, CONTENT])
    }
    const head = await send(url, { range: 'bytes=0-0' }, 'HEAD')
    assert.deepEqual([head.status, head.headers.get('content-length'), head.text], [200, '10', ''])
  })

  test(`${url}: If-Range sends all of a file that has changed`, async (t) => {
    const { send } = await files(t)
    const etag = (await send(url)).headers.get('etag') ?? ''
    const status = async (condition: string) => (await send(url, { range: 'bytes=0-0', 'if-range': condition })).status
    assert.deepEqual(await Promise.all([etag, HTTP_DATE].map(status)), [206, 206])
    assert.deepEqual(
      await Promise.all([`W/${etag}`, '"x"', 'Sun, 01 Feb 2026 00:00:00 GMT', 'soon', ''].map(status)),
      [200, 200, 200, 200, 200],
    )
  })
}

test('a date in the future is not sent: a file could change before it', async (t) => {
  const { send, path } = await files(t)
  const tomorrow = new Date(Date.now() + 86_400_000)
  utimesSync(path, tomorrow, tomorrow)
  const { status, headers } = await send('/path', { 'if-modified-since': tomorrow.toUTCString() })
  assert.deepEqual([status, headers.get('last-modified')], [200, null])
})

test('streams, bytes, other methods and empty files have no ranges', async (t) => {
  const { send } = await files(t)
  const headers = { range: 'bytes=2-3', 'if-none-match': '*' }
  for (const [url, method] of [
    ['/stream', 'GET'],
    ['/bytes', 'GET'],
    ['/path', 'POST'],
  ] as const) {
    const sent = await send(url, headers, method)
    assert.deepEqual([sent.status, sent.text, sent.headers.get('etag')], [200, CONTENT, null])
  }
  const empty = await send('/empty', { range: 'bytes=0-' })
  assert.deepEqual([empty.status, empty.text], [200, ''])
})

test("the handler's headers replace those of the file", async (t) => {
  const headers = { ETag: 'W/"v1"', 'Cache-Control': 'max-age=60', 'Accept-Ranges': 'none' }
  const { send } = await files(t, { headers })
  const sent = await send('/path', { range: 'bytes=0-0' })
  assert.deepEqual([sent.status, sent.text, sent.headers.get('cache-control')], [200, CONTENT, 'max-age=60'])
  assert.equal((await send('/path', { 'if-none-match': '"v1"' })).status, 304)
})

test('a file that is replaced before it is sent is not sent in its place, also without a root', async (t) => {
  const root = folder(t)
  const path = join(root, 'a.txt')
  writeFileSync(path, CONTENT)
  writeFileSync(join(root, 'b.txt'), 'klmnopqrst')
  @Controller()
  class Files {
    @Get('/', { produces: '*/*' }) async get() {
      const found = await file(path)
      renameSync(join(root, 'b.txt'), path)
      return found
    }
  }
  const { fetch, log } = await api(t, [Files])
  const text = await fetch('/', { headers: { range: 'bytes=0-3' } }).then((response) => response.text(), String)
  assert.doesNotMatch(text, /klm/)
  assert.match(log.join(), /the file was replaced before it was sent/)
})

test('206 and 304 follow the COMMIT; a 416 is an error, after which nothing is saved', async (t) => {
  const path = join(folder(t), 'a.txt')
  writeFileSync(path, CONTENT)
  @Controller()
  class Downloads {
    @Get('/', { produces: '*/*' }) async get(name: string, session: Session) {
      await session.add(Hero.build({ name, age: 20 }))
      return file(path)
    }
    @Get('/names') async names(session: Session) {
      return (await session.all(select(Hero))).map(({ name }) => name)
    }
  }
  const { fetch } = await databaseApp(t, sqliteMemory, [Hero], [Downloads])
  assert.equal((await fetch('/?name=part', { headers: { range: 'bytes=0-1' } })).status, 206)
  assert.equal((await fetch('/?name=known', { headers: { 'if-none-match': '*' } })).status, 304)
  assert.equal((await fetch('/?name=beyond', { headers: { range: 'bytes=99-' } })).status, 416)
  assert.deepEqual(await (await fetch('/names')).json(), ['part', 'known'])
})

test('whatever the headers, the response is documented, and its bytes are those that its headers name', async (t) => {
  const { fetch, app } = await files(t)
  const statuses = Object.keys(app.openapi().paths?.['/path']?.get?.responses ?? {})
  const number = fc.oneof(fc.nat({ max: 14 }).map(String), fc.constantFrom('', '00', '1e3', '-1', '9'.repeat(30)))
  const range = fc.oneof(
    fc.tuple(number, number).map(([first, last]) => `bytes=${first}-${last}`),
    fc
      .array(fc.constantFrom('bytes', '=', '-', ',', '1', '5', ' ', '\t', 'W/', '"', '*', 'ÿ'), { maxLength: 12 })
      .map((parts) => parts.join('')),
  )
  const given = fc.record(
    { range, 'if-range': range, 'if-none-match': range, 'if-modified-since': range },
    { requiredKeys: ['range'] },
  )
  await fc.assert(
    fc.asyncProperty(given, fc.constantFrom('/path', '/root'), async (headers, url) => {
      const response = await fetch(url, { headers: headers as Record<string, string> })
      const text = await response.text()
      assert.ok(statuses.includes(String(response.status)), String(response.status))
      const [, start, end] = /^bytes (\d+)-(\d+)\/10$/.exec(response.headers.get('content-range') ?? '') ?? []
      if (response.status === 206) assert.equal(text, CONTENT.slice(Number(start), Number(end) + 1))
      if (response.status === 200) assert.equal(text, CONTENT)
    }),
    { numRuns: runs(400) },
  )
})
