import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Around,
  Controller,
  createApp,
  Delete,
  forbidden,
  Get,
  guard,
  Header,
  Injectable,
  type Middleware,
  Post,
  provide,
  Request,
  Security,
  token,
  unauthorized,
} from 'sequitur'
import { api, bootMessage } from '../support/api.js'

const bearer = { type: 'http', scheme: 'bearer' } as const
const key = { type: 'apiKey', in: 'header', name: 'x-key' } as const

@Injectable()
@Security(bearer, { name: 'Bearer' })
@Security(key, { name: 'Key' })
class User {
  readonly name: string
  constructor(@Header({ optional: true }) authorization: string = '', @Header({ optional: true }) x_key: string = '') {
    this.name = /^Bearer (\w+)$/.exec(authorization)?.[1] ?? (x_key || unauthorized('Who are you?'))
  }
}

/** Anybody, who may say a name. */
@Injectable()
@Security(bearer, { name: 'Bearer', optional: true })
class Visitor {
  readonly name: string | null
  constructor(@Header({ optional: true }) authorization?: string) {
    if (authorization === undefined) this.name = null
    else this.name = /^Bearer (\w+)$/.exec(authorization)?.[1] ?? unauthorized('Who are you?')
  }
}

@Injectable()
class Admin {
  constructor(user: User) {
    if (user.name !== 'admin') forbidden('Only for admins.')
  }
}

const owners = guard([User, Request], async (user, request) => request.path.endsWith(user.name), {
  scopes: ['owner'],
  detail: 'It is not yours.',
})
const sloppy = guard([User], () => undefined as unknown as boolean)

@Controller('/things', { requires: [User] })
class Things {
  static deleted: string[] = []
  @Get() list() {
    return ['all']
  }
  @Get('/visitor') visitor(visitor: Visitor) {
    return { name: visitor.name }
  }
  @Delete('/:name', { requires: [owners] }) remove(name: string) {
    Things.deleted.push(name)
  }
  @Delete('/:name/:count', { requires: [Admin] }) removeMany(name: string, count: number) {
    Things.deleted.push(`${name} ${count}`)
  }
  @Post('/sloppy', { requires: [sloppy] }) sloppy() {
    Things.deleted.push('sloppy')
  }
}

@Controller('/visit')
class Visit {
  @Get() get(visitor: Visitor) {
    return { name: visitor.name }
  }
}

const as = (name: string, init: RequestInit = {}) => ({ ...init, headers: { authorization: `Bearer ${name}` } })
const remove = { method: 'DELETE' }

async function detail(response: Response): Promise<unknown> {
  return [response.status, ((await response.json()) as { detail: string }).detail]
}

test('what a controller requires is created for all of its routes, before their inputs are validated', async (t) => {
  const { fetch } = await api(t, [Things])
  assert.deepEqual(await detail(await fetch('/things')), [401, 'Who are you?'])
  assert.equal((await fetch('/things', as('robin'))).status, 200)
  assert.equal((await fetch('/things', { headers: { 'x-key': 'robin' } })).status, 200)
  assert.deepEqual(await detail(await fetch('/things/a/many', remove)), [401, 'Who are you?'])
  assert.deepEqual(await detail(await fetch('/things/a/many', as('robin', remove))), [403, 'Only for admins.'])
  assert.equal((await fetch('/things/a/many', as('admin', remove))).status, 422)
  assert.equal((await fetch('/things/a/3', as('admin', remove))).status, 204)
  assert.deepEqual(Things.deleted.splice(0), ['a 3'])
})

test('a guard allows, or refuses with 403; the handler does not run', async (t) => {
  const { fetch, log } = await api(t, [Things])
  assert.deepEqual(await detail(await fetch('/things/robin', remove)), [401, 'Who are you?'])
  assert.deepEqual(await detail(await fetch('/things/alfred', as('robin', remove))), [403, 'It is not yours.'])
  assert.deepEqual(Things.deleted.splice(0), [])
  assert.equal((await fetch('/things/robin', as('robin', remove))).status, 204)
  assert.deepEqual(Things.deleted.splice(0), ['robin'])
  assert.equal((await fetch('/things/sloppy', as('robin', { method: 'POST' }))).status, 500)
  assert.deepEqual(Things.deleted.splice(0), [])
  assert.match(log.join(), /The check of guard\(\[\.\.\.\], check\) returned undefined\. Return true or false\./)
})

test('optional authentication: without credentials nobody, with wrong ones 401', async (t) => {
  const { fetch } = await api(t, [Visit])
  assert.deepEqual(await (await fetch('/visit')).json(), { name: null })
  assert.deepEqual(await (await fetch('/visit', as('robin'))).json(), { name: 'robin' })
  assert.equal((await fetch('/visit', { headers: { authorization: 'Basic x' } })).status, 401)
})

test('OpenAPI documents alternatives, optional credentials, and the scopes of guards', () => {
  const { paths, components } = createApp({ controllers: [Things, Visit], logger: false }).openapi()
  const security = (path: string, method: 'get' | 'delete') => paths?.[path]?.[method]?.security
  assert.deepEqual(security('/things', 'get'), [{ Bearer: [] }, { Key: [] }])
  assert.deepEqual(security('/things/{name}', 'delete'), [{ Bearer: ['owner'] }, { Key: ['owner'] }])
  assert.deepEqual(security('/visit', 'get'), [{}, { Bearer: [] }])
  // Who is required anyway is not optional.
  assert.deepEqual(security('/things/visitor', 'get'), [{ Bearer: [] }, { Key: [] }, { Key: [], Bearer: [] }])
  assert.deepEqual(components?.securitySchemes, { Bearer: bearer, Key: key })
  const statuses = (path: string) => Object.keys(paths?.[path]?.delete?.responses ?? {})
  assert.ok(statuses('/things/{name}').includes('403'))
  assert.ok(!statuses('/things/{name}/{count}').includes('403'))
  assert.ok(statuses('/things/{name}/{count}').includes('401'))
})

test('a provider replaces what a route requires, as in tests', async (t) => {
  const nobody = Object.assign(Object.create(User.prototype) as User, { name: 'nobody' })
  const { fetch } = await api(t, [Things], {
    providers: [provide(Admin, { value: {} }), provide(User, { value: nobody })],
  })
  assert.equal((await fetch('/things/a/3', remove)).status, 204)
  assert.deepEqual(Things.deleted.splice(0), ['a 3'])
})

@Injectable({ lifetime: 'application' })
class OfApp {}

const calls: string[] = []
const outer: Around = (next) => (calls.push('around'), next())
const step: Middleware = (_request, _response, next) => (calls.push('middleware'), next())

const twice: Middleware = (_request, _response, next) => (calls.push('twice'), next())

@Controller('/base', { requires: [User], middleware: [step], around: [outer] })
class Rows {
  @Get() list() {
    return ['all']
  }
  @Get('/:count') some(count: number) {
    return [count]
  }
}

class Between extends Rows {}

@Controller('/sub', { requires: [Admin, User], middleware: [step, twice, twice], around: [outer] })
class SubRows extends Between {
  @Get() override list() {
    return ['other']
  }
  @Get('/new/one') one() {
    return ['new']
  }
}

test('what a controller requires is checked by the controllers that extend it', async (t) => {
  const { fetch } = await api(t, [Rows, SubRows])
  for (const path of ['/sub', '/sub/1', '/sub/new/one']) {
    calls.length = 0
    assert.equal((await fetch(path)).status, 401, path)
    assert.equal((await fetch(path, as('robin'))).status, 403, path)
    assert.deepEqual(calls, ['middleware', 'twice', 'twice', 'middleware', 'twice', 'twice'])
    assert.equal((await fetch(path, as('admin'))).status, 200, path)
    assert.deepEqual(calls.slice(6), ['middleware', 'twice', 'twice', 'around'])
  }
  assert.equal((await fetch('/base', as('robin'))).status, 200)
  const { paths } = createApp({ controllers: [SubRows], logger: false }).openapi()
  assert.deepEqual(paths?.['/sub/{count}']?.get?.security, [{ Bearer: [] }, { Key: [] }])
})

test('what checks no request stops the start', () => {
  const routes = (requires: readonly never[] | readonly unknown[]) => {
    @Controller('/', { requires: requires as [] })
    class Routes {
      @Get() get() {}
    }
    return bootMessage([Routes])
  }
  assert.equal(routes([User]), 'it started')
  assert.match(
    routes([OfApp]),
    /Routes\.get requires OfApp, which lives as long as the app, so that it checks no request/,
  )
  assert.match(routes([token('missing')]), /nothing provides missing/)
  assert.match(routes([class Unknown {}]), /nothing provides Unknown\. Put @Injectable\(\) on the class/)
  assert.match(
    routes([guard([Request], () => true, { scopes: ['a'] })]),
    /Routes\.get: guard\(\[Request\]\) has scopes, but nothing that it injects has @Security\(\)/,
  )
  assert.throws(() => routes([undefined]), /@Controller\(\) on Routes: requires: item 0 is undefined\./)
  assert.throws(() => routes(User as never), /@Controller\(\) on Routes: requires/)
})

test('a guard of something else than tokens and a function is refused', () => {
  assert.throws(() => guard(User as never, () => true), /its first argument/)
  assert.throws(() => guard([undefined as never], () => true), /item 0 is undefined/)
  assert.throws(() => guard([User], true as never), /check is true\. Write a function/)
  assert.throws(() => guard([User], () => true, { scope: [] } as never), /scope/)
})
