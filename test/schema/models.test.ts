import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, DataTypes, Model, Sequelize } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Collection, Controller, createApp, dto, Get, Item, Post, select, Session } from 'sequitur'
import { INSTANT_TEXT } from '../../src/schema/shape/text-formats.js'
import { databaseApp, databases, postgres, sqliteFile } from '../support/databases.js'
import { componentsOf, echo, issuesOf } from '../support/echo.js'

@Table({ tableName: 'everything', timestamps: false })
class Everything extends Base<Everything> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.STRING(20)) declare string: string | null
  @Column(DataType.CHAR(5)) declare char: string | null
  @Column(DataType.TEXT) declare text: string | null
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
  @Column(DataType.JSON) declare json: unknown
  @Column({
    type: DataType.VIRTUAL,
    get(this: Everything) {
      return `${this.string}!`
    },
  })
  declare loud: CreationOptional<string>
  @Column(DataType.VIRTUAL) declare password: CreationOptional<string>
}

class NewEverything extends dto(Everything, { omit: ['loud', 'password'] }) {}

@Controller('/')
class EverythingController {
  @Get('/', Collection.of(Everything)) async list(session: Session) {
    return { data: await session.all(select(Everything, { order: ['id'] })) }
  }
  @Get('/largest-first', [String]) async largestFirst(session: Session) {
    const rows = await session.all(select(Everything, { order: [['bigint', 'DESC']] }))
    return rows.map(({ bigint }) => String(bigint))
  }
  @Post('/', Item.of(Everything)) async create(input: NewEverything, session: Session) {
    const made = session.add(Everything.build(input as never))
    await session.flush()
    return { data: made }
  }
}

const POST = { method: 'POST', headers: { 'content-type': 'application/json' } }

const names = ['string', 'char', 'text', 'smallint', 'integer', 'bigint', 'decimal', 'whole', 'float', 'real', 'double']
const others = ['boolean', 'date', 'precise', 'dateonly', 'time', 'uuid', 'enumeration', 'blob', 'json']
const empty: { string?: string | null } = Object.fromEntries([...names, ...others].map((name) => [name, null]))

const full = {
  string: 'a',
  char: 'ab',
  text: 'A "long" text',
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
  json: { a: [1, null, { b: 'c' }] },
}

/** Rows as they are sent, and as they are answered; what is not said of a row is null. */
const rows: readonly (Readonly<Record<string, unknown>> & { readonly id: number; readonly string?: string | null })[] =
  [
    { ...full, id: 1 },
    { ...empty, id: 2 },
    { ...empty, id: 3, bigint: '9007199254740993', boolean: false, decimal: '-0.0100', json: [] },
    { ...empty, id: 4, bigint: '-9223372036854775808', decimal: '99999999.9999', whole: '-99999', json: 'text' },
    { ...empty, id: 5, bigint: '9223372036854775807', decimal: '0.0000', blob: '', string: '', json: '1' },
    { ...empty, id: 6, json: 1, double: 1e300 },
    { ...empty, id: 7, json: false },
  ]

for (const kind of databases) {
  test(`${kind.name}: a row of every type is answered as it was sent`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Everything], [EverythingController])
    for (const row of rows) {
      const body = JSON.stringify(row)
      const made = await fetch('/', { ...POST, body })
      assert.equal(made.status, 201, log.join('\n'))
      assert.deepEqual(await made.json(), { data: { ...row, loud: `${row.string}!` } })
    }
    const answer = await fetch('/')
    const data = rows.map((row) => ({ ...row, loud: `${row.string}!` }))
    assert.deepEqual(await answer.json(), { data }, log.join('\n'))
  })
}

test('SQLite tells whole numbers beyond 2^53 in the order of their values', async (t) => {
  const { fetch } = await databaseApp(t, sqliteFile, [Everything], [EverythingController])
  const numbers = Array.from({ length: 40 }, (_, index) => 2n ** 53n + BigInt((index * 7) % 40))
  await Everything.bulkCreate(numbers.map((bigint, id) => ({ ...empty, id, bigint: String(bigint) }) as never))
  const sorted = numbers.toSorted((a, b) => Number(b - a)).map(String)
  assert.deepEqual(await (await fetch('/largest-first')).json(), sorted)
})

test('PostgreSQL: arrays are answered as they were sent', async (t) => {
  @Table({ tableName: 'listed', timestamps: false })
  class Listed extends Base<Listed> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.ARRAY(DataType.STRING(3)), allowNull: false }) declare names: string[]
    @Column({ type: DataType.ARRAY(DataType.BIGINT), allowNull: false, defaultValue: [] }) declare numbers: string[]
  }
  class NewListed extends dto(Listed, {}) {}
  @Controller('/')
  class ListedController {
    @Get('/', [Listed]) list() {
      return Listed.findAll()
    }
    @Post('/', Listed) create(input: NewListed) {
      return Listed.create(input as never)
    }
  }
  const { fetch } = await databaseApp(t, postgres, [Listed], [ListedController])
  const create = (row: object) => fetch('/', { ...POST, body: JSON.stringify(row) })
  const row = { id: 1, names: ['a', 'b"c'], numbers: ['9007199254740993'] }
  assert.deepEqual(await (await create(row)).json(), row)
  assert.deepEqual(await (await fetch('/')).json(), [row])
  const refused: unknown = await (await create({ id: 2, names: ['long'] })).json()
  assert.deepEqual(issuesOf({ json: () => refused }), ['/names/0 must have at most 3 characters'])
})

class Ruled extends Model {}
Ruled.init(
  {
    len: { type: DataTypes.STRING(20), validate: { len: [2, 10] } },
    message: { type: DataTypes.STRING, validate: { len: { args: [3, 4], msg: 'three or four' } } },
    notEmpty: { type: DataTypes.TEXT, validate: { notEmpty: true } },
    isEmail: { type: DataTypes.STRING, validate: { isEmail: true } },
    isUrl: { type: DataTypes.STRING, validate: { isUrl: true } },
    isUuid: { type: DataTypes.STRING(36), validate: { isUUID: 4 } },
    isIn: { type: DataTypes.STRING, validate: { isIn: [['a', 'b']] } },
    number: { type: DataTypes.SMALLINT, validate: { min: 1, max: 99_999 } },
    choice: { type: DataTypes.INTEGER, validate: { isIn: [[1, 2]] } },
    is: { type: DataTypes.STRING, validate: { is: /^[a-z]+$/ } },
    text: { type: DataTypes.STRING, validate: { is: ['^[a-z]+$'] } },
    flags: { type: DataTypes.STRING, validate: { is: /^[a-z]+$/i } },
    sticky: { type: DataTypes.STRING, validate: { is: /^[a-z]+$/y } },
    off: { type: DataTypes.STRING, validate: { isEmail: false as never } },
    unsigned: { type: DataTypes.INTEGER.UNSIGNED },
    real: { type: DataTypes.REAL },
    capped: { type: DataTypes.REAL, validate: { min: 0.5 } },
    commented: { type: DataTypes.BOOLEAN, comment: 'Whether it is' },
    day: { type: DataTypes.DATEONLY, defaultValue: DataTypes.NOW },
    uuid: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
    misfit: { type: DataTypes.DATE, defaultValue: 'next week' },
    decimal: { type: DataTypes.DECIMAL(5, 2) },
    whole: { type: DataTypes.DECIMAL(3) },
    fraction: { type: DataTypes.DECIMAL(2, 2) },
  },
  { sequelize: new Sequelize('mariadb://localhost/none', { logging: false }), modelName: 'Ruled' },
)

const ruled: Readonly<Record<string, object>> = {
  len: { type: ['string', 'null'], minLength: 2, maxLength: 10 },
  message: { type: ['string', 'null'], minLength: 3, maxLength: 4 },
  notEmpty: { type: ['string', 'null'], minLength: 1, allOf: [{ pattern: '\\S' }] },
  isEmail: { type: ['string', 'null'], maxLength: 255, format: 'email' },
  isUrl: { type: ['string', 'null'], maxLength: 255 },
  isUuid: { type: ['string', 'null'], maxLength: 36, format: 'uuid' },
  isIn: { type: ['string', 'null'], enum: ['a', 'b', null] },
  number: { type: ['integer', 'null'], minimum: 1, maximum: 32767 },
  choice: { type: ['integer', 'null'], enum: [1, 2, null] },
  is: { type: ['string', 'null'], maxLength: 255, pattern: '^[a-z]+$' },
  text: { type: ['string', 'null'], maxLength: 255, pattern: '^[a-z]+$' },
  flags: { type: ['string', 'null'], maxLength: 255, pattern: '^[a-zA-Z]+$' },
  sticky: { type: ['string', 'null'], maxLength: 255 },
  off: { type: ['string', 'null'], maxLength: 255 },
  unsigned: { type: ['integer', 'null'], minimum: 0, maximum: 4294967295 },
  real: { type: ['number', 'null'], minimum: -3.4028235e38, maximum: 3.4028235e38 },
  capped: { type: ['number', 'null'], minimum: 0.5, maximum: 3.4028235e38 },
  commented: { type: ['boolean', 'null'], description: 'Whether it is' },
  day: { type: ['string', 'null'], format: 'date', pattern: '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}$' },
  uuid: { type: ['string', 'null'], format: 'uuid' },
  misfit: { type: ['string', 'null'], format: 'date-time', pattern: INSTANT_TEXT },
  decimal: { type: ['string', 'null'], pattern: '^-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,2})?$' },
  whole: { type: ['string', 'null'], pattern: '^-?(0|[1-9][0-9]{0,2})$' },
  fraction: { type: ['string', 'null'], pattern: '^-?0(\\.[0-9]{1,2})?$' },
}

class NewRuled extends dto(Ruled, {}) {}
const components = componentsOf(echo(NewRuled, [], Ruled as never).app)

for (const [name, schema] of Object.entries(ruled)) {
  test(`of a model made by init(), the column ${name} is documented as ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(components['Ruled']?.properties[name], schema)
    assert.deepEqual(components['NewRuled']?.properties[name], schema)
  })
}

@Table({ tableName: 'account', timestamps: false })
class Account extends Base<Account> {
  @Column({ type: DataType.STRING(20), primaryKey: true }) declare name: string
  @Column({ type: DataType.VIRTUAL, allowNull: false }) declare password: string
}

test('a virtual column without a getter is taken in and never sent', async () => {
  class NewAccount extends dto(Account, { name: 'NewAccount' }) {}
  const seen: unknown[] = []
  const { app, send } = echo(NewAccount, seen, Account as never)
  assert.equal((await send({ name: 'a', password: 'secret' })).body, '{"name":"a"}')
  assert.deepEqual({ ...(seen[0] as object) }, { name: 'a', password: 'secret' })
  assert.deepEqual(issuesOf(await send({ name: 'a' })), ['/password is required'])
  const anything = ['string', 'number', 'boolean', 'object', 'array']
  assert.deepEqual(componentsOf(app)['NewAccount']?.properties['password'], { type: anything, writeOnly: true })
  assert.deepEqual(Object.keys(componentsOf(app)['Account']?.properties ?? {}), ['name'])
})

const roundings: readonly (readonly [value: unknown, written: string])[] = [
  ['1', '1.00'],
  ['1.005', '1.01'],
  ['-1.005', '-1.01'],
  ['-0.001', '0.00'],
  [1.005, '1.01'],
  [1e-7, '0.00'],
  [99.999, '100.00'],
  [12n, '12.00'],
]

@Table({ tableName: 'price', timestamps: false })
class Price extends Base<Price> {
  @Column({ type: DataType.DECIMAL(6, 2), primaryKey: true }) declare amount: string
}

for (const [value, written] of roundings) {
  test(`a DECIMAL(6, 2) of the ${typeof value} ${String(value)} is sent as ${written}`, async () => {
    @Controller('/')
    class Prices {
      @Get('/', [Price]) list() {
        return [{ amount: value as string }]
      }
    }
    const app = createApp({ controllers: [Prices], logger: false })
    assert.deepEqual((await app.inject('/')).json(), [{ amount: written }])
  })
}
