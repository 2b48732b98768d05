import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cast, col, fn, type IncludeOptions, literal, Op, type WhereOptions, where } from 'sequelize'
import { BelongsTo, Column, DataType, DefaultScope, ForeignKey, HasMany, Scopes, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Page, Paginate, select } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { type DatabaseApp, databaseApp, databases, statements } from '../support/databases.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'box', timestamps: false })
class Box extends Base<Box> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number
}

@Table({ tableName: 'thing', timestamps: false })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, field: 'num', allowNull: false }) declare n: number
  @Column({ type: DataType.STRING }) declare name: string | null
  @ForeignKey(() => Box)
  @Column({ type: DataType.INTEGER })
  declare box_id: number | null
  @BelongsTo(() => Box) declare box?: unknown
  @HasMany(() => Part, 'thing_id') declare parts?: Part[]
}

@Table({ tableName: 'part', timestamps: false })
class Part extends Base<Part> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare stars: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare thing_id: number
}

@Scopes(() => ({ either: { where: literal('num = 1 OR num = 2') as never }, low: { where: { n: { [Op.lt]: 3 } } } }))
@DefaultScope(() => ({ where: literal('num <> 0 OR num IS NULL') as never }))
@Table({ tableName: 'note', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, field: 'num' }) declare n: number | null
  @Column({ type: DataType.STRING }) declare name: string | null
  @Column({ type: DataType.DATE, field: 'gone' }) declare deletedAt: Date | null
}

type Statement = ReturnType<typeof select<Thing>>
let statement: Statement = select(Thing)

class PartModel {
  @Field({ type: 'integer' }) id!: number
}
class RowModel extends PartModel {
  @Field({ type: [PartModel], optional: true }) parts?: PartModel[]
}

@Controller('/')
class Lists {
  @Get('/offset', Page.of(RowModel)) offset(paginate: Paginate<RowModel>) {
    return paginate(statement as never)
  }
  @Get('/cursor', CursorPage.of(RowModel)) cursor(paginate: CursorPaginate<RowModel>) {
    return paginate(statement as never)
  }
}

const num = col('num')
const either = literal('num = 1 OR num = 2')

/** Every form of a condition, most of them with an OR at the top, which an added AND would bind more tightly than. */
const forms: Readonly<Record<string, unknown>> = {
  'a literal': either,
  'a literal and a condition in a list': [either, { name: 'b' }],
  'a literal of a comment': literal('num = 1 OR num = 2 /* OR num = 3 */'),
  'a literal that ends in a comment': literal('num = 1 OR num = 2 -- or 3\n'),
  'fn()': fn('coalesce', either, literal('num = 3')),
  'where() of a cast': where(cast(num, 'char(1)'), '1'),
  'where() of a literal': where(literal('num = 1 OR num + 1'), '=', 3),
  'where() of a column and a list': where(num, { [Op.or]: [1, 2] } as never),
  'where() of a column and bounds': where(num, { [Op.gt]: 0, [Op.lt]: 3 } as never),
  'where() of a function': where(fn('lower', col('name')), 'b'),
  'Op.or of literals': { [Op.or]: [literal('num = 1'), either] },
  'Op.or of one literal': { [Op.or]: [either] },
  'Op.or of a literal': { [Op.or]: either },
  'Op.or of attributes': { [Op.or]: { n: 1, name: 'b' } },
  'Op.or of attributes in a list': { [Op.or]: [{ n: 1, name: 'b' }, { n: 2 }] },
  'Op.and of a literal': { [Op.and]: either },
  'Op.and of one literal': { [Op.and]: [either] },
  'Op.and of literals': { [Op.and]: [either, literal('num = 2 OR num = 3')] },
  'Op.and of Op.and of a literal': { [Op.and]: { [Op.and]: { [Op.and]: either } } },
  'Op.and of lists of Op.or': { [Op.and]: [[{ [Op.or]: [either, { name: 'b' }] }], { [Op.not]: { n: 2 } }] },
  'Op.not of a literal': { [Op.not]: either },
  'an attribute and Op.or': { n: { [Op.lt]: 3 }, [Op.or]: [{ name: 'a' }, either] },
  'an attribute of several values': { n: { [Op.or]: [1, 2] } },
  'an attribute of a literal': { n: either },
  'an attribute of NULL': { name: null },
  'an attribute of a column': { id: { [Op.gt]: num } },
  'an empty object': {},
  'an empty list': [],
  'an empty Op.and': { [Op.and]: [] },
  'an empty Op.or': { [Op.or]: [] },
  null: null,
  undefined: undefined,
}

/** Conditions on joined rows, whose join no query may leave out. */
const joinedForms: Readonly<Record<string, unknown>> = {
  'a joined column': { '$parts.stars$': [1, 2] },
  'a literal of a joined column': literal('parts.stars = 1 OR num = 1'),
  'where() of a joined column': where(col('parts.stars'), '>', 1),
  'an attribute and Op.col': { id: { [Op.gt]: { [Op.col]: 'parts.stars' } } },
  'Op.or with fn() of a joined column': { [Op.or]: [where(fn('abs', col('parts.stars')), 1), { n: 1 }] },
}

const includes: Readonly<Record<string, IncludeOptions[]>> = {
  'no include': [],
  'a hasMany': [{ model: Part }],
  'a required hasMany and belongsTo': [
    { model: Part, required: true },
    { model: Box, where: { size: { [Op.lt]: 2 } } },
  ],
}

async function fill(): Promise<void> {
  await Box.bulkCreate([0, 1, 2].map((id) => ({ id, size: id })) as never)
  await Thing.bulkCreate(
    Array.from({ length: 9 }, (_, id) => ({
      id,
      n: id % 4,
      name: [null, 'a', 'b'][id % 3],
      box_id: [null, 0, 1, 2][id % 4],
    })) as never,
  )
  await Part.bulkCreate(Array.from({ length: 12 }, (_, id) => ({ id, stars: id % 3, thing_id: (id * 2) % 7 })) as never)
  await Note.bulkCreate(
    Array.from({ length: 10 }, (_, id) => ({
      id,
      n: [0, 1, 2, 3, null][id % 5],
      name: 'ab'[id % 2],
      deletedAt: id % 3 === 0 ? new Date() : null,
    })) as never,
  )
}

interface OffsetPage {
  readonly data: readonly Record<string, unknown>[]
  readonly meta: { readonly total_items: number }
}

async function walkOffsets(app: DatabaseApp, limit: number, total: number): Promise<unknown[]> {
  const records: unknown[] = []
  for (let offset = 0; offset <= total; offset += limit) {
    const response = await app.fetch(`/offset?limit=${limit}&offset=${offset}`)
    assert.equal(response.status, 200, app.log.slice(-3).join('\n'))
    const { data, meta } = (await response.json()) as OffsetPage
    assert.equal(meta.total_items, total)
    records.push(...data)
  }
  return records
}

/** Reads the statement by pages of one size with both paginators, and compares with Sequelize. */
async function assertWhole(app: DatabaseApp, given: Statement, limit: number): Promise<void> {
  const { model, options } = given
  statement = select(model, { ...options, order: ['n'] } as never)
  const all = await model.findAll({
    ...options,
    order: [
      ['n', 'ASC'],
      ['id', 'ASC'],
    ],
  } as never)
  const row = ({ id, parts }: Pick<Thing, 'id'> & { parts?: readonly { id: number }[] }) => ({
    id,
    parts: parts?.map((part) => part.id).toSorted((a, b) => a - b),
  })
  const expected = all.map(row)
  assert.deepEqual(
    (await walk(app.fetch, '/cursor', limit)).map((thing) => row(thing as never)),
    expected,
  )
  assert.deepEqual(
    (await walkOffsets(app, limit, all.length)).map((thing) => row(thing as never)),
    expected,
  )
}

for (const kind of databases) {
  test(`pages under conditions of every form on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Box, Thing, Part, Note], [Lists])
    await fill()
    let cases = 0
    const nextSize = () => 1 + (cases++ % 5)
    await t.test('the rows of an offset page with a hasMany are read by their keys alone', async () => {
      statement = select(Thing, { where: either as never, include: [Part] })
      app.log.length = 0
      await app.fetch('/offset?limit=1')
      assert.match(statements(app.log).join('\n'), /\(num = 1 OR num = 2\)+ AND [^ ]*id[^ ]* IN \(/)
    })
    for (const [join, include] of Object.entries(includes))
      for (const [form, condition] of Object.entries(join === 'a hasMany' ? joinedForms : forms))
        await t.test(`${form}, with ${join}: the pages are the whole list`, async () => {
          await assertWhole(app, select(Thing, { where: condition as WhereOptions, include }), nextSize())
        })
    for (const [form, condition] of Object.entries(forms))
      for (const model of [Note, Note.scope(['low', 'either'])])
        await t.test(`${form} on a model with scopes and deleted rows: the pages are the whole list`, async () => {
          await assertWhole(app, select(model, { where: condition as WhereOptions }) as never, nextSize())
        })
  })
}
