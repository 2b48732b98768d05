import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Base, Body, Controller, Post, select, Session } from 'sequitur'
import { Op, type WhereOptions } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.JSON, field: 'the_data' }) declare data: unknown
}

@Table({ tableName: 'mark', timestamps: false })
class Mark extends Base<Mark> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Note) @Column(DataType.INTEGER) declare noteId: number
  @BelongsTo(() => Note) declare note?: Note
}

const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id).sort()
const whereData = (data: unknown) => ({ data }) as WhereOptions<Note>

@Controller('/')
class Notes {
  @Post('/tag') async tag(@Body({ type: 'any' }) tag: unknown) {
    return idsOf(await Note.findAll({ where: whereData({ tag }) }))
  }
  @Post('/whole') async whole(@Body({ type: 'any' }) data: unknown, session: Session) {
    return idsOf(await session.all(select(Note, { where: whereData(data) })))
  }
  @Post('/greater') async greater(@Body({ type: 'any' }) body: Readonly<Record<string, unknown>>) {
    const paths = Object.entries(body).map(([key, value]) => [key, { [Op.gt]: value }])
    return idsOf(await Note.findAll({ where: whereData(Object.fromEntries(paths)) }))
  }
  @Post('/in') async in(@Body({ type: 'any' }) body: unknown) {
    return idsOf(await Note.findAll({ where: whereData({ tag: { a: { [Op.in]: [body] } } }) }))
  }
}

const names = [
  'a',
  '',
  '.',
  'a..b',
  'a.',
  '[0]',
  'a[0]',
  "a'b",
  'a"b',
  'a\\b',
  '{a}',
  'a,b',
  '0',
  'a:b',
  ':a',
  '$1',
  'constructor',
]
const types = [
  'x y',
  '',
  'integer',
  'INTEGER',
  'int',
  'bigint',
  'numeric',
  'numeric(5)',
  'double precision',
  'boolean',
  'text',
  'char',
]
const moreTypes = [
  'varchar',
  'nvarchar',
  'date',
  'timestamptz',
  'datetime',
  'json',
  'jsonb',
  'bytea',
  'signed',
  'int[]',
  'integer::x',
]
const keys = [...names, ...[...types, ...moreTypes].map((type) => `a::${type}`), '::', '::integer']
const values = ['x', 1, 1e300, true, null, { b: 1 }, [1]]

for (const kind of databases)
  for (const fastPath of [true, false]) {
    const path = `fastPath ${fastPath}`

    test(`${kind.name}: a JSON column is compared as a whole: ${path}`, async (t) => {
      const app = await databaseApp(t, kind, [Note, Mark], [Notes], { lifespan: { fastPath, echo: false } })
      const stored = ['x', 5, true, { a: 1 }, [1, 2], null]
      await Note.bulkCreate(stored.map((data, id) => ({ id, data })))
      await Mark.bulkCreate(stored.map((_, id) => ({ id, noteId: id })))
      const found = async (data: unknown) => idsOf(await Note.findAll({ where: whereData(data) }))
      for (const [id, data] of ['x', 5, true].entries()) {
        assert.deepEqual(await found(data), [id])
        assert.deepEqual(await (await app.fetch('/whole', { method: 'POST', json: data })).json(), [id])
      }
      assert.deepEqual(await found({ [Op.eq]: { a: 1 } }), [3])
      assert.deepEqual(await found({ [Op.in]: ['x', 5] }), [0, 1])
      assert.deepEqual(await found({ [Op.or]: ['x', { a: 1 }] }), [0, 3])
      assert.deepEqual(await found({ [Op.and]: [{ [Op.ne]: 'x' }, { a: 1 }] }), [3])
      const marks = await Mark.findAll({ include: [{ model: Note, where: whereData('x') }] })
      assert.deepEqual(idsOf(marks), [0])
      await Mark.destroy({ where: {} })
      await Note.update({ data: 'y' }, { where: whereData('x') })
      assert.deepEqual([await found('y'), await Note.destroy({ where: whereData('y') })], [[0], 1])
    })
  }

for (const kind of databases) {
  test(`${kind.name}: whatever a client names, and sends, in a condition of JSON is found, or a 422`, async (t) => {
    const app = await databaseApp(t, kind, [Note, Mark], [Notes], { lifespan: { echo: false } })
    await Note.bulkCreate([{ tag: { a: 'x' } }, { tag: { a: 5 } }, { tag: [1] }, 'x'].map((data, id) => ({ id, data })))
    const post = (to: string, body: unknown) => app.fetch(to, { method: 'POST', json: body })
    const failed: string[] = []
    const ways = ['/tag', '/whole', '/greater']
    for (const [k, key] of keys.entries())
      for (const [v, value] of values.entries())
        // All ways on the first database; on the others each key and each value are sent in all ways, but not each pair.
        for (const to of kind === databases[0] ? ways : ways.filter((_, way) => (k + v) % 3 === way)) {
          const { status } = await post(to, { [key]: value })
          if (status !== 201 && status !== 422) failed.push(`${status} ${to} ${key} ${JSON.stringify(value)}`)
        }
    for (const value of values) {
      const { status } = await post('/in', value)
      if (status !== 201 && status !== 422) failed.push(`${status} /in ${JSON.stringify(value)}`)
    }
    assert.deepEqual(failed, [])
    assert.deepEqual(await (await post('/in', 'x')).json(), [0])
    assert.deepEqual(await (await post('/tag', { a: 'x' })).json(), [0])
    const typed = await post('/tag', { 'a::integer': 5, a: 5 })
    assert.equal(typed.status, kind.name === 'PostgreSQL' ? 422 : 201)
  })

  test(`${kind.name}: a list of a client in a condition of JSON is a 422, an object is compared`, async (t) => {
    const app = await databaseApp(t, kind, [Note, Mark], [Notes])
    await Note.create({ id: 1, data: { tag: { x: 'a' } } })
    const find = (tag: unknown) => app.fetch('/tag', { method: 'POST', json: tag })
    assert.deepEqual(await (await find({ x: 'a' })).json(), [1])
    for (const tag of [[], [1], { x: ['a', { b: 1 }] }])
      assert.equal((await find(tag)).status, 422, JSON.stringify(tag))
  })

  test(`${kind.name}: an empty object of a client is no condition that all rows meet, but a 422`, async (t) => {
    const app = await databaseApp(t, kind, [Note, Mark], [Notes], { lifespan: { echo: false } })
    await Note.bulkCreate([
      { id: 1, data: {} },
      { id: 2, data: { tag: 'x' } },
    ])
    const post = async (to: string, body: unknown) => (await app.fetch(to, { method: 'POST', json: body })).status
    assert.deepEqual([await post('/tag', {}), await post('/tag', { x: {} }), await post('/whole', {})], [422, 422, 422])
    for (const data of [{}, { tag: {} }, { [Op.or]: ['y', {}] }])
      await assert.rejects(Note.destroy({ where: whereData(data) }), /is an empty object, which is not a condition/)
    await assert.rejects(Note.findAll({ where: { [Op.and]: [whereData({})] } }), /not a condition/)
    assert.deepEqual(idsOf(await Note.findAll({ where: whereData({ [Op.eq]: {} }) })), [1])
    assert.equal(await Note.count(), 2)
  })
}
