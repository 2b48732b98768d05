import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, Get, Item, newLifespan, Post, Session, Transactional } from 'sequitur'
import { databaseApp, databases, mysqls, type TestDatabase } from '../support/databases.js'

/*
 * The response of a write has the values that a later read has, whatever the column keeps of them.
 */

@Table({ tableName: 'stored', timestamps: false })
class Stored extends Base<Stored> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.FLOAT) declare float: number | null
  @Column(DataType.FLOAT(10)) declare single: number | null
  @Column({ type: DataType.REAL, field: 'a_real' }) declare real: number | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.DECIMAL(8, 2)) declare decimal: string | null
  @Column(DataType.DECIMAL) declare bareDecimal: string | null
  @Column(DataType.CHAR(5)) declare char: string | null
  @Column(DataType.STRING(20)) declare text: string | null
  @Column(DataType.DATE) declare date: Date | null
  @Column(DataType.DATE(6)) declare microseconds: Date | null
  @Column(DataType.DATEONLY) declare day: string | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('red', 'Green')) declare colour: string | null
  @Column(DataType.BOOLEAN) declare flag: boolean | null
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.JSON) declare json: unknown
}

const singles = [1.1234567891, 123456789, 16777217, 0.1, 1e-40, 2.675, -0, '1.5', 3.4028234663852886e38]

const values: Readonly<Record<string, readonly unknown[]>> = {
  float: singles,
  single: singles,
  real: singles,
  double: [1.1234567890123457, 5e-324, 1e300, -0, '1.5', 9007199254740992],
  decimal: [1, 1.005, '1.005', '1.5', '123456.78', '-0', '-0.001', '0.01'],
  char: ['a', 'ab ', '', '     ', 'äöüß'],
  text: ['a ', ' a', '', 'e\u0301', '😀'],
  date: ['2026-01-31T12:00:00.999Z', '2026-01-31', '1969-12-31T23:59:59.999Z', '2026-01-31T12:00:00+02:00'],
  microseconds: ['2026-01-31T12:00:00.123456Z', '9999-12-31T23:59:59.999Z'],
  day: ['2026-01-31', '0001-01-01', '9999-12-31'],
  time: ['12:00:00', '12:00:00.5', '23:59:59.999999'],
  uuid: ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'],
  colour: ['red', 'Green'],
  flag: [true, 0, 'true'],
  integer: [-0, '7', 2147483647],
  big: ['-0', '9223372036854775807', 7, '9007199254740993'],
  json: [{ b: 1, a: [1.1, -0] }, 1e300, 'a', 0.12345678901234568],
}

function rowsOf(columns: Readonly<Record<string, readonly unknown[]>>): Readonly<Record<string, unknown>>[] {
  const count = Math.max(...Object.values(columns).map(({ length }) => length))
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(Object.entries(columns).map(([name, list]) => [name, list[index] ?? null])),
  )
}

type Write = (row: never, session: Session) => Promise<Stored | undefined>

function controllerOf(model: typeof Stored) {
  const ways: Readonly<Record<string, Write>> = {
    create: (row) => model.create(row),
    async add(row, session) {
      const added = new model(row)
      session.add(added)
      await session.flush()
      return added
    },
    update: async (row) => (await model.create({})).update(row),
    save: async (row) => (await model.create({})).set(row).save(),
    bulkCreate: async (row) => (await model.bulkCreate([row]))[0],
    upsert: async (row: object) => (await model.upsert({ id: 77, ...row }))[0],
  }
  const write = async (way: string, row: object, session: Session) =>
    (await ways[way]?.(row as never, session)) ?? assert.fail(way)

  @Controller('/stored')
  class Rows {
    @Get('/:id', Item.of(model)) async read(id: number) {
      return { data: await model.findByPk(id, { rejectOnEmpty: true }) }
    }

    @Post('/:way', Item.of(model)) async write(way: string, @Body({ type: 'any' }) row: object, session: Session) {
      return { data: await write(way, row, session) }
    }

    @Post('/outside/of/sessions', Item.of(model)) @Transactional(false) async outside(
      @Body({ type: 'any' }) row: object,
    ) {
      return { data: await model.create(row) }
    }
  }
  return { Rows, paths: [...Object.keys(ways), 'outside/of/sessions'] }
}

async function assertSameWhenRead(
  t: TestContext,
  kind: TestDatabase,
  model: typeof Stored,
  rows: readonly object[],
): Promise<void> {
  const { Rows, paths } = controllerOf(model)
  const { fetch, log } = await databaseApp(t, kind, [model], [Rows], { lifespan: { echo: false } })
  for (const path of paths)
    for (const json of rows) {
      const written = await fetch(`/stored/${path}`, { method: 'POST', json })
      const { data } = (await written.json()) as { readonly data: { readonly id: number } }
      assert.equal(written.status, 201, `${path} ${JSON.stringify(json)} ${log.join('\n')}`)
      const read = await fetch(`/stored/${data.id ?? 77}`)
      assert.deepEqual(await read.json(), { data: { ...data, id: data.id ?? 77 } }, `${path} ${JSON.stringify(json)}`)
    }
}

const bareDecimals = ['1.50', '1.0', '-0', '-0.0', 1.5, 1e-7, '0.1234567890123456789', '-19.99']
// Those of MySQL and MariaDB have ten digits.
const longDecimals = ['12345678901234567.5', '9223372036854775807', '-123456789012345678901']

for (const kind of databases)
  test(`${kind.name}: the response of a write has the values that a read has`, (t) => {
    const bareDecimal = [...bareDecimals, ...(mysqls.includes(kind) ? [] : longDecimals)]
    return assertSameWhenRead(t, kind, Stored, rowsOf({ ...values, bareDecimal }))
  })

@Table({ tableName: 'older', timestamps: false })
class Older extends Base<Older> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.FLOAT) declare float: number | null
  @Column(DataType.DOUBLE) declare single: number | null
  @Column(DataType.FLOAT) declare places: number | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.DECIMAL) declare decimal: string | null
  @Column(DataType.DECIMAL(8, 4)) declare coarse: string | null
  @Column(DataType.DATE) declare date: Date | null
  @Column(DataType.DATE(3)) declare second: Date | null
}

const OLDER = `CREATE TABLE older (id INTEGER AUTO_INCREMENT PRIMARY KEY, \`float\` FLOAT, single FLOAT UNSIGNED, places FLOAT(10,2),
  \`double\` DOUBLE(12,2), \`decimal\` DECIMAL(8,1), coarse DECIMAL(8,2), date DATETIME, second DATETIME)`

for (const kind of mysqls)
  test(`${kind.name}: also in a table whose columns keep less than the model declares`, async (t) => {
    const dates = ['2026-01-31T12:00:00.999Z', '1969-12-31T23:59:58.001Z']
    const rows = rowsOf({
      float: singles,
      single: singles.map((value) => Math.abs(Number(value))),
      places: [1.255, 2.675, -2.675, 16777217.126, 0.125],
      double: [1.255, 2.675, -2.675, 16777217.126, 1.005, 0.125],
      decimal: ['1.25', '-1.25', '-0.04', '7'],
      coarse: ['1.0051', '1'],
      date: dates,
      second: dates,
    })
    const compiled = rows.slice(-1).flatMap((row) => dates.map((date) => ({ ...withoutValues(row), date })))
    await assertSameWhenRead(t, { ...kind, url: () => withTable(kind, OLDER) }, Older as never, [...rows, ...compiled]) // another model
  })

async function withTable(kind: TestDatabase, table: string): Promise<string> {
  const url = await kind.url()
  const database = newLifespan(url)
  await database.start()
  await database.sequelize.query(table)
  await database.stop()
  return url
}

function withoutValues(row: object): object {
  return Object.fromEntries(Object.keys(row).map((name) => [name, null]))
}
