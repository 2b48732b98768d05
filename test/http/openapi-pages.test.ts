import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, named, Page, Paginate, select } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { memoryDatabase } from 'sequitur/testing'

@Table({ tableName: 'book', timestamps: false })
class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}

const Titles = named('Titles', { 'a/b~c': [Book], count: 'integer' })
const Next = named('Next', { next_cursor: 'string' })
const Deep = named('Deep', { page: Next, books: [Book] })
const TwoLists = named('TwoLists', { books: [Book], pages: ['integer'] })
const TooDeep = named('TooDeep', { one: named('One', { two: named('Two', { books: [Book] }) }) })
const NoCursor = named('NoCursor', { books: [Book] })

const list = { order: ['id' as const] }

@Controller('/books')
class Books {
  @Get('/pages', Page.of(Book))
  pages(paginate: Paginate<Book>) {
    return paginate(select(Book, list))
  }
  @Get('/cursor', CursorPage.of(Book))
  cursor(paginate: CursorPaginate<Book>) {
    return paginate(select(Book, list))
  }
  @Get('/titles', Titles)
  async titles(paginate: Paginate<Book>) {
    const { data } = await paginate(select(Book, list))
    return { 'a/b~c': data, count: 0 }
  }
  @Get('/deep', Deep)
  async deep(paginate: CursorPaginate<Book>) {
    const { data } = await paginate(select(Book, list))
    return { page: { next_cursor: '' }, books: data }
  }
  @Get('/two-lists', TwoLists)
  async twoLists(paginate: Paginate<Book>) {
    const { data } = await paginate(select(Book, list))
    return { books: data, pages: [] }
  }
  @Get('/too-deep', TooDeep)
  async tooDeep(paginate: Paginate<Book>) {
    const { data } = await paginate(select(Book, list))
    return { one: { two: { books: data } } }
  }
  @Get('/no-cursor', NoCursor)
  async noCursor(paginate: CursorPaginate<Book>) {
    const { data } = await paginate(select(Book, list))
    return { books: data }
  }
  @Get('/', [Book])
  all() {
    return []
  }
}

test('x-pagination says how pages follow each other; of a response in which that is not found once, nothing', () => {
  const { paths } = createApp({ controllers: [Books], models: [Book], lifespan: memoryDatabase() }).openapi()
  const described = (path: string) => Reflect.get(paths?.[`/books${path}`]?.get ?? {}, 'x-pagination')
  const cursor = { style: 'cursor', cursorParam: 'next_cursor' }
  assert.deepEqual(described('/pages'), { style: 'offset', offsetParam: 'offset', items: '/data' })
  assert.deepEqual(described('/cursor'), { ...cursor, nextCursor: '/meta/next_cursor', items: '/data' })
  assert.deepEqual(described('/titles'), { style: 'offset', offsetParam: 'offset', items: '/a~1b~0c' })
  assert.deepEqual(described('/deep'), { ...cursor, nextCursor: '/page/next_cursor', items: '/books' })
  for (const path of ['/two-lists', '/too-deep', '/no-cursor', '']) assert.equal(described(path), undefined, path)
})

test('generators read the same description by their own names', () => {
  const { paths } = createApp({ controllers: [Books], models: [Book], lifespan: memoryDatabase() }).openapi()
  const operation = Object(paths?.['/books/cursor']?.get)
  assert.ok(operation['x-pagination'])
  assert.deepEqual(operation['x-redocly-pagination'], operation['x-pagination'])
  assert.deepEqual(operation['x-redoclyPagination'], operation['x-pagination'])
})
