import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  type Around,
  Controller,
  createApp,
  Field,
  Get,
  HttpError,
  Post,
  Query,
  Request,
  reply,
  sql,
  Session,
} from 'sequitur'
import { app } from '../../example/recipes/routing.js'
import { api, bootMessage } from '../support/api.js'
import { databaseApp, databases } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { anyCharacter } from '../support/any-character.js'

@Controller('/files')
class Files {
  @Get() root() {
    return 'root'
  }
  @Get('/latest') latest() {
    return 'latest'
  }
  @Get('/:id') one(id: string) {
    return `one ${id}`
  }
  @Get('/:id/about') about(id: string) {
    return `about ${id}`
  }
  @Get('/*path') tail(path: string) {
    return `tail ${path}`
  }
  @Post('/*path') write(path: string) {
    return `written ${path}`
  }
}

test('a tail takes all segments that nothing else takes', async (t) => {
  const { fetch } = await api(t, [Files])
  const answers = {
    '/files': 'root',
    '/files/': 'root',
    '/files/latest': 'latest',
    '/files/a': 'one a',
    '/files/a/about': 'about a',
    '/files/a/b': 'tail a/b',
    '/files/latest/b': 'tail latest/b',
    '/files/a/about/c/': 'tail a/about/c',
    '/files/a/J%C3%B6rg%20X': 'tail a/Jörg X',
  }
  for (const [path, answer] of Object.entries(answers)) assert.equal(await (await fetch(path)).json(), answer)
  for (const path of ['/files//a/b', '/files/a//b', '/files/a/b%2Fc', '/file/a/b'])
    assert.equal((await fetch(path)).status, 404, path)
  assert.equal(await (await fetch('/files/a', { method: 'POST' })).json(), 'written a')
  const wrong = await fetch('/files/a/b', { method: 'DELETE' })
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, POST, HEAD, OPTIONS'])
})

test('the value of a tail is what was sent below its path, whatever that is', async (t) => {
  @Controller('/all')
  class All {
    @Get('/*rest') rest(rest: string) {
      return rest
    }
  }
  const { fetch } = await api(t, [All])
  const segment = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 8 })
    .filter((text) => text.isWellFormed() && !/[/\\\0]/.test(text) && text !== '.' && text !== '..')
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 5 }), async (texts) => {
      const response = await fetch(`/all/${texts.map(encodeURIComponent).join('/')}`)
      assert.equal(await response.json(), texts.join('/'))
    }),
    { numRuns: 200 },
  )
})

test('a guard of a path is not bypassed through a tail above it', async (t) => {
  const { fetch } = await api(t, [Files], {
    middleware: [
      {
        path: '/files/admin',
        use: () => {
          throw new HttpError(403, 'no')
        },
      },
    ],
  })
  for (const path of ['/files/admin/a', '/files/%61dmin/a', '/files/x/../admin/a'])
    assert.equal((await fetch(path)).status, 403, path)
  for (const path of ['/files/admin/a/b', '/files/%61dmin/a/b']) assert.equal((await fetch(path)).status, 403)
  assert.equal((await fetch('/files/admin%2Fa/b')).status, 404)
})

test('the prefix precedes all routes, but not the documentation', async (t) => {
  const { fetch } = await api(t, [Files], { prefix: '/api/v1/' })
  assert.equal(await (await fetch('/api/v1/files/latest')).json(), 'latest')
  assert.equal((await fetch('/files/latest')).status, 404)
  assert.equal((await fetch('/docs')).status, 200)
  const document = (await (await fetch('/openapi.json')).json()) as { paths: object; tags: { description: string }[] }
  assert.deepEqual(Object.keys(document.paths), [
    '/api/v1/files',
    '/api/v1/files/latest',
    '/api/v1/files/{id}',
    '/api/v1/files/{id}/about',
    '/api/v1/files/{path}',
  ])
  assert.equal(document.tags[0]?.description, 'Operations of /api/v1/files')
})

class Size {
  @Field({ type: 'integer' }) size!: number
}

const order: string[] = []
const step =
  (name: string) =>
  (_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
    order.push(name)
    response.setHeader(`x-${name}`, 'ran')
    next()
  }

@Controller('/guarded', {
  middleware: [step('one'), step('two')],
})
class Guarded {
  @Get() get(@Query() size: number, request: Request) {
    order.push('handler')
    return `${size} ${request.path}`
  }
}

@Controller('/free')
class Free {
  @Get() get() {
    return 'free'
  }
}

test('the middleware of a controller runs for its routes, after that of the app and before the inputs are read', async (t) => {
  for (const middleware of [[], [step('app')]]) {
    order.length = 0
    const { fetch } = await api(t, [Guarded, Free], { middleware })
    const invalid = await fetch('/guarded?size=x')
    assert.deepEqual(
      [invalid.status, invalid.headers.get('x-two'), order.splice(0)],
      [422, 'ran', [...(middleware.length > 0 ? ['app'] : []), 'one', 'two']],
    )
    const response = await fetch('/guarded?size=3')
    assert.deepEqual([await response.json(), response.headers.get('x-one')], ['3 /guarded', 'ran'])
    assert.ok(response.headers.get('x-request-id'))
    assert.equal(order.splice(0).at(-1), 'handler')
    const free = await fetch('/free')
    assert.deepEqual([await free.json(), free.headers.get('x-one')], ['free', null])
    assert.equal((await fetch('/guarded/nothing')).headers.get('x-one'), null)
  }
})

test('the middleware of a controller can respond, throw, and be late', async (t) => {
  @Controller('/', {
    middleware: [
      (request, response, next) => {
        if (request.url === '/own') response.end('own')
        else if (request.url === '/thrown') throw new HttpError(403, 'no')
        else if (request.url !== '/late') next()
      },
    ],
  })
  class Some {
    @Get('/:name') get(name: string) {
      return name
    }
  }
  const { fetch } = await api(t, [Some], { timeouts: { handler: 100 } })
  const said = async (path: string) => {
    const response = await fetch(path)
    return `${response.status} ${await response.text()}`
  }
  assert.equal(await said('/own'), '200 own')
  assert.match(await said('/thrown'), /^403/)
  assert.match(await said('/late'), /^503/)
  assert.equal(await said('/other'), '200 "other"')
})

const envelope =
  (name: string): Around =>
  async (next, { path }) => {
    order.push(`${name} before ${path}`)
    try {
      return { size: ((await next()) as { size: number }).size + 1 }
    } finally {
      order.push(`${name} after`)
    }
  }

@Controller('/sizes', { around: [envelope('outer')] })
class Sizes {
  @Get('/', Size, { around: [envelope('inner')] }) get() {
    return { size: 1, secret: 'x' }
  }
  @Get('/wrong', Size, { around: [() => ({ size: 'no' })] }) wrong() {
    return { size: 1 }
  }
  @Get('/thrown', Size) thrown(): Size {
    throw new HttpError(409, 'thrown')
  }
  @Get('/other', Size, { responses: { 202: 'Later' }, around: [() => reply(undefined, { status: 202 })] }) other() {
    return { size: 1 }
  }
}

test('around sees the value of a handler and what it throws; its result is written as the declared response', async (t) => {
  order.length = 0
  const { fetch, log } = await api(t, [Sizes])
  assert.deepEqual(await (await fetch('/sizes')).json(), { size: 3 })
  assert.deepEqual(order.splice(0), ['outer before /sizes', 'inner before /sizes', 'inner after', 'outer after'])
  assert.equal((await fetch('/sizes/thrown')).status, 409)
  assert.deepEqual(order.splice(0), ['outer before /sizes/thrown', 'outer after'])
  assert.equal((await fetch('/sizes/wrong')).status, 500)
  assert.equal(log.length, 1)
})

test('a call of the handler that around does not await is waited for, and fails the request', async (t) => {
  const unawaited: Around = (next) => {
    void next()
    return { size: 7 }
  }
  @Controller('/unawaited', { around: [unawaited] })
  class Unawaited {
    @Get('/late', Size) async late() {
      await new Promise((resolve) => setTimeout(resolve, 20))
      order.push('late')
      return { size: 1 }
    }
    @Get('/failing', Size) async failing(): Promise<Size> {
      await new Promise((resolve) => setTimeout(resolve, 20))
      throw new HttpError(409, 'late')
    }
  }
  order.length = 0
  const { fetch } = await api(t, [Unawaited])
  assert.deepEqual([await (await fetch('/unawaited/late')).json(), order.splice(0)], [{ size: 7 }, ['late']])
  assert.equal((await fetch('/unawaited/failing')).status, 409)
})

for (const kind of databases)
  test(`${kind.name}: around runs in the transaction of its handler, which it can make fail`, async (t) => {
    const failing: Around = async (next) => {
      await next()
      assert.equal(await Hero.count(), 1)
      throw new HttpError(409, 'no')
    }
    @Controller('/')
    class Heroes {
      @Post('/', { around: [failing] }) async create(session: Session) {
        await session.execute(sql`SELECT 1 AS one`)
        await Hero.create({ name: 'Robin' })
      }
    }
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Heroes])
    assert.equal((await fetch('/', { method: 'POST' })).status, 409)
    assert.equal(await Hero.count(), 0)
  })

test('wrong prefixes, tails, middleware and around stop the start', () => {
  const refused = (path: string, options?: object) => {
    try {
      @Controller(path, options)
      class Wrong {
        @Get() get() {}
      }
      return bootMessage([Wrong])
    } catch (error) {
      return String(error)
    }
  }
  const prefixed = (prefix: unknown) => {
    try {
      createApp({ controllers: [Files], prefix: prefix as string, logger: false })
    } catch (error) {
      return String(error)
    }
    return 'it started'
  }
  assert.match(refused('/*path/more'), /continues after a tail/)
  assert.match(refused('/*path'), /no parameter takes the variable :path/)
  assert.match(refused('/path*'), /A tail is the whole last segment, written .\*path./)
  assert.match(refused('/', { middleware: [{ path: '/', use: () => {} }] }), /middleware\[0\] is an object/)
  assert.match(refused('/', { middleware: [undefined] }), /middleware\[0\] is undefined/)
  assert.match(refused('/', { around: [1] }), /around\[0\] is 1\. Write a function/)
  assert.match(prefixed('/:tenant'), /has a variable/)
  assert.match(prefixed(3), /prefix is 3/)
  assert.match(prefixed('/a b?'), /is not a segment/)
  @Controller('/clash')
  class Clash {
    @Get('/:name') one(name: string) {
      return name
    }
    @Get('/*name') all(name: string) {
      return name
    }
  }
  assert.match(bootMessage([Clash]), /are both GET \/clash\/\{name\} in the OpenAPI document/)
  assert.match(bootMessage([Files], { middleware: [{ path: '/a/*rest', use: () => {} }] }), /has a tail\. Remove it/)
})

test('the recipe: a prefix, a tail, and what wraps a handler', async (t) => {
  const { url } = await app.listen(0)
  t.after(() => app.close())
  const response = await fetch(`${url}/api/files/a/b`)
  const body = (await response.json()) as { path: string; milliseconds: number }
  assert.deepEqual([body.path, typeof body.milliseconds], ['a/b', 'number'])
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal((await fetch(`${url}/api/files/secret`)).status, 401)
})
