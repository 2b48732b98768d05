import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { Controller, createApp, Field, Get } from 'sequitur'
import { z } from 'zod'
import { echo } from '../support/echo.js'
import { random } from '../support/fuzz.js'
import { newAjvWithFormats } from '../support/json-schema.js'

class Tag {
  @Field() label!: string
  @Field({ type: 'integer', optional: true }) weight?: number
}

class Sample {
  @Field({ type: 'string', optional: true }) text?: unknown
  @Field({ type: 'integer', optional: true }) integer?: unknown
  @Field({ type: 'number', optional: true }) number?: unknown
  @Field({ type: 'boolean', optional: true }) flag?: unknown
  @Field({ type: 'date-time', optional: true }) time?: unknown
  @Field({ type: 'date', optional: true }) day?: unknown
  @Field({ type: 'bigint', optional: true }) big?: unknown
  @Field({ type: 'decimal', optional: true }) decimal?: unknown
  @Field({ type: 'bytes', optional: true }) bytes?: unknown
  @Field({ enum: ['asc', 'desc'], optional: true }) order?: unknown
  @Field({ type: 'any', optional: true }) any?: unknown
  @Field({ type: [Tag], optional: true }) tags?: unknown
  @Field({ type: Tag, optional: true, nullable: true }) tag?: unknown
}

/** Answers with whatever it is told to. */
function responder(type: unknown = Sample) {
  const lines: string[] = []
  let value: unknown
  @Controller()
  class Speaker {
    @Get('/', type as typeof Sample) say() {
      return value as Sample
    }
  }
  const logger = { info() {}, warn() {}, error: (line: string) => void lines.push(line) }
  const app = createApp({ controllers: [Speaker], logger })
  const say = (next: unknown) => {
    value = next
    return app.inject('/')
  }
  return { say, lines }
}

const day = new Date('2026-01-31T12:00:00Z')

const written: readonly (readonly [value: Sample, json: object])[] = [
  [{ time: day }, { time: '2026-01-31T12:00:00.000Z' }],
  [{ time: '2026-01-31 12:00:00' }, { time: '2026-01-31T12:00:00.000Z' }],
  [{ time: '2026-01-31 14:00:00.000 +02:00' }, { time: '2026-01-31T12:00:00.000Z' }],
  [{ day }, { day: '2026-01-31' }],
  [{ day: '2026-01-31' }, { day: '2026-01-31' }],
  [{ big: 2n ** 64n }, { big: '18446744073709551616' }],
  [{ big: 5 }, { big: '5' }],
  [{ big: '9007199254740993' }, { big: '9007199254740993' }],
  [{ decimal: '12.50' }, { decimal: '12.50' }],
  [{ decimal: 1.5e-7 }, { decimal: '0.00000015' }],
  [{ decimal: -1e21 }, { decimal: '-1000000000000000000000' }],
  [{ decimal: 12.5 }, { decimal: '12.5' }],
  [{ bytes: Buffer.from([0, 255]) }, { bytes: 'AP8=' }],
  [{ bytes: new Uint8Array([1]) }, { bytes: 'AQ==' }],
  [{ integer: 5n }, { integer: 5 }],
  [{ integer: '12' }, { integer: 12 }],
  [{ number: '12.5' }, { number: 12.5 }],
  [{ flag: 1 }, { flag: true }],
  [{ flag: 0 }, { flag: false }],
  [{ any: { a: [1, null, { b: day }] } }, { any: { a: [1, null, { b: day.toISOString() }] } }],
  [{ text: 'a"\n\u2028\ud800' }, { text: 'a"\n\u2028\ud800' }],
  [
    { tag: null, tags: [] },
    { tag: null, tags: [] },
  ],
]

for (const [value, json] of written) {
  test(`${Object.entries(value).map(([name, inner]) => `${name} ${String(inner)}`)} is sent as ${JSON.stringify(json)}`, async () => {
    const response = await responder().say(value)
    assert.deepEqual([response.statusCode, response.json()], [200, json])
  })
}

/** A Date as libraries make them, whose text is not that of JSON. */
class LocalDate extends Date {
  override toISOString() {
    return 'yesterday'
  }
  override getUTCFullYear() {
    return 10_000
  }
}

test('a Date of a subclass with methods of its own is sent as any other', async () => {
  const time = new LocalDate('2026-01-31T12:00:00Z')
  const response = await responder().say({ time, day: time })
  assert.deepEqual(
    [response.statusCode, response.json()],
    [200, { time: '2026-01-31T12:00:00.000Z', day: '2026-01-31' }],
  )
})

const misfits: readonly (readonly [value: unknown, line: string])[] = [
  [{ text: 1 }, '/text is the number 1, declared string'],
  [{ text: null }, '/text is null, declared string'],
  [{ integer: 1.5 }, '/integer is the number 1.5, declared integer'],
  [{ integer: 'old' }, '/integer is a string, declared integer'],
  [{ integer: 2 ** 53 }, '/integer is the number 9007199254740992, declared integer'],
  [{ integer: '9007199254740993' }, '/integer is a string, declared integer'],
  [{ number: NaN }, '/number is the number NaN, declared number'],
  [{ number: Infinity }, '/number is the number Infinity, declared number'],
  [{ flag: 'yes' }, '/flag is a string, declared boolean'],
  [{ time: new Date(NaN) }, '/time is an invalid Date, declared date-time'],
  [{ time: new Date(8.64e15) }, '/time is the Date +275760-09-13T00:00:00.000Z, declared date-time'],
  [{ time: 'yesterday' }, '/time is a string, declared date-time'],
  [{ day: '2026-02-30' }, '/day is a string, declared date'],
  [{ big: 2 ** 60 }, '/big is the number 1152921504606847000, declared bigint'],
  [{ decimal: 'NaN' }, '/decimal is a string, declared decimal'],
  [{ bytes: 'AAAA' }, '/bytes is a string, declared bytes'],
  [{ order: 'up' }, '/order is a string, declared one of asc, desc'],
  [{ any: () => 1 }, '/any is the function any, declared any JSON value'],
  [{ any: new Tag() }, '/any is a Tag, declared any JSON value. Its public properties are not declared'],
  [
    { any: [{ deep: new Tag() }] },
    'Declare them: @Field({ type: Tag }), or return a plain object with the public ones',
  ],
  [{ any: { toJSON: () => new Tag() } }, '/any is a Tag'],
  [{ any: { toJSON() {} } }, '/any is Object, declared any JSON value'],
  [{ tags: [{ label: 'a' }, { label: 2 }] }, '/tags/1/label is the number 2, declared string'],
  [{ tags: [{}] }, '/tags/0/label is missing, declared string'],
  [{ tags: Array(1) }, '/tags/0 is missing, declared object'],
  [{ tags: Array(2 ** 32 - 1) }, '/tags has 4294967295 items, and may have 33554432: send them in pages'],
  [{ tags: { 0: { label: 'a' } } }, '/tags is Object, declared array'],
  [{ tag: 'a' }, '/tag is a string, declared Tag'],
  [{ tag: Promise.resolve({ label: 'a' }) }, '/tag is a promise that was not awaited, declared Tag'],
  [{ text: Promise.resolve('a') }, '/text is a promise that was not awaited, declared string'],
  [[], '/ is an array, declared Sample'],
  [null, '/ is null, declared object'],
]

for (const [value, line] of misfits) {
  test(`a result that does not fit is a 500, and the log says: ${line}`, async () => {
    const { say, lines } = responder()
    const response = await say(value)
    assert.equal(response.statusCode, 500)
    assert.ok(lines.join('\n').includes(line), lines.join('\n'))
    assert.ok(!response.body.includes('declared'), response.body)
  })
}

test('whatever a handler returns beside the declared fields, only those are sent', async () => {
  const { say } = responder([Tag])
  const next = random(1)
  const extra = ['password', 'toJSON', 'label2', 'constructor', '__proto__', 'Label', 'weight ', '0'] as const
  for (let round = 0; round < 200; round++) {
    const others = extra.filter(() => next(2) === 0).map((name) => [name, { secret: next(9) }])
    const tag = { ...Object.fromEntries(others), label: `l${next(9)}`, ...(next(2) ? { weight: next(9) } : {}) }
    const { label, weight } = tag as Tag
    assert.deepEqual((await say([tag])).json(), [weight === undefined ? { label } : { label, weight }])
  }
})

class Everything {
  @Field({ minLength: 1, maxLength: 3, pattern: '^[a-z]+$' }) text!: string
  @Field({ type: 'integer', minimum: 0, exclusiveMaximum: 10 }) integer!: number
  @Field({ optional: true, nullable: true, type: 'number' }) number?: number | null
  @Field({ enum: ['asc', 1], optional: true }) order?: string | number
  @Field({ type: 'date', optional: true }) day?: string
  @Field({ type: Date, optional: true }) time?: Date
  @Field({ type: 'decimal', optional: true }) decimal?: string
  @Field({ type: 'bytes', optional: true }) bytes?: Buffer
  @Field({ type: [Tag], maxItems: 1, optional: true }) tags?: Tag[]
  @Field({ type: () => Everything, optional: true, nullable: true }) parent?: unknown
}

const candidates: Readonly<Record<string, readonly unknown[]>> = {
  text: ['a', 'abc', '', 'abcd', 'A', 1, null],
  integer: [0, 9, -1, 10, 1.5, '1', null],
  number: [1.5, null, '1', undefined],
  order: ['asc', 1, '1', 'desc', null, undefined],
  day: ['2026-01-31', '2026-02-30', '2026-1-1', 5, undefined],
  time: ['2026-01-31T12:00:00Z', '2026-02-30T12:00:00Z', '2026-01-31', undefined],
  decimal: ['0.10', '1e3', '01', 1, undefined],
  bytes: ['AAAA', 'A', undefined],
  tags: [[], [{ label: 'a' }], [{ label: 'a', weight: 1.5 }], [{}], [{ label: 'a' }, { label: 'b' }], undefined],
  parent: [null, { text: 'a', integer: 0 }, { text: 'a' }, 5, undefined],
  other: [1, undefined, undefined, undefined],
}

test('the documented schema accepts exactly what the route accepts', async () => {
  const { app, send } = echo(Everything)
  const ajv = newAjvWithFormats()
  const { components } = JSON.parse(JSON.stringify(app.openapi())) as { components: object }
  const documented = ajv.compile({ components, $ref: '#/components/schemas/Everything' })
  const next = random(2)
  const outcomes = { accepted: 0, refused: 0 }
  for (let round = 0; round < 600; round++) {
    // Mostly good values: the first of each list.
    const entries = Object.entries(candidates).map(([name, list]) => [name, list[next(5) ? 0 : next(list.length)]])
    const value: unknown = JSON.parse(
      JSON.stringify({ ...Object.fromEntries(entries), ...(next(2) ? { other: undefined } : {}) }),
    )
    const { statusCode } = await send(value)
    assert.equal(statusCode, documented(value) ? 201 : 422, JSON.stringify(value))
    outcomes[statusCode === 201 ? 'accepted' : 'refused']++
  }
  assert.ok(outcomes.accepted > 50 && outcomes.refused > 50, JSON.stringify(outcomes))
})

test('a response matches its schema in the OpenAPI document', async () => {
  const { app, send } = echo(Everything)
  const ajv = newAjvWithFormats()
  const { components } = JSON.parse(JSON.stringify(app.openapi())) as { components: object }
  const documented = ajv.compile({ components, $ref: '#/components/schemas/Everything' })
  const value = Object.fromEntries(Object.entries(candidates).map(([name, [first]]) => [name, first]))
  const response = await send({ ...value, other: undefined, tags: [{ label: 'a' }] })
  assert.ok(documented(response.json()), JSON.stringify(documented.errors))
})

class Bounded {
  @Field({ type: 'string', minLength: 2, maxLength: 3, optional: true }) text?: unknown
  @Field({ type: 'string', pattern: '^a+$', optional: true }) pattern?: unknown
  @Field({ type: 'string', format: 'email', optional: true }) email?: unknown
  @Field({ type: 'integer', minimum: 0, maximum: 9, optional: true }) integer?: unknown
  @Field({ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1, optional: true }) number?: unknown
  @Field({ type: 'number', multipleOf: 0.01, optional: true, nullable: true }) cents?: unknown
  @Field({ type: [Tag], minItems: 1, maxItems: 2, optional: true }) tags?: unknown
  @Field({ type: String, format: 'uuid', optional: true }) uuid?: unknown
}

const tag = { label: 'a' }

for (const [value, line] of [
  [{ text: 'a' }, '/text does not fit, declared at least 2 characters'],
  [{ text: '🎉' }, '/text does not fit, declared at least 2 characters'],
  [{ text: 'abcd' }, '/text does not fit, declared at most 3 characters'],
  [{ pattern: 'b' }, '/pattern does not fit, declared /^a+$/u'],
  [{ email: 'b' }, '/email does not fit, declared of the format email'],
  [{ integer: -1 }, '/integer does not fit, declared >= 0'],
  [{ integer: 10 }, '/integer does not fit, declared <= 9'],
  [{ number: 0 }, '/number does not fit, declared > 0'],
  [{ number: 1 }, '/number does not fit, declared < 1'],
  [{ cents: 0.001 }, '/cents does not fit, declared a multiple of 0.01'],
  [{ tags: [] }, '/tags does not fit, declared at least 1 items'],
  [{ tags: [tag, tag, tag] }, '/tags does not fit, declared at most 2 items'],
  [{ uuid: '1' }, '/uuid does not fit, declared of the format uuid'],
] as const) {
  test(`a result beyond what its response declares is a 500, and the log says: ${line}`, async () => {
    const { say, lines } = responder(Bounded)
    assert.equal((await say(value)).statusCode, 500)
    assert.ok(lines.join('\n').includes(line), lines.join('\n'))
  })
}

test('a result within what its response declares is sent', async () => {
  const { say, lines } = responder(Bounded)
  const uuid = '0198a3c4-7b1e-7000-8000-000000000001'
  const edge = {
    text: '🎉🎉🎉',
    pattern: 'a',
    email: 'a@b.co',
    integer: 9,
    number: 0.5,
    cents: 0.07,
    tags: [tag],
    uuid,
  }
  assert.deepEqual((await say(edge)).json(), edge, lines.join('\n'))
  assert.deepEqual((await say({ integer: 0, cents: null, tags: [tag, tag] })).statusCode, 200)
})

test('classes may stand within each other at any depth', async () => {
  let type: new () => object = Tag
  let value: object = { label: 'a' }
  for (let level = 0; level < 60; level++) {
    const inner = type
    class Level {
      declare inner: object
    }
    Field({ type: inner })(Level.prototype, 'inner')
    Object.defineProperty(Level, 'name', { value: `Level${level}` })
    type = Level
    value = { inner: value }
  }
  assert.deepEqual((await responder(type).say(value)).json(), value)
})

const unwritten: readonly (readonly [value: unknown, what: string])[] = [
  [NaN, 'the number NaN'],
  [Infinity, 'the number Infinity'],
  [-Infinity, 'the number -Infinity'],
  [new Date(NaN), 'an invalid Date'],
  [runInNewContext('new Date(NaN)'), 'an invalid Date'],
]

for (const [value, what] of unwritten) {
  test(`${what} is refused with its path, and not sent as null`, async () => {
    const lines: string[] = []
    class Any {
      @Field({ type: 'any' }) value: unknown
    }
    @Controller()
    class Untyped {
      @Get('/undeclared') undeclared() {
        return { list: [value] }
      }
      @Get('/itself') itself() {
        return value
      }
      @Get('/any', Any) any(): Any {
        return { value: { list: [value] } }
      }
      @Get('/direct', Any) direct(): Any {
        return { value }
      }
      @Get('/schema', z.object({ value: z.any() })) schema() {
        return { value }
      }
    }
    const logger = { info() {}, warn() {}, error: (line: string) => void lines.push(line) }
    const app = createApp({ controllers: [Untyped], logger })
    for (const [url, place] of [
      ['/undeclared', `${what} at /list/0. `],
      ['/itself', `returned ${what}. `],
      ['/any', `/value/list/0 is ${what}, declared any JSON value. `],
      ['/direct', `/value is ${what}, declared any JSON value. `],
      ['/schema', `/value is ${what}, declared any JSON value. `],
    ] as const) {
      assert.equal((await app.inject(url)).statusCode, 500, url)
      assert.ok(lines.at(-1)?.includes(`${place}Write null, or leave it out.`), lines.at(-1))
    }
  })
}
