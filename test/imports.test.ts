import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const src = fileURLToPath(new URL('../src', import.meta.url))

interface Import {
  /** Relative to src for a file of ours: 'http/app.ts'; else the package's or Node's name. */
  readonly target: string
  readonly ours: boolean
  /** Whether anything of it is left at run time. */
  readonly atRunTime: boolean
}

const IMPORT = /^(?:import|export)\s+(type\s)?(?:([^'";]*?)\sfrom\s+)?'([^']+)'/gm
const DYNAMIC = /\bimport\('([^']+)'\)/g

function importsOf(file: string): Import[] {
  const text = readFileSync(join(src, file), 'utf8')
  const declared = [...text.matchAll(IMPORT)].map(([, type, names = '', target = '']) =>
    toImport(file, target, type === undefined && !onlyTypes(names)),
  )
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, target = '']) => toImport(file, target, true))
  return [...declared, ...dynamic]
}

// `{ type A, type B }` leaves nothing; a default or a namespace beside the braces does.
function onlyTypes(names: string): boolean {
  const inner = /^\{([^]*)\}$/.exec(names.trim())?.[1]
  if (inner === undefined) return false
  const list = inner.split(',').flatMap((name) => name.trim() || [])
  return list.length > 0 && list.every((name) => name.startsWith('type '))
}

function toImport(file: string, target: string, atRunTime: boolean): Import {
  if (!target.startsWith('.')) return { target, ours: false, atRunTime }
  const path = relative(src, join(src, dirname(file), target))
  return { target: files.includes(path) ? path : path.replace(/\.js$/, '.ts'), ours: true, atRunTime }
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|js)$/.test(name))
  .sort()
const graph = new Map(files.map((file) => [file, importsOf(file)]))

/** 'db/sql/lexer.ts' -> 'db' */
function roomOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] as string) : 'src'
}

/** Which files have an import that fits. */
function filesThat(fits: (one: Import) => boolean): string[] {
  return [...graph].filter(([, imports]) => imports.some(fits)).map(([file]) => file)
}

const rooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  di: ['core'],
  schema: ['core', 'di'],
  http: ['core', 'di', 'schema'],
  db: ['core', 'di', 'schema'],
  paging: ['core', 'di', 'schema', 'http', 'db'],
  lists: ['core', 'di', 'schema', 'db', 'paging'],
  uploads: ['core', 'di', 'schema', 'http'],
  conditional: ['core', 'di', 'schema', 'http', 'db'],
  idempotency: ['core', 'di', 'http', 'db'],
  jobs: ['core', 'di', 'schema', 'http', 'db'],
  feeds: ['core', 'di', 'schema', 'http', 'db', 'jobs'],
  exports: ['core', 'schema', 'http', 'db'],
  tenancy: ['core', 'di', 'http', 'db'],
  migrations: ['core', 'di', 'schema', 'http', 'db'],
  telemetry: ['core', 'db'],
  register: [],
  cli: ['core', 'http', 'register', 'db', 'migrations'],
}

for (const [room, allowed] of Object.entries(rooms)) {
  test(`src/${room} imports only ${['itself', ...allowed].join(', ')}`, () => {
    const strays = [...graph]
      .filter(([file]) => roomOf(file) === room)
      .flatMap(([file, imports]) =>
        imports
          .filter(({ ours, target }) => ours && ![room, ...allowed].includes(roomOf(target)))
          .map(({ target }) => `${file} -> ${target}`),
      )
    assert.deepEqual(strays, [])
  })
}

/** 'db/dialects/sqlite/pools.ts' -> 'db/dialects'; the ground of a room, which is above and below its parts, is none of them. */
function partOf(file: string): string | undefined {
  const [room, part, ...rest] = file.split('/')
  return rest.length > 0 ? `${room}/${part}` : undefined
}

test('the parts of a room import each other one way only', () => {
  const arrows = new Set(
    [...graph].flatMap(([file, imports]) =>
      imports.flatMap(({ ours, target }) => {
        const [from, to] = [partOf(file), ours ? partOf(target) : undefined]
        return from && to && from !== to ? `${from} -> ${to}` : []
      }),
    ),
  )
  const next = (part: string) =>
    [...arrows].flatMap((arrow) => (arrow.startsWith(`${part} -> `) ? (arrow.split(' -> ')[1] ?? []) : []))
  const visit = (part: string, way: readonly string[]): void => {
    if (way.includes(part)) assert.fail([...way.slice(way.indexOf(part)), part].join(' -> '))
    for (const other of next(part)) visit(other, [...way, part])
  }
  assert.ok(arrows.size > 20)
  for (const arrow of arrows) visit(arrow.split(' -> ')[0] ?? '', [])
})

test('no room has more than twenty-two files on one floor', () => {
  const floors = files.map((file) => dirname(file))
  const counts = floors.map((floor) => [floor, floors.filter((other) => other === floor).length] as const)
  assert.deepEqual(
    counts.filter(([, count]) => count > 22),
    [],
  )
})

test('the room for speed is entered by its doors alone', () => {
  const doors = ['db/fast-path/fast-path.ts', 'db/fast-path/pg.ts']
  const inside = (file: string) => file.startsWith('db/fast-path/')
  const users = filesThat(({ target }) => inside(target)).filter((file) => !inside(file))
  assert.ok(users.length > 3)
  const strays = users.filter((file) =>
    (graph.get(file) ?? []).some(({ target }) => inside(target) && !doors.includes(target)),
  )
  assert.deepEqual(strays, [])
})

test('there are no other rooms', () => {
  assert.deepEqual([...new Set(files.map(roomOf))].sort(), ['src', ...Object.keys(rooms)].sort())
})

test('every import of a file of ours leads to one', () => {
  const ours = [...graph.values()].flat().filter(({ ours }) => ours)
  assert.ok(ours.length > 100)
  assert.deepEqual(
    ours.map(({ target }) => target).filter((target) => !files.includes(target)),
    [],
  )
})

test('no file imports itself by way of others', () => {
  const done = new Set<string>()
  const visit = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) assert.fail([...way.slice(way.indexOf(file)), file].join(' -> '))
    if (done.has(file)) return
    for (const { target, ours } of graph.get(file) ?? []) if (ours) visit(target, [...way, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
})

test('no file but the doors re-exports another', () => {
  const strays = files.filter((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return roomOf(file) !== 'src' && /^export (type )?(\*|\{[^}]*\}) from '\.\.\//m.test(text)
  })
  assert.deepEqual(strays, [])
})

test('reflect-metadata is imported by di/metadata.ts and by the door', () => {
  assert.deepEqual(
    filesThat(({ target }) => target === 'reflect-metadata'),
    ['di/metadata.ts', 'index.ts'],
  )
})

test('only db, paging, lists, conditional, idempotency, jobs, exports, tenancy and migrations know Sequelize', () => {
  const users = filesThat(({ target }) => target.startsWith('sequelize'))
  assert.deepEqual(
    [...new Set(users.map(roomOf))].filter(
      (room) =>
        ![
          'db',
          'paging',
          'lists',
          'conditional',
          'idempotency',
          'jobs',
          'feeds',
          'exports',
          'tenancy',
          'migrations',
        ].includes(room),
    ),
    [],
  )
})

test('only http has values of node:http', () => {
  const users = filesThat(({ target, atRunTime }) => target === 'node:http' && atRunTime)
  assert.deepEqual([...new Set(users.map(roomOf))], ['http'])
})

test('one file opens a server', () => {
  const users = files.filter((file) => /\bcreateServer\(/.test(readFileSync(join(src, file), 'utf8')))
  assert.deepEqual(users, ['http/server/server.ts'])
})

test('the imports of a file are read whatever their form', () => {
  assert.ok(onlyTypes('{ type A, type B as C }'))
  assert.ok(!onlyTypes('{ type A, B }'))
  assert.ok(!onlyTypes('a, { type A }'))
  assert.ok(!onlyTypes('* as a'))
  assert.deepEqual(
    importsOf('http/output/respond.ts').map(({ target, atRunTime }) => [target, atRunTime]),
    [
      ['node:http', true],
      ['core/to-error.ts', true],
      ['core/promises.ts', true],
      ['schema/output/encode.ts', true],
      ['schema/shape/shape.ts', false],
      ['schema/output/untyped-value.ts', true],
      ['http/output/file-response.ts', true],
      ['http/output/reply.ts', true],
      ['http/output/entity-tag.ts', true],
      ['http/output/events.ts', true],
      ['http/output/declared-stream.ts', false],
      ['http/output/stored-file.ts', true],
      ['http/output/outgoing-response.ts', false],
      ['http/output/whole-response.ts', true],
    ],
  )
})
