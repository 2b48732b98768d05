import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cast, col, fn, json, type ModelStatic, Op, where } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Post, select, Session, withSession } from 'sequitur'
import { escapeEveryValue } from '../../src/db/sequelize/value-literals.js'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { runs } from '../support/fuzz.js'

@Table({ tableName: 'dated', timestamps: false })
class Dated extends Base<Dated> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.DATE) declare at: Date
  @Column(DataType.DATEONLY) declare day: string
}

@Table({ tableName: 'thing', timestamps: false })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column(DataType.TEXT) declare text: unknown
  @Column(DataType.JSON) declare meta: unknown
  @Column(DataType.DOUBLE) declare double: unknown
  @Column(DataType.DECIMAL) declare decimal: unknown
  @Column(DataType.BIGINT) declare bigint: unknown
  @Column(DataType.BOOLEAN) declare boolean: unknown
  @Column(DataType.DATE) declare date: unknown
  @Column(DataType.DATEONLY) declare dateonly: unknown
  @Column(DataType.TIME) declare time: unknown
  @Column(DataType.BLOB) declare blob: unknown
  @Column(DataType.UUID) declare uuid: unknown
  @Column(DataType.ENUM('a', 'b')) declare enumeration: unknown
}

@Table({ tableName: 'special', timestamps: false })
class Special extends Base<Special> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column(DataType.JSONB) declare meta: unknown
  @Column(DataType.RANGE(DataType.INTEGER)) declare integers: unknown
  @Column(DataType.RANGE(DataType.BIGINT)) declare bigints: unknown
  @Column(DataType.RANGE(DataType.DECIMAL)) declare decimals: unknown
  @Column(DataType.RANGE(DataType.DATE)) declare dates: unknown
  @Column(DataType.RANGE(DataType.DATEONLY)) declare days: unknown
  @Column(DataType.ARRAY(DataType.RANGE(DataType.INTEGER))) declare ranges: unknown
  @Column(DataType.ARRAY(DataType.TEXT)) declare texts: unknown
  @Column(DataType.ARRAY(DataType.DOUBLE)) declare doubles: unknown
  @Column(DataType.ARRAY(DataType.JSONB)) declare metas: unknown
  @Column(DataType.INET) declare inet: unknown
  @Column(DataType.CIDR) declare cidr: unknown
  @Column(DataType.MACADDR) declare macaddr: unknown
  @Column(DataType.TSVECTOR) declare words: unknown
}

/** What Sequelize's types leave out: the texts of its statements. */
interface Generator {
  selectQuery(table: unknown, options: object, model: unknown): string
  bulkInsertQuery(table: unknown, rows: object[], options: object, attributes: object): string
  insertQuery(table: unknown, values: object, attributes: object, options: object): { readonly query: string }
  updateQuery(
    table: unknown,
    values: object,
    where: object,
    options: object,
    attributes: object,
  ): { readonly query: string }
  deleteQuery(table: unknown, where: object, options: object, model: unknown): string
  arithmeticQuery(operator: string, table: unknown, where: object, by: object, set: object, options: object): string
}

const generatorOf = (model: ModelStatic<Base>) => (model as unknown as { queryGenerator: Generator }).queryGenerator

/** Forms in which a text of a client can come where a program takes any JSON for a value. */
const forms: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => `9${text}`,
  (text) => [text],
  (text) => [text, text],
  (text) => [[text, text]],
  (text) => ({ a: text }),
  (text) => ({ a: { b: [text] } }),
  (text) => ({ value: text, inclusive: true }),
  (text) => [
    { value: text, inclusive: text },
    { value: null, inclusive: false },
  ],
  (text) => [[{ value: [text] }, { value: { value: text } }]],
]

const operators: readonly symbol[] = (
  'eq ne is not gt lt between in notIn any all or and like startsWith substring regexp match ' +
  'contains contained overlap adjacent strictLeft strictRight noExtendLeft noExtendRight'
)
  .split(' ')
  .map((name) => Op[name as keyof typeof Op])

const ways: readonly ((model: ModelStatic<Base>, name: string, value: unknown, operator: symbol) => string)[] = [
  (model, name, value) => selecting(model, { [name]: value }),
  (model, name, value, operator) => selecting(model, { [name]: { [operator]: value } }),
  (model, name, value, operator) => selecting(model, { [name]: { [operator]: { [Op.any]: value } } }),
  (model, name, value) => selecting(model, { [name]: { [Op.any]: { [Op.values]: value } } }),
  (model, _, value) => selecting(model, where(fn('lower', col('id')), value as string)),
  (model, _, value) => selecting(model, where(fn('concat', value), '=', 'x')),
  (model, _, value) => selecting(model, where(cast(value, 'char'), '=', 'x')),
  (model, _, value) => selecting(model, json({ meta: { a: value } })),
  (model, _, value) => selecting(model, json('meta.a', value as string)),
  (model, _, value) => generatorOf(model).selectQuery('t', { attributes: ['id'], limit: value, offset: value }, model),
  (model, name, value) =>
    generatorOf(model).bulkInsertQuery('t', [{ [name]: value }], {}, { [name]: model.getAttributes()[name as never] }),
  (model, name, value) => generatorOf(model).insertQuery('t', { [name]: value }, model.getAttributes(), {}).query,
  (model, name, value) =>
    generatorOf(model).insertQuery('t', { [name]: value }, model.getAttributes(), { bindParam: false }).query,
  (model, name, value, operator) =>
    generatorOf(model).updateQuery(
      't',
      { [name]: value },
      { [name]: { [operator]: value } },
      { model },
      model.getAttributes(),
    ).query,
  (model, name, value) => generatorOf(model).deleteQuery('t', { [name]: value }, {}, model),
  (model, name, value) => generatorOf(model).arithmeticQuery('+', 't', { id: 1 }, { [name]: value }, {}, {}),
]

function selecting(model: ModelStatic<Base>, condition: unknown): string {
  return generatorOf(model).selectQuery('t', { attributes: ['id'], where: condition }, model)
}

const LITERALS = /E'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`/g
const LITERALS_OF_MYSQL = /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|`[^`]*`/g

/** The statement without what is quoted in it; undefined where none is written. */
function outlineOf(dialect: string, write: () => string): string | undefined {
  const literals = /mysql|mariadb/.test(dialect) ? LITERALS_OF_MYSQL : LITERALS
  try {
    return write().replaceAll(literals, '?')
  } catch {
    return undefined // a value of this form is refused
  }
}

const hostile = fc
  .array(
    fc.constantFrom(
      "'",
      "''",
      '"',
      '`',
      '\\',
      '$1',
      '$$',
      ')',
      '(',
      ',',
      '--',
      '/*',
      ' OR 1=1 ',
      ';',
      '::',
      '\n',
      '{',
      '}',
      'x',
    ),
  )
  .map((parts) => `${parts.join('')}x`)

// The first test: Moment prints its warning once in a process.
for (const kind of databases) {
  test(`${kind.name}: a string that is not a date is not printed`, async (t) => {
    const printed = ['warn', 'error', 'log'].map((name) => t.mock.method(console, name as 'warn', () => {}))
    const { database } = await databaseApp(t, kind, [Dated], [])
    for (const column of ['at', 'day'])
      for (const text of ['x\nGET /forged', 'Jan 1 2024 (\u001b[31m)', '2024-01-01T00:00:00Z', '2024-01-01']) {
        const value = { [column]: text } as never
        const uses: readonly ((session: Session) => Promise<unknown>)[] = [
          (session) => session.all(select(Dated, { where: value })),
          () => Dated.create(value),
          () => Dated.build(value, { raw: true }).save({ validate: false }),
          () => Dated.update(value, { where: {} }),
          () => Dated.update(value, { where: {}, validate: false }),
        ]
        for (const use of uses) await withSession(database, use).catch(() => {}) // a database may refuse what is no date
      }
    assert.deepEqual(
      printed.map(({ mock }) => mock.callCount()),
      [0, 0, 0],
    )
  })
}

for (const kind of databases) {
  test(`${kind.name}: whatever a value holds, only what is quoted differs in the statement`, async (t) => {
    const models = (kind === postgres ? [Thing, Special] : [Thing]) as (typeof Base & ModelStatic<Base>)[]
    const { database } = await databaseApp(t, kind, models, [])
    const dialect = database.sequelize.getDialect()
    const columns = models.flatMap((model) => Object.keys(model.getAttributes()).map((name) => [model, name] as const))
    const differs = fc.property(
      hostile,
      fc.constantFrom(...columns),
      fc.constantFrom(...forms),
      fc.constantFrom(...operators),
      fc.constantFrom(...ways),
      (text, [model, name], form, operator, way) => {
        const outline = outlineOf(dialect, () => way(model, name, form(text), operator))
        const plain = outlineOf(dialect, () => way(model, name, form('x'.repeat(text.length)), operator))
        // Undefined: the column cannot have the value, such as a BIGINT, and no statement is sent.
        if (outline !== undefined && plain !== undefined) assert.equal(outline, plain)
      },
    )
    fc.assert(differs, { numRuns: runs(5_000) })
  })
}

@Table({ tableName: 'offer', timestamps: false })
class Offer extends Base<Offer> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column(DataType.RANGE(DataType.DECIMAL)) declare price: unknown
}

test('PostgreSQL: a text of a client beside a range is a value, and refused as one', async (t) => {
  @Controller('/')
  class Offers {
    @Get() find(price: string) {
      return Offer.count({ where: { price: { [Op.contains]: price } } as never })
    }
  }
  const { fetch, database } = await databaseApp(t, postgres, [Offer], [Offers])
  await withSession(database, () => Offer.bulkCreate([{ price: [1, 5] }, { price: [7, 8] }] as never))
  const found = async (price: string) => {
    const answer = await fetch(`/?price=${encodeURIComponent(price)}`)
    return answer.ok ? answer.json() : answer.status
  }
  assert.equal(await found('4.5'), 1)
  for (const text of ["9'::numeric OR 1=1 -- ", "9' OR '1'='1", "4'::numeric; DELETE FROM offer; --", '\\'])
    assert.equal(await found(text), 422)
  assert.equal(await withSession(database, () => Offer.count()), 2)
})

const ranges = {
  integers: [
    [1, 5],
    [],
    [
      { value: 1, inclusive: false },
      { value: null, inclusive: false },
    ],
    [null, null],
  ],
  bigints: [['1', '9223372036854775806']],
  decimals: [
    ['1.50', '2.25'],
    [-Infinity, Infinity],
    [
      { value: '1', inclusive: true },
      { value: '2', inclusive: true },
    ],
  ],
  dates: [
    [new Date('2026-01-01'), new Date('2026-02-01')],
    [new Date('2026-01-01'), Infinity],
  ],
  days: [
    ['2026-01-01', '2026-02-01'],
    [-Infinity, '2026-02-01'],
  ],
  ranges: [
    [],
    [
      [1, 5],
      [null, 3],
    ],
  ],
}

test('PostgreSQL: a range that is written into the text is the same as one that is sent beside it', async (t) => {
  const { database } = await databaseApp(t, postgres, [Special], [])
  await withSession(database, async () => {
    for (const [name, values] of Object.entries(ranges))
      for (const value of values) {
        const { id } = await Special.create({ [name]: structuredClone(value) } as never)
        await Special.bulkCreate([{ [name]: structuredClone(value) }] as never)
        const where = { [name]: { [Op.eq]: structuredClone(value) } } as never
        const [sent, written] = await Special.findAll({ where: { id: { [Op.gte]: id } }, order: ['id'] })
        assert.deepEqual(written?.get(name), sent?.get(name))
        assert.ok((await Special.count({ where })) >= 2, `${name} ${JSON.stringify(value)}`)
      }
  })
})

test('PostgreSQL: the key of a row of bulkCreate() is a value', async (t) => {
  @Controller('/')
  class Things {
    @Post('/:id') async add(id: string) {
      await Thing.bulkCreate([{ id, text: 'mine' }, { text: 'yours' }] as never)
    }
    @Get() list(session: Session) {
      return session.all(select(Thing, { attributes: ['id', 'text'], order: ['id'], raw: true }))
    }
  }
  const { fetch } = await databaseApp(t, postgres, [Thing], [Things])
  const add = async (id: string) => (await fetch(`/${encodeURIComponent(id)}`, { method: 'POST' })).status
  assert.equal(await add("5, 'stolen'), (6"), 422)
  assert.equal(await add('(SELECT 7)'), 422)
  assert.equal(await add('8'), 204)
  assert.deepEqual(await (await fetch('/')).json(), [
    { id: 1, text: 'yours' },
    { id: 8, text: 'mine' },
  ])
})

for (const kind of databases) {
  test(`${kind.name}: the conditions of json() are values`, async (t) => {
    const { database } = await databaseApp(t, kind, [Thing], [])
    const texts = ["it's", "' OR 1=1 -- ", '5', 'true', '\\', '$1']
    await withSession(database, async () => {
      await Thing.bulkCreate(texts.map((a) => ({ meta: { a } })) as never)
      for (const a of texts) {
        const found = await Thing.findAll({ where: json({ meta: { a } }) as never })
        assert.deepEqual(
          found.map(({ meta }) => meta),
          [{ a }],
        )
      }
    })
  })
}

test('what HSTORE holds is a text, whatever the client sent', () => {
  // The package that Sequelize needs for HSTORE escapes texts, and nothing else.
  class Hstore {
    readonly key = 'HSTORE'
    readonly escape = false
    _value(values: object) {
      const texts = Object.entries(values).map(([key, value]) => {
        const text = typeof value === 'string' ? value.replaceAll("'", "''") : String(value)
        return `"${key}"=>"${text}"`
      })
      return texts.join(',')
    }
  }
  const generator = {
    escape: (value: object, { type }: { type: Hstore }) => `'${type._value(value)}'`,
    handleSequelizeMethod() {},
    insertQuery() {},
    updateQuery() {},
  }
  // As much of a Sequelize instance as is used.
  escapeEveryValue({ dialect: { supports: {}, queryGenerator: generator } } as never)
  const literal = generator.escape({ a: ["x' OR 1=1 -- "], b: 5, c: null }, { type: new Hstore() })
  assert.equal(literal, `'"a"=>"x'' OR 1=1 -- ","b"=>"5","c"=>"null"'`)
})
