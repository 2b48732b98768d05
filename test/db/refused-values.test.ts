import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, Op } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, Field, Get, Post, Session, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'

/*
 * Each value of each column has the same status on every database, in conditions and in written rows.
 */

@Table({ tableName: 'sample', timestamps: false })
class Sample extends Base<Sample> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.SMALLINT, field: 'small_number' }) declare small: number | null
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.DECIMAL(5, 2)) declare decimal: string | null
  @Column(DataType.BOOLEAN) declare flag: boolean | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.DATE) declare at: Date | null
  @Column(DataType.DATEONLY) declare day: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('red', 'green')) declare colour: string | null
  @Column(DataType.STRING(3)) declare text: string | null
}

type Values = Readonly<Record<string, unknown>>
type Ways = Readonly<Record<string, (values: never) => Promise<unknown>>>

const conditions: Ways = {
  equal: (values) => Sample.findAll({ where: values }),
  greater: (values) => Sample.findAll({ where: each(values, (value) => ({ [Op.gt]: value })) }),
  in: (values) => Sample.findAll({ where: each(values, (value) => ({ [Op.in]: [value] })) }),
  between: (values) => Sample.findAll({ where: each(values, (value) => ({ [Op.between]: [value, value] })) }),
}

const writes: Ways = {
  create: (values) => Sample.create(values),
  'create without hooks': (values) => Sample.create(values, { hooks: false }),
  bulkCreate: (values) => Sample.bulkCreate([values]),
  save: async (values) => (await Sample.findByPk(1, { rejectOnEmpty: true })).update(values),
  update: (values) => Sample.update(values, { where: { id: 1 } }),
  upsert: (values) => Sample.upsert({ id: 1, ...(values as object) } as never),
}

function each(values: Values, map: (value: unknown) => unknown): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}

class SampleInput {
  @Field({ type: 'any', optional: true }) flag?: unknown
  @Field({ type: 'any', optional: true }) time?: unknown
  @Field({ type: 'any', optional: true }) colour?: unknown
  @Field({ type: 'any', optional: true }) integer?: unknown
  @Field({ type: 'any', optional: true }) big?: unknown
}

@Controller('/')
class Samples {
  @Get('/', [Sample]) all() {
    return Sample.findAll({ order: ['id'] })
  }
  @Get('/keys/:key', [Sample]) async byKey(key: string, session: Session) {
    const row = await session.get(Sample, Number(key))
    return row ? [row] : []
  }
  @Post('/:way') async run(way: string, @Body({ type: 'any' }) values: object) {
    await { ...conditions, ...writes }[way]?.(values as never)
  }
  @Post('/inputs/:way') async runInput(way: string, input: SampleInput) {
    await this.run(way, { ...input })
  }
}

const noInteger = ['x', '', '1.5', '1e2', '0x5', true, {}]

/** What no database takes, in a condition or in a row. */
const impossible: Readonly<Record<string, readonly unknown[]>> = {
  small: [...noInteger, '32768'],
  integer: [...noInteger, '-2147483649'],
  big: [...noInteger, '9223372036854775808'],
  double: ['x', '', '0x5', '1e400', true, {}],
  decimal: ['x', '', '5 EUR', true, {}],
  flag: ['maybe', '', '2', 'o', 2, -1, 1.5, {}],
  time: ['x', '', '25:00', '12:60:00', '12:00:60', '-01:00:00', '12', 12, 'noon', 'now', '12:00 PM', '12:00:00Z', true],
  at: ['x', 9e15],
  day: ['x', '2026-02-30', true],
  uuid: ['x', '', '0198a3c4', 5, true],
  colour: ['zz', '', 'RED', ' red', 'red ', '1', 1, 0, true, {}],
}

/** What may be compared with, and not written. */
const unwritable: Readonly<Record<string, readonly unknown[]>> = {
  small: [1.5, 32768, -1e20],
  integer: [1.5, 2 ** 31, 1e20],
  big: [1.5, 1e20],
  time: ['24:00:00'],
}

/** What can be written, and how it is read; in a condition it finds that row. */
const possible: Readonly<Record<string, readonly (readonly [written: unknown, read: unknown])[]>> = {
  small: [[' -32768 ', -32768]],
  integer: [[2147483647, 2147483647]],
  big: [['+9223372036854775807', '9223372036854775807']],
  double: [['1e3', 1000]],
  flag: [
    ...[true, 1, '1', 'true', 'T', ' Yes ', 'on'].map((yes) => [yes, true] as const),
    ...[false, 0, '0', 'False', 'f', 'n', 'of'].map((no) => [no, false] as const),
  ],
  time: [
    ['12:00:00', '12:00:00'],
    ['23:59', '23:59:00'],
    [' 1:2:3 ', '01:02:03'],
  ],
  uuid: [['0198A3C4-7B1E-7000-8000-00000000000A', '0198a3c4-7b1e-7000-8000-00000000000a']],
  colour: [['red', 'red']],
  text: [['ABC', 'ABC']],
}

for (const kind of databases) {
  test(`${kind.name}: each value has its status, in conditions and in rows`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Sample], [Samples])
    await fetch('/create', { method: 'POST', json: {} })
    const rows = await (await fetch('/')).text()
    const check = async (expected: number, ways: Ways, column: string, value: unknown) => {
      for (const way of Object.keys(ways)) {
        const response = await fetch(`/${way}`, { method: 'POST', json: { [column]: value } })
        assert.equal(response.status, expected, `${way} ${column} ${JSON.stringify(value)} ${log.at(-1)}`)
      }
    }
    const values = (table: Readonly<Record<string, readonly unknown[]>>) =>
      Object.entries(table).flatMap(([column, all]) => all.map((value) => [column, value] as const))
    for (const [column, value] of values(impossible)) await check(422, { ...conditions, ...writes }, column, value)
    for (const [column, value] of values(unwritable)) {
      await check(204, conditions, column, value)
      await check(422, writes, column, value)
    }
    // PostgreSQL's keys are written in a way of their own.
    const { create, bulkCreate } = writes
    await check(422, { create, bulkCreate } as Ways, 'id', 1.5)
    assert.equal(await (await fetch('/')).text(), rows)
  })

  test(`${kind.name}: NaN and infinity are no values of a column of exact numbers`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Sample], [Samples])
    await fetch('/create', { method: 'POST', json: {} })
    for (const column of ['id', 'small', 'integer', 'big', 'decimal'])
      for (const value of [NaN, Infinity, -Infinity])
        for (const [way, run] of Object.entries({ ...conditions, ...writes })) {
          if (column === 'id' && way in writes && !way.includes('reate')) continue // the key of a row is not changed
          const values = { [column]: value } as never
          await assert.rejects(
            withSession(database, () => run(values)),
            { name: /^(?:ImpossibleValueError|SequelizeValidationError)$/ },
            `${way} ${column} ${value}`,
          )
        }
    for (const key of ['abc', 'Infinity']) assert.equal((await fetch(`/keys/${key}`)).status, 422)
  })

  test(`${kind.name}: what a column accepts is read alike, and found by what was written`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Sample], [Samples])
    await fetch('/create', { method: 'POST', json: {} })
    for (const [column, all] of Object.entries(possible))
      for (const [written, read] of all)
        for (const way of ['save', 'update', 'bulkCreate', 'upsert']) {
          const about = `${way} ${column} ${JSON.stringify(written)}`
          await withSession(database, () => Sample.update({ [column]: null }, { where: {} }))
          assert.equal((await fetch(`/${way}`, { method: 'POST', json: { [column]: written } })).status, 204, about)
          const rows = (await (await fetch('/')).json()) as Values[]
          assert.ok(
            rows.some((row) => row[column] === read),
            `${about} ${JSON.stringify(rows)}`,
          )
          assert.equal(await withSession(database, () => Sample.count({ where: { [column]: written } })), 1, about)
        }
  })

  test(`${kind.name}: the error of an object says what to pass`, async (t) => {
    const { database } = await databaseApp(t, kind, [Sample], [])
    const advice = 'Pass a string, a number or a boolean, or an object whose toString() returns the value.'
    const decimal = { toString: () => '1.5' }
    for (const [value, shown] of [
      [{}, 'an object'],
      [decimal, 'the text of the given object'],
    ] as const)
      await assert.rejects(
        withSession(database, () => Sample.increment({ integer: value } as never, { where: { id: 1 } })),
        { name: 'ImpossibleValueError', message: `integer cannot be ${shown}: its type is INTEGER. ${advice}` },
      )
  })

  test(`${kind.name}: the 422 names the input that had the value`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Sample], [Samples])
    for (const [name, value] of Object.entries({ flag: 'maybe', time: '25:00', colour: 'RED', integer: 1.5, big: 1.5 }))
      for (const way of typeof value === 'number' ? ['create'] : ['create', 'equal']) {
        const response = await fetch(`/inputs/${way}`, { method: 'POST', json: { [name]: value } })
        const { errors } = (await response.json()) as { readonly errors: readonly object[] }
        const issue = errors.map((error) => ({ ...error, message: '' }))
        assert.deepEqual(
          [response.status, issue],
          [422, [{ in: 'body', path: `/${name}`, message: '' }]],
          `${way} ${name}`,
        )
      }
  })
}
