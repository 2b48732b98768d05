import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Op } from 'sequelize'
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Page, Paginate } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { listOf } from 'sequitur/lists'
import { databaseApp, databases, sqliteMemory, statements } from '../support/databases.js'
import { fill, Hero, HeroList, HeroOut, HeroRow, models } from './model.js'

class Chosen extends listOf(Hero, {
  filter: { age: ['gte', 'lt'], name: ['contains'] },
  sort: ['age', 'name'],
  defaultSort: ['-age', 'name'],
  include: ['team', 'powers'],
  fields: ['name', 'age'],
  maxItems: 2,
  unindexed: ['age', 'name'],
}) {
  @Field({ optional: true }) motto?: string
}

@Controller('/heroes')
class Heroes {
  @Get('/', Page.of(HeroRow)) list(query: Chosen, paginate: Paginate<Hero>) {
    return paginate(query.select(query.motto === undefined ? undefined : { motto: query.motto }))
  }

  @Get('/grown', Page.of(HeroRow)) grown(query: Chosen, paginate: Paginate<Hero>) {
    return paginate(query.select({ age: 3 }))
  }

  @Get('/all', CursorPage.of(HeroOut)) all(query: HeroList, paginate: CursorPaginate<Hero>) {
    return paginate(query.select())
  }
}

async function heroes(t: TestContext, kind = sqliteMemory) {
  const { fetch, app, log } = await databaseApp(t, kind, models, [Heroes])
  const rows = await fill()
  const get = async (path: string) => {
    log.length = 0
    const response = await fetch(path)
    // any: what a test expects of it, its assertions say.
    // oxlint-disable-next-line typescript/no-explicit-any
    return { status: response.status, body: JSON.parse(await response.text()) as any, sql: statements(log) }
  }
  return { get, app, rows }
}

test('without parameters the list has its default order, and any other if the client asks for it', async (t) => {
  const { get } = await heroes(t)
  const ages = (data: { age: number }[]) => data.map(({ age }) => age)
  const first = await get('/heroes?limit=100')
  assert.deepEqual(
    ages(first.body.data),
    ages(first.body.data).toSorted((a, b) => b - a),
  )
  const other = await get('/heroes?limit=100&sort=age')
  assert.deepEqual(ages(other.body.data), ages(first.body.data).toReversed())
})

for (const kind of databases) {
  test(`fields and include choose what is read and sent: ${kind.name}`, async (t) => {
    const { get } = await heroes(t, kind)
    const plain = await get('/heroes?fields=name&limit=2')
    assert.deepEqual(Object.keys(plain.body.data[0]), ['id', 'name'])
    assert.ok(plain.sql.every((sql) => !/secret|weight/.test(sql)))
    const included = await get('/heroes?fields=age&include=team,powers&limit=50')
    assert.deepEqual(Object.keys(included.body.data[0]), ['id', 'age', 'team', 'powers'])
    const [first, ...others] = (await get('/heroes?limit=1')).body.data
    assert.deepEqual([Object.keys(first), others], [['id', 'name', 'age'], []])
  })
}

test('every row fits the conditions of the program, whatever the client sends', async (t) => {
  const { get, rows } = await heroes(t)
  const all = await get('/heroes/grown?limit=100&filter[age][gte]=0')
  assert.equal(all.body.meta.total_items, rows.filter(({ age }) => age === 3).length)
  assert.equal((await get('/heroes/grown?filter[age][gte]=4')).body.meta.total_items, 0)
})

test('no filter replaces a condition of the default scope', async (t) => {
  @DefaultScope(() => ({ where: { age: { [Op.gte]: 5 }, [Op.and]: [{ name: { [Op.ne]: 'x' } }] } }))
  @Table({ tableName: 'visible', timestamps: false })
  class Visible extends Base<Visible> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
    @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  }
  class VisibleList extends listOf(Visible, {
    filter: { age: ['gte', 'lt'], name: ['eq', 'contains', 'startsWith'] },
  }) {}
  @Controller('/visible')
  class VisibleRows {
    @Get('/', Page.of(Visible)) list(query: VisibleList, paginate: Paginate<Visible>) {
      return paginate(query.select({ id: { [Op.lt]: 4 } }))
    }
  }
  const { fetch } = await databaseApp(t, sqliteMemory, [Visible], [VisibleRows])
  const rows = [
    [1, 4, 'a'],
    [2, 5, 'ax'],
    [3, 6, 'x'],
    [4, 7, 'ax'],
  ] as const
  await Visible.bulkCreate(rows.map(([id, age, name]) => ({ id, age, name })))
  const queries = ['', 'filter[age][gte]=0', 'filter[age][lt]=9', 'filter[name][contains]=x&filter[age][gte]=1']
  for (const query of [...queries, 'filter[name][contains]=x&filter[name][startsWith]=a']) {
    const { data }: { data: { id: number }[] } = JSON.parse(await (await fetch(`/visible?${query}`)).text())
    assert.deepEqual(
      data.map(({ id }) => id),
      [2],
      query,
    )
  }
})

test('fields of the class are query parameters of their own', async (t) => {
  const { get, rows } = await heroes(t)
  const { body } = await get('/heroes?motto=Up')
  assert.equal(body.meta.total_items, rows.filter(({ motto }) => motto === 'Up').length)
})

test('what is not declared is a 422, and sends no statement', async (t) => {
  const { get } = await heroes(t)
  for (const query of [
    'filter[secret][eq]=x',
    'filter[age][eq]=1',
    'filter[age]=1',
    'filter=1',
    'filter[age][gte]=1&filter[age][gte]=2',
    'filter[__proto__][eq]=1',
    'sort=secret',
    'sort=age,-age',
    'sort=',
    'sort[age]=1',
    'include=team.country',
    'fields=secret',
    'fields[hero]=name',
    'filter[name][contains]=',
  ]) {
    const { status, body, sql } = await get(`/heroes?${query}`)
    assert.deepEqual([status, body.errors?.length, sql], [422, 1, []], query)
  }
  assert.equal((await get('/heroes?other=1&filtered=2')).status, 200)
})

test('the number of values is limited', async (t) => {
  const { get } = await heroes(t)
  const values = (count: number) => Array.from({ length: count }, (_, id) => `filter[id][in]=${id}`).join('&')
  assert.equal((await get(`/heroes/all?${values(100)}`)).status, 200)
  assert.equal((await get(`/heroes/all?${values(101)}`)).status, 422)
  assert.equal((await get('/heroes/all?sort=age,name,score,steps')).status, 200)
  assert.equal((await get('/heroes/all?sort=age,name,score,steps,fee')).status, 422)
})

test('a cursor belongs to its filters and its order', async (t) => {
  const { get } = await heroes(t)
  const list = '/heroes/all?limit=2&filter[age][gte]=1&filter[name][contains]=o&sort=-score'
  const { next_cursor } = (await get(list)).body.meta
  const status = async (path: string) => (await get(`${path}&next_cursor=${next_cursor}`)).status
  assert.equal(await status(list), 200)
  assert.equal(await status(`${list}&include=team`), 200)
  assert.equal(await status(list.replace('-score', 'score')), 422)
  assert.equal(await status(list.replace('[gte]', '[gt]')), 422)
  assert.equal(await status(list.replace('contains', 'startsWith')), 422)
  assert.equal(await status(`${list}&filter[team.city][eq]=oslo`), 422)
})

test('each parameter is documented', async (t) => {
  const { app } = await heroes(t)
  const { paths } = JSON.parse(JSON.stringify(app.openapi()))
  const named = new Map<string, Record<string, unknown>>(
    paths['/heroes'].get.parameters.map((parameter: { name: string }) => [parameter.name, parameter]),
  )
  const lists = ['filter[age][gte]', 'filter[age][lt]', 'filter[name][contains]', 'sort', 'include', 'fields']
  assert.deepEqual([...named.keys()], [...lists, 'motto', 'offset', 'limit'])
  assert.deepEqual(named.get('filter[age][gte]'), {
    name: 'filter[age][gte]',
    in: 'query',
    required: false,
    description: 'Only records of which age is at least this value.',
    schema: { type: 'integer', format: 'int32' },
  })
  const { explode, style, schema } = named.get('sort') ?? {}
  assert.deepEqual([style, explode], ['form', false])
  assert.deepEqual(schema, {
    type: 'array',
    items: { type: 'string', enum: ['age', '-age', 'name', '-name'] },
    maxItems: 2,
    default: ['-age', 'name'],
  })
})
