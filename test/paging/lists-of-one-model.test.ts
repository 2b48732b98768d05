import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional, Order, WhereOptions } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, newPagination, Page, Paginate, Query, select, withSession } from 'sequitur'
import { Page as CursorPage, Paginate as PaginateByCursor } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'

/*
 * The SQL of a list is made once for each form. Lists of one model whose forms differ in little, one after the other, must not take the SQL of another.
 */

@Table({ tableName: 'book', timestamps: false })
class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare shelf: number
  @Column({ type: DataType.STRING }) declare color: string | null
  @Column({ type: DataType.STRING, field: 'cover' }) declare binding: string | null
}

type Values = Pick<Book, 'shelf' | 'color' | 'binding'>

const BOOKS: readonly Values[] = Array.from({ length: 30 }, (_, index) => ({
  shelf: index % 3,
  color: index % 4 === 0 ? null : index % 2 === 0 ? 'red' : 'blue',
  binding: index % 5 === 0 ? null : 'cloth',
}))

const CONDITIONS: readonly Partial<Values>[] = [
  {},
  { shelf: 1 },
  { shelf: 2 },
  { color: null },
  { color: 'red' },
  { binding: null },
  { binding: 'cloth' },
  { shelf: 1, color: null },
  { color: 'red', shelf: 1 },
  { color: null, binding: null },
  { binding: 'cloth', color: 'blue' },
]
const ORDERS: readonly Order[] = [[['id', 'ASC']], [['shelf', 'ASC']], [['shelf', 'DESC']]]
const MOST = 3

class UpTo<T> extends newPagination({ countUpTo: MOST })<T> {}

function listOf(condition: number, order: number) {
  const where = condition === 0 ? {} : { where: CONDITIONS[condition] as WhereOptions }
  return select(Book, { ...where, order: ORDERS[order] as Order })
}

@Controller('/')
class Lists {
  @Get('/exact', Page.of(Book)) exact(paginate: Paginate<Book>, @Query() condition: number, @Query() order: number) {
    return paginate(listOf(condition, order))
  }
  @Get('/bounded', Page.of(Book)) bounded(paginate: UpTo<Book>, @Query() condition: number, @Query() order: number) {
    return paginate(listOf(condition, order))
  }
  @Get('/cursor', CursorPage.of(Book)) cursor(
    paginate: PaginateByCursor<Book>,
    @Query() condition: number,
    @Query() order: number,
  ) {
    return paginate(listOf(condition, order))
  }
}

/** The ids of a list, from the values of its rows. */
function expected(condition: number, order: number): number[] {
  const given = Object.entries(CONDITIONS[condition] ?? {})
  const rows = BOOKS.map((values, index) => ({ id: index + 1, ...values }))
  const sign = [0, 1, -1][order] as number
  return rows
    .filter((row) => given.every(([name, value]) => row[name as keyof Values] === value))
    .sort((a, b) => sign * (a.shelf - b.shelf) || a.id - b.id)
    .map(({ id }) => id)
}

interface AnyPage {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly total_items?: number; readonly next_cursor?: string | null }
}

for (const kind of databases)
  test(`lists of one model that differ in their conditions, orders or counts have their own rows: ${kind.name}`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Book], [Lists])
    await withSession(database, () => Book.bulkCreate([...BOOKS]))
    const below = random(34)
    const read = async (path: string) => {
      const response = await fetch(path)
      assert.equal(response.status, 200, path)
      return (await response.json()) as AnyPage
    }
    const cursors = new Map<string, string>()
    for (let round = 0; round < runs(400); round++) {
      const [condition, order] = [below(3) === 0 ? 0 : below(CONDITIONS.length), below(ORDERS.length)]
      const list = `condition=${condition}&order=${order}`
      const ids = expected(condition, order)
      const idsOf = ({ data }: AnyPage) => data.map(({ id }) => id)

      const [offset, limit] = [below(4), 1 + below(12)]
      const exact = await read(`/exact?${list}&offset=${offset}&limit=${limit}`)
      assert.deepEqual([idsOf(exact), exact.meta.total_items], [ids.slice(offset, offset + limit), ids.length], list)

      const bounded = await read(`/bounded?${list}&offset=0&limit=1`)
      assert.deepEqual(
        [idsOf(bounded), bounded.meta.total_items],
        [ids.slice(0, 1), Math.min(ids.length, MOST + 1)],
        list,
      )

      const first = await read(`/cursor?${list}&limit=${limit}`)
      assert.deepEqual(idsOf(first), ids.slice(0, limit), list)
      const { next_cursor: next } = first.meta
      if (!next) continue
      const second = await read(`/cursor?${list}&limit=${limit}&next_cursor=${next}`)
      assert.deepEqual(idsOf(second), ids.slice(limit, 2 * limit), list)
      const names = Object.keys(CONDITIONS[condition] ?? {}).sort()
      const form = `${String(names)} ${order}`
      for (const [other, cursor] of cursors)
        if (other !== form) {
          const refused = await fetch(`/cursor?${list}&next_cursor=${cursor}`)
          assert.equal(refused.status, 422, `${form} takes a cursor of ${other}`)
        }
      cursors.set(form, next)
    }
  })
