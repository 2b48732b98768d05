import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, createApp, Field, Get, mapOf, Page, Post, Query } from 'sequitur'
import { UploadedFile, File } from 'sequitur/uploads'
import { z } from 'zod'
import { api, bootMessage } from '../support/api.js'
import { Hero } from '../support/hero.js'

class Author {
  @Field({ minLength: 1 }) name!: string
}

class Poll {
  @Field({ type: mapOf('integer', { maxProperties: 2 }) }) votes!: Record<string, number>
  @Field({ type: mapOf('date-time'), optional: true }) dates?: Record<string, Date>
  @Field({ type: mapOf([Author]), optional: true }) authors?: Record<string, Author[]>
  @Field({ type: mapOf(z.string().min(2)), optional: true }) labels?: Record<string, string>
}

let received: Poll | undefined

@Controller('/polls')
class Polls {
  @Post('/', Poll, { status: 200 }) create(poll: Poll) {
    received = poll
    return poll
  }
  @Post('/body', mapOf(Author), { status: 200 }) body(@Body({ type: mapOf(Author) }) authors: Record<string, Author>) {
    for (const author of Object.values(authors)) assert.ok(author instanceof Author)
    return authors
  }
  @Get('/map', mapOf('integer')) map() {
    return new Map([['a', 1]]) as never
  }
  @Get('/many', Poll) many() {
    return { votes: { a: 1, b: 2, c: 3 } }
  }
  @Get('/wrong', Poll) wrong() {
    return { votes: { 'a/b': 'many' as never } }
  }
  @Get('/proto', mapOf('integer')) proto() {
    const counts = Object.fromEntries([
      ['__proto__', 1],
      ['toString', 2],
    ])
    return { ...counts, missing: undefined as never }
  }
}

test('a map is validated, decoded and sent as its values are', async (t) => {
  const { fetch } = await api(t, [Polls])
  const post = async (json: unknown, path = '/polls') => {
    const response = await fetch(path, { method: 'POST', json })
    return {
      status: response.status,
      body: (await response.json()) as { errors?: { path: string; message: string }[] },
    }
  }
  const poll = {
    votes: { toString: 1, constructor: 2 },
    dates: { a: '2026-01-01T00:00:00.000Z' },
    authors: { a: [{ name: 'A' }] },
  }
  assert.deepEqual(await post(poll), { status: 200, body: poll })
  assert.ok(received?.dates?.['a'] instanceof Date)
  assert.ok(received.authors?.['a']?.[0] instanceof Author)
  assert.deepEqual(await post({ a: { name: 'A' } }, '/polls/body'), { status: 200, body: { a: { name: 'A' } } })

  const wrong = {
    votes: { a: 1, b: 'x', c: 3 },
    dates: { 'a/b': 'today' },
    authors: { a: [{ name: '' }] },
    labels: { a: 'x' },
  }
  const { status, body } = await post(wrong)
  assert.equal(status, 422)
  assert.deepEqual(
    body.errors?.map(({ path, message }) => `${path} ${message}`).toSorted(),
    [
      '/authors/a/0/name must not be empty',
      '/dates/a~1b must be a point in time such as 2026-01-31T12:00:00Z',
      '/votes must NOT have more than 2 properties',
      '/labels/a Too small: expected string to have >=2 characters',
      '/votes/b must be an integer',
    ].toSorted(),
  )
})

test('a name that would change a prototype is a 400, and in a response a property', async (t) => {
  const { fetch } = await api(t, [Polls])
  const headers = { 'content-type': 'application/json' }
  const body = '{"votes":{"__proto__":1}}'
  assert.equal((await fetch('/polls', { method: 'POST', headers, body })).status, 400)
  assert.equal(await (await fetch('/polls/proto')).text(), '{"__proto__":1,"toString":2}')
})

test('a response that is no plain object, or does not fit, is a 500 with its path in the log', async (t) => {
  const { fetch, log } = await api(t, [Polls])
  for (const path of ['map', 'many', 'wrong']) assert.equal((await fetch(`/polls/${path}`)).status, 500)
  const text = log.join('\n')
  assert.match(text, /a plain object/)
  assert.match(text, /\/votes does not fit, declared at most 2 properties/)
  assert.match(text, /\/votes\/a~1b is a string, declared integer/)
})

test('the document has its JSON Schema, and pages of different maps are different', () => {
  @Controller('/')
  class Pages {
    @Get('/numbers', Page.of(mapOf('integer'))) numbers() {
      return undefined as never
    }
    @Get('/texts', Page.of(mapOf(String))) texts() {
      return undefined as never
    }
  }
  const { components, paths } = createApp({ controllers: [Polls, Pages], logger: false }).openapi()
  const poll = JSON.parse(JSON.stringify(components?.schemas?.['Poll'])) as { properties: Record<string, unknown> }
  const { votes, authors } = poll.properties
  const integer = { type: 'integer', format: 'double-int' }
  assert.deepEqual(votes, { type: 'object', additionalProperties: integer, maxProperties: 2 })
  const list = { type: 'array', items: { $ref: '#/components/schemas/Author' } }
  assert.deepEqual(authors, { type: 'object', additionalProperties: list, maxProperties: 1000 })
  const responseOf = (path: string) => JSON.stringify(paths?.[path]?.get?.responses?.['200'])
  assert.match(responseOf('/numbers'), /"additionalProperties":\{"type":"integer"/)
  assert.match(responseOf('/texts'), /"additionalProperties":\{"type":"string"/)
})

test('the compiler compares the values with the type of the property', () => {
  class Wrong {
    // @ts-expect-error The values are numbers.
    @Field({ type: mapOf('integer') }) votes!: Record<string, string>
  }
  assert.ok(Wrong)
})

test('a map in the query, of models or of files in an input, and a wrong bound, fail at startup', () => {
  @Controller('/')
  class InQuery {
    @Get() get(@Query({ type: mapOf(String) }) map: Record<string, string>) {
      return map
    }
  }
  assert.match(bootMessage([InQuery]), /a map cannot be sent in the query/)
  @Controller('/')
  class OfModels {
    @Post() create(@Body({ type: mapOf(Hero) }) heroes: Record<string, Hero>) {
      return Object.keys(heroes)
    }
  }
  assert.match(bootMessage([OfModels]), /Hero/)
  class WithFile {
    @File() file!: UploadedFile
  }
  @Controller('/')
  class OfFiles {
    @Get('/', mapOf(WithFile)) get() {
      return undefined as never
    }
  }
  assert.match(bootMessage([OfFiles]), /file/)
  assert.throws(() => mapOf(String, { maxProperties: -1 }), /maxProperties is -1\. Write a whole number from 0\./)
})
