import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, literal, QueryTypes } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Get, Item, Page, Paginate, Post, select, Session, sql } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { conformsTo } from '../support/documented.js'

/** Every type that all databases have, with and without a value. */
@Table({ tableName: 'everything', timestamps: false })
class Everything extends Base<Everything> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.STRING(20)) declare string: string | null
  @Column(DataType.STRING(20, true)) declare binary: string | null
  @Column(DataType.CHAR(5)) declare char: string | null
  @Column(DataType.TEXT) declare text: string | null
  @Column(DataType.TEXT('tiny')) declare tinytext: string | null
  @Column(DataType.SMALLINT) declare smallint: number | null
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare bigint: string | null
  @Column(DataType.DECIMAL(12, 4)) declare decimal: string | null
  @Column(DataType.DECIMAL(5)) declare whole: string | null
  @Column(DataType.FLOAT) declare float: number | null
  @Column(DataType.REAL) declare real: number | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.BOOLEAN) declare boolean: boolean | null
  @Column(DataType.DATE) declare date: Date | null
  @Column(DataType.DATE(3)) declare precise: Date | null
  @Column(DataType.DATEONLY) declare dateonly: string | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('red', 'green')) declare enumeration: 'red' | 'green' | null
  @Column(DataType.BLOB) declare blob: Buffer | null
  @Column(DataType.BLOB('tiny')) declare tinyblob: Buffer | null
  @Column(DataType.JSON) declare json: unknown
  @Column({ type: DataType.STRING(9), allowNull: false, defaultValue: 'given' }) declare given: CreationOptional<string>
  @Column({ type: DataType.STRING(9), allowNull: false, defaultValue: literal("'computed'") })
  declare computed: CreationOptional<string>
  @Column({ type: DataType.STRING, field: 'another_name' }) declare renamed: string | null
}

class NewEverything extends dto(Everything, { omit: ['id'] }) {}
class EverythingView extends dto(Everything, {}) {}

@Controller('/')
class Everythings {
  @Post('/model', Everything) createModel(input: NewEverything) {
    return Everything.create(input as never)
  }
  @Post('/dto', EverythingView) async createDto(input: NewEverything, session: Session) {
    const made = session.add(Everything.build(input as never))
    await session.flush()
    return made
  }
  @Post('/item', Item.of(EverythingView)) async createItem(input: NewEverything) {
    return { data: await Everything.create(input as never) }
  }
  @Get('/model', [Everything]) model(session: Session) {
    return session.all(select(Everything, { order: ['id'] }))
  }
  @Get('/dto', [EverythingView]) view(session: Session) {
    return session.all(select(Everything, { order: ['id'] }))
  }
  @Get('/page', Page.of(Everything)) page(paginate: Paginate<Everything>) {
    return paginate(select(Everything, { order: ['id'] }))
  }
  @Get('/dto-page', Page.of(EverythingView)) viewPage(paginate: Paginate<EverythingView>) {
    return paginate(select(Everything, { order: ['id'] }))
  }
  @Get('/sql', [Everything]) async sql(session: Session) {
    const rows = await session.execute<never>(sql`SELECT *, another_name AS renamed FROM everything ORDER BY id`)
    return rows as Everything[]
  }
  @Get('/sql-page', Page.of(EverythingView)) sqlPage(paginate: Paginate<EverythingView>) {
    return paginate(sql<never>`SELECT *, another_name AS renamed FROM everything ORDER BY id`)
  }
  @Get('/mapped', [Everything]) mapped(session: Session) {
    const text = 'SELECT * FROM everything ORDER BY id'
    return session.sequelize.query(text, { model: Everything, mapToModel: true, type: QueryTypes.SELECT })
  }
  @Get('/raw', [EverythingView]) raw() {
    return Everything.findAll({ raw: true, order: ['id'] })
  }
}

const full = {
  string: 'a',
  binary: 'bin',
  char: 'ab',
  text: 'A "long" text',
  tinytext: '',
  smallint: -32768,
  integer: 2147483647,
  bigint: '12',
  decimal: '12.5000',
  whole: '12',
  float: 1.5,
  real: 0.25,
  double: 0.1,
  boolean: true,
  date: '2026-01-31T12:00:00.000Z',
  precise: '2026-01-31T12:00:00.123Z',
  dateonly: '2026-01-31',
  time: '23:59:58',
  uuid: '0198a3c4-7b1e-7000-8000-000000000001',
  enumeration: 'green',
  blob: 'AP8=',
  tinyblob: '',
  json: { a: [1, null, { b: 'c' }] },
  given: 'said',
  computed: 'said',
  renamed: 'name',
}

const empty: object = Object.fromEntries(Object.keys(full).map((name) => [name, null]))

/** Rows as they are sent; what is left out becomes null, or what its column says. */
const rows: readonly object[] = [
  full,
  {},
  { ...empty, given: 'said', computed: 'said' },
  { bigint: '9007199254740993', boolean: false, decimal: '-0.0100', json: [] },
  { bigint: '-9223372036854775808', decimal: '99999999.9999', whole: '-99999', json: 'text' },
  { bigint: '9223372036854775807', decimal: '0.0000', blob: '', string: '', json: '1', dateonly: '0050-02-28' },
  { json: 1, double: 1e300, date: '1969-12-31T23:59:59.000Z', time: '00:00:00' },
  { json: false, char: '', uuid: '0198A3C4-7B1E-7000-8000-000000000001'.toLowerCase() },
  { json: { deep: '{"not":"parsed"}' }, text: '{"a":1}', string: 'null', tinytext: '12' },
]

const answered = rows.map((row, index) => ({
  id: index + 1,
  ...empty,
  given: 'given',
  computed: 'computed',
  ...row,
}))

const reads = ['/model', '/dto', '/page', '/dto-page', '/sql', '/sql-page', '/mapped', '/raw']
const writes = ['/model', '/dto', '/item']

for (const kind of databases) {
  for (const echo of [true, false]) {
    test(`${kind.name}${echo ? ', logged' : ''}: the same rows give the same JSON, however they are read`, async (t) => {
      const app = await databaseApp(t, kind, [Everything], [Everythings], { lifespan: { echo } })
      const conforms = conformsTo(app.app)
      for (const [index, row] of rows.entries()) {
        const path = writes[index % writes.length] as string
        const body = JSON.stringify(row)
        const made = await app.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        const text = await made.text()
        assert.equal(made.status, 201, `${path} ${body} ${text} ${app.log.join('\n')}`)
        conforms('post', path, made, text)
        const json = JSON.parse(text) as { data?: object }
        assert.deepEqual(path === '/item' ? json.data : json, answered[index], `${path} ${body}`)
      }
      for (const path of reads) {
        const response = await app.fetch(path)
        const text = await response.text()
        assert.equal(response.status, 200, `${path} ${text} ${app.log.join('\n')}`)
        conforms('get', path, response, text)
        const data = /"data":(\[.*\]),"meta"/s.exec(text)?.[1] ?? text
        assert.equal(data, JSON.stringify(answered), path)
      }
    })
  }
}
