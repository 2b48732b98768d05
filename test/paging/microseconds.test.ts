import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Order } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'tick', timestamps: false })
class Tick extends Base<Tick> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.DATE(6), allowNull: false }) declare at: Date
  @Column({ type: DataType.INTEGER }) declare note: number | null
}

const orders: readonly Order[] = [
  [['at', 'ASC']],
  [['at', 'DESC']],
  [
    ['note', 'DESC'],
    ['at', 'ASC'],
  ],
  [
    ['note', 'ASC'],
    ['at', 'DESC'],
  ],
]

@Controller('/')
class Ticks {
  @Get('/:order', Page.of(Tick)) list(order: number, paginate: Paginate<Tick>) {
    return paginate(select(Tick, { order: orders[order] as Order }))
  }
}

// The time of a row increases with its id; ten of them are equal as a JavaScript Date.
const ROWS = Array.from({ length: 200 }, (_, id) => ({
  id,
  at: `2024-05-06 07:08:09.${String(id * 100).padStart(6, '0')}`,
  note: id % 10 < 3 ? null : id % 4,
}))

function compare(one: number, other: number, direction: string): number {
  return direction === 'ASC' ? one - other : other - one
}

for (const kind of databases) {
  test(`on ${kind.name} 200 rows 100 microseconds apart are each read once, in order`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Tick], [Ticks])
    const { sequelize } = database
    const isPostgres = sequelize.getDialect() === 'postgres'
    const values = ROWS.map(({ id, at, note }) => `(${id}, '${at}${isPostgres ? '+00' : ''}', ${note ?? 'NULL'})`)
    await sequelize.query(`INSERT INTO tick (id, at, note) VALUES ${values.join(', ')}`)
    const nullsHigh = isPostgres ? 100 : -100
    for (const [index, order] of (orders as [string, string][][]).entries()) {
      const expected = ROWS.toSorted((a, b) => {
        const steps = order.map(([name, direction]) =>
          compare(
            name === 'at' ? a.id : (a.note ?? nullsHigh),
            name === 'at' ? b.id : (b.note ?? nullsHigh),
            direction,
          ),
        )
        return steps.find((step) => step !== 0) ?? 0
      })
      // Pages of one row differ from others in their number alone.
      for (const limit of kind === databases[0] ? [1, 7, 50] : [7, 50])
        assert.deepEqual(
          (await walk(fetch, `/${index}`, limit)).map(({ id }) => id),
          expected.map(({ id }) => id),
          `${JSON.stringify(order)}, pages of ${limit}`,
        )
    }
  })
}
