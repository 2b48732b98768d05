import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Order, WhereOptions } from 'sequelize'
import { Column, DataType, type Model, Table } from 'sequelize-typescript'
import { Base, Controller, type Database, Field, Get, newLifespan, select } from 'sequitur'
import { newPagination, TwoWayPage } from 'sequitur/cursor'
import { testApp, type TestApp } from 'sequitur/testing'
import { modelInternals } from '../../src/db/sequelize/internals.js'
import { databases, mysqls, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'

/*
 * Pages by cursor whose SQL is compiled are the pages of Sequelize's query path, byte for byte: their rows, and their cursors in both directions.
 */

class ThingModel {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'integer' }) part!: number
  @Field() title!: string
  @Field() at!: Date
}

class BothWays<T> extends newPagination({ prevCursor: true, maxPageSize: 200 })<T> {}

type List = { readonly order: Order; readonly where?: WhereOptions }

/** A list that each of the two apps pages through with a class of its own: a model belongs to one database. */
function newThings(): { readonly model: typeof Model; readonly controller: typeof Object; list: List } {
  @Table({ tableName: 'thing', timestamps: false })
  class Thing extends Base<Thing> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.INTEGER, primaryKey: true, field: 'part_no' }) declare part: number
    @Column({ type: DataType.INTEGER, allowNull: false }) declare rank: number
    @Column({ type: DataType.INTEGER }) declare score: number | null
    @Column({ type: DataType.DECIMAL(10, 2), allowNull: false }) declare price: string
    @Column({ type: DataType.STRING(60), allowNull: false, field: 'full_title' }) declare title: string
    @Column({ type: DataType.DATE(6), allowNull: false }) declare at: Date
    @Column({ type: DataType.DOUBLE }) declare weight: number | null
    @Column({ type: DataType.BIGINT, allowNull: false }) declare big: string
    @Column({ type: DataType.BOOLEAN, allowNull: false }) declare flag: boolean
    @Column({ type: DataType.ENUM('late', 'early'), allowNull: false }) declare shift: string
  }

  @Controller('/')
  class Things {
    @Get('/things', TwoWayPage.of(ThingModel)) list(paginate: BothWays<ThingModel>) {
      return paginate(select(Thing, { ...things.list }) as never)
    }
  }
  const things = { model: Thing as never, controller: Things as never, list: { order: ['id'] } as List }
  return things
}

const COLUMNS = ['id', 'part', 'rank', 'score', 'price', 'title', 'at', 'weight', 'big', 'flag', 'shift']
const TITLES = ["it's", 'back\\slash', '$1 and ?', 'Ärger', '𝕏', '', '--', 'same', ';']
const ROWS = 60

const rows = Array.from({ length: ROWS }, (_, index) => ({
  id: index % 20,
  part: Math.floor(index / 20),
  rank: index % 3,
  score: index % 4 === 0 ? null : index % 5,
  price: `${index % 7}.${10 + (index % 3)}`,
  title: TITLES[index % TITLES.length],
  at: new Date(Date.UTC(2024, 1, 29, 12, 0, index % 6, index % 2)),
  weight: index % 6 === 0 ? null : (index % 8) / 3,
  big: `90071992547409${index % 30}`,
  flag: index % 2 === 0,
  shift: index % 2 === 0 ? 'late' : 'early',
}))

function randomList(next: (below: number) => number): List {
  const directions = ['ASC', 'DESC', 'ASC NULLS FIRST', 'DESC NULLS LAST', 'desc']
  // Often all of one direction, the last column of the key included.
  const same = next(3) === 0 ? ['ASC', 'DESC'][next(2)] : undefined
  const items = Array.from({ length: 1 + next(3) }, () => [
    COLUMNS[next(COLUMNS.length)],
    same ?? directions[next(directions.length)],
  ])
  const order = (same ? [...items, ['id', same], ['part', same]] : items) as Order
  const wheres = [undefined, { rank: 1 }, { score: null }, { flag: true, rank: 0 }, { title: "it's" }, { title: '\\' }]
  const where = wheres[next(wheres.length)] as WhereOptions | undefined
  return where ? { order, where } : { order }
}

interface OnePath extends TestApp {
  readonly database: Database
  readonly things: ReturnType<typeof newThings>
  /** How many statements Sequelize's generator has written. */
  written: number
}

async function openPath(t: TestContext, url: string, fastPath: boolean): Promise<OnePath> {
  const things = newThings()
  const database = newLifespan(url, { sync: true, fastPath })
  const app = await testApp({
    controllers: [things.controller],
    models: [things.model],
    lifespan: database,
    logger: false,
    cursorSecret: 'the same for both apps, of more than 32 bytes',
  })
  t.after(app.close)
  const path: OnePath = { ...app, database, things, written: 0 }
  const { queryGenerator } = modelInternals(things.model as never)
  const { selectQuery } = queryGenerator
  t.mock.method(queryGenerator, 'selectQuery', (...given: Parameters<typeof selectQuery>) => {
    path.written++
    return selectQuery.apply(queryGenerator, given)
  })
  return path
}

interface ThingPage {
  readonly data: readonly { readonly id: number; readonly part: number }[]
  readonly meta: { readonly next_cursor: string | null; readonly prev_cursor: string | null }
}

/** The page that both apps send. */
async function pageOfBoth(paths: readonly OnePath[], query: string): Promise<ThingPage> {
  const [fast, plain] = await Promise.all(
    paths.map(async ({ fetch }) => {
      const response = await fetch(`/things?${query}`)
      return { status: response.status, link: response.headers.get('link'), body: await response.text() }
    }),
  )
  assert.equal(fast?.status, 200, fast?.body)
  assert.deepEqual(fast, plain)
  return JSON.parse(fast?.body ?? '')
}

async function assertSamePages(paths: readonly OnePath[], list: List, limit: number): Promise<void> {
  for (const { things } of paths) things.list = list
  const { data: whole } = await pageOfBoth(paths, 'limit=200')
  const forward: ThingPage[] = []
  for (let cursor: string | null = ''; cursor !== null; cursor = forward.at(-1)?.meta.next_cursor ?? null)
    forward.push(await pageOfBoth(paths, `limit=${limit}${cursor && `&next_cursor=${cursor}`}`))
  assert.deepEqual(
    forward.flatMap(({ data }) => data),
    whole,
  )
  const backward = forward.slice(-1)
  for (let cursor = backward[0]?.meta.prev_cursor; cursor; cursor = backward[0]?.meta.prev_cursor)
    backward.unshift(await pageOfBoth(paths, `limit=${limit}&prev_cursor=${cursor}`))
  assert.deepEqual(
    backward.map(({ data }) => data),
    forward.map(({ data }) => data),
  )
}

async function openBothPaths(t: TestContext, kind: TestDatabase): Promise<[OnePath, OnePath]> {
  const url = await kind.url()
  const fast = await openPath(t, url, true)
  const plain = await openPath(t, url, false)
  await (fast.things.model as unknown as { bulkCreate(rows: object[]): Promise<unknown> }).bulkCreate(rows)
  return [fast, plain]
}

for (const kind of databases) {
  if (kind === sqliteMemory) continue // two apps cannot open the same one
  test(`on ${kind.name} pages of compiled SQL are those of Sequelize`, async (t) => {
    const paths = await openBothPaths(t, kind)
    const next = random(7)
    for (let run = runs(60); run > 0; run--) await assertSamePages(paths, randomList(next), 1 + next(12))
  })

  if (mysqls.includes(kind)) continue // where Sequelize writes each statement
  test(`on ${kind.name} the SQL of a list is written once`, async (t) => {
    const [fast, plain] = await openBothPaths(t, kind)
    const list: List = { order: [['title', 'DESC'], 'rank'], where: { flag: true } }
    await assertSamePages([fast, plain], list, 4)
    fast.written = plain.written = 0
    await assertSamePages([fast, plain], list, 4)
    assert.equal(fast.written, 0)
    assert.ok(plain.written > 10)
  })
}
