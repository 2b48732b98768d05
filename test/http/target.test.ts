import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Controller, createApp, Get, type Middleware, Request } from 'sequitur'
import { normalTarget } from '../../src/http/ambiguous-requests.js'
import { api } from '../support/api.js'
import { exchange, plainServer } from '../support/connection.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

/** Every path that guards look at, with what only they may let pass. */
@Controller()
class Secrets {
  @Get('/admin/secrets') ascii() {
    return 'the secret'
  }
  @Get('/@me/a;b') reserved() {
    return 'the secret'
  }
  @Get('/größe/[1]') encoded() {
    return 'the secret'
  }
  @Get('/:tenant/:page') other(tenant: string, page: string) {
    return `${tenant} ${page}`
  }
}

const guarded = ['/admin/secrets', '/@me/a;b', '/größe/[1]']
const prefixes = ['/admin', '/@me', '/gr%C3%B6%C3%9Fe']

/** The targets that middleware saw, and one that guards the prefixes as most programs do. */
function newGuard() {
  const seen: string[] = []
  const guard: Middleware = (request: IncomingMessage, response: ServerResponse, next) => {
    seen.push(request.url ?? '')
    if (!prefixes.some((prefix) => request.url?.startsWith(prefix))) return next()
    response.statusCode = 401
    response.end('guarded')
  }
  return { seen, guard }
}

function get(t: TestContext, url: string, target: string, method = 'GET'): Promise<string> {
  const host = /^https?:\/\/(?:[^/?]*@)?([^/?]*)/i.exec(target)?.[1] ?? 'a'
  return exchange(t, url, `${method} ${target} HTTP/1.1\nHost: ${host}\nConnection: close\n\n`)
}

/** Each byte as it is, or percent-encoded with digits in either case. */
const spelled = (text: string) =>
  fc
    .tuple(
      ...[...Buffer.from(text)].map((byte) => fc.constantFrom('raw', 'upper', 'lower').map((way) => spell(byte, way))),
    )
    .map((parts) => parts.join(''))

function spell(byte: number, way: string): string {
  if (way === 'raw' && byte < 0x7f) return String.fromCharCode(byte)
  const digits = byte.toString(16).padStart(2, '0')
  return `%${way === 'lower' ? digits : digits.toUpperCase()}`
}

const origins = fc.constantFrom('', '', 'http://a', 'HTTP://user:pw@b.example:8080', 'https://[::1]:1')

const equivalent = fc
  .constantFrom(...guarded)
  .chain((path) => fc.tuple(origins, fc.constant(path), fc.constantFrom('', '/', '?a=/', '/?')))
  .chain(([origin, path, end]) =>
    fc.tuple(...path.split('/').map(spelled)).map((texts) => `${origin}${texts.join('/')}${end}`),
  )

const PIECES = [
  '/',
  '//',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '%2f',
  '%5c',
  '\\',
  ';',
  '%00',
  '#',
  '?',
  '%',
  '%25',
  '%252e',
  '+',
  ' ',
  '\t',
  'é',
  ':',
  '@',
  'a',
]

/** The same with something put in anywhere. */
const mangled = fc
  .tuple(equivalent, fc.array(fc.tuple(fc.nat(), fc.constantFrom(...PIECES)), { minLength: 1, maxLength: 4 }))
  .map(([target, pieces]) =>
    pieces.reduce(
      (text, [at, piece]) => text.slice(0, at % text.length) + piece + text.slice(at % text.length),
      target,
    ),
  )

test('however a guarded path is spelled, the guard sees it', async (t) => {
  const { guard } = newGuard()
  const { url } = await api(t, [Secrets], { middleware: [guard] })
  await fc.assert(
    fc.asyncProperty(equivalent, fc.constantFrom('GET', 'HEAD'), async (target, method) => {
      assert.match(await get(t, url, target, method), /^HTTP\/1\.1 401 /, target)
    }),
    { numRuns: runs(150) },
  )
})

test('whatever is put into a guarded path, the route behind it is not reached', async (t) => {
  const { guard, seen } = newGuard()
  const { url } = await api(t, [Secrets], { middleware: [guard] })
  await fc.assert(
    fc.asyncProperty(mangled, async (target) => {
      const answer = await get(t, url, target)
      assert.match(answer, /^HTTP\/1\.1 (?:200|400|401|404|422) /, target)
      assert.doesNotMatch(answer, /the secret/, target)
    }),
    { numRuns: runs(300) },
  )
  assert.deepEqual(
    seen.filter((target) => normalTarget(target) !== target),
    [],
  )
})

test('middleware for a path is run for every request that a route at or below it answers', async (t) => {
  const refuse: Middleware = (_request, response: ServerResponse) => {
    response.statusCode = 401
    response.end('guarded')
  }
  const middleware = guarded.map((path) => ({ path, use: refuse }))
  const { url } = await api(t, [Secrets], { middleware })
  await fc.assert(
    fc.asyncProperty(equivalent, async (target) => {
      assert.match(await get(t, url, target), /^HTTP\/1\.1 401 /, target)
    }),
    { numRuns: runs(50) },
  )
  await fc.assert(
    fc.asyncProperty(mangled, async (target) => {
      assert.doesNotMatch(await get(t, url, target), /the secret/, target)
    }),
    { numRuns: runs(150) },
  )
})

/** Undefined for a target that is refused. */
function normal(target: string): string | undefined {
  try {
    return normalTarget(target)
  } catch {
    return undefined
  }
}

const anyTarget = fc.oneof(
  mangled,
  fc.string({ unit: fc.constantFrom(...PIECES, 'http:', 'b') }).map((text) => `/${text}`),
  fc.string({ unit: anyCharacter }),
)

test('a normal form is its own normal form', () => {
  fc.assert(
    fc.property(anyTarget, (target) => {
      const once = normal(target)
      if (once !== undefined) assert.equal(normalTarget(once), once)
    }),
    { numRuns: runs(2000) },
  )
})

test('two targets of the same decoded segments have the same normal form', () => {
  const segment = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 5 })
    .filter((text) => !/^\.\.?$/.test(text) && text.isWellFormed())
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), (segments) => {
      const encoded = `/${segments.map(encodeURIComponent).join('/')}`
      const everyByte = `/${segments.map((text) => [...Buffer.from(text)].map((byte) => spell(byte, 'lower')).join('')).join('/')}`
      assert.equal(normalTarget(everyByte), normalTarget(encoded))
      assert.deepEqual(normalTarget(encoded).split('/').slice(1).map(decodeURIComponent), segments)
    }),
    { numRuns: runs(1000) },
  )
})

test('a normal form is a path and query to every other reader of URLs', () => {
  fc.assert(
    fc.property(anyTarget, (target) => {
      const form = normal(target)
      if (form === undefined || form === '*') return
      const read = new URL(form, 'http://a.example')
      assert.deepEqual([read.origin, read.pathname], ['http://a.example', form.split('?')[0]])
    }),
    { numRuns: runs(2000) },
  )
})

test('a long hostile target costs a few passes over it', { timeout: 60_000 }, () => {
  for (const text of ['a', '/a', 'a.', '%41', '.', '//', '%2e/', 'http://'])
    for (const end of ['', '%', '#', '\\', '?', '/..']) normal(`/${text.repeat(50_000)}${end}`)
})

const refused: readonly (readonly [target: string, detail: RegExp])[] = [
  ['//admin/secrets', /begins with two slashes/],
  ['http://a//admin/secrets', /begins with two slashes/],
  ['/%', /invalid percent-encoding/],
  ['/admin/%C3%28', /invalid percent-encoding/],
  ['/x/../admin/secrets', /segment '\.' or '\.\.'/],
  ['/x/%2e%2E/admin/secrets', /segment '\.' or '\.\.'/],
  ['/x/.%2e', /segment '\.' or '\.\.'/],
  ['/./admin/secrets', /segment '\.' or '\.\.'/],
  ['/x\\..\\admin', /backslash.*%5C/],
  ['/admin/secrets#a', /fragment/],
  ['/admin?a#b', /fragment/],
  ['ftp://a/admin/secrets', /not a path/],
  ['http:///admin/secrets', /not a path/],
]

for (const [target, detail] of refused) {
  test(`${target} is a 400 before middleware runs`, async (t) => {
    const { guard, seen } = newGuard()
    const { url } = await api(t, [Secrets], { middleware: [guard] })
    const answer = await get(t, url, target)
    assert.match(answer, /^HTTP\/1\.1 400 [^]*\r\nx-request-id: /)
    assert.match(answer, detail)
    assert.deepEqual(seen, [])
  })
}

const normalForms: readonly (readonly [target: string, form: string])[] = [
  ['/%7euser/%41', '/~user/A'],
  ['/a%2fb%5cc/d', '/a%2Fb%5Cc/d'],
  ['/<>"/{|}', '/%3C%3E%22/%7B%7C%7D'],
  ['/x/%00', '/x/%00'],
  ['/x/y?next=%2f..\\%zz', '/x/y?next=%2f..\\%zz'],
  ['http://user:pw@h:81/x/y?a', '/x/y?a'],
  ['hTTps://h?a', '/?a'],
  ['/a//b', '/a//b'],
]

for (const [target, form] of normalForms) {
  test(`middleware sees ${target} as ${form}`, async (t) => {
    const { guard, seen } = newGuard()
    const { url } = await api(t, [Secrets], { middleware: [guard] })
    await get(t, url, target)
    assert.deepEqual(seen, [form])
  })
}

test('OPTIONS * passes middleware as it is', async (t) => {
  const { guard, seen } = newGuard()
  const { url } = await api(t, [Secrets], { middleware: [guard] })
  assert.match(await get(t, url, '*', 'OPTIONS'), /^HTTP\/1\.1 204 /)
  assert.deepEqual(seen, ['*'])
})

test('request.path and the log have the path that middleware sees', async (t) => {
  @Controller('/:a')
  class Failing {
    @Get('/path') path(a: string, request: Request) {
      return `${a} ${request.path}`
    }
    @Get('/error') error(a: string) {
      throw new Error(a)
    }
  }
  const { fetch, log } = await api(t, [Failing])
  assert.equal(await (await fetch('/%61%2f<b/path?c')).json(), 'a/<b /a%2F%3Cb/path')
  await fetch('/%61%2f<b/error')
  assert.match(log.join(), /^GET \/a%2F%3Cb\/error \[/)
})

test('the documentation is found by every spelling of its path, and guarded as a route is', async (t) => {
  const refuse: Middleware = (_request, response: ServerResponse) => response.writeHead(401).end()
  const { url } = await api(t, [Secrets])
  assert.match(await get(t, url, '/%64ocs'), /^HTTP\/1\.1 200 [^]*swagger-ui/)
  const closed = await api(t, [Secrets], { middleware: [{ path: '/docs', use: refuse }] })
  for (const target of ['/docs', '/%64ocs', '/docs/', '/docs/swagger%2dui.css', 'http://a/docs'])
    assert.match(await get(t, closed.url, target), /^HTTP\/1\.1 401 /, target)
})

test('a path that middleware writes is the one that the routes see, in its normal form', async (t) => {
  const strip: Middleware = (request: IncomingMessage, _response, next) => {
    request.url = request.url?.replace(/^\/en\//, '/%61dmin/')
    next()
  }
  const { guard, seen } = newGuard()
  const { url } = await api(t, [Secrets], { middleware: [strip, guard] })
  assert.match(await get(t, url, '/en/secrets?a=1'), /^HTTP\/1\.1 401 /)
  assert.match(await get(t, url, '/fr/secrets'), /"fr secrets"$/)
  assert.deepEqual(seen, ['/admin/secrets?a=1', '/fr/secrets'])
})

test('a query that middleware writes is the one that the handler reads', async (t) => {
  @Controller()
  class Echo {
    @Get('/echo') echo(q: string) {
      return q
    }
  }
  const write: Middleware = (request: IncomingMessage, _response, next) => {
    request.url = '/echo?q=written'
    next()
  }
  const { fetch } = await api(t, [Echo], { middleware: [write] })
  assert.equal(await (await fetch('/other?q=sent')).json(), 'written')
})

test('below a prefix that another server takes away, middleware sees the rest in its normal form', async (t) => {
  const { guard, seen } = newGuard()
  const originals: unknown[] = []
  const note: Middleware = (request, _response, next) => {
    originals.push(request.originalUrl)
    next()
  }
  const app = createApp({ controllers: [Secrets], middleware: [note, guard], logger: false })
  t.after(() => app.close())
  const url = await plainServer(t, (request, response) => {
    const originalUrl = request.url ?? ''
    app.handler(Object.assign(request, { originalUrl, url: originalUrl.slice('/api'.length) }), response)
  })
  for (const target of ['/api/%61dmin/secrets', '/api?a=1', '/api']) await get(t, url, target)
  assert.deepEqual(seen, ['/admin/secrets', '/?a=1', '/'])
  assert.deepEqual(originals, ['/api/admin/secrets', '/api?a=1', '/api'])
})
