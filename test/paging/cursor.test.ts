import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Order, type OrderItem, QueryTypes } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'thing', timestamps: false })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rank: number
  @Column({ type: DataType.BIGINT }) declare big: string | null
  @Column({ type: DataType.DECIMAL(24, 6) }) declare price: string | null
  @Column({ type: DataType.DOUBLE }) declare ratio: number | null
  @Column({ type: DataType.FLOAT }) declare weight: number | null
  @Column({ type: DataType.STRING, field: 'full_name' }) declare name: string | null
  @Column({ type: DataType.BOOLEAN }) declare alive: boolean | null
  @Column({ type: DataType.DATEONLY }) declare born: string | null
  @Column({ type: DataType.DATE(6) }) declare seen: Date | null
  @Column({ type: DataType.UUID }) declare token: string | null
  @Column({ type: DataType.ENUM('small', 'big', 'huge') }) declare size: string | null
  @Column({ type: DataType.BLOB }) declare hash: Buffer | null
}

const COLUMNS = [
  'rank',
  'big',
  'price',
  'ratio',
  'weight',
  'name',
  'alive',
  'born',
  'seen',
  'token',
  'size',
  'hash',
] as const
const ROWS = 70

class Id {
  @Field({ type: 'integer' }) id!: number
}

let order: Order = []

@Controller('/')
class Things {
  @Get('/ids', Page.of(Id)) ids(paginate: Paginate<Id>) {
    return paginate(select(Thing, { order }))
  }
}

function things(): object[] {
  const next = random(7)
  const orNull = <T>(value: T): T | null => (next(4) === 0 ? null : value)
  return Array.from({ length: ROWS }, (_, id) => ({
    id,
    rank: next(4),
    big: orNull(`90071992547409${next(20) + 80}`),
    price: orNull(`123456789012345678.00000${next(9)}`),
    ratio: orNull([0.1 + 0.2, 0.3, 1e-7, -1 / 3, 1e300, 5][next(6)]),
    weight: orNull([0.1, 0.2, 16777216, -0.1][next(4)]),
    name: orNull(['a', 'A', 'b', 'B', "it's", '$1', 'É', 'e', '', 'straße \\', '日本'][next(11)]),
    alive: orNull(next(2) === 0),
    born: orNull(`20${10 + next(9)}-02-1${next(9)}`),
    token: orNull(`6f1b1d2e-0000-4000-8000-00000000000${next(9)}`),
    size: orNull(['small', 'big', 'huge'][next(3)]),
    hash: orNull(Buffer.from([next(3), 255, 0])),
  }))
}

for (const kind of databases) {
  test(`cursor pages on ${kind.name}`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Thing], [Things])
    await Thing.bulkCreate(things() as never)
    const dialect = Thing.sequelize?.getDialect()
    const [zone, table] = dialect === 'postgres' ? ['+00', '"thing"'] : ['', 'thing']
    // 100 microseconds apart: ten of them are equal as a JavaScript Date.
    for (let id = 0; id < ROWS; id += 2) {
      const seen = `2024-05-06 07:08:09.${String(id * 100).padStart(6, '0')}${zone}`
      await Thing.sequelize?.query(`UPDATE ${table} SET seen = '${seen}' WHERE id = ${id}`, { type: QueryTypes.RAW })
    }

    const expected = async () => {
      const rows = await Thing.findAll({ order: [...(order as OrderItem[]), ['id', 'ASC']], attributes: ['id'] })
      return rows.map(({ id }) => id)
    }

    const next = random(42)
    for (let round = 0; round < runs(80); round++) {
      const columns = COLUMNS.toSorted(() => next(3) - 1).slice(0, 1 + (round % 4))
      const given = columns.map((column): [string, string] => [column, next(2) ? 'ASC' : 'DESC'])
      const limit = [1, 2, 3, 7, 13, 69, 70, 71][next(8)] as number
      await t.test(`pages of ${limit} by ${JSON.stringify(given)} are the whole list`, async () => {
        order = given
        const seen = (await walk(fetch, '/ids', limit)).map(({ id }) => id)
        assert.deepEqual(seen, await expected())
      })
    }
    assert.equal(log.filter((line) => /OFFSET|count\(/i.test(line)).length, 0)
  })
}
