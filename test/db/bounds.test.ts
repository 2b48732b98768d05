import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, Post } from 'sequitur'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'

@Table({ tableName: 'bounded', timestamps: false })
class Bounded extends Base<Bounded> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.SMALLINT) declare small: number | null
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.DECIMAL(5, 2)) declare decimal: string | null
  @Column(DataType.STRING(3)) declare text: string | null
  @Column(DataType.ENUM('red', 'green')) declare colour: string | null
}

const ways = {
  create: (row: object) => Bounded.create(row as never),
  bulkCreate: (row: object) => Bounded.bulkCreate([row] as never),
  update: async (row: object) => (await Bounded.create({} as never)).update(row as never),
  bulkUpdate: async (row: object) => (await Bounded.create({} as never), Bounded.update(row as never, { where: {} })),
  upsert: (row: object) => Bounded.upsert({ id: 1, ...row } as never),
} as const

@Controller('/')
class Bounds {
  @Post('/:way') async write(way: string, @Body({ type: 'any' }) row: object) {
    await ways[way as keyof typeof ways](row)
  }
}

const kept = [
  { small: 32767, integer: -2147483648, big: '9223372036854775807', decimal: '999.99', text: '🎉🎉🎉', colour: 'red' },
  { small: '12', integer: '2147483647', big: -5, decimal: -999.99, text: '', colour: null },
  {},
]

const refused = [
  { small: 32768 },
  { integer: 2147483648 },
  { integer: '-2147483649' },
  { big: '9223372036854775808' },
  { decimal: '1000.00' },
  { decimal: 999.996 },
  { text: 'abcd' },
  { text: '🎉🎉🎉🎉' },
]

for (const kind of databases) {
  test(`${kind.name}: a model takes what fits its columns, and is refused what no other database would hold`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Bounded], [Bounds])
    for (const way of Object.keys(ways)) {
      for (const json of kept) {
        const { status } = await fetch(`/${way}`, { method: 'POST', json })
        assert.equal(status, 204, `${way} ${JSON.stringify(json)} ${log.join('\n')}`)
      }
      for (const json of refused) {
        const { status } = await fetch(`/${way}`, { method: 'POST', json })
        assert.equal(status, 422, `${way} ${JSON.stringify(json)} ${log.join('\n')}`)
      }
    }
  })
}

test('SQLite refuses a value that an ENUM does not have', async (t) => {
  const { fetch } = await databaseApp(t, sqliteMemory, [Bounded], [Bounds])
  assert.equal((await fetch('/create', { method: 'POST', json: { colour: 'blue' } })).status, 422)
})
