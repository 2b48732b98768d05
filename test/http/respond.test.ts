import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as namespace from 'sequitur/cursor'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Delete, Field, Get, Post, Put, reply, Request } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { api, bootMessage } from '../support/api.js'

class Note {
  @Field() text!: string
}

class Holder {
  @Field({ type: 'any' }) value!: unknown
}

@Table({ tableName: 'secret', timestamps: false })
class Secret extends Base<Secret> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare password: string
}

@Controller()
class Answers {
  @Get('/get', Note) get() {
    return { text: 'a', password: 'p' }
  }

  @Post('/post', Note) post() {
    return { text: 'a' }
  }

  @Put('/put', Note) put() {
    return { text: 'a' }
  }

  @Delete('/delete', Note) delete() {
    return { text: 'a' }
  }

  @Post('/accepted', Note, { status: 202 }) accepted() {
    return { text: 'a' }
  }

  @Get('/nothing') nothing() {}

  @Post('/nothing') postNothing() {}

  @Post('/accepted-nothing', { status: 202 }) acceptedNothing() {}

  @Delete('/gone', { status: 204 }) gone() {
    return { text: 'a' }
  }

  @Post('/plain') plain() {
    return { a: [1, null, 'ä'], b: new Date(0) }
  }

  @Get('/null') null() {
    return null
  }

  @Get('/later') async later() {
    return 'later'
  }

  @Get('/list', [Note]) list() {
    return [{ text: 'a' }]
  }
}

const answers: readonly (readonly [sentence: string, method: string, path: string, status: number, body: string])[] = [
  ['GET is answered with 200, and with declared properties only', 'GET', '/get', 200, '{"text":"a"}'],
  ['POST is answered with 201', 'POST', '/post', 201, '{"text":"a"}'],
  ['PUT is answered with 200', 'PUT', '/put', 200, '{"text":"a"}'],
  ['DELETE is answered with 200', 'DELETE', '/delete', 200, '{"text":"a"}'],
  ['the status may be declared', 'POST', '/accepted', 202, '{"text":"a"}'],
  ['no value is a 204', 'GET', '/nothing', 204, ''],
  ['no value of POST is a 204, too', 'POST', '/nothing', 204, ''],
  ['a declared status holds without a value', 'POST', '/accepted-nothing', 202, ''],
  ['a declared 204 has no body, whatever is returned', 'DELETE', '/gone', 204, ''],
  ['plain JSON needs no declaration', 'POST', '/plain', 201, '{"a":[1,null,"ä"],"b":"1970-01-01T00:00:00.000Z"}'],
  ['null is a value', 'GET', '/null', 200, 'null'],
  ['a promise is awaited', 'GET', '/later', 200, '"later"'],
  ['a list may be declared', 'GET', '/list', 200, '[{"text":"a"}]'],
  ['HEAD has the status of GET', 'HEAD', '/get', 200, ''],
]

for (const [sentence, method, path, status, body] of answers) {
  test(sentence, async (t) => {
    const { fetch } = await api(t, [Answers])
    const response = await fetch(path, { method })
    assert.equal(response.status, status)
    assert.equal(await response.text(), body)
  })
}

test('JSON is sent with its charset and its length in bytes', async (t) => {
  const { fetch } = await api(t, [Answers])
  const { headers } = await fetch('/plain', { method: 'POST' })
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(headers.get('content-length'), '50')
})

test('an answer without a body has no content type', async (t) => {
  const { fetch } = await api(t, [Answers])
  for (const answer of [await fetch('/nothing'), await fetch('/gone', { method: 'DELETE' })]) {
    assert.equal(answer.headers.get('content-type'), null)
  }
})

let wrong: () => unknown = () => undefined

@Controller()
class Wrong {
  @Get('/declared', Note) declared(): Note {
    return wrong() as Note
  }

  @Get('/list', [Note]) list(): Note[] {
    return wrong() as Note[]
  }

  @Get('/plain') plain() {
    return wrong()
  }

  @Get('/any', Holder) any() {
    return { value: wrong() }
  }
}

const mistakes: readonly (readonly [sentence: string, path: string, value: () => unknown, log: RegExp])[] = [
  ['nothing', '/declared', () => undefined, /Wrong\.declared returned nothing, but declares a response\. Return it/],
  [
    'null',
    '/declared',
    () => null,
    /Wrong\.declared returned a value that does not fit .*: \/ is null, declared object/,
  ],
  ['a missing property', '/declared', () => ({}), /does not fit .*: \/text is missing, declared string/],
  ['another type', '/declared', () => ({ text: 1 }), /does not fit .*: \/text is the number 1, declared string/],
  ['a wrong item', '/list', () => [{ text: 'a' }, {}], /does not fit .*: \/1\/text is missing/],
  [
    'an undeclared model',
    '/plain',
    () => Secret.build({ password: 'p' }),
    /Wrong\.plain declares no response, and returned a Secret\. .* Declare the response in the decorator of the route, of the form that it has: Secret, \[Secret\]/,
  ],
  [
    'an undeclared model inside',
    '/plain',
    () => ({ data: [Secret.build({ password: 'p' })] }),
    /returned a Secret at \/data\/0\./,
  ],
  [
    'an undeclared model under an empty name',
    '/plain',
    () => ({ '': Secret.build({ password: 'p' }) }),
    /returned a Secret/,
  ],
  ['an undeclared class with fields', '/plain', () => new Note(), /declares no response, and returned a Note\./],
  [
    'a model where any JSON was declared',
    '/any',
    () => Secret.build({ password: 'p' }),
    /Wrong\.any returned a value that does not fit .*: \/value is a Secret, declared any JSON value/,
  ],
  [
    'a model inside any JSON',
    '/any',
    () => [{ of: Secret.build({ password: 'p' }) }],
    /\/value\/0\/of is a Secret, declared any/,
  ],
  [
    'a function',
    '/plain',
    () => () => 1,
    /Wrong\.plain declares no response, and returned the function \(anonymous\)\. Call it/,
  ],
  ['a circle', '/plain', circle, /Wrong\.plain .* an object that contains itself at \/0\. Return the parts/],
]

function circle(): unknown {
  const round: unknown[] = []
  round.push(round)
  return round
}

class Person {
  name = 'Robin'
  readonly password = 'secret'
}

class Money {
  toJSON() {
    return '1.00'
  }
}

/** What JSON would send with all its properties, silently drop, or write as {}, and what to write instead. */
const untypable: readonly (readonly [what: string, make: () => unknown, remedy: RegExp])[] = [
  ['a Person', () => new Person(), /Return a plain object with its public properties, or declare them/],
  ['a Promise', () => Promise.resolve(1), /It was not awaited/],
  ['a Map', () => new Map([[1, 2]]), /Object\.fromEntries\(map\)/],
  ['a Set', () => new Set([1]), /\[\.\.\.set\]/],
  ['a TypeError', () => new TypeError('no'), /Throw it/],
  ['an iterator', () => [1].values(), /\[\.\.\.values\]/],
  ['a class without a name', () => new (class {})(), /plain object/],
  ['a Buffer', () => Buffer.from('a'), /base64/],
  ['the function list', () => function list() {}, /Call it/],
  ['Symbol\\(a\\)', () => Symbol('a'), /leave it out/],
  ['the bigint 1', () => 1n, /Write String\(value\), or declare it as @Field\(\{ type: 'bigint' \}\)/],
  ['a Person', () => ({ toJSON: () => new Person() }), /public properties/],
  ['\\[object JSON\\]', () => JSON, /plain object of its values/],
  ['\\[object Module\\]', () => namespace, /plain object of its values/],
]
const holders: readonly (readonly [path: string, hold: (part: unknown) => unknown])[] = [
  ['', (part) => part],
  ['/data/0/user', (part) => ({ data: [{ user: part }] })],
  ['/1/a~1b', (part) => [1, { 'a/b': part }]],
  ['/in/0', (part) => ({ in: { toJSON: () => [part] } })],
]

for (const [what, make, remedy] of untypable) {
  for (const [place, hold] of holders) {
    if (place === '' && what === 'a Promise') continue // the result of an asynchronous handler
    test(`${what} at '${place}' of an undeclared response, or of any JSON, is a 500 whose path and remedy are in the log`, async (t) => {
      wrong = () => hold(make())
      const app = await api(t, [Wrong])
      const responses = [await app.fetch('/plain'), await app.fetch('/any')]
      for (const response of responses)
        assert.deepEqual([response.status, /secret/.test(await response.text())], [500, false])
      const at = place && ` at ${place}`
      assert.match(
        app.log.join(),
        new RegExp(`Wrong\\.plain declares no response, and returned ${what}${at}\\. .*${remedy.source}`),
      )
      assert.match(
        app.log.join(),
        new RegExp(`Wrong\\.any returned .*: /value${place} is ${what}, declared any JSON value\\. .*${remedy.source}`),
      )
    })
  }
}

test('a response of more levels than JSON.stringify() reaches is a 500 that names its handler', async (t) => {
  let nested: unknown = 1
  for (let level = 0; level < 50_000; level++) nested = [nested]
  wrong = () => nested
  const { fetch, log } = await api(t, [Wrong])
  assert.deepEqual([(await fetch('/plain')).status, (await fetch('/any')).status], [500, 500])
  assert.match(log.join(), /Wrong\.plain declares no response, and returned a value of more than 1000 levels at \/0\/0/)
  assert.match(log.join(), /Wrong\.any returned .*: \/value\/0.* is a value of more than 1000 levels/)
})

test('plain objects, scalars and what has a toJSON() need no declaration', async (t) => {
  const plain = {
    at: new Date(0),
    url: new URL('http://a.b/'),
    of: new Money(),
    bare: Object.assign(Object.create(null), { a: undefined }),
  }
  wrong = () => [plain, null, true, 'a', 1.5, Array(1)]
  const { fetch, log } = await api(t, [Wrong])
  const json = [
    { at: '1970-01-01T00:00:00.000Z', url: 'http://a.b/', of: '1.00', bare: {} },
    null,
    true,
    'a',
    1.5,
    [null],
  ]
  assert.deepEqual(await (await fetch('/plain')).json(), json, log.join())
  assert.deepEqual(await (await fetch('/any')).json(), { value: json }, log.join())
})

for (const [sentence, path, value, log] of mistakes) {
  test(`${sentence} returned from ${path} is a 500, and the log states what to do`, async (t) => {
    wrong = value
    const app = await api(t, [Wrong], { models: [Secret], lifespan: memoryDatabase() })
    const response = await app.fetch(path)
    assert.equal(response.status, 500)
    assert.doesNotMatch(await response.text(), /Secret|Note|password/)
    assert.match(app.log.join(), log)
  })
}

test('a result of ten megabytes arrives whole', async (t) => {
  @Controller()
  class Large {
    @Get() get() {
      return 'x'.repeat(10_000_000)
    }
  }
  const { fetch } = await api(t, [Large])
  assert.equal((await (await fetch('/')).text()).length, 10_000_002)
})

for (const status of [99, 199, 400, 500, 200.5]) {
  test(`a declared status of ${status} fails at startup`, () => {
    @Controller()
    class Strange {
      @Get('/', { status }) get() {}
    }
    assert.match(bootMessage([Strange]), /^BootError: Strange\.get: status is [\d.]+\. .*throw an HttpError/)
  })
}

test('a response that is no type fails at startup', () => {
  class Empty {}
  @Controller()
  class Strange {
    @Get('/', Empty) get() {
      return {}
    }
  }
  assert.match(bootMessage([Strange]), /^BootError: Strange\.get, its response: Empty has no fields/)
})

test('a handler of the request answers what it found there', async (t) => {
  @Controller()
  class Agent {
    @Get() agent(request: Request) {
      return request.headers['user-agent']
    }
  }
  const { fetch } = await api(t, [Agent])
  assert.equal(await (await fetch('/', { headers: { 'user-agent': 'me' } })).json(), 'me')
})

test('a value that a status without a body drops is logged, once for each route', async (t) => {
  @Controller()
  class Dropping {
    @Delete('/value', { status: 204 }) value() {
      return { text: 'a' }
    }
    @Delete('/reply', { responses: { 204: 'Done' } }) reply() {
      return reply(undefined, { status: 204 })
    }
    @Delete('/nothing', { status: 204 }) nothing() {}
  }
  const { fetch, log } = await api(t, [Dropping])
  for (const path of ['/value', '/value', '/reply', '/nothing']) {
    const response = await fetch(path, { method: 'DELETE' })
    assert.deepEqual([response.status, await response.text()], [204, ''])
  }
  assert.deepEqual(log, [
    'Dropping.value returned a value that is not sent, as a response with the status 204 has no body. Return nothing, or remove the status.',
  ])
})

for (const [status, declare] of [
  [204, () => Get('/', Note, { status: 204 })],
  [304, () => Get('/', Note, { status: 304 })],
  [205, () => Get('/', Note, { responses: { 205: Note } })],
] as const) {
  test(`a declared response with the status ${status} fails at startup, as it would not be sent`, () => {
    class Empty {
      get() {
        return { text: 'a' }
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Empty.prototype, 'get') as TypedPropertyDescriptor<() => Note>
    declare()(Empty.prototype, 'get', descriptor)
    Controller()(Empty)
    assert.match(
      bootMessage([Empty]),
      new RegExp(`Empty\\.get declares a response with the status ${status}, which has no body\\. Remove the response`),
    )
  })
}
