import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Base,
  Controller,
  createApp,
  Field,
  guard,
  Header,
  Injectable,
  Item,
  newLifespan,
  Post,
  Request,
  Security,
} from 'sequitur'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { tenancy } from 'sequitur/tenancy'
import { memoryDatabase, type TestApp, testApp } from 'sequitur/testing'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, databases } from '../support/databases.js'
import { models, NewPayment, Payment } from './app.js'

@Injectable()
class HeaderUser {
  constructor(@Header() readonly x_user: string) {}
}
@Injectable()
class RawUser {
  readonly name: string
  constructor(request: Request) {
    this.name = String(request.headers['x-user'])
  }
}
@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class TokenUser {
  constructor(@Header() readonly authorization: string) {}
}
const users = guard([HeaderUser], ({ x_user }) => x_user !== '')
const rawUsers = guard([Request], ({ headers }) => headers['x-user'] !== undefined)

const of = ({ headers }: Request) => String(headers['x-user'])

function create({ account, amount }: NewPayment, name: string) {
  return Payment.create({ account: `${account} ${name}`, amount }).then((data) => ({ data }))
}

for (const [required, source] of [
  [HeaderUser, 'HeaderUser, which reads the header x-user'],
  [users, 'HeaderUser, which reads the header x-user'],
  [RawUser, 'RawUser, which reads the request itself'],
  [rawUsers, 'guard([Request]), which reads the request itself'],
] as const)
  test(`the start stops if requires has ${required.name}, whose client is not known without of`, () => {
    class Plain {
      @Idempotent() @Post('/') pay(input: NewPayment) {
        return create(input, '')
      }
    }
    class Named {
      @Idempotent({ of }) @Post('/') pay(input: NewPayment) {
        return create(input, '')
      }
    }
    Controller('/', { requires: [required] })(Plain)
    Controller('/', { requires: [required] })(Named)
    const message = `Plain.pay has @Idempotent(), and injects ${source}, but clients are distinguished by`
    assert.throws(
      () => createApp({ controllers: [Plain], lifespan: memoryDatabase() }),
      (error: Error) => error.name === 'BootError' && error.message.startsWith(message),
    )
    createApp({ controllers: [Named], lifespan: memoryDatabase() })
  })

class BranchHeaders {
  @Field() x_branch!: string
}

@Controller('/')
class Accounts {
  @Idempotent({ of })
  @Post('/named', Item.of(Payment))
  named(input: NewPayment, user: HeaderUser) {
    return create(input, user.x_user)
  }
  @Idempotent({ of: (request) => decodeURIComponent(of(request)) })
  @Post('/decoded', Item.of(Payment))
  decoded(input: NewPayment, user: HeaderUser) {
    return create(input, user.x_user)
  }
  @Idempotent()
  @Post('/tokens', Item.of(Payment))
  tokens(input: NewPayment, user: TokenUser, @Header() x_branch: string) {
    return create(input, `${user.authorization} ${x_branch}`)
  }
  @Idempotent()
  @Post('/branches', Item.of(Payment))
  branches(input: NewPayment, user: TokenUser, @Header() { x_branch }: BranchHeaders) {
    return create(input, `${user.authorization} ${x_branch}`)
  }
  @Idempotent()
  @Post('/traced', Item.of(Payment))
  traced(input: NewPayment, @Header({ optional: true }) traceparent: string = '') {
    return create(input, traceparent)
  }
}

async function send({ fetch }: TestApp, path: string, headers: Record<string, string>) {
  const json = { account: 'rent', amount: 1 }
  const response = await fetch(path, { method: 'POST', json, headers: { 'idempotency-key': 'a', ...headers } })
  const { data } = (await response.json()) as { data?: { account: string } }
  return [response.status, data?.account, response.headers.get('idempotency-replayed')]
}

test('no client gets the response of another, and a declared header is compared', async (t) => {
  const app = await testApp({ controllers: [Accounts], models, lifespan: memoryDatabase() })
  t.after(app.close)
  for (const replayed of [null, 'true'])
    for (const name of ['Ann', 'Bob'])
      assert.deepEqual(await send(app, '/named', { 'x-user': name }), [201, `rent ${name}`, replayed])
  const ann = { authorization: 'Ann', 'x-branch': '1' }
  for (const path of ['/tokens', '/branches']) {
    assert.deepEqual(await send(app, path, ann), [201, 'rent Ann 1', null])
    assert.deepEqual(await send(app, path, ann), [201, 'rent Ann 1', 'true'])
    assert.deepEqual(await send(app, path, { ...ann, 'x-branch': '2' }), [422, undefined, null])
  }
  assert.deepEqual(await send(app, '/tokens', { ...ann, authorization: 'Bob' }), [201, 'rent Bob 1', null])
})

const FORMS = ['caf\u00e9', 'cafe\u0301', 'cafe', 'CAFE', 'cafe ', '\ud55c', '\u1112\u1161\u11ab'].map(encodeURI)

for (const kind of databases)
  test(`${kind.name}: names that differ in case, spaces or Unicode form alone are those of different clients`, async (t) => {
    const app = await databaseApp(t, kind, models, [Accounts], { lifespan: { echo: false } })
    for (const replayed of [null, 'true'])
      for (const name of FORMS)
        assert.deepEqual(await send(app, '/decoded', { 'x-user': name }), [201, `rent ${name}`, replayed])
  })

test('without other knowledge of the client its cookies are compared; what differs between attempts is not', async (t) => {
  const app = await testApp({ controllers: [Accounts], models, lifespan: memoryDatabase() })
  t.after(app.close)
  assert.deepEqual(await send(app, '/traced', { cookie: 'sid=ann', traceparent: '1' }), [201, 'rent 1', null])
  assert.deepEqual(await send(app, '/traced', { cookie: 'sid=ann', traceparent: '2' }), [201, 'rent 1', 'true'])
  assert.deepEqual(await send(app, '/traced', { cookie: 'sid=bob' }), [422, undefined, null])
  assert.deepEqual(await send(app, '/traced', {}), [422, undefined, null])
})

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare text: string
}
class NewNote {
  @Field() text!: string
}

/** What a middleware has found out of each request. */
const sessions = new WeakMap<object, number>()

@Controller('/notes')
class Notes {
  @Idempotent()
  @Post('/', Item.of(Note))
  async create({ text }: NewNote) {
    return { data: await Note.create({ text }) }
  }

  @Idempotent({ of: () => 'all' })
  @Post('/late', Item.of(Note))
  async late({ text }: NewNote, { raw }: Request) {
    sessions.set(raw, 9)
    return this.create({ text })
  }
}

test('the tenant of the session belongs to the key, also behind the sessions of a middleware', async (t) => {
  const boundary = tenancy({ of: ({ raw }) => sessions.get(raw), column: 'tenant_id' })
  const lifespan = newLifespan('sqlite://', { sync: true, boundary })
  const app = await testApp({
    controllers: [Notes],
    models: [Note, IdempotencyRecord],
    lifespan,
    middleware: [
      (request, _response, next) => {
        const tenant = request.headers['x-session']
        if (tenant !== undefined) sessions.set(request, Number(tenant))
        next()
      },
    ],
    logger: false,
  })
  t.after(app.close)
  const post = async (path: string, headers: Record<string, string>) => {
    const init = { method: 'POST', json: { text: 'a' }, headers: { 'idempotency-key': 'a', ...headers } }
    const response = await app.fetch(path, init)
    const { data } = (await response.json()) as { data?: { tenant_id: number } }
    return [response.status, data?.tenant_id, response.headers.get('idempotency-replayed')]
  }
  for (const replayed of [null, 'true'])
    for (const tenant of [1, 2])
      assert.deepEqual(await post('/notes', { 'x-session': String(tenant) }), [201, tenant, replayed])
  assert.deepEqual(await post('/notes/late', {}), [500, undefined, null], 'the key would be that of all tenants')
})

for (const database of databases) {
  test(`${database.name}: the case of an authentication scheme makes no other client, that of a token does`, async (t) => {
    const app = await databaseApp(t, database, models, [Accounts])
    const pay = async (authorization: string) => {
      const headers = { authorization, 'x-branch': 'north', 'idempotency-key': 'key-1' }
      const response = await app.fetch('/tokens', { method: 'POST', headers, json: { account: 'a', amount: 1 } })
      assert.equal(response.status, 201)
      return ((await response.json()) as { data: { id: number } }).data.id
    }
    assert.deepEqual([await pay('Bearer abc'), await pay('bearer abc'), await pay('BEARER abc')], [1, 1, 1])
    assert.deepEqual([await pay('Bearer Abc'), await pay('Basic abc'), await pay('basic abc')], [2, 3, 3])
    assert.equal(await Payment.count(), 3)
  })
}
