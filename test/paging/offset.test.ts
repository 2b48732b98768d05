import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Order, QueryTypes } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  Field,
  Get,
  Inject,
  newPagination,
  Page,
  Paginate,
  type PaginateType,
  select,
  sql,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { memoryDatabase } from 'sequitur/testing'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'

@Table({ tableName: 'author', timestamps: false })
class Author extends Base<Author> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare name: string
  @HasMany(() => Book) declare books?: unknown[]
}

@Table({ tableName: 'book', timestamps: false })
class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Author)
  @Column({ type: DataType.INTEGER, field: 'author_id' })
  declare authorId: number
  @Column({ type: DataType.INTEGER }) declare year: number
  @BelongsTo(() => Author) declare author?: unknown
}

class Title {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'integer' }) year!: number
}

class Row {
  @Field({ type: 'integer' }) book_id!: number
  @Field() author_name!: string
}

const models = [Author, Book]
const small = newPagination({ defaultPageSize: 2, maxPageSize: 3 })
class Small<T> extends newPagination({ defaultPageSize: 2, maxPageSize: 3 })<T> {}
const orders: readonly Order[] = [
  [],
  [['year', 'ASC']],
  [
    ['year', 'DESC'],
    ['authorId', 'ASC'],
  ],
  [['id', 'DESC']],
]

@Controller('/')
class Books {
  @Get('/books/:order', Page.of(Title)) list(order: number, paginate: Paginate<Title>) {
    return paginate(select(Book, { order: orders[order] ?? [] }))
  }
  @Get('/authors', Page.of(Author)) authors(paginate: Paginate<Author>) {
    return paginate(select(Author, { include: [Book] }))
  }
  @Get('/recent', Page.of(Author)) recent(paginate: Paginate<Author>) {
    return paginate(select(Author, { include: [{ model: Book, where: { year: 1 } }] }))
  }
  @Get('/rows', Page.of(Row)) rows(paginate: Paginate<Row>) {
    return paginate(
      sql<Row>`SELECT book.id AS book_id, author.name AS author_name FROM book JOIN author ON author.id = author_id WHERE year >= ${0} ORDER BY book.id`,
    )
  }
  @Get('/small', Page.of(Title)) small(@Inject(small) paginate: PaginateType<Title>) {
    return paginate(select(Book))
  }
  @Get('/smaller', Page.of(Title)) smaller(paginate: Small<Title>) {
    return paginate(select(Book))
  }
  @Get('/grouped', Page.of(Title)) grouped(paginate: Paginate<Title>) {
    return paginate(select(Book, { group: ['year'] }))
  }
}

interface AnyPage {
  readonly data: readonly Record<string, unknown>[]
  readonly meta: { offset: number; total_items: number; total_pages: number; page_number: number }
}

const TOTAL = 17

async function fill(): Promise<void> {
  // Author 5 has no book; year repeats, so that the order alone is ambiguous.
  await Author.bulkCreate([1, 2, 3, 4, 5].map((id) => ({ id, name: `author ${id}` })) as never)
  await Book.bulkCreate(
    Array.from({ length: TOTAL }, (_, id) => ({ id, authorId: (id % 4) + 1, year: id % 3 })) as never,
  )
}

type Read = (path: string) => Promise<AnyPage>

async function assertWhole(read: Read, path: string): Promise<void> {
  const all = (await read(`${path}?limit=100`)).data
  assert.equal(new Set(all.map(({ id }) => id)).size, TOTAL)
  for (let size = 1; size <= TOTAL + 1; size++) {
    const pages: unknown[] = []
    for (let offset = 0; offset < TOTAL; offset += size) {
      const page = await read(`${path}?limit=${size}&offset=${offset}`)
      const meta = {
        offset,
        total_items: TOTAL,
        total_pages: Math.ceil(TOTAL / size),
        page_number: offset / size + 1,
      }
      assert.deepEqual(page.meta, meta)
      pages.push(...page.data)
    }
    assert.deepEqual(pages, all)
  }
}

for (const kind of databases) {
  test(`pages on ${kind.name}`, async (t) => {
    const { fetch, database, log } = await databaseApp(t, kind, models, [Books])
    const read = async (path: string) => (await (await fetch(path)).json()) as AnyPage
    await fill()
    for (const [index, order] of orders.entries())
      await t.test(`put together, pages of every size ordered by ${JSON.stringify(order)} are the whole list`, () =>
        assertWhole(read, `/books/${index}`),
      )
    await t.test('beyond the end there is an empty page with the true total', async () => {
      assert.deepEqual(await read('/books/0?offset=40&limit=10'), {
        data: [],
        meta: { offset: 40, total_items: TOTAL, total_pages: 2, page_number: 5 },
      })
    })
    await t.test('the total counts rows of the model, not of the join', async () => {
      const { data, meta } = await read('/authors?limit=2')
      assert.deepEqual([data.map(({ id }) => id), meta.total_items], [[1, 2], 5])
    })
    await t.test('a required include restricts rows and total alike', async () => {
      const { data, meta } = await read('/recent?limit=2')
      assert.deepEqual([data.length, meta.total_items], [2, 4])
    })
    await t.test('raw SQL that joins two tables is paged', async () => {
      const { data, meta } = await read('/rows?limit=2&offset=4')
      const names = [4, 5].map((id) => ({ book_id: id, author_name: `author ${id - 3}` }))
      assert.deepEqual([data, meta.total_items], [names, TOTAL])
    })
    await t.test('no COUNT is sent for a page that is not full', async () => {
      log.length = 0
      await read('/books/0?limit=100')
      assert.equal(log.filter((line) => /count\(/i.test(line)).length, 0)
    })
    await t.test('page sizes are the default and the maximum of limit', async () => {
      for (const path of ['/small', '/smaller']) {
        assert.equal((await read(path)).data.length, 2)
        assert.deepEqual([(await fetch(`${path}?limit=3`)).status, (await fetch(`${path}?limit=4`)).status], [200, 422])
      }
    })
    await t.test('grouped rows are refused with the statement to write instead', async () => {
      assert.equal((await fetch('/grouped')).status, 500)
      assert.match(log.join('\n'), /paginate\(sql`SELECT/)
    })
    await t.test('the total is the number of rows in the table', async () => {
      const [row] = await database.sequelize.query<{ n: number | string }>('SELECT count(*) AS n FROM book', {
        type: QueryTypes.SELECT,
      })
      assert.equal(Number(row?.n), (await read('/books/0?limit=1')).meta.total_items)
    })
  })
}

for (const query of [
  'offset=-1',
  'limit=0',
  'limit=101',
  'limit=x',
  'offset=1.5',
  'limit=',
  'limit=1&limit=2',
  'offset=9007199254740993',
]) {
  test(`?${query} is refused`, async (t) => {
    const app = createApp({ controllers: [Books], models, lifespan: memoryDatabase(), logger: false })
    t.after(() => app.close())
    const { statusCode, body } = await app.inject(`/books/0?${query}`)
    assert.equal(statusCode, 422)
    assert.deepEqual(JSON.parse(body).errors[0].in, 'query')
  })
}

for (const sizes of [
  { defaultPageSize: 0 },
  { maxPageSize: 0 },
  { defaultPageSize: 11, maxPageSize: 10 },
  { defaultPageSize: 1.5 },
  { default_page_size: -1 },
]) {
  test(`newPagination(${JSON.stringify(sizes)}) is refused at once`, () => {
    assert.throws(() => newPagination(sizes), /newPagination\(\): /)
  })
}

test('offset and limit are documented with their bounds and defaults, also of newPagination()', () => {
  const { paths } = createApp({ controllers: [Books], models, lifespan: memoryDatabase() }).openapi()
  const parameters = (path: string) =>
    Object.fromEntries((paths?.[path]?.get?.parameters ?? []).map((p) => ('name' in p ? [p.name, p.schema] : [])))
  assert.deepEqual(parameters('/authors')['limit'], { type: 'integer', minimum: 1, maximum: 100, default: 10 })
  assert.deepEqual(parameters('/small')['limit'], { type: 'integer', minimum: 1, maximum: 3, default: 2 })
  assert.deepEqual(parameters('/small')['offset'], {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  })
})

let notAStatement: unknown

@Controller('/')
class Wrong {
  @Get('/offset', Page.of(Title)) offset(paginate: Paginate<Title>) {
    return paginate(notAStatement as never)
  }
  @Get('/cursor', CursorPage.of(Title)) cursor(paginate: CursorPaginate<Title>) {
    return paginate(notAStatement as never)
  }
}

test('what is not a statement is refused with the statement to write instead', async (t) => {
  const { fetch, log } = await databaseApp(t, sqliteMemory, models, [Wrong])
  for (const path of ['/offset', '/cursor'])
    for (const [value, message] of [
      [Book, 'paginate(): got the class Book, which is not a statement. Write paginate(select(Book)).'],
      [undefined, 'paginate(): got undefined, which is not a statement. Write paginate(select(Hero)).'],
      ['SELECT 1', "paginate(): got 'SELECT 1', which is not a statement. Write paginate(select(Hero))."],
      [{ where: {} }, 'paginate(): got an object with where, which is not a statement. Write paginate(select(Hero)).'],
    ] as const) {
      notAStatement = value
      log.length = 0
      assert.equal((await fetch(path)).status, 500)
      assert.ok(log.join('\n').includes(message), log.join('\n'))
    }
})

test('the largest offset returns a page', async (t) => {
  const lifespan = memoryDatabase()
  const app = createApp({ controllers: [Books], models, lifespan, logger: false })
  t.after(() => app.close())
  const response = await app.inject(`/books/0?offset=${Number.MAX_SAFE_INTEGER}&limit=1`)
  const { data, meta } = response.json<{ data: unknown[]; meta: { total_pages: number } }>()
  assert.deepEqual([response.statusCode, data, meta.total_pages], [200, [], 0])
})
