import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, createApp, Field, Get, Header, Item, Page, Path, Post, Query } from 'sequitur'
import { z } from 'zod'
import { INSTANT_TEXT } from '../../src/schema/shape/text-formats.js'
import { api } from '../support/api.js'
import { conformsTo } from '../support/documented.js'
import { componentsOf, issuesOf } from '../support/echo.js'

const Tag = z.object({ label: z.string().min(1) }).meta({ id: 'Tag' })
const NewNote = z.object({
  text: z.string().min(2),
  at: z.coerce.date(),
  tags: z.array(Tag).default([]),
  about: z.email().optional(),
})
const Note = z.object({ text: z.string(), at: z.codec(z.date(), z.iso.datetime(), { decode: iso, encode: day }) })

function iso(date: Date): string {
  return date.toISOString()
}
function day(text: string): Date {
  return new Date(text)
}

type NewNote = z.infer<typeof NewNote>

const free = z.string().refine((name) => Promise.resolve(name !== 'taken'), 'is taken')
const Filter = z.object({
  limit: z.coerce.number().int().min(1).max(50).default(10),
  tag: z.array(z.string().max(3)).optional(),
  after: z.coerce.date().optional(),
  exact: z.boolean().optional(),
})

class Person {
  @Field({ type: z.email() }) email!: string
  @Field({ type: z.number().int().default(18) }) age!: number
  @Field({ type: z.string().optional() }) motto?: string
  @Field({ type: z.iso.date(), nullable: true }) born!: string | null
  @Field({ type: [Tag] }) tags!: z.infer<typeof Tag>[]
  @Field({ type: () => Person, optional: true }) friend?: Person
}

class NewPerson extends Person {
  @Field({ type: free }) name!: string
}

class Range {
  @Field({ type: z.coerce.number().int() }) from!: number
  @Field({ type: 'integer', optional: true }) to?: number
}

const seen: unknown[] = []

@Controller()
class Notes {
  @Post('/notes', Item.of(Note)) create(@Body({ type: NewNote }) note: NewNote) {
    seen.push(note)
    return { data: { ...note, secret: 1 } }
  }
  @Post('/people', Person) add(person: NewPerson) {
    seen.push(person)
    return person
  }
  @Get('/tags', [Tag]) tags() {
    return [{ label: 'a', secret: 1 }]
  }
  @Get('/page', Page.of(Note)) page(@Query({ type: z.coerce.number().int().min(1).default(1) }) page: number) {
    const meta = { offset: 0, total_items: page, total_pages: 1, page_number: 1 }
    return { data: [{ text: 'a', at: new Date('2026-01-31'), secret: 1 }], meta }
  }
  @Get('/filter') filter(@Query({ type: Filter }) filter: z.infer<typeof Filter>) {
    return { ...filter }
  }
  @Get('/range') range(@Query() range: Range) {
    return { from: range.from, to: range.to ?? null }
  }
  @Get('/values/:id') values(
    @Path({ type: z.uuid() }) id: string,
    @Header('x-level', { type: z.enum(['low', 'high']) }) level: string,
    @Query({ type: z.stringbool(), optional: true }) wait?: boolean,
    @Query({ type: z.array(z.coerce.number().int()).optional() }) number?: number[],
  ) {
    return { id, level, wait: wait ?? null, number: number ?? null }
  }
}

const post = (json: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(json),
})

const person = { email: 'a@b.co', born: null, tags: [{ label: 'x' }] }
const uuid = '0198a3c4-7b1e-7000-8000-000000000001'

const good = [
  [
    '/notes',
    post({ text: 'ab', at: '2026-01-31T00:00:00Z' }),
    { data: { text: 'ab', at: '2026-01-31T00:00:00.000Z' } },
  ],
  ['/people', post({ ...person, name: 'a' }), { ...person, age: 18 }],
  [
    '/people',
    post({ ...person, name: 'a', friend: { ...person, age: 5 } }),
    { ...person, age: 18, friend: { ...person, age: 5 } },
  ],
  ['/tags', {}, [{ label: 'a' }]],
  ['/filter', {}, { limit: 10 }],
  ['/filter?limit=5&tag=a&tag=b&exact=true', {}, { limit: 5, tag: ['a', 'b'], exact: true }],
  ['/filter?tag=a&after=2026-01-31T00:00:00Z', {}, { limit: 10, tag: ['a'], after: '2026-01-31T00:00:00.000Z' }],
  ['/range?from=1&to=2', {}, { from: 1, to: 2 }],
  [
    `/values/${uuid}?wait=yes&number=1`,
    { headers: { 'x-level': 'low' } },
    { id: uuid, level: 'low', wait: true, number: [1] },
  ],
  [`/values/${uuid}`, { headers: { 'x-level': 'high' } }, { id: uuid, level: 'high', wait: null, number: null }],
] as const

for (const [path, init, answer] of good) {
  test(`what zod takes of ${path} arrives as zod makes it ${'body' in init ? init.body : ''}`, async (t) => {
    const { app, fetch, log } = await api(t, [Notes])
    const response = await fetch(path, init)
    const text = await response.text()
    assert.deepEqual(JSON.parse(text), answer, log.join('\n'))
    const documented = path.replace(/\?.*/, '').replace(uuid, '{id}')
    conformsTo(app)('body' in init ? 'post' : 'get', documented, response, text)
  })
}

test('the values are what the schema infers', async (t) => {
  const { fetch } = await api(t, [Notes])
  seen.length = 0
  await fetch('/notes', post({ text: 'ab', at: '2026-01-31T00:00:00Z' }))
  await fetch('/people', post({ ...person, name: 'a', friend: person }))
  const [note, given] = seen as [NewNote, NewPerson]
  assert.deepEqual(note, { text: 'ab', at: new Date('2026-01-31'), tags: [] })
  assert.deepEqual([given instanceof NewPerson, given.friend instanceof Person, given.friend?.age], [true, true, 18])
})

const bad = [
  ['/notes', post({ text: 'a', tags: [{ label: '' }] }), ['body /text', 'body /at', 'body /tags/0/label']],
  ['/notes', post([]), ['body ']],
  [
    '/people',
    post({ ...person, email: 'x', name: 'taken', born: 5, unknown: 1, tags: [{}], friend: { ...person, email: 'y' } }),
    ['body /unknown', 'body /email', 'body /name', 'body /born', 'body /tags/0/label', 'body /friend/email'],
  ],
  ['/people', post({}), ['body /email', 'body /name', 'body /born', 'body /tags']],
  ['/filter?limit=0&tag=long', {}, ['query /limit', 'query /tag/0']],
  ['/filter?limit=1e1', {}, ['query /limit']],
  ['/filter?limit=5&limit=6', {}, ['query /limit']],
  ['/filter?exact=yes', {}, ['query /exact']],
  ['/range?from=x&to=y', {}, ['query /from', 'query /to']],
  ['/range', {}, ['query /from']],
  ['/page?page=0', {}, ['query /page']],
  [
    '/values/1?wait=perhaps&number=1.5&number=x',
    {},
    ['header /x-level', 'path /id', 'query /number/0', 'query /number/1', 'query /wait'],
  ],
] as const

for (const [path, init, places] of bad) {
  test(`all that zod finds wrong with ${path} comes at once, at its place ${'body' in init ? init.body : ''}`, async (t) => {
    const { fetch } = await api(t, [Notes])
    const response = await fetch(path, init)
    const { errors = [] } = (await response.json()) as { errors?: { in: string; path: string; message: string }[] }
    const found = errors.map(({ in: place, path: pointer }) => `${place} ${pointer}`)
    assert.deepEqual([response.status, found.toSorted()], [422, places.toSorted()], JSON.stringify(errors))
  })
}

test('a message is the one of the schema', async (t) => {
  const { fetch } = await api(t, [Notes])
  const json: unknown = await (await fetch('/people', post({ ...person, name: 'taken' }))).json()
  assert.deepEqual(issuesOf({ json: () => json }), ['/name is taken'])
})

test("the document has zod's own JSON Schema, and its named schemas as components", () => {
  const app = createApp({ controllers: [Notes], logger: false })
  const { paths } = JSON.parse(JSON.stringify(app.openapi())) as { paths: Record<string, Record<string, Operation>> }
  const body = paths['/notes']?.['post']?.requestBody.content['application/json'].schema
  assert.deepEqual(body?.properties['tags'], {
    default: [],
    type: 'array',
    items: { $ref: '#/components/schemas/Tag' },
  })
  assert.deepEqual(
    [body?.required, body?.properties['at']],
    [['text', 'at'], { type: 'string', format: 'date-time', pattern: INSTANT_TEXT }],
  )
  const components = componentsOf(app)
  assert.deepEqual(components['Tag']?.required, ['label'])
  assert.equal(components['Person']?.properties['age']?.default, 18)
  assert.deepEqual(components['Person']?.required, ['email', 'born', 'tags'])
  const parameters = paths['/filter']?.['get']?.parameters.map(({ name, required, schema }) => [
    name,
    required,
    schema.type,
  ])
  assert.deepEqual(parameters, [
    ['limit', false, 'integer'],
    ['tag', false, 'array'],
    ['after', false, 'string'],
    ['exact', false, 'boolean'],
  ])
})

interface Operation {
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly parameters: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[]
}
interface Schema {
  readonly type?: string
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, unknown>>
}

test('a schema that refers to itself is a component, named by its title', async () => {
  const Tree = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree)
    },
  })
  const Titled = z.object({ ...Tree.shape }).meta({ title: 'Leaf' })
  @Controller()
  class Trees {
    @Post('/', Item.of(Tree)) grow(@Body({ type: Tree }) tree: z.infer<typeof Tree>) {
      return { data: tree }
    }
    @Get('/', Titled) leaf() {
      return { name: 'a', children: [] }
    }
  }
  const app = createApp({ controllers: [Trees], logger: false })
  const components = componentsOf(app)
  assert.deepEqual(components['Schema']?.properties['children'], {
    type: 'array',
    items: { $ref: '#/components/schemas/Schema' },
  })
  const tree = { name: 'a', children: [{ name: 'b', children: [] }] }
  const response = await app.inject({ method: 'POST', url: '/', payload: tree })
  assert.deepEqual(response.json(), { data: tree })
})

test('a literal that may be null is one or the other in the document, as in the response', async (t) => {
  class Versioned {
    @Field({ type: z.literal('v1'), nullable: true }) version!: 'v1' | null
  }
  @Controller()
  class Versions {
    @Get('/version', Versioned) version() {
      return { version: null }
    }
  }
  const { fetch } = await api(t, [Versions])
  assert.deepEqual(await (await fetch('/version')).json(), { version: null })
  const { Versioned: schema } = componentsOf(createApp({ controllers: [Versions] }))
  assert.deepEqual(schema?.properties['version'], { anyOf: [{ type: 'string', const: 'v1' }, { type: 'null' }] })
})
