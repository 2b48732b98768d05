import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Op } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  Field,
  Get,
  Inject,
  Injectable,
  type MappedPaginate,
  newPagination,
  Page,
  type PaginateType,
  Query,
  type Select,
  select,
  Session,
  type Sql,
  sql,
  UncountedPage,
  type UncountedPageMeta,
} from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { type DatabaseApp, databaseApp, databases, type TestDatabase } from '../support/databases.js'

@Table({ tableName: 'user', timestamps: false })
class User extends Base<User> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => User)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare user_id: number
  @BelongsTo(() => User) declare user?: unknown
  @HasMany(() => Tag, 'note_id') declare tags?: unknown[]
}

@Table({ tableName: 'tag', timestamps: false })
class Tag extends Base<Tag> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare note_id: number
}

class NoteModel {
  @Field({ type: 'integer' }) id!: number
}
class NamedNote extends NoteModel {
  @Field() user_name!: string
}

@Injectable()
class Statistics {
  estimateOf(kind: string): number {
    return kind === 'few' ? 1 : 1000
  }
}

/** Asks for a service and a query parameter of its own. */
@Injectable()
class Estimate {
  readonly #statistics: Statistics
  readonly #kind: string

  constructor(statistics: Statistics, @Query({ enum: ['few', 'many'] }) estimate: string) {
    this.#statistics = statistics
    this.#kind = estimate
  }

  count(): number {
    return this.#statistics.estimateOf(this.#kind)
  }
}

/** Reads the names of all users of a page in one statement. */
@Injectable()
class UserNames {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async mapPage(notes: Note[]): Promise<NamedNote[]> {
    const ids = notes.map(({ user_id }) => user_id)
    const users = await this.#session.all(select(User, { where: { id: { [Op.in]: ids } } }))
    const names = new Map(users.map(({ id, name }) => [id, name]))
    return notes.map(({ id, user_id }) => ({ id, user_name: names.get(user_id) ?? '?' }))
  }
}

@Injectable()
class Prefix {
  readonly #prefix: string

  constructor(@Query() prefix: string = 'user ') {
    this.#prefix = prefix
  }

  map({ id, user_id }: Note): NamedNote {
    return { id, user_name: `${this.#prefix}${user_id}` }
  }
}

let estimate = 0
let calls = 0
const estimated = newPagination({
  count: () => {
    calls++
    return estimate
  },
})
const injected = newPagination({ count: Estimate })
const named = newPagination({ mapPage: UserNames })
const prefixed = newPagination({ map: Prefix, count: false })
const reversed = newPagination({ mapPage: (notes: Note[]) => notes.map(({ id }) => ({ id })).toReversed() })
class Uncounted<T> extends newPagination({ count: false })<T> {}

type Statement = Select<Note> | Sql<{ id: number }>
let statement: Statement = select(Note)

@Controller('/')
class Lists {
  @Get('/estimated', Page.of(NoteModel)) estimated(@Inject(estimated) paginate: PaginateType<NoteModel>) {
    return paginate(statement as Select<Note>)
  }
  @Get('/injected', Page.of(NoteModel)) injected(@Inject(injected) paginate: PaginateType<NoteModel>) {
    return paginate(select(Note))
  }
  @Get('/uncounted', UncountedPage.of(NoteModel)) uncounted(paginate: Uncounted<NoteModel>) {
    return paginate(statement as Select<Note>)
  }
  @Get('/named', Page.of(NamedNote)) named(@Inject(named) paginate: MappedPaginate<Note, NamedNote>) {
    return paginate(select(Note))
  }
  @Get('/prefixed', UncountedPage.of(NamedNote)) prefixed(
    @Inject(prefixed) paginate: MappedPaginate<Note, NamedNote, UncountedPageMeta>,
  ) {
    return paginate(select(Note))
  }
  @Get('/reversed', Page.of(NoteModel)) reversed(@Inject(reversed) paginate: MappedPaginate<Note, NoteModel>) {
    return paginate(select(Note))
  }
}

const models = [User, Note, Tag]
const ROWS = 7

const statements: Readonly<Record<string, Statement>> = {
  'a model': select(Note),
  'a model with a hasMany': select(Note, { include: [Tag] }),
  'raw SQL': sql<{ id: number }>`SELECT id FROM note ORDER BY id`,
}

async function noteApp(t: TestContext, kind: TestDatabase): Promise<DatabaseApp> {
  const app = await databaseApp(t, kind, models, [Lists])
  await User.bulkCreate([0, 1, 2].map((id) => ({ id, name: 'ABC'[id] })) as never)
  await Note.bulkCreate(Array.from({ length: ROWS }, (_, id) => ({ id, user_id: id % 3 })) as never)
  await Tag.bulkCreate(Array.from({ length: ROWS }, (_, id) => ({ id, note_id: Math.floor(id / 2) })) as never)
  return app
}

interface AnyPage {
  readonly data: readonly { readonly id: number; readonly user_name?: string }[]
  readonly meta: {
    readonly offset: number
    readonly total_items?: number
    readonly total_pages?: number
    readonly has_next?: boolean
  }
}

async function read({ fetch, log }: DatabaseApp, path: string) {
  const response = await fetch(path)
  const body = await response.text()
  assert.equal(response.status, 200, `${body}\n${log.slice(-3).join('\n')}`)
  const link = response.headers.get('link') ?? ''
  return { page: JSON.parse(body) as AnyPage, next: /<([^>]*)>; rel="next"/.exec(link)?.[1], link }
}

/** All pages of a list, by their links. */
async function pagesOf(app: DatabaseApp, path: string) {
  const pages = []
  for (let next: string | undefined = path; next !== undefined; next = pages.at(-1)?.next) {
    assert.ok(pages.length <= ROWS)
    pages.push(await read(app, next))
  }
  return pages
}

const all = Array.from({ length: ROWS }, (_, id) => id)
const idsOf = (pages: readonly { page: AnyPage }[]) => pages.flatMap(({ page }) => page.data.map(({ id }) => id))

for (const kind of databases) {
  test(`estimated and uncounted pages on ${kind.name}`, async (t) => {
    const app = await noteApp(t, kind)
    for (const [name, given] of Object.entries(statements)) {
      await t.test(`no estimate ends a list of ${name} before its last row`, async () => {
        statement = given
        for (estimate of [0, 1, 5, ROWS - 1, ROWS, ROWS + 1, 4711])
          for (const limit of [1, 2, 3, ROWS - 1, ROWS, 100]) {
            const pages = await pagesOf(app, `/estimated?limit=${limit}`)
            assert.deepEqual(idsOf(pages), all)
            for (const { page, next } of pages) {
              const end = page.meta.offset + page.data.length
              const total = next === undefined ? ROWS : Math.max(estimate, end + 1)
              assert.deepEqual([page.meta.total_items, page.meta.total_pages], [total, Math.ceil(total / limit)])
            }
          }
      })
      await t.test(`pages of ${name} that are not counted are the whole list`, async () => {
        statement = given
        app.log.length = 0
        for (const limit of [1, 2, 3, ROWS - 1, ROWS, 100]) {
          const pages = await pagesOf(app, `/uncounted?limit=${limit}`)
          assert.deepEqual(idsOf(pages), all)
          for (const { page, next, link } of pages) {
            assert.deepEqual(page.meta, { offset: page.meta.offset, has_next: next !== undefined })
            assert.match(link, /rel="first"/)
            assert.doesNotMatch(link, /rel="last"/)
          }
        }
        const { page, link } = await read(app, '/uncounted?limit=2&offset=100')
        assert.deepEqual(page, { data: [], meta: { offset: 100, has_next: false } })
        assert.match(link, /offset=98&limit=2>; rel="prev"/)
        assert.equal(app.log.filter((line) => /count\(/i.test(line)).length, 0)
      })
    }
    await t.test('after the end, the total is at most what comes before', async () => {
      estimate = 4711
      assert.equal((await read(app, '/estimated?offset=100')).page.meta.total_items, 100)
      estimate = 5
      assert.equal((await read(app, '/estimated?offset=100')).page.meta.total_items, 5)
    })
    await t.test('no count is called for a page that shows the total', async () => {
      calls = 0
      await read(app, `/estimated?limit=${ROWS}`)
      assert.equal(calls, 0)
    })
    await t.test('a class that counts has services and query parameters', async () => {
      assert.equal((await read(app, '/injected?limit=1&estimate=many')).page.meta.total_items, 1000)
      assert.equal((await read(app, '/injected?limit=1&estimate=few')).page.meta.total_items, 2)
      const { status, body } = await app.fetch('/injected?limit=1&estimate=none')
      await body?.cancel()
      assert.equal(status, 422)
    })
    await t.test('a class that maps a page receives its rows and no other', async () => {
      app.log.length = 0
      const { page } = await read(app, '/named?limit=2&offset=2')
      assert.deepEqual(page.data, [
        { id: 2, user_name: 'C' },
        { id: 3, user_name: 'A' },
      ])
      assert.equal(page.meta.total_items, ROWS)
      assert.equal(app.log.filter((line) => /FROM .?user/.test(line)).length, 1)
    })
    await t.test('a class that maps rows has query parameters', async () => {
      const { page } = await read(app, '/prefixed?limit=1&offset=1&prefix=no.')
      assert.deepEqual(page, { data: [{ id: 1, user_name: 'no.1' }], meta: { offset: 1, has_next: true } })
      assert.equal((await read(app, '/prefixed?limit=1')).page.data[0]?.user_name, 'user 0')
    })
    await t.test('a function may map a whole page', async () => {
      assert.deepEqual(idsOf([await read(app, '/reversed?limit=3&offset=1')]), [3, 2, 1])
    })
  })
}

test('the query parameters of injected callbacks, and pages without totals, are documented', () => {
  const { paths, components } = createApp({
    controllers: [Lists],
    models,
    lifespan: memoryDatabase(),
    logger: false,
  }).openapi()
  const names = (paths?.['/injected']?.get?.parameters ?? []).map((one) => ('name' in one ? one.name : ''))
  assert.deepEqual(names.toSorted(), ['estimate', 'limit', 'offset'])
  const { UncountedPageMeta: meta } = (components?.schemas ?? {}) as Record<
    string,
    { properties: object; required: string[] }
  >
  assert.deepEqual(
    [Object.keys(meta?.properties ?? {}), meta?.required],
    [
      ['offset', 'has_next'],
      ['offset', 'has_next'],
    ],
  )
})

class Nothing {}

for (const [wrong, message] of [
  [{ count: 1 }, /count must be a function, or an injectable class with a method 'count', or false, got 1\./],
  [{ count: true }, /count must be a function, .* got true\./],
  [{ map: 'x' }, /map must be a function, or an injectable class with a method 'map', got 'x'\./],
  [{ map: false }, /map must be a function/],
  [{ mapPage: [] }, /mapPage must be a function, .* got a list\./],
  [
    { count: Nothing },
    /count is the class Nothing, which has no method 'count'\. Write a function, or an injectable class/,
  ],
  [{ map: () => 1, mapPage: () => [] }, /map receives each row, mapPage all rows of a page\. Write one of them\./],
] as const) {
  test(`newPagination(${JSON.stringify(wrong)}) is refused: ${message}`, () => {
    assert.throws(() => newPagination(wrong as never), message)
  })
}
