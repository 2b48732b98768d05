import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Delete, Field, Get, Post, Put, Request } from 'sequitur'
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

  @Delete('/gone', Note, { status: 204 }) gone() {
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
    /Wrong\.plain returned a Secret, but declares no response.* Declare it: @Get\('\/', Secret\)/,
  ],
  ['an undeclared model inside', '/plain', () => ({ data: [Secret.build({ password: 'p' })] }), /returned a Secret/],
  [
    'an undeclared model under an empty name',
    '/plain',
    () => ({ '': Secret.build({ password: 'p' }) }),
    /returned a Secret/,
  ],
  ['an undeclared class with fields', '/plain', () => new Note(), /returned a Note, but declares no response/],
  [
    'a model where any JSON was declared',
    '/any',
    () => Secret.build({ password: 'p' }),
    /Wrong\.any returned a value that does not fit .*: \/value contains a Secret, declared any JSON value/,
  ],
  ['a model inside any JSON', '/any', () => [{ of: Secret.build({ password: 'p' }) }], /\/value contains a Secret/],
  [
    'a function',
    '/plain',
    () => () => 1,
    /Wrong\.plain returned a value of type function, which cannot be written as JSON/,
  ],
  ['a bigint', '/plain', () => ({ n: 1n }), /BigInt/],
  ['a circle', '/plain', circle, /circular/],
]

function circle(): unknown {
  const round: unknown[] = []
  round.push(round)
  return round
}

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
