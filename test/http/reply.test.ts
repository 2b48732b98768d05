import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Field, file, Get, Post, redirect, reply, Session } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { api, bootMessage } from '../support/api.js'
import { until } from '../support/waiting.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

class Job {
  @Field({ type: 'integer' }) id!: number
}

class Queued {
  @Field({ type: 'integer' }) position!: number
}

@Controller()
class Jobs {
  @Post('/jobs', Job, { responses: { 202: Queued, 303: 'See the job that runs already' } })
  create(answer: string) {
    switch (answer) {
      case 'queued':
        return reply({ position: 3, secret: 'x' }, { status: 202, headers: { 'Retry-After': '5' } })
      case 'known':
        return redirect('/jobs/1')
      case 'cookies':
        return reply({ id: 1 }, { headers: { 'set-cookie': ['a=1', 'b=2'] } })
      case 'undeclared':
        return reply({ id: 1 }, { status: 203 })
      case 'failure':
        return reply({ id: 1 }, { status: 404 })
      case 'coding':
        return reply({ id: 1 }, { headers: { 'Transfer-Encoding': 'chunked' } })
      case 'encoding':
        return reply({ id: 1 }, { headers: { 'Content-Encoding': 'gzip' } })
      case 'split':
        return reply({ id: 1 }, { headers: { 'x-name': 'a\r\nset-cookie: b' } })
      case 'name':
        return reply({ id: 1 }, { headers: { 'x name': 'a' } })
      case 'misfit':
        return reply({ id: 'one' as never }, { status: 202 })
    }
    return { id: 1 }
  }

  @Get('/go', { status: 307 }) go(to: string) {
    return redirect(to, 307)
  }

  @Get('/place') place() {
    return reply({ id: 'é' }, { headers: { 'x-place': 'café' } })
  }

  @Get('/nothing') nothing(status: number) {
    return reply(undefined, { status })
  }
}

@Controller()
class Media {
  @Get('/none') none() {
    return file(Buffer.from('a'), { type: 'Text/CSV; charset=utf-8' })
  }
  @Get('/some', { produces: 'image/*' }) some(type: string) {
    return file(Buffer.from('a'), { type })
  }
  @Get('/value', { produces: 'text/csv' }) value() {
    return 'a,b'
  }
  @Get('/void', { produces: 'text/csv' }) void() {}
  @Get('/meaning', { responses: { 202: 'Later' } }) meaning() {
    return reply('soon', { status: 202 })
  }
  @Get('/geo', Job, { produces: 'application/geo+json' }) geo() {
    return { id: 1 }
  }
}

const post = (answer: string) => [`/jobs?answer=${answer}`, { method: 'POST', redirect: 'manual' }] as const

test('a reply has the status and headers given, and the declared properties of its status', async (t) => {
  const { fetch } = await api(t, [Jobs])
  const response = await fetch(...post('queued'))
  assert.equal(await response.text(), '{"position":3}')
  assert.deepEqual([response.status, response.headers.get('retry-after')], [202, '5'])
})

test('a route with other responses still answers its usual one', async (t) => {
  const { fetch } = await api(t, [Jobs])
  const response = await fetch(...post('plain'))
  assert.deepEqual([response.status, await response.json()], [201, { id: 1 }])
})

test('a header may be sent several times', async (t) => {
  const { fetch } = await api(t, [Jobs])
  assert.deepEqual((await fetch(...post('cookies'))).headers.getSetCookie(), ['a=1', 'b=2'])
})

test('a redirect is 303 by default, and has no body', async (t) => {
  const { fetch } = await api(t, [Jobs])
  const response = await fetch(...post('known'))
  assert.deepEqual([response.status, response.headers.get('location'), await response.text()], [303, '/jobs/1', ''])
  assert.equal((await fetch('/go?to=/a', { redirect: 'manual' })).status, 307)
})

for (const [to, location] of [
  ['/größe?a=1#b', '/gr%C3%B6%C3%9Fe?a=1#b'],
  ['/a b', '/a%20b'],
  ['/a%20b', '/a%20b'],
  ['/a\r\nset-cookie: b', '/a%0D%0Aset-cookie:%20b'],
] as const) {
  test(`a redirect to ${JSON.stringify(to)} has the location ${location}`, async (t) => {
    const { fetch } = await api(t, [Jobs])
    const response = await fetch(`/go?to=${encodeURIComponent(to)}`, { redirect: 'manual' })
    assert.equal(response.headers.get('location'), location)
  })
}

test('a route without a declared response responds as its document describes', async (t) => {
  const { fetch, log } = await api(t, [Jobs])
  const statuses = Object.keys(
    createApp({ controllers: [Jobs], logger: false }).openapi().paths?.['/nothing']?.get?.responses ?? {},
  )
  for (const status of [200, 202, 204, 303]) {
    const answer = await fetch(`/nothing?status=${status}`)
    const isSent = answer.status === 204
    assert.equal(isSent || answer.status === 500, true)
    assert.equal(isSent, statuses.includes(String(status)))
  }
  assert.match(log.join(), /replied with the status 303, but declares only 204, 200\. .* \{ status: 303 \}/)
})

for (const [path, line] of [
  ['/none', /Media\.none sent text\/csv, but does not declare it\. Write \{ produces: 'text\/csv' \}/],
  ['/some?type=text/html', /Media\.some sent text\/html, but declares that it produces image\/\*/],
  ['/value', /Media\.value returned a plain value, but declares text\/csv, which is sent as bytes\. Wrap them: file\(/],
  ['/void', /Media\.void returned nothing, but declares text\/csv/],
  ['/meaning', /Media\.meaning replied with a value and the status 202, but declares only a description/],
] as const) {
  test(`what the OpenAPI document does not have (${path}) is a 500 that the log explains`, async (t) => {
    const { fetch, log } = await api(t, [Media])
    assert.equal((await fetch(path)).status, 500)
    assert.match(log.join('\n'), line)
  })
}

test('a stream of a media type that is not declared is destroyed', async (t) => {
  const stream = Readable.from(['a'])
  @Controller()
  class Files {
    @Get('/') get() {
      return file(stream, { type: 'text/plain' })
    }
  }
  const { fetch } = await api(t, [Files])
  assert.equal((await fetch('/')).status, 500)
  assert.equal(stream.destroyed, true)
})

test('media types may be a range, or JSON by another name', async (t) => {
  const { fetch } = await api(t, [Media])
  assert.equal((await fetch('/some?type=image/png')).headers.get('content-type'), 'image/png')
  const geo = await fetch('/geo')
  assert.deepEqual([geo.headers.get('content-type'), await geo.json()], ['application/geo+json', { id: 1 }])
  const { paths } = createApp({ controllers: [Media], logger: false }).openapi()
  const content = { 'application/geo+json': { schema: { $ref: '#/components/schemas/Job' } } }
  assert.deepEqual(paths?.['/geo']?.get?.responses?.['200'], { description: 'Success', content })
})

test('a value is not sent with a media type that is not declared', async (t) => {
  @Controller('/')
  class Texts {
    @Get('/') text() {
      return reply('text', { headers: { 'Content-Type': 'text/html' } })
    }
  }
  const { fetch, log } = await api(t, [Texts])
  assert.equal((await fetch('/')).status, 500)
  assert.match(log.join('\n'), /Texts\.text sent text\/html, but does not declare it/)
})

const faults: readonly (readonly [answer: string, line: RegExp])[] = [
  [
    'undeclared',
    /Jobs\.create replied with the status 203, but declares only 201, 202, 303\. Declare it: \{ responses: \{ 203/,
  ],
  ['failure', /Jobs\.create replied with the status 404\. Write the status of a success, 200 to 399; [^]*notFound/],
  ['coding', /Jobs\.create replied with the header transfer-encoding, which belongs to the connection/],
  ['encoding', /Jobs\.create replied with the header content-encoding: gzip, .* file\(gzipSync\(text\)/],
  ['split', /Jobs\.create replied with the header "x-name", which HTTP does not allow/],
  ['name', /Jobs\.create replied with the header "x name", which HTTP does not allow/],
  ['misfit', /\/position is missing, declared integer/],
]

for (const [answer, line] of faults) {
  test(`a reply that cannot be sent (${answer}) is a 500 that the log explains`, async (t) => {
    const { fetch, log } = await api(t, [Jobs])
    assert.equal((await fetch(...post(answer))).status, 500)
    assert.match(log.join('\n'), line)
  })
}

test('bytes that the program has encoded are sent with their content-encoding', async (t) => {
  @Controller('/')
  class Encoded {
    @Get('/', { produces: 'text/plain' }) text() {
      return file(gzipSync('abc'), { type: 'text/plain', headers: { 'content-encoding': 'gzip' } })
    }
    @Get('/empty') empty() {
      return reply(undefined, { headers: { 'content-encoding': 'gzip' } })
    }
  }
  const { fetch } = await api(t, [Encoded])
  assert.equal(await (await fetch('/')).text(), 'abc')
  assert.equal((await fetch('/empty')).status, 204)
})

test('other responses are documented', () => {
  const { paths } = createApp({ controllers: [Jobs], logger: false }).openapi()
  const { 201: usual, 202: queued, 303: seen } = paths?.['/jobs']?.post?.responses ?? {}
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })
  assert.deepEqual(
    [usual, queued, seen],
    [
      { description: 'Success', content: content('Job') },
      { description: 'Success', content: content('Queued') },
      { description: 'See the job that runs already' },
    ],
  )
})

test('a declared response that is no success fails at startup', () => {
  @Controller()
  class Wrong {
    @Get('/', Job, { responses: { 404: Queued } }) get() {
      return { id: 1 }
    }
  }
  assert.match(bootMessage([Wrong]), /Wrong\.get: status is 404\. Write the status of a success/)
})

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'sequitur-reply-'))
  t.after(() => rmSync(made, { recursive: true }))
  return made
}

test('a file is sent with its length, type and name', async (t) => {
  const path = join(folder(t), 'a.csv')
  writeFileSync(path, 'a,b\n')
  @Controller()
  class Files {
    @Get('/', { produces: 'text/csv' }) get() {
      return file(path, { type: 'text/csv', name: 'größe "1".csv' })
    }
  }
  const { fetch } = await api(t, [Files])
  for (const method of ['GET', 'HEAD']) {
    const response = await fetch('/', { method })
    assert.deepEqual(
      ['content-type', 'content-length', 'content-disposition'].map((name) => response.headers.get(name)),
      ['text/csv', '4', `attachment; filename="gr__e _1_.csv"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.csv`],
    )
    assert.equal(await response.text(), method === 'GET' ? 'a,b\n' : '')
  }
  const { paths } = createApp({ controllers: [Files], logger: false }).openapi()
  assert.deepEqual(paths?.['/']?.get?.responses?.['200'], { description: 'Success', content: { 'text/csv': {} } })
})

test('an empty file is sent as nothing', async (t) => {
  const path = join(folder(t), 'empty')
  writeFileSync(path, '')
  @Controller()
  class Files {
    @Get('/', { produces: '*/*' }) get() {
      return file(path)
    }
  }
  const response = await (await api(t, [Files])).fetch('/')
  assert.deepEqual([response.status, response.headers.get('content-length'), await response.text()], [200, '0', ''])
})

for (const path of ['./no-such-file', tmpdir()]) {
  test(`file('${path}') is a 500, as it leads to no file`, async (t) => {
    @Controller()
    class Files {
      @Get('/') get() {
        return file(path)
      }
    }
    const { fetch, log } = await api(t, [Files])
    assert.equal((await fetch('/')).status, 500)
    assert.match(log.join('\n'), /no-such-file|is not a file/)
  })
}

const names: readonly (readonly [name: string, plain: string, exact: string])[] = [
  ['../../etc/passwd', 'passwd', 'passwd'],
  ['..\\..\\boot.ini', 'boot.ini', 'boot.ini'],
  ['/a/..\\', 'download', 'download'],
  ['..', 'download', 'download'],
  ['', 'download', 'download'],
  [' . ', 'download', 'download'],
  ['a\r\nset-cookie: b', 'aset-cookie: b', 'aset-cookie%3A%20b'],
  ['cod\u202egnp.exe', 'codgnp.exe', 'codgnp.exe'],
  ['a%2fb".csv', 'a_2fb_.csv', 'a%252fb%22.csv'],
  ['\ud800.csv', '_.csv', '%EF%BF%BD.csv'],
]

for (const [name, plain, exact] of names) {
  test(`a file named ${JSON.stringify(name)} is saved as ${plain}`, async () => {
    const { headers } = await file(Buffer.from('a'), { name })
    assert.equal(headers['content-disposition'], `attachment; filename="${plain}"; filename*=UTF-8''${exact}`)
  })
}

test('whatever its name, a file is saved under one without folders', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({
        unit: fc.oneof(fc.constantFrom('/', '\\', '.', '"', '\n', '%', ';'), fc.string({ unit: anyCharacter })),
      }),
      async (name) => {
        const { headers } = await file(Buffer.from('a'), { name })
        const [, plain = '', exact = ''] =
          /^attachment; filename="([^"]*)"; filename\*=UTF-8''([\w.~!%-]*)$/.exec(
            String(headers['content-disposition']),
          ) ?? []
        for (const text of [plain, decodeURIComponent(exact)]) assert.match(text, /^(?!\.*$)[^/\\\p{Cc}]+$/u)
      },
    ),
    { numRuns: runs(500) },
  )
})

test('a file is not to be taken for another type than its own, unless its headers have another', async (t) => {
  @Controller()
  class Files {
    @Get('/', { produces: '*/*' }) get(isOther: boolean = false) {
      return file(Buffer.from('<script>'), isOther ? { headers: { 'X-Content-Type-Options': 'other' } } : {})
    }
  }
  const { fetch } = await api(t, [Files])
  assert.equal((await fetch('/')).headers.get('x-content-type-options'), 'nosniff')
  assert.equal((await fetch('/?isOther=true')).headers.get('x-content-type-options'), 'other')
})

test('bytes and streams are sent as they are', async (t) => {
  @Controller()
  class Files {
    @Get('/bytes', { produces: 'application/octet-stream' }) bytes() {
      return file(Buffer.from([0, 255]))
    }
    @Get('/stream', { produces: 'text/plain' }) stream() {
      return file(Readable.from(['a', 'b']), { type: 'text/plain' })
    }
  }
  const { fetch } = await api(t, [Files])
  assert.deepEqual(Buffer.from(await (await fetch('/bytes')).arrayBuffer()), Buffer.from([0, 255]))
  const response = await fetch('/stream')
  assert.deepEqual([response.headers.get('content-type'), await response.text()], ['text/plain', 'ab'])
})

test('a stream that fails cuts the answer off, and the log states why', async (t) => {
  @Controller()
  class Files {
    @Get('/', { produces: '*/*' }) get() {
      async function* broken() {
        yield 'a'
        await new Promise((resolve) => setTimeout(resolve, 50))
        throw new Error('the disk broke')
      }
      return file(Readable.from(broken()))
    }
  }
  const { fetch, log } = await api(t, [Files])
  await assert.rejects(async () => (await fetch('/')).text())
  await until('the log says why', () => Promise.resolve(log.join().includes('the disk broke')))
})

@Table({ tableName: 'download', timestamps: false })
class Download extends Base<Download> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}

function isOpen(session: Session): boolean {
  try {
    return session.transaction !== undefined
  } catch {
    return false
  }
}

test('a stream is read after COMMIT, and destroyed when there is none', async (t) => {
  const streams: Readable[] = []
  const seen: string[] = []
  @Controller()
  class Downloads {
    @Get('/', { produces: '*/*' }) async get(id: number, session: Session) {
      session.add(Download.build({ id }))
      const stream = new Readable({
        read() {
          seen.push(isOpen(session) ? 'open' : 'closed')
          this.push('a')
          this.push(null)
        },
      })
      streams.push(stream)
      return file(stream)
    }
  }
  const lifespan = memoryDatabase()
  const { fetch } = await api(t, [Downloads], { models: [Download], lifespan })
  assert.equal(await (await fetch('/?id=1')).text(), 'a')
  assert.equal((await fetch('/?id=1')).status, 409)
  assert.deepEqual(seen, ['closed'])
  assert.deepEqual(
    streams.map(({ destroyed }) => destroyed),
    [true, true],
  )
})

/** Headers that are valid at the first reading, and not at the next one. */
const changing: Readonly<Record<string, (session: Session) => Record<string, string | string[]>>> = {
  'a getter': () => {
    let reads = 0
    return Object.defineProperty({}, 'x-name', { enumerable: true, get: () => (reads++ === 0 ? 'a' : 'a\r\nb: c') })
  },
  'an object': () => {
    let reads = 0
    return { 'x-name': { toString: () => (reads++ === 0 ? 'a' : 'a\r\nb: c') } as never }
  },
  'a list that others change': (session) => {
    const list = ['a']
    session.afterCommit(() => void list.push('a\r\nb: c'))
    return { 'x-name': list }
  },
}

for (const [what, make] of Object.entries(changing))
  test(`the headers that were checked before COMMIT are those that are sent: ${what}`, async (t) => {
    @Controller()
    class Changing {
      @Post('/') async create(session: Session) {
        await Download.create({ id: 1 })
        return reply('done', { headers: make(session) })
      }
    }
    const app = await api(t, [Changing], { models: [Download], lifespan: memoryDatabase() })
    const response = await app.fetch('/', { method: 'POST' })
    assert.deepEqual([response.status, response.headers.get('x-name')], [201, 'a'])
    assert.deepEqual(app.log, [])
  })

const unreadable: Readonly<Record<string, readonly [make: () => Promise<Readable>, log: RegExp]>> = {
  'was destroyed': [async () => Readable.from(['abc']).destroy(), /was destroyed before it was sent\. Do not/],
  'was read to its end': [
    async () => {
      const stream = Readable.from(['abc'])
      await stream.toArray()
      return stream
    },
    /already read to its end\. Return a new stream/,
  ],
  'has failed': [
    async () =>
      Readable.from(['abc'])
        .destroy(new Error('no disk'))
        .on('error', () => {}),
    /no disk/,
  ],
}

for (const [what, [make, log]] of Object.entries(unreadable))
  test(`a stream that ${what} is a 500, and nothing is saved`, async (t) => {
    @Controller()
    class Streams {
      @Post('/', { produces: '*/*' }) async create() {
        await Download.create({ id: 1 })
        return file(await make())
      }
    }
    const app = await api(t, [Streams], { models: [Download], lifespan: memoryDatabase() })
    assert.equal((await app.fetch('/', { method: 'POST' })).status, 500)
    assert.equal(await Download.count(), 0)
    assert.match(app.log.join(), log)
  })

for (const [when, chunks] of Object.entries({ before: 0, after: 1 }))
  test(`a stream that the program destroys ${when} its first bytes were sent is logged; one that its client leaves is not`, async (t) => {
    let source = new Readable({ read() {} })
    @Controller()
    class Streams {
      @Get('/', { produces: '*/*' }) get() {
        source = new Readable({ read() {} })
        for (let i = 0; i < chunks; i++) source.push('abc')
        source.once('resume', () => leaves || setImmediate(() => source.destroy()))
        return file(source)
      }
    }
    let leaves = true
    const app = await api(t, [Streams])
    const client = new AbortController()
    const answer = app.fetch('/', { signal: client.signal })
    answer.catch(() => {})
    await until('the stream is read', async () => source.readableFlowing === true)
    client.abort()
    await until('the stream is destroyed', async () => source.destroyed)
    assert.deepEqual(app.log, [])
    leaves = false
    await assert.rejects(app.fetch('/').then((got) => got.text()))
    await until('it is logged', async () => /destroyed before its end, so the connection/.test(app.log.join()))
  })

test('a header beyond ASCII has the same bytes for GET and HEAD: those of ISO 8859-1', async (t) => {
  const { fetch } = await api(t, [Jobs])
  for (const method of ['GET', 'HEAD']) {
    const response = await fetch('/place', { method })
    assert.equal(response.headers.get('x-place'), 'café', method)
    assert.equal(response.headers.get('content-length'), '11')
    assert.equal(await response.text(), method === 'GET' ? '{"id":"é"}' : '')
  }
})
