// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AppOptions,
  Base,
  Body,
  Budget,
  Controller,
  type ControllerOptions,
  createApp,
  dto,
  type DtoOptions,
  type EtagOptions,
  Field,
  Get,
  Header,
  Injectable,
  Item,
  type BodyOptions,
  guard,
  type GuardOptions,
  type HealthOptions,
  type InputOptions,
  type LifespanOptions,
  type LogOptions,
  type MappedPaginationOptions,
  newLifespan,
  mapOf,
  type MapOptions,
  newPagination,
  Path,
  Post,
  provide,
  Query,
  type QueryBudget,
  type Recipe,
  redirect,
  type RedirectOptions,
  type RouteOptions,
  type Token,
  Transactional,
  type TransactionalOptions,
  type ValueOptions,
  sql,
} from 'sequitur'
import { BootError } from 'sequitur/errors'
import { Table } from 'sequelize-typescript'
import { type IfMatchOptions, newIfMatch } from 'sequitur/conditional'
import { newCursorPagination } from 'sequitur/cursor'
import { Idempotent, type IdempotentOptions } from 'sequitur/idempotency'
import { Rows, rows, type RowsOptions, type RowsReplyOptions } from 'sequitur/exports'
import { listOf, type ListOptions } from 'sequitur/lists'
import { metrics, type MetricsOptions } from 'sequitur/metrics'
import { openTelemetry, type OpenTelemetryOptions } from 'sequitur/opentelemetry'
import { tenancy, type TenancyOptions } from 'sequitur/tenancy'
import { File, type FileFieldOptions, Multipart, type MultipartOptions } from 'sequitur/uploads'
import type { Timeouts } from '../src/http/app-options.js'
import type { CursorPaginationOptions } from '../src/paging/cursor/cursor-paginate.js'
import type { SizeOptions } from '../src/paging/paginator.js'

class Hero {
  @Field() name!: string
}

@Table
class Listed extends Base<Listed> {}

/** Who takes options, and all that its type says it takes: a new one that is missing here does not compile. */
interface Taker {
  readonly take: (options: never) => unknown
  readonly names: readonly string[]
}

type NamesOf<T> = Record<T extends unknown ? keyof T : never, 0>

function taker<T>(take: (options: never) => unknown, names: NamesOf<T>): Taker {
  return { take, names: Object.keys(names) }
}

function decorated(decorate: (prototype: object) => void): void {
  class Heroes {
    list(_input: unknown) {}
  }
  decorate(Heroes.prototype)
}

const value: NamesOf<ValueOptions> = {
  type: 0,
  enum: 0,
  oneOf: 0,
  discriminator: 0,
  nullable: 0,
  optional: 0,
  default: 0,
  message: 0,
  example: 0,
  examples: 0,
  title: 0,
  description: 0,
  deprecated: 0,
  minimum: 0,
  maximum: 0,
  exclusiveMinimum: 0,
  exclusiveMaximum: 0,
  multipleOf: 0,
  minLength: 0,
  maxLength: 0,
  pattern: 0,
  format: 0,
  minItems: 0,
  maxItems: 0,
}
const route: NamesOf<RouteOptions & { params: 0 }> = {
  status: 0,
  summary: 0,
  description: 0,
  tags: 0,
  deprecated: 0,
  operationId: 0,
  extensions: 0,
  externalDocs: 0,
  errors: 0,
  responses: 0,
  produces: 0,
  bodyLimit: 0,
  live: 0,
  requires: 0,
  around: 0,
  params: 0,
}
const sizes: NamesOf<SizeOptions> = { defaultPageSize: 0, maxPageSize: 0, default_page_size: 0, max_page_size: 0 }

function routed(options: object): void {
  const member = { value() {} } as TypedPropertyDescriptor<never>
  decorated((prototype) => Get('/', options)(prototype, 'list', member))
}

function input(decorator: ParameterDecorator, path: string): void {
  class Heroes {
    list(_input: unknown) {}
  }
  const { prototype } = Heroes
  decorator(prototype, 'list', 0)
  const member = Object.getOwnPropertyDescriptor(prototype, 'list') as TypedPropertyDescriptor<never>
  Post(path, { params: [String] } as never)(prototype, 'list', member)
  Controller()(Heroes)
  createApp({ controllers: [Heroes], logger: false })
}

const takers: Readonly<Record<string, Taker>> = {
  'createApp()': taker<AppOptions>((options) => createApp({ controllers: [], ...(options as object) }), {
    controllers: 0,
    prefix: 0,
    models: 0,
    lifespan: 0,
    jobs: 0,
    relays: 0,
    work: 0,
    providers: 0,
    middleware: 0,
    cursorSecret: 0,
    docs: 0,
    health: 0,
    logger: 0,
    log: 0,
    queryBudget: 0,
    unknownFields: 0,
    bodyLimit: 0,
    maxConnections: 0,
    timeouts: 0,
    errors: 0,
    info: 0,
    servers: 0,
    externalDocs: 0,
    tags: 0,
    extensions: 0,
  }),
  'createApp(): queryBudget': taker<QueryBudget>((queryBudget) => createApp({ controllers: [], queryBudget }), {
    statements: 0,
    repeats: 0,
  }),
  '@Budget()': taker<QueryBudget>((budget) => Budget(budget), { statements: 0, repeats: 0 }),
  'tenancy()': taker<TenancyOptions>(tenancy, { of: 0, column: 0, role: 0 }),
  'newIfMatch()': taker<IfMatchOptions>((options) => newIfMatch(options), { required: 0 }),
  '@Idempotent()': taker<IdempotentOptions>((options) => Idempotent(options), {
    required: 0,
    expiresAfter: 0,
    of: 0,
    responseLimit: 0,
    model: 0,
  }),
  'Rows.of()': taker<RowsOptions>((options) => Rows.of(Hero, options), {
    atOnce: 0,
    clientTimeout: 0,
    leastRate: 0,
    timeout: 0,
    of: 0,
    perClient: 0,
    spreadsheets: 0,
  }),
  'rows()': taker<RowsReplyOptions>((options) => attempted(() => rows(sql`SELECT 1`, options)), {
    name: 0,
    headers: 0,
    database: 0,
  }),
  'Item.of()': taker<EtagOptions>((options) => Item.of(Hero, options), { etag: 0 }),
  'createApp(): log': taker<LogOptions>((log) => createApp({ controllers: [], log }), {
    requests: 0,
    slow: 0,
    explain: 0,
    format: 0,
  }),
  'createApp(): timeouts': taker<Timeouts>((timeouts) => createApp({ controllers: [], timeouts }), {
    headers: 0,
    request: 0,
    handler: 0,
    write: 0,
    keepAlive: 0,
    drain: 0,
    shutdownDelay: 0,
  }),
  'createApp(): health': taker<HealthOptions>((health) => createApp({ controllers: [], health }), {
    livez: 0,
    readyz: 0,
    timeout: 0,
    checks: 0,
    keys: 0,
    documented: 0,
  }),
  '@Controller()': taker<ControllerOptions>(
    (options) => decorated(({ constructor }) => Controller('/', options)(constructor)),
    {
      tags: 0,
      lifetime: 0,
      middleware: 0,
      requires: 0,
      around: 0,
    },
  ),
  '@Get()': taker(routed, route),
  '@Get() with a response': taker((options) => {
    const member = { value: () => new Hero() } as TypedPropertyDescriptor<never>
    decorated((prototype) => Get('/', Hero, options as {})(prototype, 'list', member))
  }, route),
  '@Field()': taker(
    (options) => decorated((prototype) => Field({ type: 'string', ...(options as object) })(prototype, 'name')),
    value,
  ),
  '@Path()': taker<InputOptions>((options) => input(Path(options), '/:_input'), { ...value, name: 0 }),
  '@Query()': taker<InputOptions>((options) => input(Query(options), '/'), { ...value, name: 0 }),
  '@Query() with a name': taker<InputOptions>((options) => input(Query('name', options), '/'), { ...value, name: 0 }),
  '@Header()': taker<InputOptions>((options) => input(Header(options), '/'), { ...value, name: 0 }),
  '@Body()': taker<BodyOptions>((options) => input(Body(options), '/'), { ...value, name: 0, form: 0 }),
  '@File()': taker<FileFieldOptions>(
    (options) => decorated((prototype) => File(options)(prototype as Record<string, unknown>, 'file')),
    {
      maxSize: 0,
      mediaTypes: 0,
      optional: 0,
      minItems: 0,
      maxItems: 0,
      title: 0,
      description: 0,
      deprecated: 0,
      message: 0,
    },
  ),
  'listOf()': taker<ListOptions<Listed>>((options) => listOf(Listed, options), {
    filter: 0,
    sort: 0,
    defaultSort: 0,
    include: 0,
    fields: 0,
    maxItems: 0,
    maxSort: 0,
    unindexed: 0,
  }),
  '@Multipart()': taker<MultipartOptions>(
    (options) => decorated((prototype) => Multipart(options)(prototype, 'list', 0)),
    { bodyLimit: 0 },
  ),
  '@Injectable()': taker<{ lifetime: 0 }>(
    (options) => decorated(({ constructor }) => Injectable(options)(constructor)),
    {
      lifetime: 0,
    },
  ),
  'guard()': taker<GuardOptions>((options) => guard([Hero], () => true, options), { scopes: 0, detail: 0 }),
  'provide()': taker<Recipe<unknown, Token[]>>((recipe) => provide(Hero, recipe), {
    value: 0,
    class: 0,
    factory: 0,
    managed: 0,
    inject: 0,
    lifetime: 0,
  }),
  'dto()': taker<DtoOptions<'name'>>((options) => dto(Hero, options), { omit: 0, pick: 0, partial: 0, name: 0 }),
  'mapOf()': taker<MapOptions>((options) => mapOf(String, options), { maxProperties: 0 }),
  '@Transactional()': taker<TransactionalOptions>(Transactional, { isolation: 0, readOnly: 0, maxLag: 0, retry: 0 }),
  'redirect()': taker<RedirectOptions>((options) => redirect('/', options), { status: 0, external: 0 }),
  'newLifespan()': taker<LifespanOptions>((options) => newLifespan('sqlite://', options), {
    defaultUrl: 0,
    models: 0,
    replicas: 0,
    replicaFallback: 0,
    readYourWrites: 0,
    sync: 0,
    poolSize: 0,
    poolTimeout: 0,
    connectTimeout: 0,
    statementTimeout: 0,
    lockTimeout: 0,
    idleInTransactionTimeout: 0,
    preparedStatements: 0,
    fileMode: 0,
    startTimeout: 0,
    processes: 0,
    fastPath: 0,
    boundary: 0,
    echo: 0,
  }),
  'newPagination()': taker<MappedPaginationOptions<0, 0>>(newPagination, {
    ...sizes,
    session: 0,
    count: 0,
    countUpTo: 0,
    map: 0,
    mapPage: 0,
  }),
  'openTelemetry()': taker<OpenTelemetryOptions>((options) => openTelemetry(options)(), {
    tracerProvider: 0,
    meterProvider: 0,
    ignore: 0,
    urlPath: 0,
    urlQuery: 0,
    queryText: 0,
    exceptions: 0,
  }),
  'metrics()': taker<MetricsOptions>((options) => metrics(options).stop(), {
    register: 0,
    prefix: 0,
    path: 0,
  }),
  'newPagination() of cursors': taker<CursorPaginationOptions>(newCursorPagination, {
    ...sizes,
    session: 0,
    prevCursor: 0,
  }),
}

/** Calls what cannot succeed in a test without a request. */
function attempted(call: () => unknown): void {
  try {
    call()
  } catch (error) {
    if (error instanceof BootError) throw error
  }
}

function messageOf({ take }: Taker, options: object): string {
  try {
    take(options as never)
  } catch (error) {
    if (error instanceof Error && /^(Boot|Injection)Error$/.test(error.name)) return error.message
    throw error
  }
  return ''
}

for (const [who, one] of Object.entries(takers)) {
  test(`${who} knows all of its options`, () => {
    assert.doesNotMatch(messageOf(one, Object.fromEntries(one.names.map((name) => [name, undefined]))), /has no option/)
  })

  test(`${who} says what was meant by a misspelt option`, () => {
    for (const name of one.names) {
      const middle = Math.floor(name.length / 2)
      for (const misspelt of [
        name.slice(0, middle) + name.slice(middle + 1),
        `${name}s`,
        `${name[1]}${name[0]}${name.slice(2)}`,
        `_${name[0]?.toUpperCase()}${name.slice(1)}`,
        name.replaceAll(/[A-Z]/g, '-$&'),
      ]) {
        if (one.names.includes(misspelt)) continue
        const message = messageOf(one, { [misspelt]: undefined })
        assert.match(message, new RegExp(` has no option '${misspelt}'\\. Did you mean '${name}'\\?$`))
      }
    }
  })

  test(`${who} lists its options where none is near`, () => {
    const [, names = ''] = / has no option 'quux'\. Use one of (.*)\.$/.exec(messageOf(one, { quux: 1 })) ?? []
    assert.deepEqual(names.split(', ').toSorted(), [...one.names].toSorted())
  })
}

test('an option that is only begun is told how it goes on', () => {
  assert.match(
    messageOf(takers['@Field()'] as Taker, { min: 1 }),
    /'min'\. Did you mean 'minimum' or 'minLength' or 'minItems'\?$/,
  )
  assert.match(messageOf(takers['@Get()'] as Taker, { desc: 'a' }), /'desc'\. Did you mean 'description'\?$/)
})

test('every unknown option is named at once, with the class and the member', () => {
  assert.equal(
    messageOf(takers['@Get()'] as Taker, { sumary: 'a', tag: [] }),
    `@Get() on Heroes.list has no option 'sumary'. Did you mean 'summary'?\n@Get() on Heroes.list has no option 'tag'. Did you mean 'tags'?`,
  )
  assert.match(
    messageOf(takers['@Query()'] as Taker, { optionel: true }),
    /^@Query\(\) of Heroes\.list, parameter 1 '_input' has no option/,
  )
  assert.match(messageOf(takers['@Field()'] as Taker, { optionel: true }), /^@Field\(\) on Heroes\.name has no option/)
})

for (const who of [
  'createApp(): log',
  'createApp(): timeouts',
  '@Controller()',
  '@Injectable()',
  'provide()',
  'dto()',
  '@Transactional()',
  'newLifespan()',
  'openTelemetry()',
  'metrics()',
  'newPagination()',
  'newPagination() of cursors',
]) {
  for (const [options, got] of [
    [null, 'null'],
    ['name', `'name'`],
    [5, '5'],
    [['name'], 'a list'],
  ] as const) {
    test(`${who} takes an object, not ${got}`, () => {
      const message = messageOf(takers[who] as Taker, options as never)
      assert.match(message, new RegExp(` takes options such as \\{ \\w+: \\.\\.\\. \\}, got ${got}\\.$`))
    })
  }
}

const database = (options: object) => newLifespan('sqlite://', options)
const budget = (queryBudget: unknown) => createApp({ controllers: [], queryBudget: queryBudget as never })
const log = (options: object) => createApp({ controllers: [], log: options })
const notWhole = (name: string) => new RegExp(`^newLifespan\\(\\): ${name} is .*\\. Write a whole number of `)

/** What makes the mistake, and what is said of it. */
const mistakes: readonly (readonly [make: () => unknown, message: RegExp])[] = [
  ...[
    'poolSize',
    'poolTimeout',
    'connectTimeout',
    'statementTimeout',
    'lockTimeout',
    'idleInTransactionTimeout',
    'startTimeout',
  ].flatMap((name) =>
    ['5', NaN, -1, 0.5, Infinity, null].map((given) => [() => database({ [name]: given }), notWhole(name)] as const),
  ),
  ...['sync', 'echo', 'preparedStatements', 'replicaFallback'].map(
    (name) =>
      [
        () => database({ [name]: 'true' }),
        new RegExp(`: ${name} is of type string\\. Write true or false\\.$`),
      ] as const,
  ),
  ...['cookies', true, null].map(
    (readYourWrites) =>
      [
        () => database({ readYourWrites }),
        new RegExp(`: readYourWrites is '?${readYourWrites}'?\\. Write 'cookie' or 'header'\\.$`),
      ] as const,
  ),
  [() => database({ poolSize: 0 }), notWhole('poolSize')],
  ...[640, 0o400, 0o1600, '0640', 0.5, NaN, null].map(
    (fileMode) =>
      [
        () => database({ fileMode }),
        /: fileMode is .*\. Write an octal mode .*; in code an octal number begins with 0o: 0o640\.$/,
      ] as const,
  ),
  [() => database({ models: Hero }), /^newLifespan\(\): models takes a list, got the class Hero\. Write \[Hero\]\.$/],
  [() => database({ models: [undefined] }), /^newLifespan\(\): models\[0\] is undefined\. Either its name is misspelt/],
  [() => database({ models: ['Hero'] }), /^newLifespan\(\): models\[0\] is 'Hero'\. Write the class itself/],
  [
    () => database({ replicas: 'postgres://a:secret@b/c' }),
    /^newLifespan\(\): replicas takes a list, got a string\. Write \['postgres:\/\/\.\.\.'\]\.$/,
  ],
  [() => database({ defaultUrl: null }), /^newLifespan\(\): defaultUrl is of type null\. Write a URL/],
  [
    () => newLifespan({ sync: true } as never),
    /first argument is an object with sync\. Write a URL, a Sequelize instance, or undefined .*; options are the second argument/,
  ],
  [
    () => dto(Hero, { pick: 'name' as never }),
    /^dto\(Hero, \.\.\.\): pick takes a list, got a string\. Write \['name'\]\.$/,
  ],
  [() => dto(Hero, { omit: 'name' as never }), /^dto\(Hero, \.\.\.\): omit takes a list/],
  [() => dto(undefined as never, {}), /^dto\(undefined, \.\.\.\) requires a class\. Either its name is misspelt/],
  [
    () => dto(new Hero() as never, {}),
    /^dto\(an instance of Hero, \.\.\.\) requires a class\. Write the class itself\.$/,
  ],
  [
    () => Transactional({ maxLag: 500 }),
    /^@Transactional\(\): maxLag is for handlers that replicas serve\. Write @Transactional\(\{ readOnly: true, maxLag: 500 \}\)\.$/,
  ],
  [
    () => Transactional({ readOnly: true, maxLag: '1s' as never }),
    /^@Transactional\(\): maxLag is '1s'\. Write a whole number of milliseconds, as in 1_000, from 1 to /,
  ],
  [
    () => Transactional({ readOnly: 'yes' as never }),
    /^@Transactional\(\): readOnly is 'yes'\. Write true or false\.$/,
  ],
  [
    () => budget('many'),
    /^createApp\(\): queryBudget is 'many'\. Write a number of statements, \{ statements: 20, repeats: 10 \} or false\.$/,
  ],
  [() => budget(0.5), /^createApp\(\): queryBudget is 0\.5\. Write a whole number of statements/],
  [
    () => budget({ repeats: 1 }),
    /^createApp\(\): queryBudget\.repeats is 1\. Write a whole number of repetitions, as in 10, from 2 /,
  ],
  [() => Budget({ statements: -1 }), /^@Budget\(\): statements is -1\. Write a whole number/],
  [() => log({ slow: '1s' }), /^createApp\(\): log\.slow is '1s'\. Write a whole number of milliseconds/],
  [() => log({ slow: 1, explain: 'yes' }), /^createApp\(\): log\.explain is of type string\. Write true or false\.$/],
  [
    () => log({ explain: true }),
    /^createApp\(\): log\.explain is true without slow: .* Write \{ slow: 500, explain: true \}\.$/,
  ],
  [() => log({ requests: 'yes' }), /^createApp\(\): log\.requests is of type string\. Write true or false\.$/],
  [() => log({ format: 'xml' }), /^createApp\(\): log\.format is 'xml'\. Write 'text', 'json' or 'object'\.$/],
  [
    () =>
      decorated((prototype) =>
        Get('/', undefined as never, {})(prototype, 'list', {} as TypedPropertyDescriptor<never>),
      ),
    /^@Get\(\) on Heroes\.list: its response is undefined\. Either its name is misspelt/,
  ],
]

for (const [make, message] of mistakes) {
  test(`an option of a wrong kind is refused where it is written: ${String(make).slice(6, 60)} ${message.source.slice(0, 60)}`, () => {
    assert.throws(make, { name: 'BootError', message })
  })
}

test('for ever, and the sizes and times that are used, are options', () => {
  database({
    statementTimeout: 0,
    lockTimeout: 0,
    idleInTransactionTimeout: 0,
    startTimeout: 0,
    poolSize: 1,
    poolTimeout: 1,
    fileMode: 0o664,
  })
  database({ poolSize: undefined, models: undefined, sync: undefined })
})
