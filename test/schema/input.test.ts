import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Cookie, createApp, Field, Get, Header, Path, Post, Query } from 'sequitur'
import { z } from 'zod'
import { echo, issuesOf } from '../support/echo.js'
import { random, runs } from '../support/fuzz.js'
import { newAjv } from '../support/json-schema.js'

enum Size {
  Small,
  Large,
}

@Controller()
class Texts {
  @Get('/integer') integer(@Query({ type: 'integer' }) value: number) {
    return { value }
  }
  @Get('/number') number(value: number) {
    return { value }
  }
  @Get('/boolean') boolean(value: boolean) {
    return { value }
  }
  @Get('/bigint') bigint(value: bigint) {
    return { value: `${value}n` }
  }
  @Get('/string') string(value: string) {
    return { value }
  }
  @Get('/size') size(@Query({ enum: Size }) value: Size) {
    return { value }
  }
  @Get('/order') order(@Query({ enum: ['asc', '1', 1] }) value: string | number) {
    return { value }
  }
  @Get('/date') date(value: Date) {
    return { value }
  }
  @Get('/list') list(@Query({ type: ['integer'], maxItems: 3 }) value: number[]) {
    return { value }
  }
  @Get('/choices') choices(@Query({ type: [String], enum: ['a', 'b'] }) value: string[]) {
    return { value }
  }
  @Get('/header') header(@Header('x-value', { type: 'integer' }) value: number) {
    return { value }
  }
  @Get('/path/:value') path(@Path() value: number) {
    return { value }
  }
}

const app = createApp({ controllers: [Texts], logger: false })

async function read(kind: string, text: string): Promise<unknown> {
  const response = await app.inject(`/${kind}?value=${encodeURIComponent(text)}`)
  if (response.statusCode === 422) return 'refused'
  assert.equal(response.statusCode, 200, response.body)
  return response.json<{ value: unknown }>().value
}

const texts = [
  '0',
  '1',
  '-1',
  '5',
  '42',
  '007',
  '1.0',
  '1.5',
  '.5',
  '5.',
  '-0',
  '-0.0',
  '1e3',
  '1E3',
  '1e400',
  '1e-7',
  '-2.5E+10',
  '1e21',
  '5e-324',
  '1e',
  'e5',
  '1e5.5',
  '0x10',
  '0b1',
]
  .concat(
    '0o7',
    '+1',
    '--1',
    ' 5',
    '5 ',
    '\t5',
    '5\n',
    '١',
    '５',
    '1_000',
    '1,000',
    '1n',
    'NaN',
    'Infinity',
    '-Infinity',
    '',
  )
  .concat(
    ' ',
    'null',
    'undefined',
    'true',
    'false',
    'TRUE',
    'False',
    'yes',
    'on',
    '[]',
    '{}',
    '[1]',
    '"1"',
    'ñ',
    '2026-01-31',
  )
  .concat('9007199254740991', '9007199254740993', '-9007199254740993', '123456789012345678901234567890')

const INTEGER = /^-?(0|[1-9][0-9]*)$/

// JSON.parse() allows white space around a number.
function isJsonNumber(text: string): boolean {
  try {
    return text.trim() === text && Number.isFinite(JSON.parse(text))
  } catch {
    return false
  }
}

const grammars: readonly (readonly [kind: string, means: (text: string) => unknown])[] = [
  ['integer', (text) => (INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) + 0 : 'refused')],
  ['number', (text) => (isJsonNumber(text) ? Number(text) + 0 : 'refused')],
  ['bigint', (text) => (INTEGER.test(text) ? `${BigInt(text)}n` : 'refused')],
  ['boolean', (text) => (text === 'true' ? true : text === 'false' ? false : 'refused')],
  ['string', (text) => text],
  ['size', (text) => (text === '0' ? 0 : text === '1' ? 1 : 'refused')],
]

for (const [kind, means] of grammars) {
  test(`a text in the query is a ${kind} only when it is written as one: '5', never ' 5' or '0x5'`, async () => {
    for (const text of texts) assert.deepEqual(await read(kind, text), means(text), `'${text}'`)
  })
}

test('a text in the path and in a header is read as in the query', async () => {
  for (const text of texts.filter((text) => /^[\x21-\x7e]+$/.test(text))) {
    const [path, header] = [
      await app.inject(`/path/${encodeURIComponent(text)}`),
      await app.inject({ url: '/header', headers: { 'x-value': text } }),
    ].map((response) => (response.statusCode === 422 ? 'refused' : response.json<{ value: unknown }>().value))
    const expected = await read('integer', text)
    assert.deepEqual([path, header], [expected, expected], `'${text}'`)
  }
})

test('of a text and a number in one enum, the query gives the text', async () => {
  assert.deepEqual(
    [await read('order', '1'), await read('order', 'asc'), await read('order', '2')],
    ['1', 'asc', 'refused'],
  )
})

const lists = [
  ['list?value=1', [1]],
  ['list?value=1&value=2', [1, 2]],
  ['choices?value=a', ['a']],
  ['choices?value=b&value=a', ['b', 'a']],
] as const

for (const [url, value] of lists) {
  test(`a list in the query is given by repetition: ${url}`, async () => {
    assert.deepEqual((await app.inject(`/${url}`)).json(), { value })
  })
}

const refusedLists = [
  ['list?value=1&value=x', ['/value/1 must be an integer']],
  ['list?value=1&value=2&value=3&value=4', ['/value must NOT have more than 3 items']],
  ['list?value=1,2', ['/value/0 must be an integer']],
  ['integer?value=1&value=2', ['/value must be an integer']],
  ['integer', ['/value is required']],
] as const

for (const [url, issues] of refusedLists) {
  test(`/${url} is refused`, async () => {
    assert.deepEqual(issuesOf(await app.inject(`/${url}`)), issues)
  })
}

class Named {
  @Field({ optional: true }) name?: string
  @Field({ type: 'any', optional: true }) rest?: unknown
}

const illFormed = ['"\\u0000"', '"\\uD800"', '"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"a\\ud83d"']

for (const json of illFormed) {
  test(`the text ${json} is refused, in a body at any depth`, async () => {
    const { sendText } = echo(Named)
    const message = 'must not contain U+0000 or half of a surrogate pair'
    assert.deepEqual(issuesOf(await sendText(`{"name": ${json}}`)), [`/name ${message}`])
    assert.deepEqual(issuesOf(await sendText(`{"rest": [1, {"a/b": ${json}}]}`)), [`/rest/1/a~1b ${message}`])
    assert.deepEqual(issuesOf(await sendText(`{"rest": [{${json}: 1}]}`)), [`/rest/0 ${message}`])
  })
}

class Measured {
  @Field({ optional: true }) number?: number
  @Field({ type: 'integer', optional: true }) integer?: number
  @Field({ type: 'any', optional: true }) rest?: unknown
  @Field({ type: z.number(), optional: true }) foreign?: number
}

const digits = (count: number) => '9'.repeat(count)

for (const json of ['1e309', '1E+309', '-1e400', '1e0000309', `${digits(250)}e99`, digits(310), `-${digits(310)}.5`]) {
  const shown = json.length < 20 ? json : `${json.slice(0, 5)}... of ${json.length} signs`
  test(`the number ${shown}, which nothing can hold, is refused, in a body at any depth`, async () => {
    const { sendText } = echo(Measured)
    const message = `must be a number from ${-Number.MAX_VALUE} to ${Number.MAX_VALUE}`
    for (const name of ['number', 'integer', 'foreign'])
      assert.deepEqual(issuesOf(await sendText(`{"${name}": ${json}}`)), [`/${name} ${message}`])
    assert.deepEqual(issuesOf(await sendText(`{"rest": [1, {"a/b": ${json}}]}`)), [`/rest/1/a~1b ${message}`])
  })
}

for (const json of ['1e308', '1.7976931348623157e+308', '0.1e309', '1e-400', digits(308), `0.${digits(400)}`]) {
  const shown = json.length < 25 ? json : `${json.slice(0, 5)}... of ${json.length} signs`
  test(`the number ${shown} is taken`, async () => {
    const response = await echo(Measured).sendText(`{"number": ${json}, "rest": "${json}"}`)
    assert.deepEqual(response.json(), { number: Number(json), rest: json })
  })
}

test('a number in the query that nothing can hold is refused', async () => {
  assert.equal(await read('number', digits(310)), 'refused')
  assert.equal(await read('number', digits(308)), Number(digits(308)))
})

test('thousands of texts with U+0000 are answered with a hundred issues', async () => {
  assert.equal(issuesOf(await echo(Named).send({ rest: Array(5000).fill('\u0000') })).length, 100)
})

test('a whole surrogate pair is a text', async () => {
  assert.deepEqual((await echo(Named).sendText('{"name": "\\ud83c\\udf89"}')).json(), { name: '🎉' })
})

test('U+0000 in the query is refused', async () => {
  assert.equal(await read('string', 'a\u0000'), 'refused')
})

test('a value of a body is never made into another type', async () => {
  class Typed {
    @Field({ type: 'integer' }) integer!: number
    @Field() number!: number
    @Field() flag!: boolean
    @Field() text!: string
    @Field({ type: [String] }) list!: string[]
  }
  const issues = issuesOf(await echo(Typed).send({ integer: '1', number: '1', flag: 'true', text: 1, list: 'a' }))
  assert.deepEqual(issues.toSorted(), [
    '/flag must be a boolean',
    '/integer must be an integer',
    '/list must be an array',
    '/number must be a number',
    '/text must be a string',
  ])
})

test('all issues of a request are told at once, each with its place', async () => {
  class Tag {
    @Field({ minLength: 2 }) label!: string
  }
  class Hero {
    @Field() name!: string
    @Field({ type: [Tag] }) tags!: Tag[]
  }
  const issues = issuesOf(await echo(Hero).send({ tags: [{ label: 'ok' }, { label: '' }, 5], nick: 1 }))
  assert.deepEqual(issues.toSorted(), [
    '/name is required',
    '/nick is not a known field',
    '/tags/1/label must have at least 2 characters',
    '/tags/2 must be an object',
  ])
})

test('a body with thousands of issues is answered with a hundred', async () => {
  class Many {
    @Field({ type: ['integer'] }) list!: number[]
  }
  const issues = issuesOf(await echo(Many).send({ list: Array.from({ length: 5000 }, () => 'a') }))
  assert.equal(issues.length, 100)
})

test('of a large body only the first issue is reported, also when it has hundreds of thousands', async () => {
  class Tagged {
    @Field({ type: [String] }) tags!: string[]
    @Field({ type: 'integer', nullable: true }) age!: number | null
  }
  const { send } = echo(Tagged)
  const some = await send({ tags: [0, 0], age: 'old' })
  assert.deepEqual(issuesOf(some), [
    '/tags/0 must be a string',
    '/tags/1 must be a string',
    '/age must be an integer or null',
  ])
  const many = await send({ tags: Array(500_000).fill(0), age: 'old' })
  assert.deepEqual(issuesOf(many), ['/tags/0 must be a string'])
  assert.equal((await send({ tags: Array(20_000).fill('a'), age: 1 })).statusCode, 201)
})

const pollutions = [
  '{"__proto__": {"admin": true}}',
  '{"constructor": {"prototype": {"admin": true}}}',
  '{"rest": {"__proto__": {"admin": true}}}',
]

for (const json of pollutions) {
  test(`the body ${json} is refused and pollutes nothing`, async () => {
    const { statusCode } = await echo(Named).sendText(json)
    assert.ok(statusCode === 400 || statusCode === 422, String(statusCode))
    assert.equal(({} as { admin?: unknown }).admin, undefined)
  })
}

for (const key of ['constructor', 'toString', 'hasOwnProperty', 'prototype']) {
  test(`the unknown field '${key}' is refused as any other`, async () => {
    assert.deepEqual(issuesOf(await echo(Named).send({ [key]: 1 })), [`/${key} is not a known field`])
  })
}

class Range {
  @Field({ type: 'integer', minimum: 0 }) from!: number
  @Field({ type: 'integer', optional: true }) to?: number
}
class Period {
  @Field() since!: Date
  @Field({ type: Range }) hours!: Range
  @Field({ type: [String], optional: true }) days?: string[]
}

class Filter {
  @Field({ optional: true }) name?: string
  @Field({ type: Range, optional: true }) age?: Range
  @Field({ type: Period, optional: true }) period?: Period
}
@Controller()
class Filters {
  @Get() list(@Query() filter: Filter) {
    return {
      classes: [filter, filter.age, filter.period?.hours].map((value) => value?.constructor.name),
      ...copy(filter),
    }
  }
}

function copy(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object
}

const filters = createApp({ controllers: [Filters], logger: false })

for (const [query, answer] of [
  ['', { classes: ['Filter', null, null] }],
  ['name=a&age[from]=5', { classes: ['Filter', 'Range', null], name: 'a', age: { from: 5 } }],
  ['age%5Bfrom%5D=5&age%5Bto%5D=6', { classes: ['Filter', 'Range', null], age: { from: 5, to: 6 } }],
  [
    'period[since]=2026-01-31T00:00:00Z&period[hours][from]=1&period[days]=a&period[days]=b',
    {
      classes: ['Filter', null, 'Range'],
      period: { since: '2026-01-31T00:00:00.000Z', hours: { from: 1 }, days: ['a', 'b'] },
    },
  ],
] as const) {
  test(`a class within a class of the query is read from names in brackets: ?${query}`, async () => {
    const response = await filters.inject(`/?${query}`)
    assert.deepEqual([response.statusCode, response.json()], [200, answer])
  })
}

for (const [query, issues] of [
  ['age[from]=x&age[to]=1.5', ['/age/from must be an integer', '/age/to must be an integer']],
  ['age[to]=1', ['/age/from is required']],
  ['age[from]=1&age[from]=2', ['/age/from must be an integer']],
  ['age=5', ['/age must be an object']],
  ['age=5&age[from]=1', ['/age must be an object']],
  ['age[from]=1&age[until]=5', ['/age/until is not a known field']],
  ['age[until]=5', ['/age/from is required', '/age/until is not a known field']],
  ['age[from]=1&age[]=5', ['/age/ is not a known field']],
  ['age[from]=1&age[__proto__]=5', ['/age/__proto__ is not a known field']],
  ['age[from]=1&age[from][deep]=5', ['/age/from][deep is not a known field']],
  [
    'period[hours][until]=1',
    ['/period/hours/from is required', '/period/hours/until is not a known field', '/period/since is required'],
  ],
  ['period[hours][from]=-1', ['/period/hours/from must be >= 0', '/period/since is required']],
] as const) {
  test(`what is wrong in a class within a class of the query is told at its place: ?${query}`, async () => {
    const response = await filters.inject(`/?${query}`)
    assert.deepEqual([response.statusCode, issuesOf(response).toSorted()], [422, issues])
  })
}

test('a class within a class of the query is accepted if, and only if, its schema accepts it', async () => {
  const document = JSON.parse(JSON.stringify(filters.openapi())) as object
  const ajv = newAjv()
  ajv.addSchema(document, 'document')
  const accepts = ajv.compile({ $ref: 'document#/components/schemas/Range' })
  const below = random(7)
  const outcomes = new Set<boolean>()
  for (let run = 0; run < runs(200); run++) {
    const names = ['from', 'to', 'other', 'FROM', ''].filter(() => below(3) === 0)
    const range = Object.fromEntries(names.map((name) => [name, [5, -5, 1.5, 'x'][below(4) % (1 + below(4))]]))
    const query = Object.entries(range).map(([name, value]) => `age[${name}]=${value}`)
    const { statusCode } = await filters.inject(`/?${query.join('&')}`)
    const isAccepted = names.length === 0 || accepts(range)
    assert.equal(statusCode, isAccepted ? 200 : 422, query.join('&'))
    outcomes.add(isAccepted)
  }
  assert.equal(outcomes.size, 2)
})

test('the document tells how a class within a class of the query is written', () => {
  const parameters = filters.openapi().paths?.['/']?.get?.parameters
  assert.deepEqual(parameters?.[1], {
    name: 'age',
    in: 'query',
    required: false,
    style: 'deepObject',
    explode: true,
    schema: { $ref: '#/components/schemas/Range' },
  })
})

class Tree {
  @Field({ type: () => Tree, optional: true }) parent?: unknown
}
class Lists {
  @Field({ type: [Range] }) ranges!: Range[]
}

for (const [what, decorator, message] of [
  [
    'a list of classes',
    Query({ type: [Range] }),
    /a list of Range cannot be sent in the query\. Receive it in the body/,
  ],
  [
    'a list of classes within a class',
    Query({ type: Lists }),
    /Lists\.ranges: a list of Range cannot be sent in the query/,
  ],
  [
    'a class within itself',
    Query({ type: Tree }),
    /Tree\.parent: a Tree inside another Tree cannot be sent in the query/,
  ],
  ['a list of lists', Query({ type: [{ shape: { kind: 'array', items: { kind: 'string' } } }] }), /a list of lists/],
  [
    'a list of cookies',
    Cookie({ type: [String] }),
    /a list cannot be sent in a cookie\. Receive it in the body, or as one string/,
  ],
  ['a class within a class of headers', Header({ type: Filter }), /Filter\.age: a Range cannot be sent in the header/],
] as const) {
  test(`${what}, where only texts can stand, fails at startup`, () => {
    class Reading {
      read(_value: unknown) {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Reading.prototype, 'read') as TypedPropertyDescriptor<never>
    decorator(Reading.prototype, 'read', 0)
    Get('/', { params: [Object] } as never)(Reading.prototype, 'read', descriptor)
    Controller()(Reading)
    assert.throws(() => createApp({ controllers: [Reading], logger: false }), message)
  })
}

test('U+0000 in the path, in a list and in a class of the query is refused', async () => {
  assert.equal((await app.inject('/path/%00')).statusCode, 422)
  assert.equal((await filters.inject('/?name=a%00')).statusCode, 422)
  assert.deepEqual(
    issuesOf(await filters.inject('/?period[days]=a&period[days]=%00')).filter((issue) => /days/.test(issue)),
    ['/period/days/1 must not contain U+0000 or half of a surrogate pair'],
  )
})

test('an accessor with a setter is received, and a getter is sent', async () => {
  class Bed {
    #width = 0
    @Field({ type: 'number' }) get width(): number {
      return this.#width
    }
    set width(given: number) {
      this.#width = given * 2
    }
  }
  class Size {
    readonly width: number
    constructor(width: number) {
      this.width = width
    }
    @Field() get isWide(): boolean {
      return this.width > 100
    }
  }
  @Controller()
  class Beds {
    @Post('/', Size) add(bed: Bed) {
      return new Size(bed.width)
    }
  }
  const app = createApp({ controllers: [Beds], logger: false })
  const response = await app.inject({ method: 'POST', url: '/', payload: { width: 60 } })
  assert.deepEqual(response.json(), { isWide: true })
})
