import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { Body, Controller, Field, Get, Item, Page, Post, type StandardSchema } from 'sequitur'
import { z } from 'zod'
import { api, bootMessage } from '../support/api.js'
import { conformsTo } from '../support/documented.js'
import { runs } from '../support/fuzz.js'

type Json = Readonly<Record<string, unknown>>

/** A schema that lets every property through, as arktype and valibot's looseObject do; `json` is its JSON Schema. */
function open(json: Json, output = json): StandardSchema<unknown> {
  const jsonSchema = { input: () => json, output: () => output }
  const standard = { version: 1, vendor: 'open', validate: (value: unknown) => ({ value }), jsonSchema } as const
  return { '~standard': standard }
}

const user = {
  type: 'object',
  properties: { id: { type: 'number' }, name: { type: 'string' } },
  required: ['id', 'name'],
} as const
const robin = { id: 1, name: 'Robin' }
const leaky = { ...robin, password: 'secret' }

class Account {
  id = 1
  name = 'Robin'
  password = 'secret'
}

class Team {
  @Field({ type: open(user) }) captain: unknown
}

@Controller()
class Users {
  @Get('/user', open(user)) user() {
    return leaky
  }
  @Get('/account', open(user)) account() {
    return new Account()
  }
  @Get('/page', Page.of(open(user))) page() {
    return { data: [leaky], meta: { offset: 0, total_items: 1, total_pages: 1, page_number: 1 } }
  }
  @Get('/team', Item.of(Team)) team() {
    return { data: { captain: leaky } }
  }
  @Get('/loose', z.looseObject({ id: z.number(), name: z.string() })) loose() {
    return leaky
  }
  @Get('/passthrough', z.object({ user: z.object({ id: z.number() }).loose() })) passthrough() {
    return { user: leaky }
  }
  @Get('/catchall', z.object({}).catchall(z.looseObject({ a: z.string() }))) catchall() {
    return { other: { a: 'x', password: 'secret' } }
  }
  @Get('/record', z.record(z.string(), z.unknown())) record() {
    return { a: 1, b: { c: [2] } }
  }
  @Get(
    '/intersection',
    z
      .object({ id: z.number() })
      .meta({ id: 'HasId' })
      .and(z.looseObject({ name: z.string() })),
  )
  intersection() {
    return leaky
  }
  @Post('/users', { status: 200 }) create(@Body({ type: open(user) }) body: unknown) {
    return body
  }
}

const answers = [
  ['/user', robin],
  ['/account', robin],
  ['/page', { data: [robin], meta: { offset: 0, total_items: 1, total_pages: 1, page_number: 1 } }],
  ['/team', { data: { captain: robin } }],
  ['/loose', robin],
  ['/passthrough', { user: { id: 1 } }],
  ['/catchall', { other: { a: 'x' } }],
  ['/record', { a: 1, b: { c: [2] } }],
  ['/intersection', robin],
] as const

for (const [path, expected] of answers) {
  test(`${path}: of an open object, only the documented properties are sent`, async (t) => {
    const { app, fetch, log } = await api(t, [Users])
    const response = await fetch(path)
    const text = await response.text()
    assert.deepEqual(JSON.parse(text), expected, log.join('\n'))
    const conforms = conformsTo(app)
    conforms('get', path, response, text)
    if (expected === robin) assert.throws(() => conforms('get', path, response, JSON.stringify(leaky)), /password/)
  })
}

test('of an open body, only the documented properties reach the handler', async (t) => {
  const { fetch } = await api(t, [Users])
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/users', { method: 'POST', headers, body: JSON.stringify({ ...robin, admin: true }) })
  assert.deepEqual(await response.json(), robin)
})

test('a value that none of the documented alternatives has is a 500', async (t) => {
  @Controller()
  class Odd {
    @Get('/', open({ anyOf: [user, { type: 'string' }] })) odd() {
      return { title: 'x' }
    }
    @Get('/type', open({ type: 'object', properties: { n: { type: 'number' } } })) type() {
      return { n: { password: 'secret' } }
    }
  }
  const { fetch, log } = await api(t, [Odd])
  assert.deepEqual([(await fetch('/')).status, (await fetch('/type')).status], [500, 500])
  assert.match(log.join('\n'), /Odd\.odd [^]*of which none fits[^]*Odd\.type [^]*\/n is [^]*, declared number/)
})

const plain = (validate: unknown) =>
  ({ '~standard': { version: 1, vendor: 'valibot', validate } }) as StandardSchema<unknown>

test('a schema without a JSON Schema fails at startup, with the cure', () => {
  const bare = plain((value: unknown) => ({ value }))
  const throwing = open({})
  Object.assign(throwing['~standard'], { jsonSchema: { input: () => ({}), output: () => assert.fail('no dates') } })
  @Controller()
  class AsResponse {
    @Get('/', Item.of(bare)) get() {
      return { data: 1 }
    }
  }
  @Controller()
  class AsBody {
    @Post('/') post(@Body({ type: bare }) body: unknown) {
      return body
    }
  }
  @Controller()
  class Throwing {
    @Get('/', throwing) get() {
      return 1
    }
  }
  @Controller()
  class Elsewhere {
    @Get('/', open({ $ref: 'https://example.com/user.json' })) get() {
      return 1
    }
  }
  const cure = /a schema of valibot has no JSON Schema\. .*toStandardJsonSchema\(schema\) of @valibot\/to-json-schema/
  assert.match(bootMessage([AsResponse]), /^BootError: AsResponse\.get, its response: /)
  assert.match(bootMessage([AsResponse]), cure)
  assert.match(bootMessage([AsBody]), /^InjectionError: AsBody\.post, parameter 1 'body': /)
  assert.match(bootMessage([AsBody]), cure)
  assert.match(bootMessage([Throwing]), /a schema of open has no JSON Schema for its output: no dates\. /)
  assert.match(bootMessage([Elsewhere]), /refers to 'https:\/\/example\.com\/user\.json', which it does not contain/)
})

const slashed = { ...user, title: 'User' }

for (const [name, reference] of [
  ['Acme/User', '#/$defs/Acme~1User'],
  ['a~b', '#/$defs/a~0b'],
  ['Größe', '#/$defs/Gr%C3%B6%C3%9Fe'],
] as const) {
  test(`the definition of ${reference} is found, and only what it lists is sent`, async (t) => {
    @Controller()
    class Referring {
      @Get('/', open({ $ref: reference, $defs: { [name]: slashed } })) get() {
        return leaky
      }
      @Get('/union', open({ anyOf: [{ $ref: reference }, { type: 'null' }], $defs: { [name]: slashed } })) union() {
        return leaky
      }
    }
    const { app, fetch, log } = await api(t, [Referring])
    for (const path of ['/', '/union']) {
      const response = await fetch(path)
      const text = await response.text()
      assert.deepEqual(JSON.parse(text), robin, log.join('\n'))
      conformsTo(app)('get', path, response, text)
    }
  })
}

const unusable: readonly (readonly [json: Json, message: RegExp])[] = [
  [
    { $ref: '#/$defs/Acme/User', $defs: { 'Acme/User': user } },
    /refers to '#\/\$defs\/Acme\/User', .*with ~1 for a slash/,
  ],
  [{ $ref: '#/$defs/toString', $defs: { User: user } }, /refers to '#\/\$defs\/toString', which it does not contain/],
  [{ $ref: '#/$defs/%', $defs: { '%': user } }, /refers to '#\/\$defs\/%', which it does not contain/],
  [{ $dynamicRef: '#User', $defs: { User: { $dynamicAnchor: 'User', ...user } } }, /has \$dynamicRef, which is not/],
  [{ type: 'array', unevaluatedItems: user }, /has unevaluatedItems, which is not supported/],
  [{ type: 'array', items: [user] }, /has a list as its items.* Write prefixItems/],
  [{ anyOf: [{ type: 'text' }, { type: 'null' }] }, /is invalid: .*type/],
  [{ oneOf: [{ type: 'string', pattern: '(' }] }, /is invalid: .*[Rr]egular expression/],
  [{ type: 'object', patternProperties: { '[\\w-.]': {} } }, /is invalid: .*[Rr]egular expression/],
]

for (const [json, message] of unusable) {
  test(`fails at startup, as a response and as a body: ${JSON.stringify(json)}`, () => {
    const nested = { type: 'object', properties: { part: json }, $defs: json['$defs'] ?? {} }
    for (const written of [json, nested]) {
      const schema = open(written)
      @Controller()
      class AsResponse {
        @Get('/', Item.of(schema)) get() {
          return { data: 1 }
        }
      }
      @Controller()
      class AsBody {
        @Post('/') post(@Body({ type: schema }) body: unknown) {
          return body
        }
      }
      assert.match(bootMessage([AsResponse]), /^BootError: AsResponse\.get, its response: Item\.data: a JSON Schema /)
      assert.match(bootMessage([AsResponse]), message)
      assert.match(bootMessage([AsBody]), /^InjectionError: AsBody\.post, parameter 1 'body': a JSON Schema /)
      assert.match(bootMessage([AsBody]), message)
    }
  })
}

test('of objects of another realm, and of the result of a toJSON(), only listed properties are sent', async (t) => {
  const record = { type: 'object', additionalProperties: user }
  class Later {
    readonly #json: unknown
    constructor(json: unknown) {
      this.#json = json
    }
    toJSON() {
      return this.#json
    }
  }
  const elsewhere: unknown = runInNewContext(`(${JSON.stringify({ a: leaky })})`)
  @Controller()
  class Records {
    @Get('/realm', open(record)) realm() {
      return elsewhere
    }
    @Get('/object', open(record)) object() {
      return new Later({ a: leaky })
    }
    @Get('/list', open({ type: 'array', items: user })) list() {
      return new Later([leaky])
    }
  }
  const { fetch, log } = await api(t, [Records])
  const sent = async (path: string) => (await fetch(path)).json()
  assert.deepEqual(await sent('/realm'), { a: robin }, log.join('\n'))
  assert.deepEqual(await sent('/object'), { a: robin })
  assert.deepEqual(await sent('/list'), [robin])
})

test('a bigint in a union is refused with its place', async (t) => {
  @Controller()
  class Counts {
    @Get('/', z.union([z.object({ n: z.unknown() }), z.object({ text: z.string() })])) get() {
      return { n: 1n }
    }
  }
  const { fetch, log } = await api(t, [Counts])
  assert.equal((await fetch('/')).status, 500)
  assert.match(log.join('\n'), /Counts\.get [^]*\/n is the bigint 1, declared any JSON value\. Write String\(value\)/)
})

/** A JSON Schema with a value that fits it, once with and once without properties that it does not list. */
interface Sample {
  readonly json: Json
  readonly listed: unknown
  readonly given: unknown
}

const withSecret = (listed: object): object => ({ ...listed, secret: 'secret' })

const { sample } = fc.letrec<{ sample: Sample; node: Sample }>((tie) => ({
  sample: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar(), tie('node')),
  node: fc.oneof(
    fc
      .tuple(tie('sample'), fc.constantFrom({}, { additionalProperties: {} }, { additionalProperties: true }))
      .map(([a, more]) => object({ a }, more)),
    fc.tuple(tie('sample'), tie('sample')).map(([a, b]) => object({ a, b })),
    fc.tuple(tie('sample'), tie('sample')).map(([a, b]): Sample => {
      const [one, other] = [object({ a }), object({ b })]
      const listed = { ...(one.listed as object), ...(other.listed as object) }
      const given = withSecret({ ...(one.given as object), ...(other.given as object) })
      return { json: { allOf: [one.json, other.json] }, listed, given }
    }),
    fc.tuple(tie('sample'), fc.boolean(), fc.constantFrom('anyOf', 'oneOf')).map(([a, first, keyword]): Sample => {
      const [one, other] = [object({ kind: tag('one'), a }), object({ kind: tag('other') })]
      const chosen = first ? one : other
      return { ...chosen, json: { [keyword]: [one.json, other.json, { type: 'null' }] } }
    }),
    tie('sample').map(({ json, listed, given }): Sample => ({
      json: { type: 'array', items: json },
      listed: [listed, listed],
      given: [given, given],
    })),
    fc.tuple(tie('sample'), tie('sample')).map(([a, b]): Sample => ({
      json: { type: 'array', prefixItems: [a.json], items: b.json },
      listed: [a.listed, b.listed, b.listed],
      given: [a.given, b.given, b.given],
    })),
    fc.tuple(tie('sample'), tie('sample'), fc.boolean()).map(([a, b, first]): Sample => {
      const kind = { properties: { kind: { enum: ['one', 'other'] } }, required: ['kind'], type: 'object' }
      const [one, other] = [object({ a }), object({ b })]
      const [chosen, rest] = first ? [one, other] : [other, one]
      const value = { kind: first ? 'one' : 'other' }
      return {
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        json: { ...kind, if: { properties: { kind: { const: 'one' } } }, then: one.json, else: other.json },
        listed: { ...value, ...(chosen.listed as object) },
        given: { ...(rest.given as object), ...value, ...(chosen.given as object) },
      }
    }),
    fc.tuple(tie('sample'), fc.boolean()).map(([a, depends]): Sample => {
      const [dependent, kind] = [object({ a }), depends ? { kind: 'x' } : {}]
      return {
        json: {
          type: 'object',
          properties: { kind: { type: 'string' } },
          dependentSchemas: { kind: dependent.json },
        },
        listed: { ...kind, ...(depends ? (dependent.listed as object) : {}) },
        given: { ...kind, ...(dependent.given as object) },
      }
    }),
    tie('sample').map(({ json, listed, given }): Sample => ({
      json: { type: 'object', additionalProperties: json },
      listed: { x: listed },
      given: { x: given },
    })),
    tie('sample').map(({ json, listed, given }): Sample => ({
      json: { type: 'object', patternProperties: { '^x': json } },
      listed: { x1: listed },
      given: { x1: given },
    })),
  ),
}))

// Where the schema of an input allows others explicitly, they reach the handler.
function withoutPermission(json: Json): Json {
  const text = JSON.stringify(json, (key, part: unknown) =>
    key === 'additionalProperties' && (part === true || JSON.stringify(part) === '{}') ? undefined : part,
  )
  return JSON.parse(text)
}

function scalar(): fc.Arbitrary<Sample> {
  const listed = fc.constantFrom(['string', 'x'], ['number', 1.5], ['integer', 2], ['boolean', true], ['null', null])
  return listed.map(([type, value]) => ({ json: { type }, listed: value, given: value }))
}

function tag(value: string): Sample {
  return { json: { const: value }, listed: value, given: value }
}

function object(samples: Readonly<Record<string, Sample>>, more: Json = {}): Sample {
  const each = (part: keyof Sample) =>
    Object.fromEntries(Object.entries(samples).map(([name, one]) => [name, one[part]]))
  return {
    json: { type: 'object', properties: each('json'), required: Object.keys(samples), ...more },
    listed: each('listed'),
    given: withSecret(each('given')),
  }
}

test('whatever the JSON Schema, what it lists is sent and accepted, and nothing else', async (t) => {
  await fc.assert(
    fc.asyncProperty(sample, async ({ json, listed, given }) => {
      const referring = { $defs: { Part: json }, type: 'object', properties: { part: { $ref: '#/$defs/Part' } } }
      const schema = open(withoutPermission(referring), referring)
      @Controller()
      class Sent {
        @Get('/', schema) get() {
          return { part: given }
        }
        @Post('/', { status: 200 }) post(@Body({ type: schema }) body: unknown) {
          return body
        }
      }
      const { app, fetch, log, close } = await api(t, [Sent])
      const response = await fetch('/')
      const text = await response.text()
      assert.deepEqual(JSON.parse(text), { part: listed }, log.join('\n'))
      conformsTo(app)('get', '/', response, text)
      const headers = { 'content-type': 'application/json' }
      const received = await fetch('/', { method: 'POST', headers, body: JSON.stringify({ part: given, secret: 1 }) })
      assert.deepEqual(await received.json(), { part: listed })
      await close()
    }),
    { numRuns: runs(25) },
  )
})
