import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const values = [
  'App',
  'BadRequest',
  'Base',
  'Body',
  'BootError',
  'Collection',
  'CommitFailedError',
  'CommitUnknownError',
  'Conflict',
  'Controller',
  'DatabaseStartError',
  'DatabaseUrlError',
  'Delete',
  'Field',
  'Forbidden',
  'ForeignTransactionError',
  'Get',
  'Header',
  'HttpError',
  'Inject',
  'Injectable',
  'InjectionError',
  'InvalidInput',
  'Item',
  'MethodNotAllowed',
  'NotFound',
  'Page',
  'Paginate',
  'PartialCommitError',
  'Patch',
  'Path',
  'PayloadTooLarge',
  'Post',
  'Put',
  'Query',
  'ReadOnlyError',
  'Reply',
  'Request',
  'Security',
  'ServiceUnavailable',
  'Session',
  'SessionClosedError',
  'StatementRefusedError',
  'TooManyRequests',
  'Transactional',
  'Unauthorized',
  'UncountedPage',
  'UnsupportedMediaType',
  'badRequest',
  'conflict',
  'createApp',
  'dto',
  'file',
  'forbidden',
  'invalidInput',
  'lifespan',
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
  'ControllerOptions',
  'Database',
  'Declared',
  'DtoOptions',
  'FieldDecorator',
  'FileOptions',
  'InputDecorator',
  'InputIssue',
  'InputOptions',
  'Lifespan',
  'LifespanOptions',
  'Lifetime',
  'Logger',
  'MappedPaginate',
  'MappedPaginationOptions',
  'Middleware',
  'NamedToken',
  'PageMeta',
  'PaginateType',
  'PaginationOptions',
  'Provision',
  'Recipe',
  'RedirectOptions',
  'ReplyOptions',
  'RouteOptions',
  'ScopedMiddleware',
  'SecurityOptions',
  'SecurityScheme',
  'Select',
  'Sql',
  'StandardSchema',
  'Token',
  'TransactionalOptions',
  'UncountedPageMeta',
  'UncountedPaginationOptions',
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

test('sequitur/testing has these values and types', async () => {
  assert.deepEqual(Object.keys(await import('sequitur/testing')).sort(), ['memoryDatabase', 'testApp'])
  assert.deepEqual(typesOf('testing.ts'), ['TestApp'])
})

test('sequitur/cursor has these values and types', async () => {
  const values = ['Page', 'Paginate', 'TwoWayPage', 'newPagination', 'new_pagination', 'pages', 'typed']
  assert.deepEqual(Object.keys(await import('sequitur/cursor')).sort(), values)
  assert.deepEqual(typesOf('cursor.ts'), ['PageMeta', 'PaginateType', 'TwoWayPageMeta', 'Typing'])
})

test('two names of one thing are one thing', async () => {
  const { newPagination, new_pagination, open_session, withSession } = await import('sequitur')
  assert.equal(new_pagination, newPagination)
  assert.equal(open_session, withSession)
})

test('the doors are the ones that package.json opens', async () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  for (const [subpath, { default: file }] of Object.entries<{ default?: string }>(exports)) {
    if (file) assert.ok(await import(`sequitur${subpath.slice(1)}`), subpath)
  }
})
