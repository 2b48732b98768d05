import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Order } from 'sequelize'
import { Column, DataType, HasMany, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Field, Get, select } from 'sequitur'
import { newPagination, Page, TwoWayPage } from 'sequitur/cursor'
import { memoryDatabase } from 'sequitur/testing'
import { type DatabaseApp, databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { random } from '../support/fuzz.js'

@Table({ tableName: 'stop', timestamps: false })
class Stop extends Base<Stop> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare score: number | null
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rank: number
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
  @HasMany(() => Sign, 'stop_id') declare signs?: unknown[]
}

@Table({ tableName: 'sign', timestamps: false })
class Sign extends Base<Sign> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare stop_id: number
}

class Id {
  @Field({ type: 'integer' }) id!: number
}

class BothWays<T> extends newPagination({ prevCursor: true, maxPageSize: 200 })<T> {}
class OneWay<T> extends newPagination({ prevCursor: false })<T> {}

let order: Order = []
let include: object[] = []

@Controller('/')
class Stops {
  @Get('/stops', TwoWayPage.of(Id)) list(paginate: BothWays<Id>) {
    return paginate(select(Stop, { order, include } as never) as never)
  }
  @Get('/one-way', Page.of(Id)) oneWay(paginate: OneWay<Id>) {
    return paginate(select(Stop, { order: ['id'] }))
  }
}

interface AnyPage {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly next_cursor: string | null; readonly prev_cursor: string | null }
}

async function read({ fetch, log }: DatabaseApp, query: string): Promise<AnyPage> {
  const response = await fetch(`/stops?${query}`)
  const body = await response.text()
  assert.equal(response.status, 200, `${body}\n${log.slice(-3).join('\n')}`)
  return JSON.parse(body)
}

const row = (id: number, score: number | null = null, text = '') => ({ id, score, rank: id % 3, text })
const idsOf = ({ data }: AnyPage) => data.map(({ id }) => id)

const orders: readonly (readonly [string, Order])[] = [
  ['a nullable column', ['score']],
  [
    'NULLs first, in a mixed order',
    [
      ['score', 'DESC NULLS FIRST'],
      ['rank', 'ASC'],
    ] as Order,
  ],
  [
    'NULLs last, in a mixed order',
    [
      ['rank', 'DESC'],
      ['score', 'DESC NULLS LAST'],
    ] as Order,
  ],
  ['the key', [['id', 'DESC']]],
  ['a text that no cursor can hold', [['text', 'DESC']]],
]

const ROWS = 17

async function assertBackAndForth(app: DatabaseApp, sizes: readonly number[]): Promise<void> {
  const sorted = (await read(app, 'limit=200')).data.map(({ id }) => id)
  assert.equal(new Set(sorted).size, ROWS)
  for (const limit of sizes) {
    const forward: AnyPage[] = []
    for (let cursor: string | null = ''; cursor !== null; cursor = forward.at(-1)?.meta.next_cursor ?? null)
      forward.push(await read(app, `limit=${limit}${cursor && `&next_cursor=${cursor}`}`))
    assert.deepEqual(forward.flatMap(idsOf), sorted)
    assert.deepEqual(
      forward.map(({ meta }) => meta.prev_cursor !== null),
      forward.map((_, index) => index > 0),
    )
    const backward = forward.slice(-1)
    for (let cursor = backward[0]?.meta.prev_cursor; cursor; cursor = backward[0]?.meta.prev_cursor)
      backward.unshift(await read(app, `limit=${limit}&prev_cursor=${cursor}`))
    assert.deepEqual(backward.map(idsOf), forward.map(idsOf))
    for (const [index, { meta }] of backward.slice(0, -1).entries()) {
      const again = await read(app, `limit=${limit}&next_cursor=${meta.next_cursor}`)
      assert.deepEqual(again.data, forward[index + 1]?.data)
    }
  }
}

/**
 * Steps back and forth through a list that changes. A cursor is a point between ids: of the rows after a page, the point behind its last id;
 * of an empty page, the point where it was read.
 */
async function assertRandomWalk(app: DatabaseApp, seed: number): Promise<void> {
  const next = random(seed)
  const ids = new Set(Array.from({ length: ROWS }, (_, index) => index * 4))
  let page = await read(app, 'limit=3')
  let [start, end] = [-1, (page.data.at(-1)?.id ?? 0) + 0.5]
  for (let step = 0; step < 80; step++) {
    for (let change = next(4); change > 0; change--) {
      const id = next(ROWS * 4)
      if (ids.delete(id)) await Stop.destroy({ where: { id } })
      else if (next(2) === 0) {
        ids.add(id)
        await Stop.create(row(id) as never)
      }
    }
    const limit = 1 + next(4)
    const { next_cursor, prev_cursor } = page.meta
    const isBackward = prev_cursor !== null && (next_cursor === null || next(2) === 0)
    if (next_cursor === null && prev_cursor === null) {
      page = await read(app, `limit=${limit}`)
      start = -1
    } else
      page = await read(
        app,
        `limit=${limit}&${isBackward ? `prev_cursor=${prev_cursor}` : `next_cursor=${next_cursor}`}`,
      )
    const sorted = [...ids].toSorted((a, b) => a - b)
    const from = next_cursor === null && prev_cursor === null ? -1 : isBackward ? start : end
    const expected = isBackward
      ? sorted.filter((id) => id < from).slice(-limit)
      : sorted.filter((id) => id > from).slice(0, limit)
    assert.deepEqual(idsOf(page), expected)
    start = (expected[0] ?? from + 0.5) - 0.5
    end = (expected.at(-1) ?? from - 0.5) + 0.5
    assert.deepEqual(
      [page.meta.prev_cursor !== null, page.meta.next_cursor !== null],
      [sorted.some((id) => id < start), sorted.some((id) => id > end)],
    )
  }
}

for (const kind of databases) {
  test(`cursor pages in both directions on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Stop, Sign], [Stops])
    // Pages of one row differ from others in their number alone.
    const sizes = kind === databases[0] ? [1, 3, ROWS] : [3, ROWS]
    const next = random(9)
    const text = (id: number) =>
      `${id % 4}`.repeat(3) + String.fromCharCode(...Array.from({ length: 3000 }, () => 97 + next(26)))
    const score = () => (next(3) === 0 ? null : next(3))
    await Stop.bulkCreate(Array.from({ length: ROWS }, (_, id) => row(id, score(), text(id))) as never)
    await Sign.bulkCreate(Array.from({ length: ROWS }, (_, id) => ({ id, stop_id: id % 5 })) as never)
    for (const [name, given] of orders)
      for (const included of name.startsWith('a ') ? [[], [{ model: Sign }]] : [[]])
        await t.test(
          `by ${name}${included.length > 0 ? ', with a hasMany' : ''}: back are the same pages as forth`,
          () => {
            order = given
            include = included
            return assertBackAndForth(app, sizes)
          },
        )
    await t.test('steps back and forth through a list that changes are its rows on that side', async () => {
      order = ['id']
      include = []
      for (const seed of [1, 2]) {
        await Stop.destroy({ where: {} })
        await Stop.bulkCreate(Array.from({ length: ROWS }, (_, index) => row(index * 4)) as never)
        await assertRandomWalk(app, seed)
      }
    })
  })
}

test('the links of a page lead to the previous and to the next one', async (t) => {
  const app = await databaseApp(t, sqliteMemory, [Stop, Sign], [Stops])
  await Stop.bulkCreate([0, 1, 2].map((id) => row(id)) as never)
  order = ['id']
  const followed = async (path: string, relation: string) => {
    const link = (await app.fetch(path)).headers.get('link') ?? ''
    return new RegExp(`<([^>]*)>; rel="${relation}"`).exec(link)?.[1] ?? ''
  }
  const second = await followed('/stops?limit=1&tag=x', 'next')
  const first = await followed(second, 'prev')
  assert.match(first, /^\/stops\?tag=x&limit=1&prev_cursor=[\w-]+$/)
  assert.match(await followed(first, 'next'), /^\/stops\?tag=x&limit=1&next_cursor=[\w-]+$/)
  assert.equal(await followed(first, 'prev'), '')
  const [again, page] = [await app.fetch(first), await app.fetch('/stops?limit=1')]
  assert.deepEqual(await again.json(), await page.json())
})

test('a prev_cursor is documented, and refused as a next_cursor is', async (t) => {
  const app = await databaseApp(t, sqliteMemory, [Stop, Sign], [Stops])
  await Stop.bulkCreate([0, 1, 2].map((id) => row(id)) as never)
  order = ['id']
  const { meta } = await read(app, 'limit=1')
  for (const [query, path] of [
    ['prev_cursor=nothing', '/prev_cursor'],
    [`prev_cursor=${meta.next_cursor}x`, '/prev_cursor'],
    [`prev_cursor=${meta.next_cursor}&next_cursor=${meta.next_cursor}`, '/prev_cursor'],
    ['next_cursor=nothing', '/next_cursor'],
  ]) {
    const response = await app.fetch(`/stops?${query}`)
    const body = (await response.json()) as { errors: { path: string }[] }
    assert.deepEqual([response.status, body.errors.map((error) => error.path)], [422, [path]])
  }
  const { paths, components } = createApp({
    controllers: [Stops],
    models: [Stop, Sign],
    lifespan: memoryDatabase(),
    logger: false,
  }).openapi()
  const names = (path: string) => (paths?.[path]?.get?.parameters ?? []).map((one) => ('name' in one ? one.name : ''))
  assert.deepEqual(names('/stops'), ['limit', 'next_cursor', 'prev_cursor'])
  assert.deepEqual(names('/one-way'), ['limit', 'next_cursor'])
  assert.ok(components?.schemas?.['TwoWayPageMeta'])
})

test('a paginator in one direction sends no prev_cursor, and one statement for each page', async (t) => {
  const app = await databaseApp(t, sqliteMemory, [Stop, Sign], [Stops])
  await Stop.bulkCreate([0, 1, 2].map((id) => row(id)) as never)
  const first = (await (await app.fetch('/one-way?limit=1')).json()) as AnyPage
  app.log.length = 0
  const second = await (await app.fetch(`/one-way?limit=1&next_cursor=${first.meta.next_cursor}`)).json()
  assert.deepEqual(Object.keys((second as AnyPage).meta), ['next_cursor'])
  assert.equal(app.log.filter((line) => /SELECT .* FROM/.test(line)).length, 1)
})

test('a prevCursor that is neither true nor false is refused', () => {
  assert.throws(
    () => newPagination({ prevCursor: 'yes' as never }),
    /newPagination\(\): prevCursor is of type string\. Write true or false\./,
  )
})
