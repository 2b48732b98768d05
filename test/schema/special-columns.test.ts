import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Collection, Controller, dto, Field, Get, Item, Post, Session, select } from 'sequitur'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { componentsOf, echo, issuesOf } from '../support/echo.js'
import { newAjv, newAjvWithFormats } from '../support/json-schema.js'

/** A column of one type: what it takes, and what it refuses. */
interface Special {
  readonly type: unknown
  readonly good: readonly unknown[]
  readonly bad: readonly unknown[]
  /** What the document cannot say of what is refused. */
  readonly undocumented?: readonly unknown[]
}

const range = (lower: unknown, upper: unknown, inclusive = [true, false]) => [
  { value: lower, inclusive: inclusive[0] },
  { value: upper, inclusive: inclusive[1] },
]
/** What is taken, and read back as something else. */
class Read {
  constructor(
    readonly given: unknown,
    readonly read: unknown,
  ) {}
}
const injected = "1'||(SELECT 1)||'"

const ofPostgres: Readonly<Record<string, Special>> = {
  integers: {
    type: DataType.RANGE(DataType.INTEGER),
    good: [range(1, 5), [], range(null, 5, [false, false]), new Read(range(1, 5, [true, true]), range(1, 6))],
    bad: [
      3,
      'x',
      {},
      [1, 5],
      [range(1, 5)[0]],
      [...range(1, 5), ...range(1, 5)],
      range(injected, 5),
      range(1.5, 5),
      range(1, 2 ** 31),
      range(1, 5, [null, false] as never),
      [{ value: 1 }, {}],
    ],
  },
  bigints: {
    type: DataType.RANGE(DataType.BIGINT),
    good: [range('1', '9223372036854775807')],
    bad: [range(1, 5), range('1.5', '2'), range(injected, '5')],
  },
  decimals: {
    type: DataType.RANGE(DataType.DECIMAL),
    good: [range('1.50', '2.25')],
    bad: [range(1, 2), range(injected, null)],
  },
  times: {
    type: DataType.RANGE(DataType.DATE),
    good: [range('2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'), range(null, null, [false, false])],
    bad: [range('2026-01-01', '2026-02-01'), range(injected, null)],
  },
  days: {
    type: DataType.RANGE(DataType.DATEONLY),
    good: [range('2026-01-01', '2026-02-01')],
    bad: [range(injected, null)],
  },
  lists: {
    type: DataType.ARRAY(DataType.RANGE(DataType.INTEGER)),
    good: [[range(1, 5)]],
    bad: [[range(injected, 5)], [[1, 5]]],
  },
  inet: {
    type: DataType.INET,
    good: ['10.0.0.1', '10.0.0.1/8', '::1', '2001:db8::/32'],
    bad: ['x', '', '10.0.0', 1],
    undocumented: ['10.0.0.1/33', '10.0.0.1/8/8'],
  },
  cidr: { type: DataType.CIDR, good: ['10.0.0.0/8', '::/0'], bad: ['x', '10.0.0.0', 1], undocumented: ['10.0.0.0/33'] },
  macaddr: {
    type: DataType.MACADDR,
    good: ['08:00:2b:01:02:03', new Read('08-00-2B-01-02-03', '08:00:2b:01:02:03')],
    bad: ['x', '08:00:2b:01:02', '08:00-2b:01-02:03', 1],
  },
  tsvector: {
    type: DataType.TSVECTOR,
    good: ['', "'a' 'cat':3", "'it''s':1A,2", new Read('b a', "'a' 'b'")],
    bad: [1, { a: 1 }],
    undocumented: ["a 'b", 'a:b', '\\', "'", ':1', 'a:0', 'a:1,0', 'a'.repeat(3000), `'${'ä'.repeat(1100)}'`],
  },
}

const path = [
  [0, 0],
  [1, 1],
]
const ring = [...path, [1, 0], [0, 0]]
const shapes = {
  Point: [1, 2.5],
  LineString: path,
  MultiPoint: [[1, 2]],
  Polygon: [ring],
  MultiLineString: [path, path],
  MultiPolygon: [[ring], [ring, ring]],
}
const geometries = Object.entries(shapes).map(([type, coordinates]) => ({ type, coordinates }))
const [point, line] = geometries

const ofMariadb: Readonly<Record<string, Special>> = {
  geometry: {
    type: DataType.GEOMETRY,
    good: [...geometries, { type: 'GeometryCollection', geometries }],
    bad: [
      1,
      'x',
      [],
      {},
      { type: 'X' },
      { type: 'Point' },
      { ...point, coordinates: [1] },
      { ...point, coordinates: [] },
      { ...point, coordinates: [1, 2, 3] },
      { ...point, coordinates: ['1', 2] },
      { ...line, coordinates: [[0, 0]] },
    ],
    undocumented: [
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      },
      { type: 'GeometryCollection', geometries: [{}] },
    ],
  },
  point: {
    type: DataType.GEOMETRY('POINT'),
    good: [point],
    bad: [line, { type: 'GeometryCollection', geometries: [point] }],
  },
}

const ofNeither: Readonly<Record<string, Special>> = {
  hstore: { type: DataType.HSTORE, good: [{}, { a: '1', b: null }], bad: [1, 'a', [], { a: 1 }, { a: {} }] },
}

for (const [name, { type, good, bad, undocumented = [] }] of Object.entries({
  ...ofPostgres,
  ...ofMariadb,
  ...ofNeither,
})) {
  test(`a column of ${name} takes what its document says`, async () => {
    const { NewOne } = modelOf({ [name]: { type } as never })
    const { app, send } = echo(NewOne)
    const ajv = newAjvWithFormats()
    const documented = ajv.compile(componentsOf(app)['NewOne'] ?? {})
    for (const given of [...good.map((one) => (one instanceof Read ? one.given : one)), null]) {
      const response = await send({ [name]: given })
      assert.deepEqual([response.statusCode, response.json()], [201, { [name]: given }])
      assert.ok(documented({ [name]: given }), JSON.stringify([given, documented.errors]))
    }
    for (const given of [...bad, ...undocumented]) {
      const response = await send({ [name]: given })
      assert.equal(response.statusCode, 422, JSON.stringify(given))
      assert.ok(issuesOf(response).every((issue) => issue.startsWith(`/${name}`)))
      if (bad.includes(given)) assert.ok(!documented({ [name]: given }), JSON.stringify(given))
    }
  })
}

for (const type of [DataType.JSON, DataType.JSONB]) {
  test(`a column of ${type.key} that is never null refuses null both ways, and its document does`, async () => {
    const { NewOne } = modelOf({ json: { type, allowNull: false } as never })
    const { app, send } = echo(NewOne)
    const documented = newAjv().compile(componentsOf(app)['NewOne'] ?? {})
    for (const json of ['a', 1.5, 0, false, {}, [], [null]]) {
      assert.deepEqual((await send({ json })).json(), { json })
      assert.ok(documented({ json }))
    }
    assert.deepEqual(issuesOf(await send({ json: null })), ['/json must not be null'])
    assert.ok(!documented({ json: null }))
    const anything = class Anything {}
    Field({ type: 'any' })(anything.prototype, 'json')
    assert.equal((await echo(anything, [], NewOne).send({ json: null })).statusCode, 500)
  })
}

for (const kind of databases) {
  const specials = kind === postgres ? ofPostgres : kind.name.startsWith('MariaDB') ? ofMariadb : {}
  for (const [name, { type, good }] of Object.entries(specials)) {
    test(`${kind.name}: what a column of ${name} took is read back, also when it came in a list`, async (t) => {
      const { One, NewOne } = modelOf({ [name]: { type } as never })
      @Controller('/')
      class Ones {
        @Post('/', Item.of(One)) async create(input: object) {
          return { data: await One.create(input as never) }
        }
        @Post('/list', Collection.of(One)) async list(input: object[]) {
          return { data: await One.bulkCreate(input as never) }
        }
        @Get('/', [One]) all(session: Session) {
          return session.all(select(One, { order: ['id'] }))
        }
      }
      Body({ type: NewOne })(Ones.prototype, 'create', 0)
      Body({ type: [NewOne] })(Ones.prototype, 'list', 0)
      const { fetch } = await databaseApp(t, kind, [One], [Ones])
      const given = good.map((one) => ({ [name]: one instanceof Read ? one.given : one }))
      for (const one of given)
        assert.equal((await fetch('/', { method: 'POST', json: one })).status, 201, JSON.stringify(one))
      assert.equal((await fetch('/list', { method: 'POST', json: given })).status, 201)
      const expected = good.map((one) => (one instanceof Read ? one.read : one))
      const rows = (await (await fetch('/')).json()) as Record<string, unknown>[]
      assert.deepEqual(
        rows.map((row) => row[name]),
        [...expected, ...expected],
      )
    })
  }
}

test('PostgreSQL: a range whose bounds are exchanged, and lists of different lengths, are a 422', async (t) => {
  const { One, NewOne } = modelOf({
    range: { type: DataType.RANGE(DataType.INTEGER) } as never,
    lists: { type: DataType.ARRAY(DataType.ARRAY(DataType.INTEGER)) } as never,
  })
  @Controller('/')
  class Ones {
    @Post('/', Item.of(One)) async create(input: object) {
      return { data: await One.create(input as never) }
    }
    @Post('/list', Collection.of(One)) async list(input: object[]) {
      return { data: await One.bulkCreate(input as never) }
    }
  }
  Body({ type: NewOne })(Ones.prototype, 'create', 0)
  Body({ type: [NewOne] })(Ones.prototype, 'list', 0)
  const { fetch } = await databaseApp(t, postgres, [One], [Ones])
  for (const json of [{ range: range(5, 1) }, { lists: [[1], [2, 3]] }]) {
    assert.equal((await fetch('/', { method: 'POST', json })).status, 422)
    assert.equal((await fetch('/list', { method: 'POST', json: [json] })).status, 422)
  }
})

function modelOf(columns: Readonly<Record<string, never>>) {
  @Table({ tableName: 'one', timestamps: false })
  class One extends Base<One> {
    @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  }
  for (const [name, options] of Object.entries(columns)) Column(options)(One.prototype, name)
  class NewOne extends dto(One, { omit: ['id'] }) {}
  return { One, NewOne }
}
