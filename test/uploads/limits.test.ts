import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Controller, Field, Post } from 'sequitur'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { api } from '../support/api.js'
import { connection } from '../support/connection.js'
import { formOf, noTemporaryFiles, rawForm, sendForm, temporaryFiles } from '../support/uploads.js'
import { gate, until } from '../support/waiting.js'

class Upload {
  @Field({ optional: true }) title?: string
  @File({ maxSize: 600_000 }) file!: UploadedFile
  @File({ optional: true, maxSize: 1000, maxItems: 3 }) more?: UploadedFile[]
}

let calls = 0

@Controller('/')
class Uploads {
  @Post('/', { status: 204 }) any(@Multipart() _form: Upload) {
    calls++
  }
  @Post('/small', { status: 204 }) small(@Multipart({ bodyLimit: 2000 }) _form: Upload) {
    calls++
  }
}

async function uploads(t: TestContext, controllers = [Uploads]) {
  calls = 0
  const app = await api(t, controllers, { bodyLimit: 3000, timeouts: { handler: 5000 } })
  return { ...app, send: (body: FormData | string, path = '/') => sendForm(app, path, body) }
}

const TITLE = 'Content-Disposition: form-data; name="title"'
const FILE = 'Content-Disposition: form-data; name="file"; filename="a"'
const large = randomBytes(700_000)

const tooLarge: readonly (readonly [what: string, body: FormData | string, path: string, detail: RegExp])[] = [
  [
    'a file beyond its limit',
    formOf(['file', large.subarray(0, 603_000), 'a']),
    '/',
    /^The file file is larger than 600000 bytes/,
  ],
  [
    'a body beyond all limits',
    formOf(['file', Buffer.concat([large, large]), 'a']),
    '/',
    /^The body is larger than 606000 /,
  ],
  ['a body beyond its own limit', formOf(['file', 'x'.repeat(1900), 'a']), '/small', /^The body is larger than 2000 /],
  [
    'text fields beyond the bodyLimit',
    rawForm([TITLE, 'x'.repeat(3001)], [FILE, 'a']),
    '/',
    /^The text fields .* 3000 bytes/,
  ],
  ['unknown text fields beyond it', rawForm([TITLE.replace('title', 'x'), 'x'.repeat(3001)]), '/', /^The text fields/],
  [
    'many parts',
    rawForm(...Array.from({ length: 1001 }, () => ['Content-Disposition: form-data; name=a', ''] as const)),
    '/',
    /more than 1000 parts/,
  ],
  ['a long name', rawForm([TITLE.replace('title', 'x'.repeat(201)), 'a']), '/', /longer than 200 bytes/],
  ['a long header', rawForm([`${FILE}\r\nX-A: ${'x'.repeat(8200)}`, 'a']), '/', /more than 16 lines or 8192 bytes/],
  [
    'a very long header',
    rawForm([`X-A: ${'x'.repeat(50_000)}\r\n${FILE}`, 'a']),
    '/',
    /more than 16 lines or 8192 bytes/,
  ],
  ['many header lines', rawForm([`${'X-A: x\r\n'.repeat(16)}${FILE}`, 'a']), '/', /more than 16 lines/],
]

for (const [what, body, path, detail] of tooLarge) {
  test(`${what}: 413, and the handler is not called`, async (t) => {
    const { send } = await uploads(t)
    const { status, json } = await send(body, path)
    assert.equal(status, 413)
    assert.match(json.detail, detail)
    assert.equal(calls, 0)
    await noTemporaryFiles()
  })
}

test('of a file beyond its limit, the 413 names the field, and the connection serves the next request', async (t) => {
  const { send } = await uploads(t)
  const { errors } = await send(formOf(['file', 'a', 'a'], ['more', 'x'.repeat(1001), 'a']))
  assert.deepEqual(errors, [{ in: 'body', path: '/more', message: 'must have at most 1000 bytes' }])
  assert.equal((await send(formOf(['file', 'a', 'a']))).status, 204)
})

test('a body without a length is cut off at the limit', async (t) => {
  const { url } = await uploads(t)
  const socket = connection(t, url)
  socket.send('POST / HTTP/1.1\nHost: a\nContent-Type: multipart/form-data; boundary=X\nTransfer-Encoding: chunked\n\n')
  const preamble = 'x'.repeat(0xffff)
  for (let i = 0; i < 10; i++) socket.send(`ffff\n${preamble}\n`)
  assert.match(await socket.received(/\r\n\r\n\{/), /^HTTP\/1.1 413/)
})

const malformed: readonly (readonly [what: string, body: string])[] = [
  ['nothing', ''],
  ['no boundary', 'title=a'],
  ['another boundary', rawForm([FILE, 'a']).replaceAll('--X', '--Y')],
  ['no closing boundary', rawForm([FILE, 'a']).replace('--X--\r\n', '')],
  ['the end within a file', `--X\r\n${FILE}\r\n\r\nabc`],
  ['the end within a large file', `--X\r\n${FILE}\r\n\r\n${'x'.repeat(500_000)}`],
  ['the end within a header', `--X\r\nContent-Disposition: form-`],
  ['a part without a header', '--X\r\n\r\nabc\r\n--X--\r\n'],
  ['a part without an end of its header', `--X\r\n${FILE}\r\n--X--\r\n`],
  ['a part without a disposition', rawForm(['Content-Type: text/plain', 'a'])],
  ['another disposition', rawForm(['Content-Disposition: attachment; name="title"', 'a'])],
  ['a part without a name', rawForm(['Content-Disposition: form-data; filename="a"', 'a'])],
  ['two names', rawForm(['Content-Disposition: form-data; name="a"; name="b"', 'a'])],
  ['two dispositions', rawForm([`${TITLE}\r\n${FILE}`, 'a'])],
  ['a name that is not closed', rawForm(['Content-Disposition: form-data; name="title', 'a'])],
  ['a line break in a name', rawForm(['Content-Disposition: form-data; name="ti\ntle"', 'a'])],
  ['filename* of another charset', rawForm([`${FILE}; filename*=latin1''a`, 'a'])],
]

for (const [what, body] of malformed) {
  test(`a form with ${what} is a 400`, async (t) => {
    const { send } = await uploads(t)
    const { status, json } = await send(body)
    assert.deepEqual([status, calls], [400, 0], JSON.stringify(json))
    await noTemporaryFiles()
  })
}

test('what is not UTF-8 is a 400, a boundary that is missing or too long, too; encoded content is a 415', async (t) => {
  const app = await uploads(t)
  const bytes = Buffer.from(rawForm([TITLE, '\xff'], [FILE, 'a']), 'latin1')
  assert.equal((await sendForm(app, '/', bytes)).status, 400)
  for (const boundary of ['', '; boundary=', `; boundary=${'x'.repeat(71)}`, '; boundary=""'])
    assert.equal((await sendForm(app, '/', rawForm([FILE, 'a']), `multipart/form-data${boundary}`)).status, 400)
  const encoded = rawForm([`${FILE}\r\nContent-Transfer-Encoding: base64`, 'YQ=='])
  assert.equal((await app.send(encoded)).status, 415)
  assert.equal(
    (await sendForm(app, '/', rawForm([FILE, 'a']), 'multipart/form-data; boundary=X; charset=latin1')).status,
    415,
  )
})

test('preamble, epilogue, folded headers and parts in any order are read', async (t) => {
  const { send } = await uploads(t)
  const body = `preamble\r\n${rawForm([FILE.replace('; file', ';\r\n file'), 'a'], [TITLE, ''])}epilogue`
  assert.equal((await send(body)).status, 204)
})

function header(length: number): string {
  return `POST / HTTP/1.1\nHost: a\nContent-Type: multipart/form-data; boundary=X\nContent-Length: ${length}\n\n`
}

test('a form that arrives byte by byte is read', async (t) => {
  const { url } = await uploads(t)
  const socket = connection(t, url)
  const body = rawForm([FILE, 'abc\r\n--Y\r\n-'], [TITLE, 'a'])
  socket.send(header(body.length))
  for (const byte of body) {
    socket.send(byte === '\n' || byte === '\r' ? '' : byte)
    if (byte === '\n') socket.send('\n')
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.match(await socket.received(/\r\n\r\n/), /^HTTP\/1.1 204/)
})

test('the files of a client that leaves while it sends are removed', async (t) => {
  const { url } = await uploads(t)
  const socket = connection(t, url)
  socket.send(header(500_000) + `--X\n${FILE}\n\n${'x'.repeat(400_000)}`)
  await until('a file is spooled', () => temporaryFiles().length === 2)
  socket.destroy()
  await noTemporaryFiles()
  assert.equal(calls, 0)
})

test('the files of a request whose time is over are removed, once its handler has ended', async (t) => {
  const { opened, open } = gate()
  let size = 0
  @Controller('/')
  class Slow {
    @Post('/', { status: 204 }) async slow(@Multipart() { file }: Upload) {
      await opened
      size = (await file.bytes()).length
    }
  }
  const app = await api(t, [Slow], { timeouts: { handler: 500 } })
  assert.equal((await sendForm(app, '/', formOf(['file', large.subarray(0, 500_000), 'a']))).status, 503)
  open()
  await noTemporaryFiles()
  assert.ok(size === 500_000 || size === 0)
})

test('the files of a client that stops sending are removed with the 503', async (t) => {
  const app = await api(t, [Uploads], { timeouts: { handler: 500 } })
  const socket = connection(t, app.url)
  socket.send(header(500_000) + `--X\n${FILE}\n\n${'x'.repeat(400_000)}`)
  assert.match(await socket.received(/\r\n\r\n/), /^HTTP\/1.1 503/)
  await noTemporaryFiles()
})

test('close() waits for the removal of temporary files', async (t) => {
  const app = await uploads(t)
  assert.equal((await app.send(formOf(['file', large.subarray(0, 500_000), 'a']))).status, 204)
  await app.close()
  assert.deepEqual(temporaryFiles(), [])
})

test('streams that nothing has read to the end are closed with the request', async (t) => {
  const streams: Readable[] = []
  @Controller('/')
  class Unread {
    @Post('/', { status: 204 }) open(@Multipart() { file }: Upload) {
      streams.push(file.stream())
    }
  }
  const app = await api(t, [Unread])
  assert.equal((await sendForm(app, '/', formOf(['file', large.subarray(0, 500_000), 'a']))).status, 204)
  await until('the stream is closed', () => streams.length === 1 && streams.every(({ closed }) => closed))
})
