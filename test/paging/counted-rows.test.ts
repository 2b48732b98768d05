// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, literal } from 'sequelize'
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript'
import { Base, Controller, type Database, Get, newLifespan, Page, Paginate, select, withSession } from 'sequitur'
import { testApp, type TestApp } from 'sequitur/testing'
import { databaseApp, databases, mysqls, statements } from '../support/databases.js'
import { mariadbOptions } from '../support/mariadb.js'

@Table({ tableName: 'stock', timestamps: false })
class Stock extends Base<Stock> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  /** The number of rows, which every writer keeps. */
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number
}

/** Has a column with the name that a total has in the statement of a page. */
@Table({ tableName: 'odd', timestamps: false })
class Odd extends Base<Odd> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare sequitur_total: number
}

@Controller('/')
class Lists {
  @Get('/stock', Page.of(Stock)) list(paginate: Paginate<Stock>) {
    return paginate(select(Stock))
  }
  @Get('/keys') async keys(paginate: Paginate<Stock>) {
    const { data } = await paginate(select(Stock))
    const rows = data as unknown as Stock[] // a page of a model has its instances
    return rows.map((row) => [Object.keys(row.dataValues), Object.keys(row.toJSON())])
  }
  @Get('/odd', Page.of(Odd)) odd(paginate: Paginate<Odd>) {
    return paginate(select(Odd))
  }
}

interface StockPage {
  readonly data: readonly { readonly id: number; readonly size: number }[]
  readonly meta: { readonly total_items: number }
}

interface OpenedApp {
  readonly database: Database
  readonly fetch: TestApp['fetch']
}

async function fill(app: OpenedApp, size: number): Promise<void> {
  await withSession(app.database, () => Stock.bulkCreate(Array.from({ length: size }, () => ({ size }))))
}

async function assertOneSnapshot(app: OpenedApp): Promise<void> {
  await fill(app, 60)
  const end = new AbortController()
  const write = async () => {
    for (let turn = 0; !end.signal.aborted; turn++)
      await withSession(app.database, async () => {
        if (turn % 3 === 2) await Stock.destroy({ where: { id: await Stock.max<number, Stock>('id') } })
        else await Stock.create({ size: 0 })
        await Stock.update(
          { size: literal('(SELECT n FROM (SELECT count(*) AS n FROM stock) AS counted)') },
          { where: {} },
        )
      })
  }
  const writing = write()
  try {
    for (let turn = 0; turn < 40; turn++) {
      const response = await app.fetch(`/stock?offset=${turn % 20}&limit=${1 + (turn % 40)}`)
      const { data, meta } = (await response.json()) as StockPage
      for (const { size } of data) assert.equal(size, meta.total_items)
    }
  } finally {
    end.abort()
    await writing
  }
}

for (const kind of mysqls)
  for (const fastPath of [true, false])
    test(`the rows and the total of a page are of one snapshot on a server with READ COMMITTED: ${kind.name}, fastPath ${fastPath}`, async (t) => {
      const sequelize = new Sequelize({
        ...mariadbOptions(await kind.url()),
        hooks: {
          afterConnect: (connection) => setIsolation(connection as Parameters<typeof setIsolation>[0]),
        },
      })
      const database = newLifespan(sequelize, { sync: true, models: [Stock], fastPath })
      const app = await testApp({ controllers: [Lists], models: [Stock, Odd], lifespan: database, logger: false })
      t.after(app.close)
      await assertOneSnapshot({ database, fetch: app.fetch })
    })

/** As an administrator does by SET GLOBAL. */
function setIsolation(connection: { query(sql: string, done: (error: unknown) => void): unknown }): Promise<void> {
  const sql = 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'
  return new Promise((resolve, reject) => {
    const sent = connection.query(sql, (error) => (error ? reject(error as Error) : resolve()))
    if (sent instanceof Promise) sent.then(() => resolve(), reject) // of mariadb
  })
}

for (const kind of databases) {
  const appWith = (t: Parameters<typeof databaseApp>[0], fastPath: boolean) =>
    databaseApp(t, kind, [Stock, Odd], [Lists], { lifespan: { fastPath } })

  for (const fastPath of [true, false]) {
    const where = `${kind.name}, fastPath ${fastPath}`
    test(`the pages of a list whose total is known are the list: ${where}`, async (t) => {
      const app = await appWith(t, fastPath)
      await fill(app, 97)
      const page = async (offset: number, limit: number) =>
        (await (await app.fetch(`/stock?offset=${offset}&limit=${limit}`)).json()) as StockPage
      for (const limit of [kind === databases[0] ? 1 : 5, 7, 39, 40, 41, 96, 97, 98]) {
        const ids: number[] = []
        for (let offset = 0; offset <= 97 + limit; offset += limit) {
          const { data, meta } = await page(offset, limit)
          ids.push(...data.map(({ id }) => id))
          assert.equal(meta.total_items, 97, `${offset} ${limit}`)
        }
        assert.deepEqual(
          ids,
          Array.from({ length: 97 }, (_, index) => index + 1),
          `limit ${limit}`,
        )
      }
    })

    test(`the rows and the total of a page are of one snapshot: ${where}`, async (t) => {
      await assertOneSnapshot(await appWith(t, fastPath))
    })

    test(`instances have no column of a total: ${where}`, async (t) => {
      const app = await appWith(t, fastPath)
      await fill(app, 5)
      for (let turn = 0; turn < 3; turn++)
        assert.deepEqual(await (await app.fetch('/keys?limit=2')).json(), [
          [
            ['id', 'size'],
            ['id', 'size'],
          ],
          [
            ['id', 'size'],
            ['id', 'size'],
          ],
        ])
    })

    test(`a model may have a column of that name: ${where}`, async (t) => {
      const app = await appWith(t, fastPath)
      await withSession(app.database, () => Odd.bulkCreate([1, 2, 3].map((id) => ({ id, sequitur_total: 100 + id }))))
      for (let turn = 0; turn < 2; turn++) {
        const { data, meta } = (await (await app.fetch('/odd?limit=1&offset=1')).json()) as StockPage
        assert.deepEqual([data, meta.total_items], [[{ id: 2, sequitur_total: 102 }], 3])
      }
    })
  }

  test(`a page of a list whose total is known is one statement: ${kind.name}`, async (t) => {
    const app = await appWith(t, true)
    await fill(app, 30)
    await app.fetch('/stock')
    app.log.length = 0
    await app.fetch('/stock?offset=10')
    const reads = statements(app.log).filter((statement) => statement.startsWith('SELECT'))
    assert.equal(reads.length, 1, reads.join('\n'))
  })
}
