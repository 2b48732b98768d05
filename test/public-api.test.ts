// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const values = [
  'App',
  'BadRequest',
  'Base',
  'Body',
  'Budget',
  'Collection',
  'Conflict',
  'Controller',
  'Cookie',
  'Delete',
  'Events',
  'Factory',
  'Field',
  'Forbidden',
  'Get',
  'Header',
  'HttpError',
  'Inject',
  'Injectable',
  'InvalidInput',
  'Item',
  'MethodNotAllowed',
  'NotFound',
  'Page',
  'Paginate',
  'Patch',
  'Path',
  'PayloadTooLarge',
  'Post',
  'Put',
  'Query',
  'Reply',
  'Request',
  'RequestLogger',
  'Security',
  'ServiceUnavailable',
  'Session',
  'TooManyRequests',
  'Transactional',
  'Unauthorized',
  'UncountedPage',
  'UnknownFields',
  'UnsupportedMediaType',
  'badRequest',
  'conflict',
  'createApp',
  'dto',
  'errorFormat',
  'events',
  'file',
  'forbidden',
  'guard',
  'invalidInput',
  'lifespan',
  'mapError',
  'mapOf',
  'named',
  'newLifespan',
  'newPagination',
  'new_pagination',
  'notFound',
  'oneOf',
  'open_session',
  'provide',
  'redirect',
  'reply',
  'select',
  'serviceUnavailable',
  'sql',
  'token',
  'tooManyRequests',
  'unauthorized',
  'withSession',
]

const types = [
  'Address',
  'AppOptions',
  'Around',
  'BodyOptions',
  'ControllerOptions',
  'Database',
  'Declared',
  'DtoOptions',
  'ErrorFormat',
  'ErrorMapping',
  'ErrorSettings',
  'EtagOptions',
  'EventsOptions',
  'FactoryDecorator',
  'FieldDecorator',
  'FileOptions',
  'GuardOptions',
  'HealthOptions',
  'InputDecorator',
  'InputIssue',
  'InputOptions',
  'Lifespan',
  'LifespanOptions',
  'Lifetime',
  'LogFields',
  'LogFormat',
  'LogOptions',
  'LogValue',
  'Logger',
  'MapOptions',
  'MappedPaginate',
  'MappedPaginationOptions',
  'Middleware',
  'NamedToken',
  'OwnResponse',
  'PageMeta',
  'PaginateType',
  'PaginationOptions',
  'Problem',
  'Provision',
  'QueryBudget',
  'QueryBudgetOption',
  'Recipe',
  'RedirectOptions',
  'ReplyOptions',
  'RouteOptions',
  'ScopedMiddleware',
  'SecurityOptions',
  'SecurityScheme',
  'Select',
  'ServerEvent',
  'Sql',
  'StandardSchema',
  'Timeouts',
  'Token',
  'TransactionalOptions',
  'Translate',
  'UncountedPageMeta',
  'UncountedPaginationOptions',
  'UnknownFieldsRule',
  'ValueOptions',
]

/** The types that a door exports: they leave nothing at run time, so its text is what tells. */
function typesOf(door: string): string[] {
  const text = readFileSync(new URL(`../src/${door}`, import.meta.url), 'utf8')
  const inBraces = [...text.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, all, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .flatMap((name) => (all && name ? [name] : (/^type (?:\w+ as )?(\w+)/.exec(name)?.[1] ?? []))),
  )
  const declared = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => name)
  return [...inBraces, ...declared].sort()
}

test('sequitur has these values', async () => {
  assert.deepEqual(Object.keys(await import('sequitur')).sort(), values)
})

test('sequitur has these types', () => {
  assert.deepEqual(typesOf('index.ts'), types)
})

test('sequitur/errors has these values', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/errors')).sort(), [
    'BootError',
    'CommitFailedError',
    'CommitUnknownError',
    'DatabaseStartError',
    'DatabaseUrlError',
    'ForeignTransactionError',
    'InjectionError',
    'OtherSessionError',
    'PartialCommitError',
    'ReadOnlyError',
    'SessionClosedError',
    'StatementRefusedError',
    'UnawaitedQueryError',
    'WriteUnknownError',
  ])
  assert.deepEqual(typesOf('errors.ts'), [])
})

test('sequitur/diagnostics has these types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/diagnostics')), [])
  assert.deepEqual(typesOf('diagnostics.ts'), [
    'BudgetExceeded',
    'ConnectionAcquired',
    'DatabaseEvent',
    'DatabaseFacts',
    'EventMessages',
    'InputRefused',
    'JobAdded',
    'JobOutcome',
    'JobRun',
    'RequestRecord',
    'SentStatement',
    'Shutdown',
    'SqliteWriterTurn',
    'StatementEnded',
    'Trace',
    'TransactionBegun',
    'TransactionEnded',
    'TransactionOutcome',
    'TransactionRetried',
  ])
})

test('sequitur/settings has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/settings')).sort(), ['readSettings', 'settings'])
  assert.deepEqual(typesOf('settings.ts'), ['SettingsOptions'])
})

test('sequitur/lists has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/lists')), ['listOf'])
  assert.deepEqual(typesOf('lists.ts'), ['ListInclude', 'ListOperator', 'ListOptions', 'ListPath', 'ListQuery'])
})

test('sequitur/uploads has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/uploads')).sort(), ['File', 'Multipart', 'UploadedFile'])
  assert.deepEqual(typesOf('uploads.ts'), ['FileFieldOptions', 'MultipartOptions', 'SaveOptions'])
})

test('sequitur/conditional has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/conditional')).sort(), ['IfMatch', 'newIfMatch'])
  assert.deepEqual(typesOf('conditional.ts'), ['IfMatchOptions'])
})

test('sequitur/idempotency has these values and types', async () => {
  const values = ['Idempotent', 'IdempotencyRecord', 'createIdempotencyTable']
  assert.deepEqual(Object.keys(await import('sequitur/idempotency')).sort(), values.toSorted())
  assert.deepEqual(typesOf('idempotency.ts'), ['IdempotentOptions'])
})

test('sequitur/feeds has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/feeds')).sort(), [
    'Event',
    'Feed',
    'FeedEvent',
    'Feeds',
    'InvalidEventData',
    'LostRelayError',
    'On',
    'Relay',
    'RelayStops',
    'RelayTimeout',
    'UnreadableEventData',
    'createFeedTables',
    'dropFeedTables',
    'feedsOf',
    'forward',
    'subscribe',
  ])
  assert.deepEqual(typesOf('feeds.ts'), [
    'EventOptions',
    'FollowOptions',
    'ForwardOptions',
    'OnOptions',
    'PublishOptions',
    'RelayedEvent',
    'RelayedEventOf',
    'SubscribeOptions',
    'SubscribedEvent',
  ])
})

test('sequitur/migrations has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/migrations')).sort(), [
    'MigrationError',
    'Renamed',
    'baseline',
    'migrate',
    'migrationStatus',
    'sql',
    'steps',
  ])
  assert.deepEqual(typesOf('migrations.ts'), [
    'AloneOptions',
    'AloneStep',
    'BatchesStep',
    'CommitStep',
    'MigrateOptions',
    'MigrateResult',
    'Migration',
    'MigrationStatus',
    'RunStep',
    'SqlStep',
    'Step',
    'TableName',
  ])
})

test('sequitur/exports has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/exports')).sort(), ['Rows', 'rows'])
  assert.deepEqual(typesOf('exports.ts'), ['RowsOptions', 'RowsReplyOptions'])
})

test('sequitur/tenancy has these values and types', async () => {
  const values = ['NoTenantError', 'OtherTenantError', 'TenancyError', 'Unscoped', 'tenancy', 'unscoped', 'withTenant']
  assert.deepEqual(Object.keys(await import('sequitur/tenancy')).sort(), values)
  assert.deepEqual(typesOf('tenancy.ts'), ['Tenancy', 'TenancyOptions', 'Tenant'])
})

test('sequitur/opentelemetry has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/opentelemetry')), ['openTelemetry'])
  assert.deepEqual(typesOf('opentelemetry.ts'), ['OpenTelemetryOptions'])
})

test('sequitur/metrics has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/metrics')), ['metrics'])
  assert.deepEqual(typesOf('metrics.ts'), ['Metrics', 'MetricsOptions'])
})

test('sequitur/testing has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/testing')).sort(), [
    'QueryBudgetError',
    'beginRollback',
    'memoryDatabase',
    'testApp',
    'testDatabase',
    'withRollback',
  ])
  assert.deepEqual(typesOf('testing.ts'), [
    'FailedJob',
    'JobThatRan',
    'JobsRun',
    'Rollback',
    'TestApp',
    'TestDatabase',
    'TestDatabaseOptions',
    'TestedJobs',
    'WaitingJob',
  ])
})

test('sequitur/cursor has these values and types', async () => {
  const values = [
    'CursorPage',
    'CursorPaginate',
    'Page',
    'Paginate',
    'TwoWayPage',
    'newCursorPagination',
    'newPagination',
    'new_pagination',
    'pages',
    'typed',
  ]
  assert.deepEqual(Object.keys(await import('sequitur/cursor')).sort(), values)
  assert.deepEqual(typesOf('cursor.ts'), [
    'CursorPageMeta',
    'CursorPaginateType',
    'PageMeta',
    'PaginateType',
    'TwoWayPageMeta',
    'Typing',
  ])
})

test('sequitur/vite and sequitur/esbuild have one value, the plugin', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/vite')), ['sequitur'])
  assert.deepEqual(typesOf('vite.ts'), ['VitePlugin'])
  assert.deepEqual(Object.keys(await import('sequitur/esbuild')), ['sequitur'])
  assert.deepEqual(typesOf('esbuild.ts'), ['EsbuildPlugin'])
})

test('two names of one thing are one thing', async () => {
  const { newPagination, new_pagination, open_session, withSession } = await import('sequitur')
  assert.equal(new_pagination, newPagination)
  assert.equal(open_session, withSession)
  const cursor = await import('sequitur/cursor')
  assert.equal(cursor.CursorPage, cursor.Page)
  assert.equal(cursor.CursorPaginate, cursor.Paginate)
  assert.equal(cursor.newCursorPagination, cursor.newPagination)
  assert.equal(cursor.new_pagination, cursor.newPagination)
})

test('the doors are the ones that package.json opens', async () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  for (const [subpath, { default: file }] of Object.entries<{ default?: string }>(exports)) {
    if (file) assert.ok(await import(`sequitur${subpath.slice(1)}`), subpath)
  }
})

/** The source of a name that a file exports, or exports again. */
function sourceOf(file: string, name: string): readonly [text: string, at: number] {
  const text = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')
  const declaration = new RegExp(
    `^export (?:declare |abstract |async )*(?:const|function\\*?|class|interface|type) ${name}\\b`,
    'm',
  ).exec(text)
  if (declaration) return [text, declaration.index]
  const again = new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '([^']+)'`).exec(text)?.[1]
  assert.ok(again, `${file} does not export ${name}`)
  return sourceOf(new URL(again.replace(/\.js$/, '.ts'), `file:///${file}`).pathname.slice(1), name)
}

test('every export has a docstring', () => {
  const doors = [
    'index.ts',
    'cursor.ts',
    'errors.ts',
    'diagnostics.ts',
    'lists.ts',
    'settings.ts',
    'testing.ts',
    'uploads.ts',
    'conditional.ts',
    'idempotency.ts',
    'exports.ts',
    'tenancy.ts',
    'opentelemetry.ts',
    'metrics.ts',
    'vite.ts',
    'esbuild.ts',
  ]
  const without = doors.flatMap((door) => {
    const text = readFileSync(new URL(`../src/${door}`, import.meta.url), 'utf8')
    const named = [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)]
    return named.flatMap(([, names = '', from = '']) =>
      names.split(',').flatMap((part) => {
        const name =
          part
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? ''
        if (name === '') return []
        const [source, at] = sourceOf(from.replace('./', '').replace(/\.js$/, '.ts'), name)
        // Comments for this repository may stand between.
        const before = source
          .slice(0, at)
          .replace(/(?:^\/\/.*\n)+$/m, '')
          .trimEnd()
        return before.endsWith('*/') ? [] : [`${door}: ${name}`]
      }),
    )
  })
  assert.deepEqual(without, [])
})
