import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, createApp, Field, Get, Path, Post, Query, type StandardSchema } from 'sequitur'
import { z } from 'zod'
import { issuesOf } from '../support/echo.js'
import { newAjvWithFormats } from '../support/json-schema.js'

/*
 * Types that zod coerces: a request is accepted exactly if it fits what is documented.
 */

const coerced = {
  date: z.coerce.date(),
  bigint: z.coerce.bigint(),
  number: z.coerce.number(),
  int: z.coerce.number().int(),
  boolean: z.coerce.boolean(),
  string: z.coerce.string(),
}

const wrappers: Readonly<Record<string, (schema: z.ZodType) => z.ZodType>> = {
  itself: (schema) => schema,
  optional: (schema) => schema.optional(),
  nullable: (schema) => schema.nullable(),
  'in a list': (schema) => z.array(schema),
  'in a record': (schema) => z.record(z.string(), schema),
  'in a named schema': (schema) => z.object({ v: schema }).meta({ id: 'Named' }),
  'of an option': (schema) =>
    z.discriminatedUnion('k', [
      z.object({ k: z.literal('a'), v: schema }),
      z.object({ k: z.literal('b'), v: z.string() }),
    ]),
  'beside a literal': (schema) => z.union([schema, z.literal('all')]),
}

const values = ([undefined, null, true, '', 'x', '5', '0x10', 5, 1.5, [], {}, [5], 'all'] as unknown[]).concat([
  '2023-02-30',
  '2023-02-28',
  '2023-02-28T00:00:00Z',
  '2023-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
])

function app(schema: StandardSchema) {
  @Controller()
  class Echo {
    @Post('/') echo(@Body({ type: schema }) _body: unknown) {
      return null
    }
  }
  return createApp({ controllers: [Echo], logger: false })
}

for (const [what, wrap] of Object.entries(wrappers)) {
  for (const [type, schema] of Object.entries(coerced)) {
    test(`a coerced ${type}, ${what}: accepted is what is documented`, async () => {
      const one = app(z.object({ value: wrap(schema) }))
      const document = JSON.parse(JSON.stringify(one.openapi())) as object
      const ajv = newAjvWithFormats()
      ajv.addSchema(document, 'document')
      const fits = ajv.compile({
        $ref: 'document#/paths/~1/post/requestBody/content/application~1json/schema',
      })
      const all: readonly unknown[] = values.flatMap<unknown>((v) => [v, [v], { v }, { k: 'a', v }, { k: 'b', v }])
      for (const value of all) {
        const payload = JSON.parse(JSON.stringify({ value })) as object
        const { status, body } = await one
          .inject({ method: 'POST', url: '/', payload })
          .then((response) => ({ status: response.statusCode, body: response.body }))
        assert.equal(status, fits(payload) ? 201 : 422, `${JSON.stringify(payload)}: ${body}`)
        assert.doesNotMatch(body, /received Date/)
      }
    })
  }
}

test('what a library would coerce is an issue at its place, beside all others', async () => {
  const schema = z.object({ at: z.coerce.date(), list: z.array(z.coerce.bigint()), s: z.string().min(2, 'is short') })
  const send = (payload: object) => app(schema).inject({ method: 'POST', url: '/', payload })
  assert.deepEqual(issuesOf(await send({ at: null, list: ['1', true], s: '' })), [
    '/at must be a string',
    '/list/1 must be a string',
    '/s is short',
  ])
  assert.deepEqual(issuesOf(await send({ at: '2023-02-30', list: ['0x10'], s: 'ab' })), [
    '/at must be a point in time such as 2026-01-31T12:00:00Z',
    '/list/0 must match pattern "^-?[0-9]+$"',
  ])
  assert.deepEqual(issuesOf(await send({ list: [], s: 'ab' })), ['/at is required'])
})

test('what the program changes itself is not checked before', async () => {
  const schema = z.object({
    n: z.coerce.number(),
    text: z.union([z.string().trim().toUpperCase().max(2), z.coerce.number()]),
    empty: z.preprocess((value) => (value === '' ? 0 : value), z.coerce.number()),
    caught: z.coerce.number().catch(1),
  })
  const payload = { n: 1, text: '  ab', empty: '', caught: 'x' }
  assert.equal((await app(schema).inject({ method: 'POST', url: '/', payload })).statusCode, 201)
})

const Filter = z.object({
  n: z.coerce.number().optional(),
  nullable: z.coerce.number().nullish(),
  list: z.array(z.coerce.number()).optional(),
  flag: z.coerce.boolean().optional(),
  big: z.coerce.bigint().optional(),
  all: z.union([z.coerce.number(), z.literal('all')]).optional(),
  text: z.coerce.string().optional(),
})

class Range {
  @Field({ type: z.coerce.number(), optional: true }) from?: number
}

const json = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)))

@Controller()
class Things {
  @Get('/filter') filter(@Query({ type: Filter }) filter: z.infer<typeof Filter>): unknown {
    return json(filter)
  }
  @Get('/one') one(@Query({ type: z.coerce.number().nullable(), optional: true }) n?: number | null) {
    return { n }
  }
  @Get('/range') range(@Query() range: Range) {
    return { ...range }
  }
  @Get('/path/:n') path(@Path({ type: z.coerce.number() }) n: number) {
    return { n }
  }
}

for (const [url, answer] of [
  ['/filter?n=5', { n: 5 }],
  ['/filter?nullable=5', { nullable: 5 }],
  ['/filter?list=1&list=2', { list: [1, 2] }],
  ['/filter?flag=false', { flag: false }],
  ['/filter?big=12', { big: '12n' }],
  ['/filter?all=all', { all: 'all' }],
  ['/filter?all=5', { all: 5 }],
  ['/filter?text=5', { text: '5' }],
  ['/one?n=5', { n: 5 }],
  ['/range?from=5', { from: 5 }],
  ['/path/5', { n: 5 }],
  ['/filter?n=', ['/n must be a number']],
  ['/filter?nullable=x', ['/nullable must be a number']],
  ['/filter?flag=x', ['/flag must be a boolean']],
  ['/filter?big=0x10', ['/big must match pattern "^-?[0-9]+$"']],
  ['/filter?n=0x10', ['/n must be a number']],
  ['/range?from=', ['/from must be a number']],
  ['/path/0x10', ['/n must be a number']],
] as const) {
  test(`strings are read by the schema first: ${url}`, async () => {
    const response = await createApp({ controllers: [Things], logger: false }).inject({ url })
    assert.deepEqual(response.statusCode === 200 ? response.json() : issuesOf(response), answer)
  })
}

test('a query of a schema with named parts is read and documented by them', async () => {
  const Age = z.coerce.number().int().meta({ id: 'Age' })
  @Controller()
  class People {
    @Get() find(@Query({ type: z.object({ age: Age, others: z.array(Age).optional() }) }) query: object) {
      return { ...query }
    }
  }
  const people = createApp({ controllers: [People], logger: false })
  const response = await people.inject({ url: '/?age=5&others=6&others=7' })
  assert.deepEqual([response.statusCode, response.json()], [200, { age: 5, others: [6, 7] }])
  assert.equal((await people.inject({ url: '/?age=1.5' })).statusCode, 422)
  const { components, paths } = people.openapi()
  assert.ok('Age' in (components?.schemas ?? {}))
  assert.match(JSON.stringify(paths), /"name":"age".*"\$ref":"#\/components\/schemas\/Age"/)
})
