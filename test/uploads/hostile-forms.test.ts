// Needs a process of its own: it measures memory.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { json, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Controller, Field, Post } from 'sequitur'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { api } from '../support/api.js'
import { cpuMilliseconds } from '../support/cpu-time.js'
import { random, runs } from '../support/fuzz.js'
import { noTemporaryFiles, rawForm, sendForm } from '../support/uploads.js'

class Upload {
  @Field({ optional: true, maxLength: 10 }) title?: string
  @File({ optional: true, maxSize: 400_000 }) file?: UploadedFile
  @File({ optional: true, maxItems: 2 }) more?: UploadedFile[]
}

@Controller('/')
class Uploads {
  @Post('/') async read(@Multipart() { file, more = [] }: Upload) {
    const all = [...(file ? [file] : []), ...more]
    return Promise.all(all.map(async (one) => [one.size, (await one.bytes()).length]))
  }
}

const NAMES = ['title', 'file', 'more', '__proto__', 'constructor', '', 'a/b', 'x'.repeat(250)]
const PIECES = [
  '\r\n',
  '\n',
  '\r',
  '--X',
  '--X--',
  '\r\n--X',
  '"',
  ';',
  '=',
  '\\',
  '\u0000',
  '\u00ff',
  'filename=',
  'name=',
]
const SIZES = [0, 1, 2, 10, 1000, 16_384, 65_536, 270_000, 410_000]

type Below = (below: number) => number

function pick<T>(list: readonly T[], below: Below): T {
  return list[below(list.length)] as T
}

function generated(below: Below): Buffer {
  const parts = Array.from({ length: below(5) }, () => {
    const name = pick(NAMES, below)
    const isFile = below(3) > 0
    const header = `Content-Disposition: form-data; name="${name}"${isFile ? `; filename="${pick(NAMES, below)}"` : ''}`
    const content = pick(['x', '\r\n--', '-'], below).repeat(isFile ? pick(SIZES, below) / 4 : below(20))
    return [header, content] as const
  })
  return mutated(rawForm(...parts), below)
}

function mutated(form: string, below: Below): Buffer {
  let text = form
  for (let change = below(4); change > 0; change--) {
    const at = below(Math.min(text.length, 400) + 1)
    const [start, rest] = [text.slice(0, at), text.slice(at)]
    text = pick(
      [start + pick(PIECES, below) + rest, start + rest.slice(below(20)), start, start + rest.slice(0, at) + rest],
      below,
    )
  }
  return Buffer.from(text, 'latin1')
}

test('whatever a form has, it is read or refused with a 4xx, and nothing of it is left', async (t) => {
  const app = await api(t, [Uploads], { timeouts: { handler: 10_000 } })
  const seen = new Set<number>()
  for (let seed = 1; seed <= runs(1500); seed++) {
    const body = generated(random(seed))
    const { status, json: answer } = await sendForm(app, '/', body)
    assert.ok(status === 201 || (status >= 400 && status < 500), `seed ${seed}: ${status} ${JSON.stringify(answer)}`)
    if (status === 201) for (const [size, read] of answer) assert.equal(size, read, `seed ${seed}`)
    seen.add(status)
  }
  assert.ok(
    [201, 400, 413, 422].every((status) => seen.has(status)),
    [...seen].join(),
  )
  assert.deepEqual(app.log, [])
  await noTemporaryFiles()
})

// Chunks that arrive together are parsed as one.
async function* slowly(...chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    yield chunk
    await wait(2)
  }
}

test('every way to cut a form in two chunks gives the same files', async (t) => {
  const { app } = await api(t, [Uploads])
  const header = 'Content-Disposition: form-data; name="more"; filename="a"'
  const body = Buffer.from(rawForm([header, 'abc\r\n--Y'], [header, '\r\n']))
  const headers = { 'content-type': 'multipart/form-data; boundary=X' }
  for (let at = 0; at <= body.length; at++) {
    const payload = Readable.from(slowly(body.subarray(0, at), body.subarray(at)))
    const { statusCode, body: answer } = await app.inject({ method: 'POST', url: '/', headers, payload })
    assert.deepEqual([statusCode, answer], [201, '[[8,8],[2,2]]'], `cut at ${at}`)
  }
})

test('memory does not grow with the size of files', async (t) => {
  @Controller('/large')
  class Large {
    @Post('/') read(@Multipart({ bodyLimit: 400_000_000 }) { file }: LargeUpload) {
      return { size: file.size }
    }
  }
  const app = await api(t, [Large])
  const length = 300_000_000
  const start = process.memoryUsage().rss
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  t.after(() => clearInterval(timer))
  const chunk = Buffer.alloc(1_000_000, 'x')
  const [head, tail] = ['--X\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n', '\r\n--X--\r\n']
  const request = httpRequest(new URL('/large', app.url), {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=X',
      'content-length': head.length + length + tail.length,
    },
  })
  request.write(head)
  for (let sent = 0; sent < length; sent += chunk.length) if (!request.write(chunk)) await once(request, 'drain')
  request.end(tail)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  assert.deepEqual(await json(response), { size: length })
  assert.ok(most - start < 100_000_000, `${most - start} bytes`)
  await noTemporaryFiles()
})

class LargeUpload {
  @File({ maxSize: 300_000_000 }) file!: UploadedFile
}

/** The bytes of a body, sent with one byte in each chunk. */
async function sendBytewise(url: string, body: string): Promise<unknown> {
  const headers = { 'content-type': 'multipart/form-data; boundary=X', 'transfer-encoding': 'chunked' }
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const head = Object.entries({ host: 'localhost', connection: 'close', ...headers }).map((pair) => pair.join(': '))
  const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
  socket.write(`POST / HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${chunks}0\r\n\r\n`)
  const answer = await text(socket)
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
}

test('a client that sends one byte in each chunk takes little more time than for JSON', async (t) => {
  const { url } = await api(t, [Uploads])
  const body = rawForm(['Content-Disposition: form-data; name=file; filename=a', 'x'.repeat(390_000)])
  let read: unknown
  // Joined, the chunks take 0.5 s, most of it in Node; each parsed and stored by itself, they took 10 s.
  assert.ok((await cpuMilliseconds(async () => (read = await sendBytewise(url, body)))) < 3_000)
  assert.deepEqual(read, [[390_000, 390_000]])
})
