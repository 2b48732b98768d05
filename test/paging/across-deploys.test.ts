import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, newLifespan, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { testApp } from 'sequitur/testing'
import { databases, sqliteMemory } from '../support/databases.js'

/* A cursor of one deploy, sent to the next one, whose model and table differ. */

class Id {
  @Field({ type: 'integer' }) id!: number
}

/** What a deploy has as the column that its list is ordered by. */
interface Version {
  readonly type: unknown
  readonly values: readonly unknown[]
  readonly attribute?: string
  readonly field?: string
}

type Read = (query: string) => Promise<{ status: number; ids: number[]; cursor: string }>

/** Runs an app on a table of its own, with a row for each value. */
async function deploy<T>(url: string, version: Version, work: (read: Read) => Promise<T>): Promise<T> {
  const { type, values, attribute = 'place', field = 'place' } = version
  @Table({ tableName: 'item', timestamps: false })
  class Item extends Base<Item> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  }
  Column({ type: type as never, field })(Item.prototype, attribute)
  @Controller('/')
  class Items {
    @Get('/', Page.of(Id)) list(paginate: Paginate<Item>) {
      return paginate(select(Item, { order: [attribute] }))
    }
  }
  const lifespan = newLifespan(url, { sync: true, echo: false })
  const app = await testApp({ controllers: [Items], models: [Item], lifespan, logger: false })
  try {
    await Item.bulkCreate(values.map((value, id) => ({ id, [attribute]: value })) as never)
    return await work(async (query) => {
      const response = await app.fetch(`/?${query}`)
      const { data = [], meta } = (await response.json()) as { data?: Id[]; meta?: { next_cursor: string } }
      return { status: response.status, ids: data.map(({ id }) => id), cursor: meta?.next_cursor ?? '' }
    })
  } finally {
    await Item.drop({})
    await app.close()
  }
}

const integer = { type: DataType.INTEGER, values: [1, 2, 3, 4] }
const bigint = { type: DataType.BIGINT, values: [5e9, 5e9 + 1, 5e9 + 2, 5e9 + 3] }
const decimal = { type: DataType.DECIMAL(9, 2), values: [1, 2, 3, 4] }
const text = { type: DataType.STRING(40), values: ['a', 'b', 'c', 'd'] }
const uuid = { type: DataType.UUID, values: [1, 2, 3, 4].map((digit) => `${digit}0000000-0000-4000-8000-000000000000`) }
const sizes = { type: DataType.ENUM('small', 'large'), values: ['small', 'small', 'large', 'large'] }
const levels = { type: DataType.ENUM('low', 'high'), values: ['low', 'low', 'high', 'high'] }
const date = { type: DataType.DATE, values: [1, 2, 3, 4].map((day) => new Date(Date.UTC(2024, 0, day))) }
const day = { type: DataType.DATEONLY, values: ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04'] }

/** With the rows of the page after the first two; none: the cursor is refused; `either`: refused, or a part of the list in its order. */
const DEPLOYS: readonly (readonly [string, Version, Version, readonly number[] | undefined | 'either'])[] = [
  ['the same', integer, integer, [2, 3]],
  ['another name of the attribute', integer, { ...integer, attribute: 'position' }, [2, 3]],
  ['another name of the column', integer, { ...integer, field: 'position' }, undefined],
  ['integer to bigint', integer, bigint, [0, 1, 2, 3]],
  ['bigint to integer', bigint, integer, 'either'],
  ['integer to boolean', integer, { type: DataType.BOOLEAN, values: [false, false, true, true] }, 'either'],
  ['integer to decimal', integer, decimal, undefined],
  ['text to date', text, date, undefined],
  ['date to day', date, day, undefined],
  ['text to UUID', text, uuid, 'either'],
  ['UUID to text', uuid, text, [0, 1, 2, 3]],
  ['other values of an enum', sizes, levels, 'either'],
  ['enum to text', sizes, text, 'either'],
]

for (const kind of databases.filter((one) => one !== sqliteMemory))
  test(`${kind.name}: a cursor of an earlier deploy is refused, or leads to its place in the present order`, async () => {
    const url = await kind.url()
    for (const [name, before, after, expected] of DEPLOYS) {
      const { cursor } = await deploy(url, before, (read) => read('limit=2'))
      await deploy(url, after, async (read) => {
        const { ids: all } = await read('limit=10')
        const { status, ids } = await read(`limit=10&next_cursor=${cursor}`)
        if (expected !== 'either')
          assert.deepEqual([name, status, ids], expected ? [name, 200, expected] : [name, 422, []])
        assert.ok(status === 200 || status === 422, `${name}: ${status}`)
        assert.deepEqual([name, ids], [name, ids.length === 0 ? [] : all.slice(-ids.length)])
      })
    }
  })
