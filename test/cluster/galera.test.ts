import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, newLifespan, Post, select, Session, sql, Transactional } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { type TestApp, testApp } from 'sequitur/testing'
import { galeraUrl, type GaleraNode, noGalera, startGalera } from '../support/galera.js'
import { assertKept, Load } from '../support/load.js'
import { walk } from '../support/walk.js'

const cluster = noGalera ? undefined : await startGalera()
const post = { method: 'POST' }

/** A statement on a frozen node is given up with its request. */
const LEAVES_FROZEN_NODES = { handler: 5_000 }

/** Waits for something that takes a cluster some seconds. */
async function eventually(condition: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000
  while (!(await holds())) {
    assert.ok(Date.now() < end, `After two minutes this is still not so: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** An app with models of its own: several in one process are on different nodes. */
async function appOn(t: TestContext, url: string, timeouts: { readonly handler?: number } = {}): Promise<TestApp> {
  @Table({ tableName: 'counter', timestamps: false })
  class Counter extends Base<Counter> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.INTEGER, allowNull: false }) declare value: number
  }
  @Table({ tableName: 'entry', timestamps: false })
  class Entry extends Base<Entry> {
    @Column({ type: DataType.STRING(40), primaryKey: true }) declare name: string
  }
  @Controller('/')
  class Entries {
    @Get('/entries', Page.of(Entry)) list(paginate: Paginate<Entry>) {
      return paginate(select(Entry, { order: ['name'] }))
    }
    @Get('/counter', { value: 'integer' }) async read() {
      return { value: (await Counter.findByPk(1))?.value ?? 0 }
    }
    @Transactional({ retry: 100 })
    @Post('/increment')
    async increment(session: Session) {
      await session.execute(sql`UPDATE counter SET value = value + 1 WHERE id = 1`)
    }
    @Transactional({ retry: 100 })
    @Post('/increment/nested')
    async incrementNested(session: Session) {
      await session.nested(() => Counter.increment('value', { where: { id: 1 } }))
    }
    @Transactional({ retry: 100, isolation: 'serializable' })
    @Post('/increment/serializable')
    async incrementSerializable() {
      const counter = await Counter.findByPk(1)
      await counter?.update({ value: counter.value + 1 })
    }
    @Post('/:name') async create(name: string) {
      await Entry.create({ name })
    }
  }
  const app = await testApp({
    controllers: [Entries],
    models: [Counter, Entry],
    lifespan: newLifespan(url, { sync: true, poolSize: 12 }),
    cursorSecret: 'the same on all nodes',
    timeouts,
    logger: false,
  })
  t.after(app.close)
  return app
}

let databases = 0

/** A new database in the cluster, with one counter. Returns the name. */
async function newDatabase([first]: readonly GaleraNode[]): Promise<string> {
  const name = `test_${++databases}`
  await first?.execute(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  await first?.execute(`CREATE TABLE ${name}.counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)`)
  await first?.execute(`CREATE TABLE ${name}.entry (name VARCHAR(40) PRIMARY KEY)`)
  await first?.execute(`INSERT INTO ${name}.counter VALUES (1, 0)`)
  return name
}

/** The entries on a node; those of none while it does not serve. */
async function names(node: GaleraNode, database: string): Promise<Set<string>> {
  const found = await node.execute(`SELECT name FROM ${database}.entry`).catch(() => undefined)
  return new Set(found?.[0].map(({ name }) => String(name)))
}

for (const scheme of ['mariadb', 'mysql'] as const) {
  for (const path of ['/increment', '/increment/nested', '/increment/serializable']) {
    test(
      `${scheme}: 300 POST ${path} on three nodes at once, with retry, are exactly 300`,
      { skip: noGalera },
      async (t) => {
        assert(cluster)
        const database = await newDatabase(cluster)
        const apps = await Promise.all(cluster.map(async (node) => appOn(t, galeraUrl([node], database, scheme))))
        // A client whose request ran out of retries sends it again.
        const client = async (index: number) => {
          for (let acknowledged = 0; acknowledged < 50;) {
            const { status } = (await apps[index % 3]?.fetch(path, post)) ?? assert.fail()
            assert.ok(status === 204 || status === 503, String(status))
            if (status === 204) acknowledged++
          }
        }
        await Promise.all([0, 1, 2, 3, 4, 5].map(client))
        for (const node of cluster)
          await eventually('each node has all', async () => {
            const [[row]] = await node.execute(`SELECT value FROM ${database}.counter`)
            return row?.['value'] === 300
          })
      },
    )
  }

  test(
    `${scheme}: a cursor walk over three nodes has every row that was there before it, once, while others are written`,
    { skip: noGalera },
    async (t) => {
      assert(cluster)
      const database = await newDatabase(cluster)
      const [a, b, c] = await Promise.all(cluster.map(async (node) => appOn(t, galeraUrl([node], database, scheme))))
      assert(a && b && c)
      const before = Array.from({ length: 200 }, (_, n) => `before-${String(n).padStart(3, '0')}`)
      const values = before.map((name) => `('${name}')`).join()
      await cluster[0].execute(`INSERT INTO ${database}.entry VALUES ${values}`)
      for (const node of cluster)
        await eventually('the node has the rows', async () => (await names(node, database)).size === 200)
      const load = new Load(t, a.url, 4)
      let page = 0
      const turn = (path: string) => [a, b, c][page++ % 3]?.fetch(path) ?? assert.fail()
      const seen = (await walk(turn, '/entries', 7)).map(({ name }) => String(name))
      await load.stop()
      assert.ok(load.count('kept') > 0)
      assert.equal(new Set(seen).size, seen.length)
      assert.deepEqual(
        seen.filter((name) => name.startsWith('before-')),
        before,
      )
      assert.deepEqual(seen, seen.toSorted())
    },
  )

  for (const [hosts, fault] of [
    ['one host', 'killed'],
    ['three hosts', 'killed'],
    ['three hosts', 'frozen'],
  ] as const) {
    test(
      `${scheme}, ${hosts} in the URL: when a node is ${fault} under 12 writers, no acknowledged row is lost, and no refused one appears`,
      { skip: noGalera },
      async (t) => {
        assert(cluster)
        const [first, second] = cluster
        const database = await newDatabase(cluster)
        const app = await appOn(
          t,
          galeraUrl(hosts === 'one host' ? [first] : cluster, database, scheme),
          LEAVES_FROZEN_NODES,
        )
        const load = new Load(t, app.url, 12)
        await eventually('some are acknowledged', () => load.count('kept') >= 100)
        if (fault === 'killed') await first.kill()
        else first.freeze()
        t.after(() => first.thaw())
        if (hosts === 'one host') {
          await eventually('the app answers 503', () => load.count('refused') >= 50)
        } else {
          const before = load.count('kept')
          await eventually('the app goes on with the next node', () => load.count('kept') >= before + 100)
        }
        await second.joined(2)
        if (fault === 'killed') first.start()
        else first.thaw()
        for (const node of [second, first]) await node.joined(3)
        const before = load.count('kept')
        await eventually('the app serves when the node is back', () => load.count('kept') >= before + 100)
        await load.stop()
        assert.equal(load.count('cut off'), 0)
        t.diagnostic(
          `${load.count('kept')} acknowledged, ${load.count('refused')} refused, ${load.count('unknown')} unknown`,
        )
        const expected = await names(second, database)
        assertKept(load, expected)
        for (const name of expected) assert.ok(load.outcomes.has(name), `${name} was never sent`)
        await eventually('the node that was away has the same rows', async () => {
          const there = await names(first, database)
          return there.size === expected.size && [...expected].every((name) => there.has(name))
        })
      },
    )
  }

  test(
    `${scheme}: while two of three nodes are frozen, the third refuses, and serves again without a restart`,
    { skip: noGalera },
    async (t) => {
      assert(cluster)
      const [first, second, third] = cluster
      const database = await newDatabase(cluster)
      const app = await appOn(t, galeraUrl(cluster, database, scheme), LEAVES_FROZEN_NODES)
      const load = new Load(t, app.url, 12)
      await eventually('some are acknowledged', () => load.count('kept') >= 100)
      t.after(() => [second, third].map((node) => node.thaw()))
      for (const node of [second, third]) node.freeze()
      await eventually('the app answers 503', () => load.count('refused') >= 50)
      await eventually('the third one has noticed', async () => !(await first.isReady()))
      for (const node of [second, third]) node.thaw()
      for (const node of cluster) await node.joined(3)
      const before = load.count('kept')
      await eventually('the app serves again', () => load.count('kept') >= before + 100)
      await load.stop()
      t.diagnostic(
        `${load.count('kept')} acknowledged, ${load.count('refused')} refused, ${load.count('unknown')} unknown`,
      )
      for (const node of cluster)
        await eventually(
          'each node has the same rows',
          async () => (await names(node, database)).size >= load.count('kept'),
        )
      for (const node of cluster) assertKept(load, await names(node, database))
    },
  )
}
