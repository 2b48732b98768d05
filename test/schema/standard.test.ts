import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Collection, Controller, createApp, Field, Get, Post, type StandardSchema } from 'sequitur'
import { api } from '../support/api.js'
import { issuesOf } from '../support/echo.js'

interface NewNote {
  text: string
  at: string
}
interface Note {
  text: string
  at: Date
}

/** What zod, valibot and arktype have in common, by hand. */
function noteSchema(more: object = {}): StandardSchema<NewNote, Note> {
  const validate = (value: unknown) => {
    const { text, at } = value as Partial<NewNote>
    const issues = [
      ...(typeof text === 'string' ? [] : [{ message: 'must be a string', path: ['text'] }]),
      ...(Number.isNaN(Date.parse(String(at))) ? [{ message: 'must be a date', path: [{ key: 'at' }] }] : []),
    ]
    return issues.length > 0 ? { issues } : { value: { text: String(text), at: new Date(String(at)) } }
  }
  return { '~standard': { version: 1, vendor: 'tiny', validate, ...more } }
}

const note = noteSchema({
  jsonSchema: {
    input: () => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', title: 'NewNote' }),
    output: () => ({ type: 'object', title: 'Note' }),
  },
})

const anyJson = { input: () => ({}), output: () => ({}) }
const later = noteSchema({
  validate: async () => ({ issues: [{ message: 'is taken', path: ['a/b', 0] }] }),
  jsonSchema: anyJson,
})

const seen: unknown[] = []

@Controller()
class Notes {
  @Post('/', note) create(@Body({ type: note }) input: Note) {
    seen.push(input.at)
    return { text: input.text, at: input.at.toISOString(), secret: 1 }
  }
  @Post('/later') later(@Body({ type: later }) input: Note) {
    return input.text
  }
  @Get('/wrong', note) wrong() {
    return { text: 5 as never, at: '2026-01-31' }
  }
  @Get('/asynchronous', later) asynchronous() {
    return { text: 'a', at: '2026-01-31' }
  }
  @Get('/', Collection.of(note)) list() {
    return { data: [{ text: 'a', at: '2026-01-31', secret: 1 }] }
  }
}

const post = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

test('a body is what the schema of another library makes of it', async (t) => {
  const { fetch } = await api(t, [Notes])
  const response = await fetch('/', post({ text: 'a', at: '2026-01-31' }))
  assert.equal(response.status, 201)
  assert.deepEqual(seen, [new Date('2026-01-31')])
})

test('a response is what the schema of another library leaves of it', async (t) => {
  const { fetch } = await api(t, [Notes])
  const [created, list] = [await fetch('/', post({ text: 'a', at: '2026-01-31' })), await fetch('/')]
  assert.equal(await created.text(), '{"text":"a","at":"2026-01-31T00:00:00.000Z"}')
  assert.equal(await list.text(), '{"data":[{"text":"a","at":"2026-01-31T00:00:00.000Z"}]}')
})

for (const [path, body, issues] of [
  ['/', {}, ['/text must be a string', '/at must be a date']],
  ['/later', {}, ['/a~1b/0 is taken']],
] as const) {
  test(`what another library finds wrong with a body of ${path} is a 422`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch(path, post(body))
    const json: unknown = await response.json()
    assert.deepEqual([response.status, issuesOf({ json: () => json })], [422, issues])
  })
}

for (const [path, line] of [
  ['/wrong', /Notes\.wrong returned a value that does not fit [^]*\/text must be a string/],
  ['/asynchronous', /a schema of tiny that validates asynchronously/],
] as const) {
  test(`a result of ${path} that the schema cannot pass is a 500, and the log says why`, async (t) => {
    const { fetch, log } = await api(t, [Notes])
    assert.equal((await fetch(path)).status, 500)
    assert.match(log.join('\n'), line)
  })
}

test("the document shows the library's JSON Schema", () => {
  const { paths } = createApp({ controllers: [Notes], logger: false }).openapi()
  const { requestBody, responses } = paths?.['/']?.post ?? {}
  assert.deepEqual(
    [requestBody && 'content' in requestBody && requestBody.content, responses?.['201']],
    [
      { 'application/json': { schema: { type: 'object', title: 'NewNote' } } },
      { description: 'Success', content: { 'application/json': { schema: { type: 'object', title: 'Note' } } } },
    ],
  )
  assert.deepEqual(paths?.['/later']?.post?.requestBody, {
    required: true,
    content: { 'application/json': { schema: {} } },
  })
})

test('a model in what a schema lets through is a 500, as its public properties are not declared', async (t) => {
  class Secret {
    @Field() password: string = 'x'
  }
  const anything = noteSchema({
    validate: (value: unknown) => ({ value }),
    jsonSchema: anyJson,
  }) as StandardSchema<unknown>
  @Controller()
  class Leaks {
    @Get('/', anything) whole() {
      return { deep: [new Secret()] }
    }
    @Get('/part', Collection.of(anything)) part() {
      return { data: [{ text: 'a', secret: new Secret() }] }
    }
  }
  const { fetch, log } = await api(t, [Leaks])
  assert.deepEqual([(await fetch('/')).status, (await fetch('/part')).status], [500, 500])
  assert.match(log.join('\n'), /Leaks\.whole[^]*\/deep\/0 is a Secret[^]*Leaks\.part[^]*\/data\/0\/secret is a Secret/)
})

test('a library that returns an object with a then() is waited for: its issues are a 422', async (t) => {
  const thenable = noteSchema({
    // oxlint-disable-next-line unicorn/no-thenable
    validate: () => ({ then: (resolve: (result: unknown) => void) => resolve({ issues: [{ message: 'is taken' }] }) }),
    jsonSchema: anyJson,
  })
  @Controller()
  class Thenables {
    @Post() create(@Body({ type: thenable }) input: Note) {
      return { got: String(input) }
    }
    @Get('/', thenable) read() {
      return { text: 'a', at: '2026-01-31' }
    }
  }
  const { fetch, log } = await api(t, [Thenables])
  const response = await fetch('/', { method: 'POST', json: { text: 'a' } })
  assert.equal(response.status, 422)
  assert.equal((await fetch('/')).status, 500)
  assert.match(log.join('\n'), /validates asynchronously/)
})

test('a part that fails later does not end the process when another one throws', async (t) => {
  let fail: () => void = () => {}
  const failing = new Promise<never>((_, reject) => (fail = () => reject(new Error('It fails later.'))))
  const slow = noteSchema({ validate: () => failing.then((value) => value), jsonSchema: anyJson })
  const throwing = noteSchema({
    validate: (value: unknown) => {
      if (value !== undefined) throw new Error('It throws.')
      return { issues: [{ message: 'is required' }] }
    },
    jsonSchema: anyJson,
  })
  class Both {
    @Field({ type: slow }) first!: unknown
    @Field({ type: throwing }) second!: unknown
  }
  @Controller()
  class Parts {
    @Post() create(_both: Both) {}
  }
  const { fetch, log } = await api(t, [Parts])
  assert.equal((await fetch('/', { method: 'POST', json: { first: {}, second: {} } })).status, 500)
  assert.match(log.join('\n'), /It throws\./)
  fail()
  await new Promise((resolve) => setImmediate(resolve))
})
