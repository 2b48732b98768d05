import { modelInternals } from '../../src/db/sequelize/internals.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, literal } from 'sequelize'
import { AfterFind, BelongsTo, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Field, Get, Page, Paginate, reply, select } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { type DatabaseApp, databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { markAsInherited } from '../../src/db/sequelize/own-methods.js'

/*
 * A page that a handler returns unread is sent without building instances of the model. Its JSON must equal that of a page whose `data`
 * the handler has read, which has instances.
 */

@Table({ tableName: 'wide', timestamps: false })
class Wide extends Base<Wide> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.STRING(20)) declare string: string | null
  @Column(DataType.CHAR(5)) declare char: string | null
  @Column(DataType.TEXT) declare text: string | null
  @Column(DataType.SMALLINT) declare smallint: number | null
  @Column({ type: DataType.INTEGER, field: 'an_integer' }) declare integer: number | null
  @Column(DataType.BIGINT) declare bigint: string | null
  @Column(DataType.DECIMAL(12, 4)) declare decimal: string | null
  @Column(DataType.FLOAT) declare float: number | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column({ type: DataType.BOOLEAN, field: 'is_alive' }) declare boolean: boolean | null
  @Column(DataType.DATE) declare date: Date | null
  @Column(DataType.DATE(6)) declare precise: Date | null
  @Column(DataType.DATEONLY) declare dateonly: string | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('red', 'green')) declare enumeration: string | null
  @Column(DataType.BLOB) declare blob: Buffer | null
  @Column(DataType.JSON) declare json: unknown
}

class AnyOf {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'any' }) boolean!: unknown
  @Field({ type: 'any' }) date!: unknown
  @Field({ type: 'any' }) bigint!: unknown
  @Field({ type: 'any' }) decimal!: unknown
  @Field({ type: 'any' }) json!: unknown
}
class Misfit {
  @Field({ type: 'integer' }) boolean!: number
}

const order = ['id']

@Controller('/wide')
class Lists {
  @Get('/offset', Page.of(Wide)) async offset(paginate: Paginate<Wide>, look: boolean = false) {
    return seen(await paginate(select(Wide, { order })), look)
  }
  @Get('/cursor', CursorPage.of(Wide)) async cursor(paginate: CursorPaginate<Wide>, look: boolean = false) {
    return seen(await paginate(select(Wide, { order: ['date', 'boolean', 'decimal'] })), look)
  }
  @Get('/any', Page.of(AnyOf)) async any(paginate: Paginate<AnyOf>, look: boolean = false) {
    return seen(await paginate(select(Wide, { order }) as never), look)
  }
  @Get('/misfit', Page.of(Misfit)) async misfit(paginate: Paginate<Misfit>, look: boolean = false) {
    return seen(await paginate(select(Wide, { order }) as never), look)
  }
  @Get('/unscoped', Page.of(Wide)) async unscoped(paginate: Paginate<Wide>, look: boolean = false) {
    return seen(await paginate(select(Wide.unscoped() as typeof Wide, { order, where: { boolean: true } })), look)
  }
  @Get('/reply', Page.of(Wide)) async reply(paginate: Paginate<Wide>, look: boolean = false) {
    return reply(seen(await paginate(select(Wide, { order })), look), { headers: { 'x-seen': '1' } })
  }
}

function seen<P extends { data: unknown }>(page: P, look: boolean): P {
  if (look) void page.data
  return page
}

const full = {
  string: 'a',
  char: 'ab',
  text: 'A "long" text',
  smallint: -32768,
  integer: 0,
  bigint: '9223372036854775807',
  decimal: '12.5000',
  float: 1.5,
  double: 1e300,
  boolean: true,
  date: new Date('2026-01-31T12:00:00.000Z'),
  precise: new Date('2026-01-31T12:00:00.123Z'),
  dateonly: '2026-01-31',
  time: '23:59:58',
  uuid: '0198a3c4-7b1e-7000-8000-000000000001',
  enumeration: 'green',
  blob: Buffer.from([0, 255]),
  json: { a: [1, null, { b: 'c' }] },
}
const empty = Object.fromEntries(Object.keys(full).map((name) => [name, null]))

/** The response, or the error in its place. */
async function answerOf({ fetch, log }: DatabaseApp, path: string): Promise<string> {
  log.length = 0
  const answer = await fetch(path)
  return answer.ok ? answer.text() : `${answer.status} ${/\w*Error: .*/.exec(log.join('\n'))}`
}

for (const kind of databases) {
  test(`on ${kind.name} a page of every type of column is the same with instances and without`, async (t) => {
    const app = await databaseApp(t, kind, [Wide], [Lists], { lifespan: { fastPath: true } })
    await Wide.bulkCreate([
      { ...full, id: 1 },
      { ...empty, id: 2 },
      { ...full, id: 3, boolean: false, bigint: '-1', decimal: '-0.0100', json: [], blob: Buffer.of() },
      { ...full, id: 4, json: 'text', dateonly: '1969-12-31', string: '' },
    ] as never[])
    // A method that were not marked would have a say in how rows are built.
    let built = 0
    const { bulkBuild } = modelInternals(Wide)
    const counting = function (this: typeof Wide, ...args: Parameters<typeof bulkBuild>) {
      built++
      return bulkBuild.apply(this, args)
    }
    Object.defineProperty(Wide, 'bulkBuild', { value: markAsInherited(counting), configurable: true })
    t.after(() => Reflect.deleteProperty(Wide, 'bulkBuild'))
    for (const path of ['offset', 'cursor', 'any', 'misfit', 'unscoped', 'reply']) {
      built = 0
      const rows = await answerOf(app, `/wide/${path}?limit=3`)
      assert.equal(built, 0, path)
      assert.equal(await answerOf(app, `/wide/${path}?limit=3&look=true`), rows)
      assert.equal(built, 1, path)
      assert.match(rows, path === 'misfit' ? /^500 .*a boolean, declared integer/ : /^\{"data":\[\{"id":[123]/)
    }
  })
}

/*
 * Models whose instances return other values than their rows have: with a '!' that is not in the database.
 */

const KEY = { type: DataType.INTEGER, primaryKey: true }

@Table({ tableName: 'with_getter', timestamps: false })
class WithGetter extends Base<WithGetter> {
  @Column(KEY) declare id: number
  @Column({
    type: DataType.STRING,
    get(this: WithGetter) {
      return `${this.getDataValue('name')}!`
    },
  })
  declare name: string
}

@Table({ tableName: 'with_methods', timestamps: false, getterMethods: { name: () => 'x!' } })
class WithGetterMethods extends Base<WithGetterMethods> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
}

@Table({ tableName: 'with_virtual', timestamps: false })
class WithVirtual extends Base<WithVirtual> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  @Column({ type: DataType.VIRTUAL, get: () => 'x!' }) declare label: string
}

@Table({ tableName: 'with_accessor', timestamps: false })
class WithAccessor extends Base<WithAccessor> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  get label(): string {
    return `${this.name}!`
  }
}

@Table({ tableName: 'with_field', timestamps: false })
class WithField extends Base<WithField> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  label = 'x!'
}

@Table({ tableName: 'with_constructor', timestamps: false })
class WithConstructor extends Base<WithConstructor> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  constructor(...values: ConstructorParameters<typeof Base<WithConstructor>>) {
    super(...values)
    if (this.name) this.setDataValue('name', `${this.name}!`)
  }
}

@Table({ tableName: 'with_get', timestamps: false })
class WithGet extends Base<WithGet> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  override get(...key: unknown[]): never {
    const value: unknown = super.get(...(key as []))
    return (key[0] === 'name' ? `${String(value)}!` : value) as never
  }
}

@Table({ tableName: 'with_build', timestamps: false })
class WithBuild extends Base<WithBuild> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  static override build(values?: object, options?: object): never {
    return super.build({ ...values, ...(values && 'name' in values ? { name: 'x!' } : {}) } as never, options) as never
  }
}

class Shouted extends (DataTypes.ABSTRACT as unknown as new () => { key: string }) {
  static readonly key = 'SHOUTED'
  override key = 'SHOUTED'
  toSql = () => 'VARCHAR(20)'
  // A property instead of a method, which the instances of Sequelize's base class would hide.
  _sanitize = function (this: unknown, value: unknown): unknown {
    return this instanceof Model ? `${String(value)}!` : value
  }
}

@Table({ tableName: 'with_type', timestamps: false })
class WithType extends Base<WithType> {
  @Column(KEY) declare id: number
  @Column(new Shouted() as never) declare name: string
}

@Table({ tableName: 'with_replaced', timestamps: false })
class WithReplaced extends Base<WithReplaced> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
}

@Table({ tableName: 'with_hook', timestamps: false })
class WithHook extends Base<WithHook> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  @AfterFind static shout(rows: WithHook[]): void {
    for (const row of rows) row.name = `${row.name}!`
  }
}

@Table({ tableName: 'with_json', timestamps: false })
class WithJson extends Base<WithJson> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  override toJSON(): object {
    return { ...super.toJSON(), name: 'x!' }
  }
}

@Table({ tableName: 'with_owner', timestamps: false })
class WithOwner extends Base<WithOwner> {
  @Column(KEY) declare id: number
  @Column(DataType.STRING) declare name: string
  @ForeignKey(() => WithGetter)
  @Column({ type: DataType.INTEGER })
  declare ownerId: number | null
  @BelongsTo(() => WithGetter) declare owner?: WithGetter
}

class Named {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'any', optional: true }) name?: unknown
}
class Shown extends Named {
  @Field({ type: 'any', optional: true }) label?: unknown
  @Field({ type: Named, optional: true }) owner?: Named
}

/** Models that are read by names of columns; below, by properties that only instances have. */
const named = {
  WithGetter,
  WithGetterMethods,
  WithConstructor,
  WithGet,
  WithBuild,
  WithType,
  WithReplaced,
  WithHook,
}
const shown = { WithVirtual, WithAccessor, WithField, WithOwner }

@Controller('/odd')
class OddLists {
  @Get('/named/:name', Page.of(Named)) async named(name: string, paginate: Paginate<Named>, look: boolean = false) {
    return seen(await paginate(select(named[name as 'WithGet']) as never), look)
  }
  @Get('/cursor/:name', CursorPage.of(Named)) async cursor(
    name: string,
    paginate: CursorPaginate<Named>,
    look: boolean = false,
  ) {
    return seen(await paginate(select(named[name as 'WithGet'], { order }) as never), look)
  }
  @Get('/shown/:name', Page.of(Shown)) async shown(name: string, paginate: Paginate<Shown>, look: boolean = false) {
    return seen(await paginate(select(shown[name as 'WithOwner'], { include: { all: true } }) as never), look)
  }
  @Get('/virtual', Page.of(WithVirtual)) async virtual(paginate: Paginate<WithVirtual>, look: boolean = false) {
    return seen(await paginate(select(WithVirtual)), look)
  }
  @Get('/json', Page.of(WithJson)) async json(paginate: Paginate<WithJson>, look: boolean = false) {
    return seen(await paginate(select(WithJson)), look)
  }
}

test('getters and other properties of a model are sent', async (t) => {
  const models = [...Object.values(named), ...Object.values(shown), WithJson]
  const app = await databaseApp(t, sqliteMemory, models, [OddLists])
  for (const model of models)
    await app.database.sequelize.query(`INSERT INTO ${String(model.getTableName())} (id, name) VALUES (1, 'x')`)
  Object.defineProperty(WithReplaced.prototype, 'name', { get: () => 'x!' })
  await app.database.sequelize.query('UPDATE with_owner SET ownerId = 1')
  const paths = [
    ...Object.keys(named).flatMap((name) => [`/odd/named/${name}`, `/odd/cursor/${name}`]),
    ...Object.keys(shown).map((name) => `/odd/shown/${name}`),
    '/odd/virtual',
    '/odd/json',
  ]
  for (const path of paths) {
    const rows = await answerOf(app, path)
    assert.match(rows, /x!"/, path)
    assert.equal(rows, await answerOf(app, `${path}?look=true`))
  }
})

let options: NonNullable<Parameters<typeof select<Wide>>[1]> = {}
let work: (page: { data: unknown[] }) => object = (page) => page

@Controller('/')
class Worked {
  @Get('/', Page.of(dto(Wide, { pick: ['id', 'string'], name: 'WideName' }))) async offset(paginate: Paginate<Wide>) {
    return work(await paginate(select(Wide, options))) as never
  }
}

const works: Readonly<Record<string, [typeof work, expected: unknown]>> = {
  'looks twice': [(page) => (assert.equal(page.data, page.data), page), [1, 2]],
  'changes an instance': [(page) => ((page.data[0] as Wide).setDataValue('id', 7), page), [7, 2]],
  'adds a row': [(page) => (page.data.push({ id: 3, string: '' }), page), [1, 2, 3]],
  'takes all rows away': [(page) => ((page.data.length = 0), page), []],
  'gives other rows': [(page) => ((page.data = [{ id: 9, string: '' }]), page), [9]],
  'copies it': [(page) => ({ ...page }), [1, 2]],
  'freezes it': [(page) => Object.freeze(page), [1, 2]],
  'makes another of its rows': [({ data, ...rest }) => ({ ...rest, data: data.toReversed() }), [2, 1]],
  'asks what the rows are': [
    (page) => (assert.ok(page.data.every((row) => row instanceof Wide && row.get('string') === 'a')), page),
    [1, 2],
  ],
}

test('a page that the handler changes is sent with the changes', async (t) => {
  const { fetch, log } = await databaseApp(t, sqliteMemory, [Wide], [Worked])
  await Wide.bulkCreate([1, 2].map((id) => ({ ...full, id })) as never[])
  for (const [name, [given, expected]] of Object.entries(works)) {
    work = given
    const answer = await fetch('/')
    assert.equal(answer.status, 200, `${name}: ${log.at(-1)}`)
    assert.deepEqual(
      ((await answer.json()) as { data: Wide[] }).data.map(({ id }) => id),
      expected,
      name,
    )
  }
  work = (page) => page
  options = { attributes: ['id', [literal("'b'"), 'string']] }
  assert.deepEqual(
    ((await (await fetch('/')).json()) as { data: unknown }).data,
    [1, 2].map((id) => ({ id, string: 'b' })),
  )
})

test('an afterFind hook of the Sequelize instance receives instances', async (t) => {
  const { fetch, database } = await databaseApp(t, sqliteMemory, [Wide], [Worked])
  await Wide.bulkCreate([{ ...full, id: 1 }] as never[])
  options = {}
  database.sequelize.addHook('afterFind', (rows) => void ((rows as Wide[])[0] as Wide).set('string', 'hooked'))
  assert.match(await (await fetch('/')).text(), /hooked/)
})
