import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  Body,
  Controller,
  createApp,
  Delete,
  Field,
  Get,
  Header,
  Injectable,
  Patch,
  Post,
  Query,
  redirect,
  Security,
} from 'sequitur'
import { programOf } from '../../src/http/openapi/program.js'
import { bootMessage } from '../support/api.js'

class Note {
  @Field({ minLength: 1, description: 'What it says' }) text!: string
  @Field({ minimum: 1, default: 3 }) stars!: number
}

class Filter {
  @Field({ maxLength: 20 }) author!: string
  @Field({ type: [String], optional: true }) tag?: string[]
}

@Injectable()
class Tenant {
  readonly id: string
  constructor(@Header('X-Tenant') id: string) {
    this.id = id
  }
}

@Controller('/notes')
class NoteController {
  @Get('/', [Note])
  list(
    @Query({ minimum: 0, maximum: 100, default: 10, description: 'How many' }) limit: number,
    @Query() filter: Filter,
    sort: string = 'asc',
    @Query({ default: 7n }) since: bigint,
    @Query({ optional: true, deprecated: true }) old?: string,
  ) {
    return [{ text: `${limit}${filter.author}${sort}${since}${old}`, stars: 1 }]
  }

  @Get('/:id', Note, {
    summary: 'Read a note',
    description: 'The whole of it.',
    deprecated: true,
    operationId: 'readNote',
    tags: ['reading'],
    errors: { 404: 'No such note', 422: 'The id is no number' },
  })
  get(id: string, tenant: Tenant, @Header('x-tenant') again: string) {
    return { text: `${id}${tenant.id}${again}`, stars: 1 }
  }

  @Post('/', Note) create(note: Note) {
    return note
  }

  @Patch('/:id') patch(id: string, @Body({ type: 'any', optional: true }) changes: unknown) {
    return [id, changes]
  }

  @Delete('/:id', { status: 204 }) remove(id: Date) {
    void id
  }
}

const document = createApp({
  controllers: [NoteController],
  logger: false,
  info: { title: 'Notes', version: '2.0.0', description: 'All notes.' },
}).openapi()

const paths = document.paths ?? {}
const list = paths['/notes']?.get
const get = paths['/notes/{id}']?.get

test('the OpenAPI document is of version 3.1, with the title, version and description given', () => {
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.info, { title: 'Notes', version: '2.0.0', description: 'All notes.' })
})

test('paths are written with braces, and each has its methods', () => {
  assert.deepEqual(
    Object.entries(paths).map(([path, item]) => [path, Object.keys(item)]),
    [
      ['/notes', ['get', 'post']],
      ['/notes/{id}', ['get', 'patch', 'delete']],
    ],
  )
})

const parameters: readonly (readonly [sentence: string, operation: typeof list, name: string, parameter: object])[] = [
  [
    'bounds, default and description',
    list,
    'limit',
    {
      in: 'query',
      required: false,
      description: 'How many',
      schema: { type: 'number', minimum: 0, maximum: 100, default: 10 },
    },
  ],
  ['a query class', list, 'author', { in: 'query', required: true, schema: { type: 'string', maxLength: 20 } }],
  ['a list', list, 'tag', { in: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } }],
  ['a literal default', list, 'sort', { in: 'query', required: false, schema: { type: 'string', default: 'asc' } }],
  [
    'a default that JSON has no type for',
    list,
    'since',
    {
      in: 'query',
      required: false,
      schema: { type: 'string', maxLength: 4096, pattern: '^-?(0|[1-9][0-9]*)$', default: '7' },
    },
  ],
  ['what is deprecated', list, 'old', { in: 'query', required: false, deprecated: true, schema: { type: 'string' } }],
  ['a variable', get, 'id', { in: 'path', required: true, schema: { type: 'string' } }],
  ['the inputs of a service', get, 'x-tenant', { in: 'header', required: true, schema: { type: 'string' } }],
]

for (const [sentence, operation, name, parameter] of parameters) {
  test(`${sentence}: the parameter ${name} is documented`, () => {
    const found = operation?.parameters?.filter((one) => 'name' in one && one.name === name)
    assert.deepEqual(found, [{ name, ...parameter }])
  })
}

test('a body is a component that is required', () => {
  assert.deepEqual(paths['/notes']?.post?.requestBody, {
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
  })
})

test('an optional body is not required', () => {
  const body = paths['/notes/{id}']?.patch?.requestBody
  assert.equal(body && 'required' in body && body.required, false)
})

test('a component has the properties, bounds and required ones of its class', () => {
  assert.deepEqual(document.components?.schemas?.['Note'], {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1, description: 'What it says' },
      stars: { type: 'number', minimum: 1, default: 3 },
    },
    required: ['text'],
    additionalProperties: false,
  })
})

test('a number that may be far below zero is shown as 1, unless an example is given', () => {
  const bounds = { type: 'integer', minimum: -(2 ** 30), maximum: 2 ** 31 - 1 } as const
  class Numbers {
    @Field(bounds) plain!: number
    @Field({ ...bounds, nullable: true }) nullable!: number | null
    @Field({ ...bounds, example: 7 }) given!: number
    @Field({ ...bounds, default: 5 }) byDefault!: number
    @Field({ ...bounds, minimum: 2 }) fromTwo!: number
    @Field({ type: 'integer', minimum: -9, maximum: 0 }) cold!: number
  }
  @Controller()
  class Some {
    @Post('/', Numbers) echo(numbers: Numbers) {
      return numbers
    }
  }
  const { components } = createApp({ controllers: [Some], logger: false }).openapi()
  const numbers = components?.schemas?.['Numbers'] as { properties: Record<string, { examples?: unknown }> } | undefined
  assert.deepEqual(
    Object.entries(numbers?.properties ?? {}).map(([name, { examples }]) => [name, examples]),
    [
      ['plain', [1]],
      ['nullable', [1]],
      ['given', [7]],
      ['byDefault', undefined],
      ['fromTwo', undefined],
      ['cold', undefined],
    ],
  )
})

test('every reference of the OpenAPI document leads to a component', () => {
  const names = Object.keys(document.components?.schemas ?? {})
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)
  for (const [, name = ''] of references) assert.ok(names.includes(name), name)
})

test('a query class is no component, as nothing refers to it', () => {
  assert.deepEqual(Object.keys(document.components?.schemas ?? {}).sort(), ['InputIssue', 'Note', 'Problem'])
})

const statuses: readonly (readonly [operation: string, codes: readonly string[]])[] = [
  ['get /notes', ['200', '400', '422', '503', 'default']],
  ['post /notes', ['201', '400', '413', '415', '422', '503', 'default']],
  ['get /notes/{id}', ['200', '400', '404', '422', '503', 'default']],
  ['patch /notes/{id}', ['200', '204', '400', '413', '415', '422', '503', 'default']],
  ['delete /notes/{id}', ['204', '400', '422', '503', 'default']],
]

test('an operation without inputs has an unspecific refusal; a header alone can be read', () => {
  @Controller()
  class Some {
    @Get('/plain') plain() {}
    @Get('/declared', { errors: { 404: 'Not there' } }) declared() {}
    @Get('/header') header(@Header() accept_language: string) {
      return accept_language
    }
  }
  const { paths = {} } = createApp({ controllers: [Some], logger: false }).openapi()
  const codes = ['/plain', '/declared', '/header'].map((path) => Object.keys(paths[path]?.get?.responses ?? {}))
  assert.deepEqual(codes, [
    ['200', '204', '503', '4XX', 'default'],
    ['200', '204', '404', '503', 'default'],
    ['200', '204', '422', '503', 'default'],
  ])
})

for (const [name, codes] of statuses) {
  test(`${name} is documented with ${codes.join(', ')}`, () => {
    const [method, path] = name.split(' ') as ['get', string]
    assert.deepEqual(Object.keys(paths[path]?.[method]?.responses ?? {}).sort(), codes)
  })
}

test('a declared response is documented as JSON', () => {
  assert.deepEqual(get?.responses?.['200'], {
    description: 'Success',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
  })
})

test('errors are problems, with the text declared for their status', () => {
  const schema = { $ref: '#/components/schemas/Problem' }
  const problem = (status: number, title: string, detail: string, errors?: object) => ({
    'application/problem+json': { schema, example: { type: 'about:blank', title, status, detail, ...errors } },
  })
  assert.deepEqual(get?.responses?.['404'], {
    description: 'No such note',
    content: problem(404, 'Not Found', 'No such note'),
  })
  assert.deepEqual(get?.responses?.['422'], {
    description: 'The id is no number',
    content: problem(422, 'Unprocessable Entity', 'The id is no number', {
      errors: [{ in: 'header', path: '/x-tenant', message: 'is required' }],
    }),
  })
})

class Two {
  @Field({ optional: true }) note?: string
  @Field({ type: 'integer' }) count!: number
}

@Controller()
class Wrong {
  @Post('/body') body(body: Two) {
    return body
  }
  @Post('/list') list(@Body({ type: [Two] }) list: Two[]) {
    return list
  }
  @Get('/integer') integer(@Query({ type: 'integer', default: 1 }) count: number) {
    return count
  }
  @Get('/number') number(@Query({ optional: true }) share?: number) {
    return share
  }
  @Get('/group') group(@Query() two: Two) {
    return two
  }
  @Get('/header') header(@Header() x_key: string) {
    return x_key
  }
}

for (const [method, url, payload] of [
  ['POST', '/body', {}],
  ['POST', '/list', [{}]],
  ['GET', '/integer?count=x', undefined],
  ['GET', '/number?share=x', undefined],
  ['GET', '/group?count=x', undefined],
  ['GET', '/header', undefined],
] as const) {
  test(`the example of a 422 is what ${method} ${url} answers`, async () => {
    const app = createApp({ controllers: [Wrong], logger: false })
    const answer = await app.inject({ method, url, ...(payload ? { payload } : {}) })
    const item = app.openapi().paths?.[url.replace(/\?.*/, '')]
    const responses = (item?.get ?? item?.post)?.responses as Record<string, { content: Record<string, object> }>
    const content = responses['422']?.content['application/problem+json'] as { example?: unknown } | undefined
    assert.deepEqual(answer.json(), content?.example)
  })
}

test('a 204 is documented without a body', () => {
  assert.deepEqual(paths['/notes/{id}']?.delete?.responses?.['204'], { description: 'Done' })
})

test('a redirect is documented without a body, and with where it leads', () => {
  @Controller('/')
  class Some {
    @Get('/old', { status: 303 }) old() {
      return redirect('/new')
    }
  }
  const { paths: documented = {} } = createApp({ controllers: [Some], logger: false }).openapi()
  assert.deepEqual(documented['/old']?.get?.responses?.['303'], {
    description: 'Redirect',
    headers: { Location: { schema: { type: 'string', format: 'uri-reference' } } },
  })
})

test('the descriptions of a route are in the OpenAPI document', () => {
  const { summary, description, deprecated, operationId, tags } = get ?? {}
  assert.deepEqual(
    { summary, description, deprecated, operationId, tags },
    {
      summary: 'Read a note',
      description: 'The whole of it.',
      deprecated: true,
      operationId: 'readNote',
      tags: ['reading'],
    },
  )
})

test('an operation is called after its controller and method, and grouped by its controller', () => {
  assert.equal(list?.operationId, 'noteList')
  assert.deepEqual(list?.tags, ['Note'])
})

const summaries = {
  list: 'List',
  findByName: 'Find by name',
  export_as_CSV: 'Export as CSV',
  getHTTPLog2: 'Get HTTP log2',
  größteÄnderung: 'Größte änderung',
  $: '$',
}

for (const [member, summary] of Object.entries(summaries)) {
  test(`the summary of an operation without one is its method's name: ${member}, ${summary}`, () => {
    class Some {}
    Object.defineProperty(Some.prototype, member, { value: () => {}, writable: true, configurable: true })
    const descriptor = Object.getOwnPropertyDescriptor(Some.prototype, member) as TypedPropertyDescriptor<never>
    Get('/', { params: [] })(Some.prototype, member, descriptor)
    Controller()(Some)
    assert.equal(createApp({ controllers: [Some], logger: false }).openapi().paths?.['/']?.get?.summary, summary)
  })
}

test('groups that the app does not describe are declared after those that it does', () => {
  @Controller('/a/', { tags: ['Things', 'Others'] })
  class One {
    @Get() get() {}
  }
  @Controller('/b', { tags: ['Things'] })
  class Two {
    @Get() get() {}
    @Post('/', { tags: ['Others', 'Known'] }) post() {}
  }
  const known = { name: 'Known', description: 'What we know' }
  assert.deepEqual(createApp({ controllers: [One, Two], logger: false, tags: [known] }).openapi().tags, [
    known,
    { name: 'Things', description: 'Operations of /a, /b' },
    { name: 'Others', description: 'Operations of /a, /b' },
  ])
})

test('by default, the server of an API is that of its document, and it requires no authentication', () => {
  assert.deepEqual([document.servers, document.security], [[{ url: '/' }], []])
})

test('two names of one variable are one path, as OpenAPI knows no other', async () => {
  @Controller('/teams')
  class Some {
    @Get('/:team/members/:id') get(team: string, id: number) {
      return [team, id]
    }
    @Patch('/:id/members/:team') patch(team: string, id: number) {
      return [team, id]
    }
  }
  const app = createApp({ controllers: [Some], logger: false })
  const { paths = {} } = app.openapi()
  assert.deepEqual(Object.keys(paths), ['/teams/{team}/members/{id}'])
  const described = (['get', 'patch'] as const).map((method) =>
    paths['/teams/{team}/members/{id}']?.[method]?.parameters?.map(
      (parameter) => 'name' in parameter && [parameter.name, (parameter.schema as { type?: string }).type],
    ),
  )
  assert.deepEqual(described, [
    [
      ['team', 'string'],
      ['id', 'integer'],
    ],
    [
      ['id', 'string'],
      ['team', 'integer'],
    ],
  ])
  assert.deepEqual((await app.inject({ method: 'PATCH', url: '/teams/7/members/x' })).json(), ['x', 7])
})

test('an operationId has only what a URL and a program take for a name', () => {
  @Controller()
  class Größe {
    @Get() ändern() {}
  }
  assert.equal(
    createApp({ controllers: [Größe], logger: false }).openapi().paths?.['/']?.get?.operationId,
    'gr__e_ndern',
  )
})

test('an operation and the OpenAPI document can have specification extensions', () => {
  @Controller()
  class Some {
    @Get('/', { extensions: { 'x-internal': true }, externalDocs: { url: 'https://example.org/more' } }) get() {}
  }
  const { externalDocs, paths } = createApp({
    controllers: [Some],
    logger: false,
    externalDocs: { url: 'https://example.org', description: 'The manual' },
  }).openapi()
  assert.deepEqual(externalDocs, { url: 'https://example.org', description: 'The manual' })
  const { externalDocs: more, 'x-internal': internal } = paths?.['/']?.get ?? {}
  assert.deepEqual([more, internal], [{ url: 'https://example.org/more' }, true])
})

test('a controller may choose its group', () => {
  @Controller('/a', { tags: ['Things'] })
  class Some {
    @Get() get() {}
  }
  const made = createApp({ controllers: [Some], logger: false }).openapi()
  assert.deepEqual(made.paths?.['/a']?.get?.tags, ['Things'])
})

test('one operationId for two operations fails at startup, which names both', () => {
  @Controller('/a')
  class Some {
    @Get('/one', { operationId: 'same' }) one() {}
    @Get('/two', { operationId: 'same' }) two() {}
  }
  assert.match(bootMessage([Some]), /^BootError: Some\.two and Some\.one have the same operationId 'same'\. Rename/)
})

test('two classes of one name fail at startup', () => {
  const one = (() => {
    class Twin {
      @Field() a!: string
    }
    return Twin
  })()
  class Twin {
    @Field() b!: string
  }
  @Controller()
  class Both {
    @Get('/a', Twin) a() {
      return { b: '' }
    }
    @Get('/b', one) b() {
      return { a: '' }
    }
  }
  assert.match(bootMessage([Both]), /^BootError: Both\.b, its response: Two different classes are named Twin/)
})

test('a class with the name of a component of every document fails at startup', () => {
  class Problem {
    @Field() text!: string
  }
  @Controller()
  class Own {
    @Get('/', Problem) get() {
      return { text: '' }
    }
  }
  assert.match(bootMessage([Own]), /^BootError: A class has the name Problem, which the OpenAPI document uses/)
})

test('a component may refer to itself', () => {
  class Tree {
    @Field({ type: [() => Tree] }) children!: Tree[]
  }
  @Controller()
  class Trees {
    @Get('/', Tree) get() {
      return { children: [] }
    }
  }
  const made = createApp({ controllers: [Trees], logger: false }).openapi()
  assert.deepEqual(Object.keys(made.components?.schemas ?? {}).sort(), ['InputIssue', 'Problem', 'Tree'])
})

test('the OpenAPI document is the same each time', () => {
  const app = createApp({ controllers: [NoteController], logger: false })
  assert.deepEqual(app.openapi(), app.openapi())
})

test("the example's document is the one in openapi.snapshot.json (UPDATE_SNAPSHOT=1 rewrites it)", async () => {
  const { app } = await import('../../example/app.js')
  const file = new URL('openapi.snapshot.json', import.meta.url)
  const made: unknown = JSON.parse(JSON.stringify(app.openapi()))
  if (process.env['UPDATE_SNAPSHOT'] === '1') writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`)
  assert.deepEqual(made, JSON.parse(readFileSync(file, 'utf8')))
})

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class CurrentUser {
  readonly token: string
  constructor(@Header() authorization: string) {
    this.token = authorization
  }
}

@Injectable()
class Account {
  readonly user: CurrentUser
  constructor(user: CurrentUser) {
    this.user = user
  }
}

@Injectable()
@Security({ type: 'apiKey', in: 'header', name: 'X-Key' }, { name: 'key' })
class ApiKey {
  readonly key: string
  constructor(@Header('x-key') key: string, @Header('x-tenant') tenant: string) {
    this.key = key + tenant
  }
}

@Controller('/private')
class PrivateController {
  @Get('/open') open() {}
  @Get('/direct', { errors: { 401: 'Log in first' } }) direct(user: CurrentUser) {
    void user
  }
  @Get('/by-way-of', { errors: { 404: 'No such account' } }) indirect(account: Account, key: ApiKey) {
    void [account, key]
  }
}

const secured = createApp({
  controllers: [PrivateController],
  logger: false,
  info: { title: 'Private', contact: { name: 'The team' } },
  servers: [{ url: 'https://api.example.com' }],
  tags: [{ name: 'Private', description: 'Not for all' }],
  extensions: { 'x-logo': { url: '/logo.png' } },
}).openapi()

test('an operation is documented with the schemes of all that it injects', () => {
  assert.deepEqual(
    Object.values(secured.paths ?? {}).map(({ get: operation }) => operation?.security),
    [undefined, [{ CurrentUser: [] }], [{ CurrentUser: [], key: [] }]],
  )
  assert.deepEqual(secured.components?.securitySchemes, {
    CurrentUser: { type: 'http', scheme: 'bearer' },
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  })
})

test('an operation with a scheme is documented with 401', () => {
  const described = Object.values(secured.paths ?? {}).map(
    ({ get: operation }) => (operation?.responses?.['401'] as { description?: string } | undefined)?.description,
  )
  assert.deepEqual(described, [undefined, 'Log in first', 'Authentication is missing or invalid'])
})

test('a header that a scheme describes is no parameter beside it', () => {
  const names = Object.values(secured.paths ?? {}).map(({ get: operation }) =>
    (operation?.parameters ?? []).map((parameter) => 'name' in parameter && parameter.name),
  )
  assert.deepEqual(names, [[], [], ['x-tenant']])
})

test('two schemes of one name fail at startup', () => {
  @Injectable()
  @Security({ type: 'http', scheme: 'basic' }, { name: 'key' })
  class Other {}
  @Controller()
  class Both {
    @Get() get(key: ApiKey, other: Other) {
      void [key, other]
    }
  }
  assert.match(bootMessage([Both]), /Two security schemes have the name key\. Rename one: @Security/)
})

@Injectable()
@Security({ type: 'http', scheme: 'bearer' }, { name: 'token', scopes: ['read'] })
@Security({ type: 'apiKey', in: 'header', name: 'X-Session' }, { name: 'session' })
class TokenOrSession {
  constructor(@Header('x-session', { optional: true }) readonly session: string = '') {}
}

test('several schemes on one class are alternatives, beside the schemes of other classes', () => {
  @Controller('/alternatives')
  class Alternatives {
    @Get('/one') one(_user: TokenOrSession) {}
    @Get('/both') both(_user: TokenOrSession, _key: ApiKey) {}
  }
  const { paths = {}, components } = createApp({ controllers: [Alternatives], logger: false }).openapi()
  const one = [{ token: ['read'] }, { session: [] }]
  assert.deepEqual(paths['/alternatives/one']?.get?.security, one)
  assert.deepEqual(
    paths['/alternatives/both']?.get?.security,
    one.map((scheme) => ({ ...scheme, key: [] })),
  )
  assert.deepEqual(Object.keys(components?.securitySchemes ?? {}), ['token', 'session', 'key'])
  assert.deepEqual(paths['/alternatives/one']?.get?.parameters, undefined)
})

test('a class that extends one with a scheme has it, unless it has its own', () => {
  @Injectable()
  class Admin extends CurrentUser {}
  @Injectable()
  @Security({ type: 'http', scheme: 'basic' }, { name: 'password' })
  class Guest extends CurrentUser {}
  @Controller('/extended')
  class Extended {
    @Get('/admin') admin(_user: Admin) {}
    @Get('/guest') guest(_user: Guest) {}
  }
  const { paths = {}, components } = createApp({ controllers: [Extended], logger: false }).openapi()
  assert.deepEqual(paths['/extended/admin']?.get?.security, [{ CurrentUser: [] }])
  assert.deepEqual(paths['/extended/guest']?.get?.security, [{ password: [] }])
  assert.ok(paths['/extended/admin']?.get?.responses?.['401'])
  assert.deepEqual(Object.keys(components?.securitySchemes ?? {}), ['CurrentUser', 'password'])
})

test('classes of one scheme require the scopes of all', () => {
  const bearer = { type: 'http', scheme: 'bearer' } as const
  @Injectable()
  @Security(bearer, { name: 'bearer', scopes: ['read', 'list'] })
  class Reader {}
  @Injectable()
  @Security(bearer, { name: 'bearer', scopes: ['write', 'list'] })
  class Writer {}
  @Controller('/scopes')
  class Scopes {
    @Get() get(_reader: Reader, _writer: Writer) {}
  }
  const { paths = {} } = createApp({ controllers: [Scopes], logger: false }).openapi()
  assert.deepEqual(paths['/scopes']?.get?.security, [{ bearer: ['read', 'list', 'write'] }])
})

test('the OpenAPI document has the servers, tags, extensions and all of the info given', () => {
  const { info, servers, tags, 'x-logo': logo } = secured as typeof secured & { 'x-logo'?: unknown }
  const { version } = programOf(process.argv, () => process.cwd()) // of this package, whose tests are the program
  assert.deepEqual(info, { title: 'Private', version, contact: { name: 'The team' } })
  assert.deepEqual(
    [servers, tags, logo],
    [[{ url: 'https://api.example.com' }], [{ name: 'Private', description: 'Not for all' }], { url: '/logo.png' }],
  )
})

test('a header that two inputs read is documented once, as required if one of them requires it', () => {
  @Injectable()
  class Tracer {
    constructor(@Header({ optional: true, description: 'Of the caller' }) readonly x_trace?: string) {}
  }
  @Controller()
  class Traces {
    @Get('/') get(@Header() x_trace: string, tracer: Tracer) {
      return [x_trace, tracer.x_trace]
    }
  }
  const { paths } = createApp({ controllers: [Traces], logger: false }).openapi()
  assert.deepEqual(paths?.['/']?.get?.parameters, [
    { name: 'x-trace', in: 'header', required: true, description: 'Of the caller', schema: { type: 'string' } },
  ])
})

test('a program may change the schemas of its document: the next one is as the first was', () => {
  class Part {
    @Field({ maxLength: 5 }) name!: string
  }
  @Controller('/parts')
  class PartController {
    @Post('/:id', Part) add(id: number, limit: number = 5, part: Part) {
      return { name: `${part.name}${id}${limit}` }
    }
  }
  const app = createApp({ controllers: [PartController], logger: false })
  const first = JSON.stringify(app.openapi())
  const { paths, components } = app.openapi()
  empty(paths?.['/parts/{id}']?.post?.parameters)
  empty(components?.schemas?.['Part'])
  assert.equal(JSON.stringify(app.openapi()), first)
})

function empty(part: unknown): void {
  if (typeof part !== 'object' || part === null) return
  for (const [key, inner] of Object.entries(part)) {
    empty(inner)
    Reflect.deleteProperty(part, key)
  }
}
