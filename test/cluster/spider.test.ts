import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, HttpError, newLifespan, Post, select, Session } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { testApp } from 'sequitur/testing'
import { noSpider, type Spider, spread, startSpider } from '../support/spider.js'
import { walk } from '../support/walk.js'

/*
 * Which features hold on tables that Spider spreads over two servers: docs/operation.md says it.
 */

const spider = noSpider ? undefined : await startSpider()
const skip = noSpider
const post = { method: 'POST' }

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.STRING(40), primaryKey: true }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare value: number
}

@Controller('/entries')
class Entries {
  @Get('/', Page.of(Entry)) list(paginate: Paginate<Entry>) {
    return paginate(select(Entry, { order: ['value', 'name'] }))
  }
  @Get('/total', { total: 'integer' }) async total() {
    return { total: await Entry.sum('value') }
  }
  /** Twenty rows, on both nodes. */
  @Post('/many/:prefix') async createMany(prefix: string) {
    for (let value = 0; value < 20; value++) await Entry.create({ name: `${prefix}${value}`, value })
  }
  @Post('/refused') async createAndRefuse(session: Session) {
    for (let value = 0; value < 20; value++) session.add(Entry.build({ name: `refused${value}`, value }))
    await session.flush()
    throw new HttpError(409, 'no')
  }
  @Post('/nested') async nested(session: Session) {
    await Entry.create({ name: 'kept', value: 1 })
    await session
      .nested(() => Entry.create({ name: 'undone', value: 2 }).then(() => Promise.reject(new Error('no'))))
      .catch(() => {})
  }
  @Post('/move') async move(session: Session) {
    const [from, to] = [
      await session.get(Entry, 'from', { lock: true }),
      await session.get(Entry, 'to', { lock: true }),
    ]
    await from?.update({ value: from.value - 1 })
    await to?.update({ value: to.value + 1 })
  }
}

async function start(t: TestContext, scheme: string) {
  const { front, nodes } = spider as Spider
  for (const server of [front, ...nodes]) await server.execute('DROP DATABASE app', 'CREATE DATABASE app')
  await spread(spider as Spider, 'entry', 'name varchar(40) PRIMARY KEY, value int NOT NULL', 'name')
  const app = await testApp({
    controllers: [Entries],
    models: [Entry],
    lifespan: newLifespan(`${scheme}://root@127.0.0.1:${front.port}/app`),
    cursorSecret: 'a secret of these tests only, for cursors',
    logger: false,
  })
  t.after(app.close)
  const countsOfNodes = () =>
    Promise.all(nodes.map(async (node) => (await node.execute('USE app', 'SELECT count(*) AS n FROM entry'))[0]?.['n']))
  return { ...app, front, nodes, countsOfNodes }
}

for (const scheme of ['mariadb', 'mysql']) {
  const on = `Spider by ${scheme}`

  test(`${on}: the rows are on both nodes, and the pages put together are the list`, { skip }, async (t) => {
    const { fetch, countsOfNodes, front } = await start(t, scheme)
    for (const prefix of ['a', 'b', 'c']) assert.equal((await fetch(`/entries/many/${prefix}`, post)).status, 204)
    for (const count of await countsOfNodes()) assert.ok(count > 0)
    const rows = await front.execute('USE app', 'SELECT name FROM entry ORDER BY value, name')
    const names = (await walk(fetch, '/entries', 7)).map(({ name }) => name)
    assert.equal(names.length, 60)
    assert.deepEqual(
      names,
      Array.from(rows, (row) => row['name'] as string),
    )
  })

  test(`${on}: a handler that fails leaves nothing on either node`, { skip }, async (t) => {
    const { fetch, countsOfNodes } = await start(t, scheme)
    assert.equal((await fetch('/entries/refused', post)).status, 409)
    assert.deepEqual(await countsOfNodes(), [0, 0])
    // Spider has no savepoints: a nested part that fails fails the handler.
    assert.equal((await fetch('/entries/nested', post)).status, 500)
    assert.deepEqual(await countsOfNodes(), [0, 0])
  })

  test(`${on}: changes of rows on both nodes at once lose nothing`, { skip }, async (t) => {
    const { fetch, front } = await start(t, scheme)
    await front.execute('USE app', `INSERT INTO entry VALUES ('from', 100), ('to', 0)`)
    const answers = await Promise.all(Array.from({ length: 40 }, () => fetch('/entries/move', post)))
    const statuses = answers.map(({ status }) => status)
    const moved = statuses.filter((status) => status === 204).length
    assert.ok(moved > 0)
    assert.ok(
      statuses.every((status) => status === 204 || status === 503),
      `${statuses}`,
    )
    const rows = await front.execute('USE app', 'SELECT value FROM entry ORDER BY name')
    assert.deepEqual(
      Array.from(rows, (row) => row['value'] as number),
      [100 - moved, moved],
    )
  })

  test(`${on}: while a node is gone it is a 503, and afterwards the app goes on`, { skip }, async (t) => {
    const { fetch, nodes } = await start(t, scheme)
    await nodes[1].kill()
    assert.equal((await fetch('/entries/many/a', post)).status, 503)
    await nodes[1].start()
    assert.equal((await fetch('/entries/many/b', post)).status, 204)
    assert.deepEqual(await (await fetch('/entries/total')).json(), { total: 190 })
  })
}
