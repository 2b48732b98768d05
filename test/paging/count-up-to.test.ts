import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, type NonAttribute, Op } from 'sequelize'
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { Base, Controller, Get, newPagination, Page, Query, select, sql, withSession } from 'sequitur'
import { databaseApp, databases, statements } from '../support/databases.js'

@Table({ tableName: 'shelf', timestamps: false })
class Shelf extends Base<Shelf> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @HasMany(() => Book) declare books: NonAttribute<Book[]>
}

@Table({ tableName: 'book', timestamps: false })
class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @ForeignKey(() => Shelf) @Column({ type: DataType.INTEGER, allowNull: false }) declare shelf_id: number
}

const MOST = 20
const ROWS = 35
class UpTo<T> extends newPagination({ countUpTo: MOST })<T> {}

/** Lists of the first rows, as many as the client asks for, in each form that is counted in another way. */
@Controller('/')
class Lists {
  @Get('/model', Page.of(Book)) model(paginate: UpTo<Book>, @Query() size: number) {
    return paginate(select(Book, { where: { id: { [Op.lte]: size } } }))
  }
  @Get('/joined', Page.of(Shelf)) joined(paginate: UpTo<Shelf>, @Query() size: number) {
    return paginate(select(Shelf, { include: [{ model: Book, required: true }], where: { id: { [Op.lte]: size } } }))
  }
  @Get('/raw', Page.of({ id: 'integer' })) raw(paginate: UpTo<{ id: number }>, @Query() size: number) {
    return paginate(sql<{ id: number }>`SELECT id FROM book WHERE id <= ${size} ORDER BY id`)
  }
  @Get('/whole', Page.of(Book)) whole(paginate: UpTo<Book>) {
    return paginate(select(Book))
  }
}

interface BookPage {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly total_items: number; readonly total_pages: number }
}

/** What a page says of a list of `size` rows. */
function expected(size: number, offset: number, limit: number) {
  const showsEnd = offset < size && offset + limit >= size
  if (size <= MOST || showsEnd) return { total: size, hasLast: true }
  return { total: offset < size ? Math.max(MOST + 1, offset + limit + 1) : MOST + 1, hasLast: false }
}

for (const kind of databases)
  for (const fastPath of [true, false]) {
    const where = `${kind.name}, fastPath ${fastPath}`
    const opened = async (t: Parameters<typeof databaseApp>[0]) => {
      const app = await databaseApp(t, kind, [Shelf, Book], [Lists], { lifespan: { fastPath } })
      const numbers = Array.from({ length: ROWS }, (_, index) => index + 1)
      await withSession(app.database, async () => {
        await Shelf.bulkCreate(numbers.map((id) => ({ id })))
        await Book.bulkCreate(numbers.flatMap((shelf_id) => [{ shelf_id }, { shelf_id }]))
        await Book.destroy({ where: { id: { [Op.gt]: 2 * ROWS } } })
      })
      app.log.length = 0
      return app
    }

    test(`a list is counted up to the bound, and each page shows its rows: ${where}`, async (t) => {
      const { fetch } = await opened(t)
      for (const list of ['model', 'joined', 'raw'])
        for (const size of [0, 1, MOST - 1, MOST, MOST + 1, MOST + 9])
          for (const [offset, limit] of [
            [0, 5],
            [0, MOST],
            [15, 5],
            [15, 10],
            [20, 5],
            [25, 5],
            [40, 5],
          ] as const) {
            // prettier-ignore
            const response = await fetch(`/${list}?size=${size}&offset=${offset}&limit=${limit}`)
            const { data, meta } = (await response.json()) as BookPage
            const { total, hasLast } = expected(size, offset, limit)
            const ids = Array.from({ length: size }, (_, index) => index + 1).slice(offset, offset + limit)
            const what = `${list} of ${size}, ${limit} from ${offset}`
            assert.deepEqual(data.map(({ id }) => id), ids, what) // prettier-ignore
            assert.equal(meta.total_items, total, what)
            assert.equal(meta.total_pages, Math.ceil(total / limit), what)
            assert.equal(response.headers.get('link')?.includes('rel="last"'), hasLast, what)
          }
    })

    test(`links lead from the first page to the last one, far beyond the bound: ${where}`, async (t) => {
      const { fetch } = await opened(t)
      const seen: number[] = []
      let path: string | undefined = '/whole?limit=7'
      while (path !== undefined) {
        const response: Response = await fetch(path)
        seen.push(...((await response.json()) as BookPage).data.map(({ id }) => id))
        path = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
      }
      assert.deepEqual(seen, Array.from({ length: 2 * ROWS }, (_, index) => index + 1)) // prettier-ignore
    })

    test(`no statement counts more rows than the bound: ${where}`, async (t) => {
      const { fetch, log } = await opened(t)
      for (const list of ['model', 'joined', 'raw', 'whole']) {
        log.length = 0
        await fetch(`/${list}?size=${ROWS}&limit=5`)
        const counts = statements(log).filter((text) => /count\(/i.test(text))
        for (const text of counts) assert.match(text, /LIMIT 21\b/, list)
        // A list whose SQL is not compiled is asked for the row after the bound.
        if (list === 'raw' || (list === 'whole' && fastPath)) assert.equal(counts.length, 1, list)
        else
          assert.ok(
            statements(log).some((text) => /LIMIT (?:20, 1|1 OFFSET 20)\b/.test(text)),
            list,
          )
      }
    })
  }

test('a bound that is no number of rows, and one beside a count, fail at startup', () => {
  for (const countUpTo of [0, -1, 1.5, '20', 2 ** 31 - 1])
    // as a program without types may write it
    assert.throws(
      () => newPagination({ countUpTo: countUpTo as number }),
      /countUpTo is .*Write a whole number of rows/,
    )
  assert.throws(() => newPagination({ countUpTo: 20, count: () => 20 }), /Write one of them/)
})
