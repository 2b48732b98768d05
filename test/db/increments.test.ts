import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, Post, withSession } from 'sequitur'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'

@Table({ tableName: 'counter' })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.SMALLINT, field: 'small_number' }) declare small: number | null
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.DECIMAL(5, 2)) declare decimal: string | null
}

type Amounts = Readonly<Record<string, unknown>>

const where = { id: 1 }
const first = () => Counter.findByPk(1, { rejectOnEmpty: true })

const ways: Readonly<Record<string, (amounts: Amounts) => Promise<unknown>>> = {
  increment: (amounts) => Counter.increment(amounts as never, { where }),
  decrement: (amounts) => Counter.decrement(amounts as never, { where }),
  'increment of an instance': async (amounts) => (await first()).increment(amounts as never),
  by: (amounts) =>
    Promise.all(
      Object.entries(amounts).map(([name, by]) => Counter.increment([name] as never, { by: by as never, where })),
    ),
  'objects with a text': (amounts) =>
    Counter.increment(
      Object.fromEntries(Object.entries(amounts).map(([name, by]) => [name, { toString: () => String(by) }])) as never,
      { where },
    ),
  where: (condition) => Counter.increment('integer', { where: condition }),
}

@Controller('/')
class Counters {
  @Post('/:way') async run(way: string, @Body({ type: 'any' }) amounts: Amounts) {
    await ways[way]?.(amounts)
  }
}

const noInteger: readonly unknown[] = ['x', '', '1.5', 1.5, '1e2', '0x5', true, {}, [1], { toString: 1 }]

/** What cannot be added to a column. Of a number, the sum decides. */
const noAmount: Readonly<Record<string, readonly unknown[]>> = {
  small: [...noInteger, 2 ** 40, '1099511627776'],
  integer: [...noInteger, 2 ** 40],
  big: [...noInteger, 1e20],
  double: ['x', '0x5', '1e400', 'NaN', true, {}],
  decimal: ['x', '0x5', 1e6, '1e400', 'NaN', true, {}],
}

/** Undefined for a sum that is out of bounds. */
const sums = [
  ['small', 32766, 1, 32767],
  ['small', -30000, 40000, 10000],
  ['integer', -2147483647, '-1', -2147483648],
  ['big', '9223372036854775806', '1', '9223372036854775807'],
  ['decimal', '999.98', 0.01, '999.99'],
  ['double', 1, '0.5', 1.5],
  ['double', null, 1, null],
  ['small', 32767, 1, undefined],
  ['small', -32768, -1, undefined],
  ['integer', 2147483647, 1, undefined],
  ['big', '-9223372036854775807', '-2', undefined],
  ['big', '9223372036854775807', 1, undefined],
  ['decimal', '999.98', 0.02, undefined],
  ['double', 1e308, 1e308, undefined],
] as const

for (const kind of databases) {
  test(`${kind.name}: an amount that cannot be added is a 422, and nothing is changed`, async (t) => {
    const { fetch, database, log } = await databaseApp(t, kind, [Counter], [Counters])
    const row = { small: 1, integer: 1, big: '1', double: 1, decimal: '1' }
    await withSession(database, () => Counter.create(row as never))
    const stored = () => withSession(database, async () => JSON.stringify(await first()))
    const before = await stored()
    for (const [column, amounts] of Object.entries(noAmount))
      for (const amount of amounts)
        for (const way of ['increment', 'decrement', 'increment of an instance', 'by']) {
          const { status } = await fetch(`/${way}`, { method: 'POST', json: { [column]: amount } })
          assert.equal(status, 422, `${way} ${column} ${JSON.stringify(amount)} ${log.at(-1)}`)
        }
    assert.equal(await stored(), before)
  })

  test(`${kind.name}: a sum is stored within the bounds of its column, and is a 422 outside of them`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Counter], [Counters])
    await withSession(database, () => Counter.create({} as never))
    for (const [column, value, by, sum] of sums) {
      for (const way of ['increment', 'objects with a text']) {
        await withSession(database, () => Counter.update({ [column]: value }, { where }))
        const { status } = await fetch(`/${encodeURIComponent(way)}`, { method: 'POST', json: { [column]: by } })
        const { [column]: stored } = await withSession(database, first)
        const expected = sum === undefined ? [422, String(value)] : [204, String(sum)]
        assert.deepEqual([status, String(stored)], expected, `${way} ${column} ${value} ${by}`)
      }
    }
  })

  test(`${kind.name}: the conditions of an increment are those of its columns`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Counter], [Counters])
    await withSession(database, () => Counter.bulkCreate([{ integer: 1, small: 5 }, { integer: 1 }] as never))
    for (const [condition, status] of [
      [{ id: 'not' }, 422],
      [{ small: '5abc' }, 422],
      [{ small: ' 5 ' }, 204],
    ] as const)
      assert.equal((await fetch('/where', { method: 'POST', json: condition })).status, status)
    const rows = await withSession(database, () => Counter.findAll({ order: ['id'] }))
    assert.deepEqual(
      rows.map(({ integer }) => integer),
      [2, 1],
    )
  })
}

test('SQLite names the model, the columns and their bounds in the error of an increment', async (t) => {
  const { database } = await databaseApp(t, sqliteMemory, [Counter], [])
  await withSession(database, () => Counter.create({ small: 32767, decimal: '1' } as never))
  await assert.rejects(
    withSession(database, () => Counter.increment({ small: 1, decimal: 1 } as never, { where })),
    /: Counter\.small must be >= -32768 and <= 32767; Counter\.decimal must have at most 3 digits before the point\.$/,
  )
})
