import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Field, Get, Post } from 'sequitur'
import { componentsOf, echo, issuesOf, sample } from '../support/echo.js'
import { newAjv } from '../support/json-schema.js'

enum Colour {
  Red = 'red',
  Blue = 'blue',
}
enum Size {
  Small,
  Large,
}
class Tag {
  @Field() label!: string
}

const values: readonly (readonly [what: string, field: PropertyDecorator, good: unknown[], bad: unknown[]])[] = [
  ['string', Field({ type: 'string' }), ['', 'a', '1', 'ñ🎉'], [1, true, null, [], {}]],
  ['String', Field({ type: String }), ['a'], [1]],
  ['integer', Field({ type: 'integer' }), [0, -1, 5, 2 ** 53 - 1], ['5', 1.5, true, null, 2 ** 53, -(2 ** 53), 1e300]],
  ['number', Field({ type: 'number' }), [0, -1.5, 1e300, 5e-324], ['1', true, null]],
  ['Number', Field({ type: Number }), [0.5], ['0.5']],
  ['boolean', Field({ type: 'boolean' }), [true, false], ['true', 0, 1, null]],
  ['any', Field({ type: 'any' }), [1, 'a', null, [1, { a: [] }], { b: 1 }], []],
  [
    'date',
    Field({ type: 'date' }),
    ['2026-01-31', '2024-02-29', '0050-01-01'],
    ['2026-02-30', '2026-1-1', '2026-13-01', '2026-01-31T00:00:00Z', 5],
  ],
  ['bigint', Field({ type: 'bigint' }), ['0', '-5', '9007199254740993'], [5, '1.0', '01', '+1', '', ' 5', '0x10', '١']],
  [
    'decimal',
    Field({ type: 'decimal' }),
    ['0.10', '-5', '12345678901234567890.123'],
    [0.1, '1e3', '.5', '5.', '01', 'NaN', ''],
  ],
  ['bytes', Field({ type: 'bytes' }), ['', 'AAAA', 'AA==', 'AAA='], ['A', '!!!!', '!!!!\nAAAA', 'AAAA\n', 5]],
  ['a list', Field({ enum: ['asc', 'desc'] }), ['asc', 'desc'], ['ASC', '', 1, null]],
  ['a list of numbers', Field({ enum: [1, 2.5] }), [1, 2.5], ['1', 2]],
  ['a mixed list', Field({ enum: [1, '1', 'many'] }), [1, '1', 'many'], [2, '2']],
  ['an enum of texts', Field({ enum: Colour }), ['red', 'blue'], ['Red', 'green']],
  ['an enum of numbers', Field({ enum: Size }), [0, 1], ['Small', 'Large', '0', 2]],
  ['a list of lists', Field({ type: Array as never, enum: ['a', 'b'] }), [[], ['a', 'b', 'a']], [['c'], 'a']],
  ['[String]', Field({ type: [String] }), [[], ['a']], ['a', [1], null, { 0: 'a' }]],
  ['[integer]', Field({ type: ['integer'] }), [[], [1, 2]], [[1.5], ['1']]],
  ['a class', Field({ type: Tag }), [{ label: 'a' }], [{}, { label: 1 }, 'a', [], null, { label: 'a', b: 1 }]],
  ['[class]', Field({ type: [Tag] }), [[], [{ label: 'a' }]], [[{}], { label: 'a' }]],
  ['() => class', Field({ type: () => Tag }), [{ label: 'a' }], [{}]],
  ['[() => class]', Field({ type: [() => Tag] }), [[{ label: 'a' }]], [[{}]]],
  ['nullable', Field({ type: 'string', nullable: true }), ['a', null], [1]],
  ['nullable enum', Field({ enum: ['a'], nullable: true }), ['a', null], ['b', 1]],
  ['nullable class', Field({ type: Tag, nullable: true }), [{ label: 'a' }, null], [{}, 1]],
  ['minLength', Field({ type: 'string', minLength: 2 }), ['ab', '🎉🎉'], ['', 'a', '🎉']],
  ['maxLength', Field({ type: 'string', maxLength: 1 }), ['', 'a', '🎉'], ['ab']],
  ['pattern', Field({ type: 'string', pattern: '^a+$' }), ['a', 'aa'], ['', 'b', 'ab']],
  ['a RegExp as pattern', Field({ type: 'string', pattern: /^\p{L}\/$/u }), ['ñ/'], ['1/']],
  ['email', Field({ type: 'string', format: 'email' }), ['a@b.co'], ['a', 'a@', '']],
  [
    'uuid',
    Field({ type: 'string', format: 'uuid' }),
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
    ['6ba7b810', 'urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  ],
  ['minimum', Field({ type: 'integer', minimum: 0 }), [0, 1], [-1]],
  ['maximum', Field({ type: 'number', maximum: 1.5 }), [1.5], [1.6]],
  ['exclusiveMinimum', Field({ type: 'number', exclusiveMinimum: 0 }), [0.1], [0]],
  ['exclusiveMaximum', Field({ type: 'number', exclusiveMaximum: 1 }), [0.9], [1]],
  ['multipleOf', Field({ type: 'number', multipleOf: 0.01 }), [0, 0.07, 0.29, 1.1, 4.35, 1e308], [0.001, 0.075]],
  ['minItems', Field({ type: [String], minItems: 1 }), [['a']], [[]]],
  ['maxItems', Field({ type: [String], maxItems: 1 }), [[], ['a']], [['a', 'b']]],
]

for (const [what, field, good, bad] of values) {
  test(`a field of ${what} takes its own values and sends them as they came`, async () => {
    const { send } = echo(sample(field))
    for (const value of good) {
      const response = await send({ value })
      assert.deepEqual([response.statusCode, response.json()], [201, { value }], JSON.stringify(value))
    }
  })

  test(`a field of ${what} refuses any other value, at its place`, async () => {
    const { send } = echo(sample(field))
    for (const value of bad) {
      const response = await send({ value })
      assert.equal(response.statusCode, 422, JSON.stringify(value))
      for (const issue of issuesOf(response)) assert.match(issue, /^\/value\b/)
    }
  })

  test(`a field of ${what} is required`, async () => {
    assert.deepEqual(issuesOf(await echo(sample(field)).send({})), ['/value is required'])
  })
}

const large = [0, 2 ** 53 - 1, 2 ** 53, 1e20, 1e300].flatMap((number) => [number, -number])
const long = ['0', '-0', '9'.repeat(18), '9223372036854775807', '-9223372036854775808', '9'.repeat(20), '9'.repeat(30)]

for (const [what, type, all] of [
  ['integer', Field({ type: 'integer' }), large],
  ['integer from -1e300', Field({ type: 'integer', minimum: -1e300 }), large],
  ['integer above 0', Field({ type: 'integer', exclusiveMinimum: 0 }), large],
  ['integer to 5', Field({ type: 'integer', maximum: 5 }), large],
  ['bigint', Field({ type: 'bigint' }), long],
] as const) {
  test(`what is refused as too large for an ${what} is outside of the document's bounds and formats`, async () => {
    const Sample = sample(type)
    const { app, send } = echo(Sample)
    const ajv = newAjv({
      formats: { 'double-int': { type: 'number', validate: Number.isSafeInteger } },
    })
    const documented = ajv.compile(componentsOf(app)[Sample.name] ?? {})
    for (const value of all)
      assert.equal((await send({ value })).statusCode === 201, documented({ value }), String(value))
  })
}

test('the types that the compiler emits need not be said', async () => {
  class Emitted {
    @Field() text!: string
    @Field() count!: number
    @Field() flag!: boolean
    @Field() at!: Date
    @Field() big!: bigint
    @Field() tag!: Tag
    @Field() bytes!: Buffer
  }
  const sent = {
    text: 'a',
    count: 1.5,
    flag: true,
    at: '2026-01-31T12:00:00.000Z',
    big: '5',
    tag: { label: 'b' },
    bytes: 'AA==',
  }
  const seen: Emitted[] = []
  const { send } = echo(Emitted, seen)
  assert.deepEqual((await send(sent)).json(), sent)
  const expected = {
    ...sent,
    at: new Date(sent.at),
    big: 5n,
    tag: { ...new Tag(), label: 'b' },
    bytes: Buffer.from([0]),
  }
  assert.deepEqual({ ...seen[0], tag: { ...seen[0]?.tag } }, expected)
})

test('a body is an instance of its class, and so are the classes within', async () => {
  class Hero {
    @Field() tag!: Tag
    @Field({ type: [Tag] }) tags!: Tag[]
  }
  const seen: Hero[] = []
  await echo(Hero, seen).send({ tag: { label: 'a' }, tags: [{ label: 'b' }] })
  const [hero] = seen
  assert.deepEqual([hero instanceof Hero, hero?.tag instanceof Tag, hero?.tags[0] instanceof Tag], [true, true, true])
})

const times = [
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
] as const

for (const [sent, answered] of times) {
  test(`the time ${sent} arrives as a Date and leaves as ${answered}`, async () => {
    const seen: { value: Date }[] = []
    const response = await echo(sample(Field({ type: Date })), seen).send({ value: sent })
    assert.deepEqual([seen[0]?.value, response.json()], [new Date(answered), { value: answered }])
  })
}

const noTimes = [
  '2026-02-30T00:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-31 12:00:00Z',
  '2026-01-31T12:00:00',
  '2026-01-31',
].concat('2026-01-31T24:00:00Z', '2026-01-31T12:00:00+01', '2026-01-31T12:00Z', '+010000-01-01T00:00:00Z', '', '5')

for (const text of noTimes) {
  test(`'${text}' is no point in time`, async () => {
    const response = await echo(sample(Field({ type: Date }))).send({ value: text })
    assert.deepEqual(issuesOf(response), ['/value must be a point in time such as 2026-01-31T12:00:00Z'])
  })
}

test('an integer whose digits JavaScript would lose is refused, and told its bounds', async () => {
  const { sendText } = echo(sample(Field({ type: 'integer' })))
  for (const digits of ['9007199254740993', '-9007199254740993', '1e20']) {
    const issues = issuesOf(await sendText(`{"value": ${digits}}`))
    assert.deepEqual(issues, ['/value must be a whole number from -9007199254740991 to 9007199254740991'])
  }
})

test('an optional field may be left out, and is then not there', async () => {
  const seen: object[] = []
  const response = await echo(sample(Field({ type: 'string', optional: true })), seen).send({})
  assert.deepEqual([response.json(), Object.keys(seen[0] ?? { a: 1 })], [{}, []])
})

test('an optional field that is sent must fit', async () => {
  const { send } = echo(sample(Field({ type: 'string', optional: true })))
  assert.deepEqual([(await send({ value: null })).statusCode, (await send({ value: 1 })).statusCode], [422, 422])
})

test('an optional and nullable field tells nothing from null', async () => {
  const seen: object[] = []
  const { send } = echo(sample(Field({ type: 'string', optional: true, nullable: true })), seen)
  assert.deepEqual([(await send({})).json(), (await send({ value: null })).json()], [{}, { value: null }])
  assert.deepEqual(
    seen.map((body) => 'value' in body),
    [false, true],
  )
})

test('a field that its class sets to undefined is not there when the client left it out', async () => {
  class Patch {
    @Field({ type: 'string', optional: true }) name?: string | undefined
    constructor() {
      this.name = undefined // as "useDefineForClassFields" does
    }
  }
  const seen: object[] = []
  await echo(Patch, seen).send({})
  assert.deepEqual(Object.keys(seen[0] ?? { a: 1 }), [])
})

const defaults: readonly (readonly [what: string, field: PropertyDecorator, value: unknown, json: unknown])[] = [
  ['a number', Field({ type: 'integer', default: 0 }), 0, 0],
  ['false', Field({ type: 'boolean', default: false }), false, false],
  ['an empty text', Field({ type: 'string', default: '' }), '', ''],
  ['null', Field({ type: 'string', nullable: true, default: null }), null, null],
  ['a list', Field({ type: [String], default: ['a'] }), ['a'], ['a']],
  ['a date', Field({ type: Date, default: new Date(0) }), new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a bigint', Field({ type: 'bigint', default: 5n }), 5n, '5'],
]

for (const [what, field, value, json] of defaults) {
  test(`${what} as default is given to the handler, and documented as JSON`, async () => {
    const seen: { value: unknown }[] = []
    const { app, send } = echo(sample(field), seen)
    assert.equal((await send({})).statusCode, 201)
    assert.deepEqual(seen[0]?.value, value)
    assert.deepEqual(componentsOf(app)['Sample']?.properties['value']?.default, json)
  })
}

test('a default that a handler changes is whole again for the next request', async () => {
  const seen: { value: string[] }[] = []
  const { send } = echo(sample(Field({ type: [String], default: ['a'] })), seen)
  await send({})
  seen[0]?.value.push('b')
  await send({})
  assert.deepEqual(seen[1]?.value, ['a'])
})

const refusals: readonly (readonly [what: string, declare: () => PropertyDecorator, message: RegExp])[] = [
  [
    'a default of another type',
    () => Field({ type: 'integer', default: 'a' }),
    /Sample\.value: its default is a string, declared integer/,
  ],
  [
    'a default that is none of the list',
    () => Field({ enum: ['asc'], default: 'up' }),
    /its default 'up' is not one of 'asc'\. Write one that fits, or remove it\./,
  ],
  [
    'a default list with a misfit',
    () => Field({ type: [String], default: ['a', 1] }),
    /its default at \/1 is the number 1, declared string/,
  ],
  [
    'an option of another type',
    () => Field({ type: 'string', minimum: 1 }),
    /Sample\.value: minimum does not apply to a value of type 'string'/,
  ],
  ['two such options', () => Field({ type: 'boolean', minimum: 1, maxItems: 2 }), /minimum, maxItems does not apply/],
  [
    'a pattern with a flag',
    () => Field({ type: 'string', pattern: /^a$/i }),
    /the pattern \/\^a\$\/i has flags[^]*For the flag i write \[Aa\]/,
  ],
  ['a pattern that is none', () => Field({ type: 'string', pattern: '(' }), /Sample\.value: the pattern is not valid/],
  [
    'an unknown format',
    () => Field({ type: 'string', format: 'emial' as never }),
    /'emial' is not a known format\. Did you mean 'email'\?$/,
  ],
  [
    'a class without fields',
    () => Field({ type: URL }),
    /Sample\.value: URL has no fields\. Give its properties @Field\(\)/,
  ],
  [
    'no type',
    () => Field(),
    /Sample\.value: no type at run time[^]*sequitur\/register[^]*@Field\(\{ type: 'string' \}\)/,
  ],
  [
    'a class that was not loaded',
    () => Field({ type: undefined as never }),
    /Sample\.value: the class was not loaded yet[^]*\(\) => Item/,
  ],
]

for (const [what, declare, message] of refusals) {
  test(`a field with ${what} fails at startup`, () => {
    assert.throws(() => echo(sample(declare())), { name: /^(Boot|Injection)Error$/, message })
  })
}

const emitted = [
  [
    'a union',
    () =>
      class Union {
        declare value: unknown
      },
    Object,
  ],
  [
    'an array',
    () =>
      class List {
        declare value: unknown
      },
    Array,
  ],
] as const

for (const [what, make, type] of emitted) {
  test(`a field of ${what}, whose type is lost at run time, asks for it to be said`, () => {
    const { prototype } = make()
    Reflect.defineMetadata('design:type', type, prototype, 'value')
    assert.throws(
      () => Field()(prototype, 'value'),
      new RegExp(`the compiler emitted '${type.name}'[^]*Write its type: @Field`),
    )
  })
}

test('a field named __proto__ fails at startup', () => {
  assert.throws(
    () => Field({ type: 'string' })({ constructor: URL }, '__proto__'),
    /a property cannot be named __proto__/,
  )
})

test('a field decorated by a standard decorator fails with the compiler option to set', () => {
  const apply = Field({ type: 'string' }) as unknown as (value: undefined, context: object) => void
  assert.throws(
    () => apply(undefined, { kind: 'field', name: 'value' }),
    /compiled as a TC39 decorator[^]*experimentalDecorators/,
  )
})

const awkward = [
  'toString',
  'constructor',
  'hasOwnProperty',
  'valueOf',
  'format',
  'default',
  'properties',
  '$ref',
  'type',
  'required',
].concat(`it's`, 'a"b', 'a`b', 'a${1}b', 'a\\b', 'a/b', 'a~b', 'a b', 'ñ', '', '0', 'length', 'toJSON')

for (const name of awkward) {
  test(`a field may be called '${name}', required and optional`, async () => {
    const [required, optional] = [class Required {}, class Optional {}]
    Field({ type: 'string' })(required.prototype, name)
    Field({ type: 'string', optional: true })(optional.prototype, name)
    const [one, other] = [echo(required), echo(optional)]
    assert.deepEqual((await one.send({ [name]: 'a' })).json(), { [name]: 'a' })
    assert.deepEqual(issuesOf(await one.send({})), [`/${name.replace('~', '~0').replace('/', '~1')} is required`])
    assert.equal((await other.send({})).body, '{}')
    assert.deepEqual((await other.send({ [name]: 'a' })).json(), { [name]: 'a' })
  })
}

test('a response may hold what its handler takes from a getter', async () => {
  class Hero {
    @Field() name!: string
  }
  class Robin {
    get name() {
      return 'Robin'
    }
  }
  @Controller()
  class Heroes {
    @Get('/', Hero) find() {
      return new Robin()
    }
  }
  assert.deepEqual((await createApp({ controllers: [Heroes] }).inject('/')).json(), { name: 'Robin' })
})

test('a class may be declared further down, and refer to itself and to others', async () => {
  class Team {
    @Field() name!: string
    @Field({ type: [() => Player] }) players!: unknown[]
    @Field({ type: () => Team, nullable: true }) parent!: unknown
  }
  class Player {
    @Field() name!: string
    @Field({ type: () => Team, optional: true }) team?: unknown
  }
  const { send } = echo(Team)
  const team = { name: 'a', players: [], parent: null }
  const nested = { name: 'b', players: [{ name: 'c', team }, { name: 'd' }], parent: { ...team, parent: team } }
  assert.deepEqual((await send(nested)).json(), nested)
  assert.deepEqual(issuesOf(await send({ ...nested, parent: { ...team, parent: { name: 'a', players: [] } } })), [
    '/parent/parent/parent is required',
  ])
})

test("an ancestor's fields come first, and a redeclared one is the descendant's", async () => {
  class Base {
    @Field() id!: number
    @Field() name!: string
  }
  class Hero extends Base {
    @Field({ type: 'string', optional: true }) age?: string
    @Field({ type: 'integer' }) override id!: number
  }
  const { send } = echo(Hero)
  assert.equal((await send({ age: 'old', name: 'a', id: 1 })).body, '{"id":1,"name":"a","age":"old"}')
  assert.deepEqual(issuesOf(await send({ id: 1.5, name: 'a' })), ['/id must be an integer'])
  assert.equal((await echo(Base).send({ id: 1.5, name: 'a' })).statusCode, 201)
})

test('two classes of one name fail at startup', () => {
  const make = () => {
    class Hero {
      @Field() name!: string
    }
    return Hero
  }
  const [One, Other] = [make(), make()]
  @Controller()
  class Heroes {
    @Get('/one', One) one() {
      return new One()
    }
    @Get('/other', Other) other() {
      return new Other()
    }
  }
  assert.throws(() => createApp({ controllers: [Heroes] }), /Two different classes are named Hero[^]*Rename one/)
})

test('one class is one component, however often it is used', () => {
  class Hero {
    @Field() tag!: Tag
    @Field({ type: [Tag] }) tags!: Tag[]
  }
  @Controller()
  class Heroes {
    @Get('/', [Hero]) list() {
      return []
    }
    @Post('/', Hero) add(hero: Hero) {
      return hero
    }
  }
  const { schemas } = createApp({ controllers: [Heroes] }).openapi().components ?? {}
  assert.deepEqual(Object.keys(schemas ?? {}).toSorted(), ['Hero', 'InputIssue', 'Problem', 'Tag'])
})

test('a note on a field of a class stands beside the reference, not in the component', () => {
  class Hero {
    @Field({ description: 'the first', deprecated: true }) tag!: Tag
    @Field({ nullable: true, description: 'the second', type: Tag }) other!: Tag | null
  }
  const components = componentsOf(echo(Hero).app)
  const $ref = '#/components/schemas/Tag'
  assert.deepEqual(components['Hero']?.properties, {
    tag: { $ref, description: 'the first', deprecated: true },
    other: { anyOf: [{ $ref }, { type: 'null' }], description: 'the second' },
  })
  assert.equal('description' in (components['Tag'] ?? {}), false)
})

test('a class may have a name that OpenAPI does not allow', async () => {
  class Größe$ {
    @Field() tag!: Tag
  }
  const { app, send } = echo(Größe$)
  assert.deepEqual((await send({ tag: { label: 'a' } })).json(), { tag: { label: 'a' } })
  assert.ok(Object.keys(app.openapi().components?.schemas ?? {}).every((name) => /^[a-zA-Z0-9._-]+$/.test(name)))
})
