import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Base, Controller, Get, type Select, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { memoryDatabase, type TestApp, testApp } from 'sequitur/testing'
import { cast, col, type FindOptions, fn, literal, Op, where } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Scopes, Table } from 'sequelize-typescript'
import { bindingOf } from '../support/forge.js'
import type { AnyPage } from '../support/walk.js'

@Table({ tableName: 'ship', timestamps: false })
class Ship extends Base<Ship> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare name: string
  @HasMany(() => Sailor) declare sailors: Sailor[]
}

@Scopes(() => ({ young: { where: { age: { [Op.lt]: 90 } } } }))
@Table({ tableName: 'sailor', timestamps: true, paranoid: true })
class Sailor extends Base<Sailor> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare name: string
  @Column({ type: DataType.STRING }) declare rank: string
  @Column({ type: DataType.INTEGER }) declare age: number | null
  @Column({ type: DataType.BLOB }) declare mark: Buffer
  @Column({ type: DataType.JSON }) declare papers: unknown
  @ForeignKey(() => Ship) @Column({ type: DataType.INTEGER }) declare ship_id: number
  @BelongsTo(() => Ship) declare ship: Ship
}

let list: Select<Sailor> = select(Sailor)

@Controller('/')
class Sailors {
  @Get('/', Page.of(Sailor)) list(paginate: Paginate<Sailor>) {
    return paginate(list)
  }
}

const order = [['rank', 'ASC']] as [string, string][]
type Make = () => Select<Sailor> // what a model knows, it knows once the app has mapped it
const by =
  (options: FindOptions): Make =>
  () =>
    select(Sailor, { order, ...options })
const sailors = (condition: unknown) => by({ where: condition as never }) // also what the types of Sequelize leave out

const deep = (name: string) =>
  Array.from({ length: 12 }).reduce<object>((inner, _, level) => ({ [level % 2 ? Op.and : Op.or]: [inner] }), {
    [name]: { [Op.ne]: 'x' },
  })
const reused = [
  where(col('age'), Op.gt as never, 1 as never),
  where(fn('nullif', col('Sailor.name'), 'Ann'), '=', null as never),
] as const
const long = where(fn('length', col('Sailor.name')), '>', 0 as never)

const DIFFERENT: readonly [name: string, Make, Make][] = [
  ['a filter and none', sailors({ rank: 'mate' }), by({})],
  ['none and a filter', by({}), sailors({ rank: 'mate' })],
  ['two attributes', sailors({ rank: 'mate' }), sailors({ name: 'Ann' })],
  ['two operators', sailors({ age: { [Op.gte]: 0 } }), sailors({ age: { [Op.lt]: 99 } })],
  ['equal and not equal', sailors({ rank: 'mate' }), sailors({ rank: { [Op.ne]: 'cook' } })],
  [
    'AND and OR',
    sailors({ [Op.and]: [{ rank: 'mate' }, { age: 20 }] }),
    sailors({ [Op.or]: [{ rank: 'mate' }, { age: 20 }] }),
  ],
  ['what is in the depth', sailors(deep('rank')), sailors(deep('name'))],
  ['two texts of SQL', sailors(literal('age > 1')), sailors(literal('age > 2'))],
  [
    'an IN of two texts of SQL',
    sailors({ id: { [Op.in]: literal('(1, 2, 3)') } }),
    sailors({ id: { [Op.in]: literal('(1, 2)') } }),
  ],
  ['two functions', sailors(long), sailors(where(fn('lower', col('Sailor.name')), '>', '' as never))],
  ['columns of a function', sailors(long), sailors(where(fn('length', col('rank')), '>', 0 as never))],
  ['comparators', sailors(long), sailors(where(fn('length', col('Sailor.name')), '>=', 0 as never))],
  [
    'types of a cast',
    sailors(where(cast(col('age'), 'text'), '!=', '' as never)),
    sailors(where(cast(col('age'), 'integer'), '!=', '' as never)),
  ],
  ['compared columns', sailors({ rank: { [Op.ne]: col('name') } }), sailors({ rank: { [Op.ne]: col('papers') } })],
  [
    'columns of models',
    () => sailors(where(Sailor.getAttributes().id as never, '>', 0 as never))(),
    sailors(where(col('age'), '>', 0 as never)),
  ],
  ['a required include and none', by({ include: [{ model: Ship, required: true }] }), by({})],
  [
    'conditions of a required include',
    by({ include: [{ model: Ship, where: { id: 1 } }] }),
    by({ include: [{ model: Ship, where: { name: 'Argo' } }] }),
  ],
  [
    'columns of what is joined',
    by({ include: [Ship], where: { '$ship.id$': 1 } }),
    by({ include: [Ship], where: { '$ship.name$': 'Argo' } }),
  ],
  ['a scope and none', () => select(Sailor.scope('young'), { order }), by({})],
  ['with and without what is deleted', by({ paranoid: false }), by({})],
]

const now = (after: number) => ({ createdAt: { [Op.lte]: new Date(Date.now() + after) } })

const SAME: readonly [name: string, Make, Make][] = [
  ['a text', sailors({ rank: 'mate' }), sailors({ rank: 'cook' })],
  ['the time', sailors(now(1e6)), sailors(now(2e6))],
  ['bytes', sailors({ mark: { [Op.ne]: Buffer.from('a') } }), sailors({ mark: { [Op.ne]: Buffer.alloc(900) } })],
  ['a list', sailors({ id: [1, 2, 3] }), sailors({ id: [1, 2, 3, 4, 5, 6] })],
  ['a list of one', sailors({ id: [1, 2] }), sailors({ id: 1 })],
  ['a list of none', sailors({ id: { [Op.in]: [1, 2] } }), sailors({ id: { [Op.in]: [] } })],
  ['a range', sailors({ age: { [Op.between]: [1, 90] } }), sailors({ age: { [Op.between]: [2, 80] } })],
  ['NULL', sailors({ age: { [Op.ne]: 1 } }), sailors({ age: { [Op.ne]: null } })],
  ['JSON', sailors({ papers: { [Op.ne]: { a: 1 } } }), sailors({ papers: { [Op.ne]: { b: [{ c: 2 }] } } })],
  [
    'a condition for each word',
    sailors({ [Op.and]: ['a'].map((word) => ({ rank: { [Op.notLike]: `%${word}z%` } })) }),
    sailors({ [Op.and]: ['b', 'c', 'd'].map((word) => ({ rank: { [Op.notLike]: `%${word}z%` } })) }),
  ],
  ['the order of two attributes', sailors({ rank: 'mate', age: 20 }), sailors({ age: 20, rank: 'mate' })],
  ['what a function is compared with', sailors(long), sailors(where(long.attribute, '>', 1 as never))],
  ['a condition that the program keeps', sailors(reused[0]), sailors(reused[0])],
  ['NULL in a condition that the program keeps', sailors(reused[1]), sailors(reused[1])],
  ['an include that leaves no row out', by({ include: [Ship] }), by({})],
  ['conditions of such an include', by({ include: [{ model: Ship, where: { id: 2 }, required: false }] }), by({})],
  ['the attributes that are read', by({ attributes: { include: [[col('age'), 'years']] } }), by({})],
  [
    'values of a required include',
    by({ include: [{ model: Ship, where: { id: [1] } }] }),
    by({ include: [{ model: Ship, where: { id: [1, 2] } }] }),
  ],
]

let api: TestApp

before(async () => {
  api = await testApp({ controllers: [Sailors], models: [Sailor, Ship], lifespan: memoryDatabase() })
  await Ship.create({ id: 1, name: 'Argo' } as never)
  for (const id of [1, 2, 3]) {
    const sailor = { id, name: 'Ann', rank: 'mate', age: 20, mark: Buffer.of(id), papers: {}, ship_id: 1 }
    await Sailor.create(sailor as never) // Sequelize's own columns have their defaults
  }
})
after(() => api.close())

test('conditions that share their parts, or contain themselves, are distinguished in linear time', () => {
  const shared = Array.from({ length: 36 }).reduce<object>((part) => ({ [Op.and]: [part], [Op.or]: [part] }), {
    age: 1,
  })
  const circular: { [Op.and]: unknown[] } = { [Op.and]: [] }
  circular[Op.and].push(circular, { [Op.not]: circular })
  for (const condition of [shared, circular])
    assert.equal(bindingOf(sailors(condition)(), 'key').list, bindingOf(sailors(condition)(), 'key').list)
})

for (const [pairs, status, sentence] of [
  [DIFFERENT, 422, 'a cursor of a list is refused for one of the same order with other conditions:'],
  [SAME, 200, 'a cursor goes on in its list when only this has changed:'],
] as const)
  for (const [name, first, second] of pairs)
    test(`${sentence} ${name}`, async () => {
      list = first()
      const { meta } = (await (await api.fetch('/?limit=1')).json()) as AnyPage
      const follow = async () => (await api.fetch(`/?next_cursor=${meta.next_cursor}`)).status
      assert.ok(meta.next_cursor)
      assert.equal(await follow(), 200, 'its own list takes it')
      list = second()
      assert.equal(await follow(), status)
    })
