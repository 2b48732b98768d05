import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { DatabaseError } from 'sequelize'
import {
  Body,
  Controller,
  Field,
  forbidden,
  Get,
  Header,
  Injectable,
  Post,
  provide,
  Query,
  Request,
  Security,
  Session,
  sql,
  Transactional,
  unauthorized,
} from 'sequitur'
import { api } from '../support/api.js'
import { connection } from '../support/connection.js'
import { databaseApp, databases } from '../support/databases.js'

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class User {
  readonly name: string
  constructor(@Header({ optional: true }) authorization: string = '') {
    this.name = /^Bearer (\w+)$/.exec(authorization)?.[1] ?? unauthorized('Who are you?')
  }
}

@Injectable()
class Admin {
  constructor(user: User) {
    if (user.name !== 'admin') forbidden('You are not an admin.')
  }
}

/** Is not built before the inputs are validated: it has one of its own. */
@Injectable()
class Search {
  static built = 0
  constructor(
    readonly user: User,
    @Query({ type: 'integer', default: 1 }) readonly limit: number,
  ) {
    Search.built++
  }
}

class Note {
  @Field({ minLength: 3 }) text!: string
}

@Controller('/notes')
class Notes {
  @Post('/:id') add(id: number, @Query({ enum: ['a', 'b'] }) kind: string, note: Note, user: User) {
    return { id, kind, text: note.text, user: user.name }
  }
  @Post('/admin/:id') addAsAdmin(id: number, note: Note, _admin: Admin) {
    return { id, text: note.text }
  }
  @Get('/search') search(q: number, search: Search) {
    return { q, limit: search.limit, user: search.user.name }
  }
}

const json = { 'content-type': 'application/json' }
const VALID = JSON.stringify({ text: 'abc' })

const refused = async (response: Response, status: number, detail: string) => {
  assert.equal(response.status, status)
  assert.equal(((await response.json()) as { detail: string }).detail, detail)
}

for (const [sentence, path, init] of [
  ['a path variable', '/notes/x?kind=a', { body: VALID, headers: json }],
  ['the query', '/notes/1?kind=c', { body: VALID, headers: json }],
  ['a missing input', '/notes/1', { body: VALID, headers: json }],
  ['the body', '/notes/1?kind=a', { body: '{"text":1}', headers: json }],
  ['what is not JSON', '/notes/1?kind=a', { body: '{', headers: json }],
  ['another media type', '/notes/1?kind=a', { body: VALID, headers: { 'content-type': 'text/plain' } }],
  ['an invalid percent-encoding of the query', '/notes/1?kind=%zz', { body: VALID, headers: json }],
] as const) {
  test(`without credentials, ${sentence} is not validated: 401`, async (t) => {
    const { fetch } = await api(t, [Notes])
    await refused(await fetch(path, { method: 'POST', ...init }), 401, 'Who are you?')
    const response = await fetch(path, {
      method: 'POST',
      ...init,
      headers: { ...init.headers, authorization: 'Bearer me' },
    })
    assert.ok([400, 415, 422].includes(response.status), String(response.status))
  })
}

test('a class that injects the one with @Security refuses before the inputs are validated, too: 403', async (t) => {
  const { fetch } = await api(t, [Notes])
  const send = (authorization: string) =>
    fetch('/notes/admin/x', { method: 'POST', body: '{}', headers: { ...json, authorization } })
  await refused(await send('Bearer me'), 403, 'You are not an admin.')
  assert.equal((await send('Bearer admin')).status, 422)
})

test('a class that extends the one with @Security, without a constructor or with its own, refuses before the inputs are validated: 401', async (t) => {
  @Injectable()
  class Member extends User {}
  @Injectable()
  class Owner extends User {
    constructor(@Header({ optional: true }) authorization: string = '') {
      super(authorization)
    }
  }
  @Controller()
  class Extended {
    @Post('/member/:id') asMember(id: number, user: Member) {
      return { id, user: user.name }
    }
    @Post('/owner/:id') asOwner(id: number, user: Owner) {
      return { id, user: user.name }
    }
  }
  const { fetch } = await api(t, [Extended])
  for (const path of ['/member/x', '/owner/x']) {
    await refused(await fetch(path, { method: 'POST' }), 401, 'Who are you?')
    assert.equal((await fetch(path, { method: 'POST', headers: { authorization: 'Bearer me' } })).status, 422)
  }
})

test('other services are built after the inputs are validated', async (t) => {
  Search.built = 0
  const { fetch } = await api(t, [Notes])
  const headers = { authorization: 'Bearer me' }
  assert.equal((await fetch('/notes/search?q=x')).status, 401)
  assert.equal((await fetch('/notes/search?q=x', { headers })).status, 422)
  assert.equal((await fetch('/notes/search?q=1&limit=x', { headers })).status, 422)
  assert.equal(Search.built, 0)
  assert.deepEqual(await (await fetch('/notes/search?q=1&limit=2', { headers })).json(), { q: 1, limit: 2, user: 'me' })
})

test('the status is 401 without credentials, else 422 with the issues of every invalid input', async (t) => {
  const { fetch } = await api(t, [Notes])
  const law = fc.asyncProperty(
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
    async (known, id, kind, text) => {
      const response = await fetch(`/notes/${id ? 1 : 'x'}?kind=${kind ? 'a' : 'c'}`, {
        method: 'POST',
        json: { text: text ? 'abc' : '' },
        headers: known ? { authorization: 'Bearer me' } : {},
      })
      const invalid = [...(id ? [] : ['/id']), ...(kind ? [] : ['/kind']), ...(text ? [] : ['/text'])]
      assert.equal(response.status, !known ? 401 : invalid.length > 0 ? 422 : 201)
      const { errors = [] } = (await response.json()) as { errors?: { path: string }[] }
      assert.deepEqual(errors.map(({ path }) => path).sort(), known ? invalid.sort() : [])
    },
  )
  await fc.assert(law, { numRuns: 60 })
})

test('where an input of the class itself is invalid, the issues of all inputs are reported', async (t) => {
  @Injectable()
  @Security({ type: 'apiKey', in: 'header', name: 'x-key' })
  class Key {
    constructor(@Header() x_key: number) {
      if (x_key !== 7) unauthorized()
    }
  }
  @Controller()
  class Guarded {
    @Get() get(q: number, _key: Key) {
      return q
    }
  }
  const { fetch } = await api(t, [Guarded])
  const response = await fetch('/?q=x', { headers: { 'x-key': 'x' } })
  const { errors } = (await response.json()) as { errors: { in: string; path: string }[] }
  assert.deepEqual(errors.map(({ in: location, path }) => `${location} ${path}`).sort(), ['header /x-key', 'query /q'])
  assert.equal((await fetch('/?q=x', { headers: { 'x-key': '8' } })).status, 401)
  assert.equal((await fetch('/?q=1', { headers: { 'x-key': '7' } })).status, 200)
})

test('a class that authenticates by the body reads it before the others', async (t) => {
  @Injectable()
  @Security({ type: 'apiKey', in: 'query', name: 'signature' })
  class Signed {
    constructor(
      @Body({ type: Note }) readonly note: Note,
      signature: string,
    ) {
      if (signature !== note.text) unauthorized()
    }
  }
  @Controller()
  class Hooks {
    @Post() post(n: number, signed: Signed) {
      return [n, signed.note.text, signed.note instanceof Note]
    }
  }
  const { fetch } = await api(t, [Hooks])
  const status = async (path: string, text: string) => (await fetch(path, { method: 'POST', json: { text } })).status
  assert.equal(await status('/?signature=abd&n=x', 'abc'), 401)
  assert.equal(await status('/?signature=abc&n=x', 'abc'), 422)
  const response = await fetch('/?signature=abc&n=1', { method: 'POST', json: { text: 'abc' } })
  assert.deepEqual(await response.json(), [1, 'abc', true])
})

test('the body is read within its limit before anything authenticates', async (t) => {
  let asked = 0
  class Asked {}
  Security({ type: 'http', scheme: 'bearer' })(Asked)
  const asking = provide(Asked, { factory: () => (asked++, new Asked()), lifetime: 'request' })
  @Controller()
  class Slow {
    @Post() post(note: Note, _asked: Asked) {
      return note.text
    }
  }
  const { url, fetch } = await api(t, [Slow], { providers: [asking], bodyLimit: 100 })
  assert.equal((await fetch('/', { method: 'POST', json: { text: 'x'.repeat(100) } })).status, 413)
  const { send, received } = connection(t, url)
  send('POST / HTTP/1.1\nHost: a\nContent-Type: application/json\nContent-Length: 14\nExpect: 100-continue\n\n')
  await received(/100 Continue/)
  send('{"text":')
  assert.equal((await fetch('/')).status, 405)
  assert.equal(asked, 0)
  send('"abc"}')
  await received(/"abc"$/)
  assert.equal(asked, 1)
})

/** What the database throws when another transaction was in the way. */
function conflictOf(name: string): Error {
  const code = name.startsWith('SQLite') ? 'SQLITE_BUSY' : name === 'PostgreSQL' ? '40001' : 'ER_LOCK_DEADLOCK'
  return new DatabaseError(Object.assign(new Error('conflict'), { sql: '', code }))
}

for (const kind of databases) {
  test(`${kind.name}: an account is read before the inputs are validated, and again with its inputs when the handler is`, async (t) => {
    class Account {}
    Security({ type: 'http', scheme: 'bearer' })(Account)
    let reads = 0
    const find = async (session: Session, request: Request) => {
      reads++
      await session.execute(sql`SELECT 1`)
      return request.headers.authorization === 'Bearer me' ? new Account() : unauthorized()
    }
    const account = provide(Account, { factory: find, inject: [Session, Request], lifetime: 'request' })
    const texts: string[] = []
    @Controller()
    class Accounts {
      @Transactional({ retry: 1 })
      @Post()
      async post(note: Note, _account: Account, session: Session) {
        await session.execute(sql`SELECT 1`)
        texts.push(note.text)
        note.text = 'changed'
        if (texts.length === 1) throw conflictOf(kind.name)
        return 'done'
      }
    }
    const { fetch } = await databaseApp(t, kind, [], [Accounts], { providers: [account] })
    const send = (text: string, headers: Record<string, string>) =>
      fetch('/', { method: 'POST', json: { text }, headers })
    assert.equal((await send('', {})).status, 401)
    assert.equal((await send('', { authorization: 'Bearer me' })).status, 422)
    assert.equal(reads, 2)
    assert.equal((await send('abc', { authorization: 'Bearer me' })).status, 201)
    assert.deepEqual([reads, texts], [4, ['abc', 'abc']])
  })
}

test('a controller whose constructor authenticates guards its routes, and is documented', async (t) => {
  @Security({ type: 'http', scheme: 'bearer' })
  @Controller('/safe')
  class Safe {
    constructor(@Header({ optional: true }) authorization: string = '') {
      if (authorization !== 'Bearer robin') unauthorized('Who are you?')
    }
    @Get('/') get(@Query({ type: 'integer' }) n: number) {
      return n
    }
  }
  const { app, fetch } = await api(t, [Safe])
  const authorized = { headers: { authorization: 'Bearer robin' } }
  const statuses = [await fetch('/safe'), await fetch('/safe', authorized), await fetch('/safe?n=1', authorized)]
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [401, 422, 200],
  )
  assert.deepEqual(app.openapi().paths?.['/safe']?.get?.security, [{ Safe: [] }])
})

test('a test may provide a user without a request', async (t) => {
  class Robin extends User {
    constructor() {
      super('Bearer robin')
    }
  }
  @Controller()
  class Names {
    @Get('/') get(user: User) {
      return user.name
    }
  }
  for (const provision of [provide(User, { class: Robin }), provide(User, { value: new Robin() })]) {
    const { fetch } = await api(t, [Names], { providers: [provision] })
    assert.equal(await (await fetch('/')).json(), 'robin')
  }
})
