import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, Get, Post, withSession } from 'sequitur'
import { databaseApp, databases, mysqls, postgres, sqliteMemory } from '../support/databases.js'

@Table({ tableName: 'bounded', timestamps: false })
class Bounded extends Base<Bounded> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.SMALLINT) declare small: number | null
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.REAL) declare real: number | null
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
  { real: 3.4028234663852886e38 },
  {},
]

const refused = [
  { small: 32768 },
  { integer: 2147483648 },
  { integer: '-2147483649' },
  { big: '9223372036854775808' },
  { real: 3.5e38 },
  { real: '-3.5e38' },
  { decimal: '1000.00' },
  { decimal: 999.996 },
  { text: 'abcd' },
  { text: '🎉🎉🎉🎉' },
  { text: 1234 },
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

@Table({ tableName: 'unsigned', timestamps: false })
class Unsigned extends Base<Unsigned> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.SMALLINT.UNSIGNED) declare small: number | null
  @Column(DataType.INTEGER.UNSIGNED) declare integer: number | null
  @Column(DataType.BIGINT.UNSIGNED) declare big: string | null
}

@Controller('/')
class Unsigneds {
  @Get('/', [Unsigned]) all() {
    return Unsigned.findAll({ order: ['id'] })
  }
  @Post('/') async create(@Body({ type: 'any' }) row: object) {
    await Unsigned.create(row as never)
  }
  @Post('/bulk') async bulkCreate(@Body({ type: 'any' }) row: object) {
    await Unsigned.bulkCreate([row] as never)
  }
  @Post('/find') async find(@Body({ type: 'any' }) row: object) {
    await Unsigned.findAll({ where: { ...row } })
  }
  @Post('/decrement') async decrement(@Body({ type: 'any' }) row: object) {
    await Unsigned.decrement(row as never, { where: { id: 1 } })
  }
}

for (const kind of databases) {
  test(`${kind.name}: an UNSIGNED column has the values that are documented, as far as the database can store them`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Unsigned], [Unsigneds])
    const post = async (path: string, json: object) => (await fetch(path, { method: 'POST', json })).status
    const signed = { small: 32767, integer: 2147483647, big: '9223372036854775807' }
    const beyond = [
      { small: 65535 },
      { integer: 4294967295 },
      { integer: '4294967295' },
      { big: '18446744073709551615' },
    ]
    const kept = [{ small: 0, integer: 0, big: '0' }, signed]
    for (const row of kept) assert.equal(await post('/', row), 204, log.join('\n'))
    for (const row of beyond) {
      // PostgreSQL has no unsigned types, and SQLite no integers beyond 64 bits with a sign.
      const fits = mysqls.includes(kind) || (kind !== postgres && !('big' in row))
      for (const path of ['/', '/bulk'])
        assert.equal(await post(path, row), fits ? 204 : 422, `${path} ${JSON.stringify(row)} ${log.join('\n')}`)
      if (fits) assert.equal(await post('/find', row), 204)
    }
    for (const row of [{ small: 65536 }, { integer: 4294967296 }, { big: '18446744073709551616' }, { small: -1 }])
      for (const path of ['/', '/bulk']) assert.equal(await post(path, row), 422, `${path} ${JSON.stringify(row)}`)
    for (const row of [{ integer: '-1' }, { big: '-1' }])
      for (const path of ['/', '/bulk', '/find']) assert.equal(await post(path, row), 422, JSON.stringify(row))
    if (kind !== postgres)
      for (const column of ['small', 'integer', 'big'])
        assert.equal(await post('/decrement', { [column]: 1 }), 422, column)
    const rows = (await (await fetch('/')).json()) as readonly object[]
    assert.deepEqual(rows.slice(0, 2), [
      { id: 1, ...kept[0] },
      { id: 2, ...signed },
    ])
  })
}

test('SQLite refuses a value that an ENUM does not have', async (t) => {
  const { fetch } = await databaseApp(t, sqliteMemory, [Bounded], [Bounds])
  assert.equal((await fetch('/create', { method: 'POST', json: { colour: 'blue' } })).status, 422)
})

test('SQLite names the model, the columns and their bounds in the error of a row', async (t) => {
  const { database } = await databaseApp(t, sqliteMemory, [Bounded], [])
  await assert.rejects(
    withSession(database, () => Bounded.create({ small: 32768, text: 'abcd' } as never)),
    /: Bounded\.small must be <= 32767; Bounded\.text must have at most 3 characters\.$/,
  )
})
