import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type } from 'arktype'
import { Body, Controller, createApp, Field, Get, Item, Post, Query, type StandardSchema } from 'sequitur'
import { z } from 'zod'
import { INSTANT_TEXT } from '../../src/schema/shape/text-formats.js'
import { api } from '../support/api.js'
import { conformsTo } from '../support/documented.js'

/*
 * Types that JSON Schema does not have, in schemas of other libraries.
 */

const sends = (schema: StandardSchema) => {
  @Controller()
  class Notes {
    @Get('/', schema) get(): unknown {
      return null
    }
  }
  return createApp({ controllers: [Notes], logger: false })
}

const receives = (schema: StandardSchema) => {
  @Controller()
  class Notes {
    @Post('/') add(@Body({ type: schema }) note: unknown) {
      return note
    }
  }
  return createApp({ controllers: [Notes], logger: false })
}

const anything = z.custom<string>()
const byHand = (cure: string) => `${cure}, or write the JSON of its values: .meta({ type: 'string' }).`

const wrong: readonly (readonly [what: string, start: () => unknown, message: string])[] = [
  [
    'a custom type in a response',
    () => sends(anything),
    `Notes.get, its response: a schema of zod has no JSON Schema for its output: it is of the type custom, which JSON Schema does not have. ${byHand('Use another type')}`,
  ],
  [
    'a custom type with nothing but a description',
    () => sends(z.object({ a: anything.optional().describe('Anything') })),
    `Notes.get, its response: a schema of zod has no JSON Schema for its output: a is of the type custom, which JSON Schema does not have. ${byHand('Use another type')}`,
  ],
  [
    'a map in a list in a response',
    () => sends(z.object({ list: z.array(z.object({ m: z.map(z.string(), z.string()) })) })),
    `Notes.get, its response: a schema of zod has no JSON Schema for its output: list[].m is of the type map, which JSON Schema does not have. ${byHand('Use z.record()')}`,
  ],
  [
    'a set in a definition',
    () => sends(z.array(z.object({ s: z.set(z.string()) }).meta({ id: 'Part' }))),
    `Notes.get, its response: a schema of zod has no JSON Schema for its output: Part.s is of the type set, which JSON Schema does not have. ${byHand('Use z.array()')}`,
  ],
  [
    'a transformation in a response',
    () => sends(z.record(z.string(), z.string().transform(Number))),
    `Notes.get, its response: a schema of zod has no JSON Schema for its output: [name] is of the type transform, which JSON Schema does not have. ${byHand('Declare its result, .transform(...).pipe(z.string())')}`,
  ],
  [
    'a literal bigint',
    () => sends(z.literal([1n, 2n])),
    `Notes.get, its response: a schema of zod has no JSON Schema for its output: it is of the type bigint, which JSON Schema does not have. ${byHand('Use z.int(), or z.string() with the digits')}`,
  ],
  [
    'undefined in a body',
    () => receives(z.object({ a: z.union([z.string(), z.undefined()]) })),
    `Notes.add, parameter 1 'note': a schema of zod has no JSON Schema for its input: a is of the type undefined, which JSON Schema does not have. ${byHand('Use .optional()')}`,
  ],
  [
    'a Date in a body',
    () => receives(z.object({ at: z.date() })),
    `Notes.add, parameter 1 'note': a schema of zod has no JSON Schema for its input: at is of the type date, which JSON Schema does not have. ${byHand('Use z.iso.datetime() for a string, z.coerce.date() for a Date made from it')}`,
  ],
  [
    'a Date in the query',
    () => {
      @Controller()
      class Notes {
        @Get('/') list(@Query({ type: z.object({ after: z.date().optional() }) }) filter: object) {
          return filter
        }
      }
      return createApp({ controllers: [Notes], logger: false })
    },
    `Notes.list, parameter 1 'filter': a schema of zod has no JSON Schema for its input: after is of the type date, which JSON Schema does not have. ${byHand('Use z.iso.datetime() for a string, z.coerce.date() for a Date made from it')}`,
  ],
  [
    'a Date in a list in a class in a body',
    () => {
      class Day {
        @Field({ type: [z.date()] }) hours!: Date[]
      }
      class Week {
        @Field({ type: [Day] }) days!: Day[]
      }
      @Controller()
      class Weeks {
        @Post('/') add(week: Week) {
          return week.days.length
        }
      }
      return createApp({ controllers: [Weeks], logger: false })
    },
    `Weeks.add, parameter 1 'week', Day.hours: a schema of zod has no JSON Schema for its input: it is of the type date, which JSON Schema does not have. ${byHand('Use z.iso.datetime() for a string, z.coerce.date() for a Date made from it')}`,
  ],
  [
    'a map in a class in a response',
    () => {
      class Day {
        @Field({ type: z.map(z.string(), z.string()) }) notes!: Map<string, string>
      }
      @Controller()
      class Days {
        @Get('/', Item.of(Day)) get() {
          return { data: { notes: new Map<string, string>() } }
        }
      }
      return createApp({ controllers: [Days], logger: false })
    },
    `Days.get, its response: Item_Day.data: Day.notes: a schema of zod has no JSON Schema for its output: it is of the type map, which JSON Schema does not have. ${byHand('Use z.record()')}`,
  ],
  [
    "arktype's bigint",
    () => sends(type({ 'n?': 'bigint' })),
    `Notes.get, its response: a schema of arktype has no JSON Schema for its output: n is of the type bigint, which JSON Schema does not have. ` +
      `Use another type, or write the JSON Schema yourself: { '~standard': { ...schema['~standard'], jsonSchema: { input: () => ({ type: 'string' }), output: () => ({ type: 'string' }) } } }.`,
  ],
  [
    "arktype's Date in a body",
    () => receives(type({ at: 'Date' })),
    `Notes.add, parameter 1 'note': a schema of arktype has no JSON Schema for its input: at is of the type Date, which JSON Schema does not have. ` +
      `Use another type, or write the JSON Schema yourself: { '~standard': { ...schema['~standard'], jsonSchema: { input: () => ({ type: 'string' }), output: () => ({ type: 'string' }) } } }.`,
  ],
]

for (const [what, start, message] of wrong) {
  test(`${what} stops the start`, () => {
    assert.throws(start, (error: Error) => (assert.equal(error.message, message), true))
  })
}

const at = new Date('2026-01-31')
const dateTime = { type: 'string', format: 'date-time' }

for (const [library, schema] of [
  ['zod', z.object({ at: z.date() })],
  ['arktype', type({ at: 'Date' })],
] as const) {
  test(`a Date that ${library} declares in a response is documented as it is sent`, async (t) => {
    @Controller()
    class Notes {
      @Get('/', schema) get() {
        return { at }
      }
    }
    const { app, fetch } = await api(t, [Notes])
    const response = await fetch('/')
    const text = await response.text()
    assert.equal(text, '{"at":"2026-01-31T00:00:00.000Z"}')
    conformsTo(app)('get', '/', response, text)
    const content = app.openapi().paths?.['/']?.get?.responses?.['200']
    assert.match(JSON.stringify(content), new RegExp(`"at":${JSON.stringify(dateTime)}`))
  })
}

test('types that zod makes of strings are documented as strings', async (t) => {
  @Controller()
  class Notes {
    @Get('/') get(
      @Query({ type: z.coerce.date() }) after: Date,
      @Query({ type: z.coerce.bigint() }) size: bigint,
      @Query({ type: z.string().transform(Number) }) step: number,
    ) {
      return [after.getTime(), String(size), step]
    }
  }
  const { app, fetch } = await api(t, [Notes])
  assert.deepEqual(await (await fetch('/?after=2026-01-31T00:00:00Z&size=12345678901234567890&step=5')).json(), [
    at.getTime(),
    '12345678901234567890',
    5,
  ])
  const { parameters = [] } = app.openapi().paths?.['/']?.get ?? {}
  assert.deepEqual(
    parameters.map((parameter) => 'schema' in parameter && parameter.schema),
    [
      { ...dateTime, pattern: INSTANT_TEXT },
      { type: 'string', maxLength: 4096, pattern: '^-?[0-9]+$' },
      { type: 'string' },
    ],
  )
})

test('the JSON that a program writes for a type is documented, and nothing else is sent', async (t) => {
  const Point = z.custom<{ x: number }>().meta({ type: 'object', properties: { x: { type: 'number' } } })
  @Controller()
  class Points {
    @Get('/', z.object({ point: Point.optional() })) get() {
      return { point: { x: 1, secret: 2 } }
    }
  }
  const { app, fetch } = await api(t, [Points])
  assert.deepEqual(await (await fetch('/')).json(), { point: { x: 1 } })
  assert.doesNotMatch(JSON.stringify(app.openapi()), /x-unrepresentable/)
})

test('z.any() and z.unknown() receive and send any JSON, by their declaration', async (t) => {
  const Open = z.object({ a: z.any(), b: z.unknown() })
  @Controller()
  class Notes {
    @Post('/', Open) add(@Body({ type: Open }) note: z.infer<typeof Open>) {
      return { ...note, b: { secret: 1 } }
    }
  }
  const { fetch } = await api(t, [Notes])
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/', { method: 'POST', headers, body: '{"a":[1,{"x":null}],"b":2}' })
  assert.deepEqual(await response.json(), { a: [1, { x: null }], b: { secret: 1 } })
})

test("the names of a record may be a schema with a name of its own, in the document's components", () => {
  const Key = z.string().min(2).meta({ id: 'Key' })
  const app = sends(z.record(Key, z.string()))
  const text = JSON.stringify(app.openapi())
  assert.match(text, /"propertyNames":\{"\$ref":"#\/components\/schemas\/Key"\}/)
  assert.match(text, /"Key":\{"type":"string","minLength":2\}/)
})
