import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Order, QueryTypes } from 'sequelize'
import { Column, DataType, Index, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { databaseApp, databases, postgres, statements } from '../support/databases.js'
import type { AnyPage } from '../support/walk.js'

@Table({ tableName: 'event', timestamps: false })
class Event extends Base<Event> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Index({ name: 'by_age', order: 'DESC' })
  @Index({ name: 'upwards' })
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare age: number
  @Index({ name: 'by_age' })
  @Index({ name: 'upwards' })
  @Column({ type: DataType.STRING(40), allowNull: false })
  declare name: string
  @Index({ name: 'by_end' })
  @Column({ type: DataType.INTEGER })
  declare ended: number | null
}

class Id {
  @Field({ type: 'integer' }) id!: number
}

let order: Order = []

@Controller('/')
class Events {
  @Get('/events', Page.of(Id)) list(paginate: Paginate<Id>) {
    return paginate(select(Event, { order }))
  }
}

const ROWS = 20_000
const LIMIT = 10

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Rows': number
  readonly Plans?: readonly PlanNode[]
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

async function fill(): Promise<void> {
  // Only 5 ages, so that thousands of rows are equal in the first column; every third row has not ended.
  const rows = Array.from({ length: ROWS }, (_, id) => ({
    id,
    age: id % 5,
    name: `name ${(id * 7919) % ROWS}`,
    ended: id % 3 ? id : null,
  }))
  for (let at = 0; at < ROWS; at += 2000) await Event.bulkCreate(rows.slice(at, at + 2000) as never)
}

const orders: readonly Order[] = [
  [
    ['age', 'DESC'],
    ['name', 'ASC'],
  ],
  [
    ['age', 'ASC'],
    ['name', 'ASC'],
  ],
  [['ended', 'ASC']],
  [['id', 'DESC']],
]

test('on PostgreSQL a page reads one range of an index, and discards at most one page of rows', async (t) => {
  const { fetch, log, database } = await databaseApp(t, postgres, [Event], [Events])
  await fill()
  await database.sequelize.query('ANALYZE event')
  let bind: unknown[] = []
  database.sequelize.addHook('beforeQuery', (options) => void (bind = (options as { bind?: unknown[] }).bind ?? []))
  const read = async (cursor: string | null) =>
    (await (await fetch(`/events?limit=${LIMIT}${cursor ? `&next_cursor=${cursor}` : ''}`)).json()) as AnyPage
  for (const given of orders) {
    order = given
    let cursor: string | null = null
    for (let page = 0; page < 40; page++) {
      log.length = 0
      cursor = (await read(cursor)).meta.next_cursor
      const [sql = ''] = statements(log).filter((line) => line.startsWith('SELECT'))
      const values = bind
      const [row] = await database.sequelize.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        { type: QueryTypes.SELECT, bind: values },
      )
      const nodes = nodesOf((row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan)
      for (const node of nodes) {
        assert.doesNotMatch(node['Node Type'], /Seq Scan/, sql)
        assert.ok(
          (node['Rows Removed by Filter'] ?? 0) <= LIMIT,
          `${node['Rows Removed by Filter']} rows thrown away: ${sql}`,
        )
      }
    }
  }
})

for (const kind of databases) {
  if (kind === postgres) continue
  test(`on ${kind.name} a page far from the start is found in an index, without a sort`, async (t) => {
    const { fetch, log, database } = await databaseApp(t, kind, [Event], [Events])
    const { sequelize } = database
    await fill()
    const isSqlite = sequelize.getDialect() === 'sqlite'
    await sequelize.query(isSqlite ? 'ANALYZE' : 'ANALYZE TABLE event')
    let bind: unknown[] = []
    sequelize.addHook('beforeQuery', (options) => void (bind = (options as { bind?: unknown[] }).bind ?? []))
    for (const given of orders) {
      order = given
      let cursor: string | null = null
      for (let page = 0; page < 10; page++) {
        log.length = 0
        const query: string = cursor ? `&next_cursor=${cursor}` : ''
        cursor = ((await (await fetch(`/events?limit=${LIMIT}${query}`)).json()) as AnyPage).meta.next_cursor
        const [sql = ''] = statements(log).filter((line) => line.startsWith('SELECT'))
        const values = isSqlite ? { bind } : { replacements: bind }
        const plan = await sequelize.query(`EXPLAIN ${isSqlite ? 'QUERY PLAN ' : ''}${sql}`, {
          type: QueryTypes.SELECT,
          ...values,
        })
        assert.doesNotMatch(JSON.stringify(plan), /TEMP B-TREE|filesort|temporary|"type":"ALL"/, sql)
        if (page > 0) assert.match(JSON.stringify(plan), /SEARCH|"type":"(?:range|ref)"/, sql)
      }
    }
  })
}

for (const kind of databases) {
  test(`on ${kind.name} a full page of equal rows is one statement`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Event], [Events])
    await Event.bulkCreate(Array.from({ length: 100 }, (_, id) => ({ id, age: 1, name: `name ${id}` })) as never)
    order = orders[0] as Order
    const first = (await (await fetch('/events?limit=5')).json()) as AnyPage
    log.length = 0
    await fetch(`/events?limit=5&next_cursor=${first.meta.next_cursor}`)
    assert.equal(statements(log).filter((line) => line.startsWith('SELECT')).length, 1)
  })
}
