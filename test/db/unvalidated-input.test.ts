import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, Op } from 'sequelize'
import { Column, DataType, Model, Table } from 'sequelize-typescript'
import { Base, Body, Controller, Post, withSession } from 'sequitur'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'

/*
 * Handlers whose input has no declared type: what a client sends in the place of a value is compared, or is a 422, whose log has nothing of it.
 */

@Table({ tableName: 'article', timestamps: false })
class Article extends Base<Article> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.STRING) declare title: string | null
  @Column(DataType.DATE) declare at: Date | null
  @Column(DataType.BOOLEAN) declare flag: boolean | null
  @Column(DataType.JSON) declare data: unknown
}

type Column = 'id' | 'title' | 'at' | 'flag' | 'data'
/** As a library of numbers has it. */
class Decimal {
  toString() {
    return '5'
  }
}

type Way = (value: never) => Promise<unknown>
type Operator = Exclude<keyof typeof Op, 'prototype'>

const compare =
  (column: Column, operator: Operator): Way =>
  (value) =>
    Article.findAll({ where: { [column]: { [Op[operator]]: value } } })
const atPath =
  (operator: Operator): Way =>
  (value) =>
    Article.findAll({ where: { data: { tag: { [Op[operator]]: value } } } as never })

const SECRET = 'secret7391'
const object = { a: SECRET }
const lists = [[], [1], [SECRET, SECRET]]

/** Each way with values that it cannot have. */
const impossible: Readonly<Record<string, readonly [way: Way, values: readonly unknown[]]>> = {
  findByPk: [(key) => Article.findByPk(key), [true, false, ...lists, object, SECRET]],
  'findByPk of a scope': [(key) => Article.unscoped().findByPk(key), [true, [], object]],
  'findByPk with options': [(key) => Article.findByPk(key, { attributes: ['id'] }), [true, [], object]],
  equal: [(id) => Article.findAll({ where: { id } }), [true, object, [object], SECRET]],
  'title equal': [(title) => Article.findAll({ where: { title } }), [true, object, [[1]], [object], [true]]],
  'title eq': [compare('title', 'eq'), [true, ...lists, object]],
  'id gt': [compare('id', 'gt'), [true, ...lists, object, SECRET]],
  'flag ne': [compare('flag', 'ne'), [[], [true, false], object, SECRET]],
  'at lt': [compare('at', 'lt'), [[], object, SECRET]],
  'id in': [compare('id', 'in'), [5, true, null, SECRET, object, { length: 1 }, [[1]], [object]]],
  'title notIn': [compare('title', 'notIn'), [5, SECRET, object, [[SECRET]], [true]]],
  'at between': [compare('at', 'between'), [null, 5, SECRET, object, [], [SECRET, SECRET]]],
  'title between': [compare('title', 'between'), ['ab', [], [SECRET], [[SECRET], [SECRET]]]],
  'title not': [compare('title', 'not'), [true, [[1]], object]],
  'title is': [compare('title', 'is'), [5, SECRET, object, []]],
  'data is': [compare('data', 'is'), [true, 5, SECRET, object]],
  'title or': [compare('title', 'or'), [5, true, SECRET]],
  'title like': [compare('title', 'like'), [true, ...lists, object]],
  'title startsWith': [compare('title', 'startsWith'), [true, null, ...lists, object]],
  'title endsWith': [compare('title', 'endsWith'), [object, []]],
  'title substring': [compare('title', 'substring'), [object, []]],
  'path like': [atPath('like'), [true, 5, [], object]],
  'path startsWith': [atPath('startsWith'), [true, 5, [], object]],
  'path in': [atPath('in'), [5, SECRET, object, [object]]],
  'path between': [atPath('between'), [5, SECRET, object]],
  'path or': [atPath('or'), [5, SECRET, object]],
}

@Controller('/')
class Articles {
  @Post('/:way', { status: 204 }) async find(way: string, @Body({ type: 'any' }) value: never) {
    await impossible[way]?.[0](value)
  }
  @Post('/search/long', { status: 201 }) async search(@Body({ type: 'any' }) title: never) {
    return { count: await Article.count({ where: { title: { [Op.like]: title } } }) }
  }
}

for (const kind of databases)
  for (const fastPath of [true, false]) {
    const path = fastPath ? 'fast path' : 'stock path'
    const options = { lifespan: { fastPath, echo: false } }

    test(`${kind.name}: what an operator cannot have is a 422, and not in the log: ${path}`, async (t) => {
      const app = await databaseApp(t, kind, [Article], [Articles], options)
      const failed: string[] = []
      for (const [name, [, values]] of Object.entries(impossible))
        for (const value of values) {
          const { status } = await app.fetch(`/${name}`, { method: 'POST', json: value })
          if (status !== 422) failed.push(`${status} ${name} ${JSON.stringify(value)} ${app.log.at(-1)}`)
        }
      assert.deepEqual(failed, [])
      assert.deepEqual(
        app.log.filter((line) => line.includes(SECRET)),
        [],
      )
    })

    test(`${kind.name}: a pattern of 70 kB finds nothing, or is a 422: ${path}`, async (t) => {
      const app = await databaseApp(t, kind, [Article], [Articles], options)
      await Article.create({ title: 'a' })
      const search = (title: unknown) => app.fetch('/search/long', { method: 'POST', json: title })
      assert.equal((await search(`${'a'.repeat(70_000)}%`)).status, kind.name.startsWith('SQLite') ? 422 : 201)
      assert.deepEqual(await (await search('a%')).json(), { count: 1 })
    })

    test(`${kind.name}: what an operator takes finds its rows: ${path}`, async (t) => {
      const { database } = await databaseApp(t, kind, [Article], [Articles], options)
      const made = { title: '5', at: new Date(5), flag: true, data: { tag: 'x' } }
      const find = async () => {
        await Article.create(made)
        const found: Record<string, boolean> = {}
        for (const [name, way, value] of possible)
          found[`${name} ${JSON.stringify(value)}`] = ((await way(value as never)) as unknown[]).length > 0
        return found
      }
      const found = await withSession(database, find)
      assert.deepEqual(
        Object.entries(found).filter(([, isFound]) => !isFound),
        [],
      )
    })
  }

/** Each finds the row. */
const possible: readonly (readonly [name: string, way: Way, value: unknown])[] = [
  ['eq', compare('title', 'eq'), 5],
  ['eq', compare('title', 'eq'), '5'],
  ['in', compare('title', 'in'), ['5', 6]],
  ['ne', compare('title', 'ne'), 6],
  ['not', compare('title', 'not'), null],
  ['not', compare('title', 'not'), [6, 7]],
  ['like', compare('title', 'like'), 5],
  ['startsWith', compare('title', 'startsWith'), 5],
  ['endsWith', compare('title', 'endsWith'), new Decimal()],
  ['between', compare('title', 'between'), ['1', '6']],
  ['or', compare('title', 'or'), ['5', { [Op.like]: '6%' }]],
  ['or', compare('title', 'or'), { [Op.eq]: '6', [Op.ne]: 'x' }],
  ['is', compare('flag', 'is'), true],
  ['between', compare('at', 'between'), [new Date(0), new Date(9)]],
  ['path', atPath('like'), 'x%'],
  ['path', atPath('in'), ['x', 'y']],
  ['path', atPath('between'), ['w', 'y']],
]

test('a plugin that replaces Model.findByPk() gets every key', async (t) => {
  const keys: unknown[] = []
  @Controller('/')
  class Keys {
    @Post() async find(): Promise<void> {
      await Article.findByPk({ a: 1 } as never)
    }
  }
  const app = await databaseApp(t, sqliteMemory, [Article], [Keys])
  t.mock.method(Model, 'findByPk', (key: unknown) => Promise.resolve(void keys.push(key)))
  assert.equal((await app.fetch('/', { method: 'POST' })).status, 204)
  assert.deepEqual(keys, [{ a: 1 }])
})
