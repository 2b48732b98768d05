import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Body, type BodyOptions, Controller, Field, type InputIssue, Post, Query } from 'sequitur'
import { z } from 'zod'
import { api, bootMessage } from '../support/api.js'
import { exchange } from '../support/connection.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

class Search {
  @Field({ minLength: 1 }) text!: string
  @Field({ type: 'integer', minimum: 0, default: 7 }) age!: number
  @Field({ optional: true }) active?: boolean
  @Field({ optional: true }) since?: Date
  @Field({ type: ['integer'], optional: true, maxItems: 3 }) id?: number[]
}

const Zodded = z.object({ n: z.int().min(1), tags: z.array(z.string()).optional() })

@Controller()
class Forms {
  @Post('/form') form(@Body({ form: true }) input: Search) {
    assert.ok(input instanceof Search)
    return { ...input, since: input.since?.toISOString() }
  }
  @Post('/optional') optional(@Body({ form: true, optional: true }) input?: Search) {
    return { given: input !== undefined }
  }
  @Post('/zod') zod(@Body({ type: Zodded, form: true }) input: z.infer<typeof Zodded>) {
    return input
  }
  @Post('/json') json(input: Search) {
    return { text: input.text }
  }
}

const TYPE = 'application/x-www-form-urlencoded'

async function sender(t: TestContext) {
  const app = await api(t, [Forms], { bodyLimit: 20_000 })
  const send = async (path: string, body: string | Uint8Array, type = TYPE, headers: Record<string, string> = {}) => {
    const response = await app.fetch(path, { method: 'POST', headers: { 'content-type': type, ...headers }, body })
    const json = (await response.json()) as { detail?: string; errors?: readonly InputIssue[] }
    return { status: response.status, json }
  }
  return { ...app, send }
}

const read: readonly (readonly [what: string, path: string, body: string, expected: object])[] = [
  ['strings and defaults', '/form', 'text=abc', { text: 'abc', age: 7 }],
  [
    'the declared types',
    '/form',
    'text=5&age=18&active=true&since=2026-01-31T00%3A00%3A00Z',
    { text: '5', age: 18, active: true, since: '2026-01-31T00:00:00.000Z' },
  ],
  ['a list of one', '/form', 'text=a&id=1', { text: 'a', age: 7, id: [1] }],
  ['a list of several', '/form', 'id=1&text=a&id=2', { text: 'a', age: 7, id: [1, 2] }],
  ['spaces and UTF-8', '/form', 'text=a+b%20c%2B%C3%B1%26&', { text: 'a b c+ñ&', age: 7 }],
  ['UTF-8 that is not percent-encoded', '/form', 'text=ñ', { text: 'ñ', age: 7 }],
  [
    'nothing of fields that are not declared',
    '/form',
    'text=a&__proto__=b&admin=1&constructor=c',
    { text: 'a', age: 7 },
  ],
  ['a schema of another library', '/zod', 'n=3&tags=a', { n: 3, tags: ['a'] }],
]

for (const [what, path, body, expected] of read) {
  test(`a form is read with ${what}`, async (t) => {
    const { send } = await sender(t)
    assert.deepEqual(await send(path, body), { status: 201, json: expected })
    assert.equal((await send(path, body, 'APPLICATION/x-www-form-urlencoded; charset="UTF-8"')).status, 201)
  })
}

test('a form of a browser is read, and the same body as JSON', async (t) => {
  const { fetch, send } = await sender(t)
  const response = await fetch('/form', { method: 'POST', body: new URLSearchParams({ text: 'a&b', age: '3' }) })
  assert.deepEqual(await response.json(), { text: 'a&b', age: 3 })
  const json = await send('/form', '{"text":"a","age":3}', 'application/json')
  assert.deepEqual(json, { status: 201, json: { text: 'a', age: 3 } })
  assert.equal((await send('/form', '{"text":"a","age":"3"}', 'application/json')).status, 422)
})

test('a form without fields is one; without a body and a type, an optional form is omitted', async (t) => {
  const { url, send } = await sender(t)
  assert.deepEqual((await send('/form', '')).json.errors, [{ in: 'body', path: '/text', message: 'is required' }])
  const head = 'POST /optional HTTP/1.1\nHost: x\nConnection: close\nContent-Length: 0\n\n'
  assert.match(await exchange(t, url, head), / 201 [^]*\{"given":false\}$/)
})

test('all issues of a form are a 422, each with its field', async (t) => {
  const { send } = await sender(t)
  const { status, json } = await send('/form', 'text=&age=-1&active=yes&since=x&id=1&id=y')
  assert.equal(status, 422)
  assert.deepEqual(json.errors?.map(({ in: place, path }) => `${place} ${path}`).sort(), [
    'body /active',
    'body /age',
    'body /id/1',
    'body /since',
    'body /text',
  ])
  assert.equal((await send('/form', 'text=a&text=b')).status, 422)
  assert.equal((await send('/form', 'text=%00')).status, 422)
  assert.equal((await send('/zod', 'n=0')).status, 422)
})

const refused: readonly (readonly [
  string,
  number,
  RegExp,
  string,
  string | Uint8Array,
  string?,
  Record<string, string>?,
])[] = [
  ['a form where only JSON is declared', 415, /as application\/json, not application\/x-www-form/, '/json', 'text=a'],
  [
    'another type',
    415,
    /as application\/json or application\/x-www-form-urlencoded, not text\/plain/,
    '/form',
    'text=a',
    'text/plain',
  ],
  ['another charset', 415, /in UTF-8, not latin1/, '/form', 'text=a', `${TYPE}; charset=latin1`],
  ['a compressed form', 415, /without Content-Encoding/, '/form', 'text=a', TYPE, { 'content-encoding': 'gzip' }],
  ['an invalid percent-encoding', 400, /The body has an invalid percent-encoding/, '/form', 'text=%E0%A4'],
  ['bytes that are not UTF-8', 400, /not valid UTF-8/, '/form', Buffer.from([0x74, 0x3d, 0xff])],
  ['a form with too many bytes', 413, /larger than 20000 bytes/, '/form', `text=${'a'.repeat(20_000)}`],
  ['a form with too many fields', 413, /more than 1000 fields/, '/form', 'a=1&'.repeat(1000)],
  ['a form with too many empty fields', 413, /more than 1000 fields/, '/form', '&'.repeat(1000)],
]

for (const [what, status, detail, path, body, type, headers] of refused) {
  test(`${what} is a ${status}`, async (t) => {
    const { send } = await sender(t)
    const answer = await send(path, body, type, headers)
    assert.equal(answer.status, status)
    assert.match(String(answer.json.detail), detail)
  })
}

test('whatever the bytes, there is no 5xx, and what URLSearchParams wrote is read back', async (t) => {
  const { send } = await sender(t)
  const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }).filter((value) => !value.includes('\0'))
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), async (value, ids) => {
      const fields = [['text', value], ...ids.map((id) => ['id', String(id)])] as [string, string][]
      const { json } = await send('/form', new URLSearchParams(fields).toString())
      assert.deepEqual(json, { text: value.toWellFormed(), age: 7, id: ids })
    }),
    { numRuns: runs(100) },
  )
  const part = fc.constantFrom(
    'text',
    'age',
    'id',
    '=',
    '&',
    '+',
    '%',
    '%2',
    '%C3',
    '%00',
    '__proto__',
    '[',
    ']',
    '1',
    'ÿ',
    ';',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 60 }),
      fc.constantFrom('/form', '/zod', '/optional'),
      async (parts, path) => {
        const { status } = await send(path, Buffer.from(parts.join(''), 'latin1'))
        assert.ok([201, 400, 422].includes(status), `${status} for ${parts.join('')}`)
      },
    ),
    { numRuns: runs(300) },
  )
})

test('a form is documented as another media type of the body', async (t) => {
  const { app } = await sender(t)
  const { paths } = app.openapi()
  const content = paths?.['/form']?.post?.requestBody
  const schema = { $ref: '#/components/schemas/Search' }
  assert.deepEqual(content, { required: true, content: { 'application/json': { schema }, [TYPE]: { schema } } })
  assert.equal(paths?.['/form']?.post?.responses?.['415']?.description, 'The body is not JSON or a form')
  assert.equal(paths?.['/json']?.post?.responses?.['415']?.description, 'The body is not JSON')
})

class Team {
  @Field() leader!: Search
}

for (const [what, decorator, message] of [
  [
    'a class within a class',
    Body({ type: Team, form: true }),
    /Team\.leader: a Search cannot be sent in a form\. Receive it as JSON/,
  ],
  ['a list', Body({ type: [Search], form: true }), /a list of Search cannot be sent in a form|a form has fields/],
  ['a string', Body({ type: String, form: true }), /a form has fields\. Write a class with @Field\(\) properties/],
  ['any value', Body({ type: 'any', form: true }), /a form has fields/],
  [
    'another value of form',
    Body({ type: Search, form: 'yes' } as unknown as BodyOptions),
    /form is of type string\. Write true or false/,
  ],
  ['a form in the query', Query({ type: Search, form: true } as object), /form/],
] as const) {
  test(`${what}, declared as a form, fails at startup`, () => {
    class Wrong {
      post(_input: unknown) {}
    }
    decorator(Wrong.prototype as never, 'post' as never, 0 as never)
    Post('/')(Wrong.prototype, 'post', Object.getOwnPropertyDescriptor(Wrong.prototype, 'post') as never)
    Controller()(Wrong)
    assert.match(bootMessage([Wrong]), message)
  })
}
