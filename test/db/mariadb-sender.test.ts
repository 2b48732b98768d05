// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as mariadb from 'mariadb'
import { DataTypes, Sequelize } from 'sequelize'
import { type Database, newLifespan, select, sql, withSession } from 'sequitur'
import { beginnerOf } from '../../src/db/dialects/mysql/direct.js'
import { isHarmless, type MariadbSender } from '../../src/db/dialects/mysql/mariadb-sender.js'
import { sequelizeInternals } from '../../src/db/sequelize/internals.js'
import { mysqls, statements } from '../support/databases.js'
import { openBoth } from '../support/both-paths.js'

/*
 * What reaches below the public methods of the driver mariadb: BEGIN is sent together with a first SELECT, and a driver that hides its connection, or a
 * server that names no types, changes no results.
 */

const mariadbs = mysqls.filter(({ name }) => !name.includes('mysql2'))

for (const kind of mariadbs) {
  const table = 'CREATE TABLE hero (id INTEGER PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20))'

  async function withSender(t: TestContext, work: (sender: MariadbSender, database: Database) => Promise<void>) {
    const [{ database }] = await openBoth(t, kind, [table])
    const { connectionManager: manager } = sequelizeInternals(database.sequelize)
    const connection = await manager.getConnection()
    const sender = beginnerOf(connection)
    assert.ok(sender)
    await work(sender, database)
    await manager.destroyConnection(connection)
  }
  const send = (sender: MariadbSender, text: string) =>
    new Promise((resolve, reject) =>
      sender.send({ sql: text }, (error, rows) => (error ? reject(error) : resolve(rows))),
    )

  test(`${kind.name}: a statement whose BEGIN fails reports that, and writes nothing`, (t) =>
    withSender(t, async (sender, { sequelize }) => {
      for (const text of ["INSERT INTO hero (name) VALUES ('a')", 'SELECT name FROM hero', 'SELECT 1']) {
        sender.beginWithNext('BEGIN nonsense')
        await assert.rejects(send(sender, text), /nonsense/)
        assert.equal(sender.hasBegun, false)
      }
      assert.deepEqual((await sequelize.query('SELECT * FROM hero'))[0], [])
      sender.beginWithNext('START TRANSACTION')
      assert.deepEqual(await send(sender, 'SELECT name FROM hero'), [])
      assert.equal(sender.hasBegun, true)
      await send(sender, "INSERT INTO hero (name) VALUES ('a')")
      await send(sender, 'ROLLBACK')
      assert.deepEqual(await send(sender, 'SELECT name FROM hero'), [])
    }))

  test(`${kind.name}: a query that Sequelize sends itself waits for BEGIN`, async (t) => {
    const [{ database, log }] = await openBoth(t, kind, [table])
    await assert.rejects(
      withSession(database, async (session) => {
        await database.sequelize.query('SELECT name FROM hero', { benchmark: true })
        await session.execute(sql`INSERT INTO hero (name) VALUES ('a')`)
        await database.sequelize.query('SELECT ? FROM hero', { replacements: [1] })
        throw new Error('undone')
      }),
      /undone/,
    )
    assert.equal(statements(log)[0], 'START TRANSACTION')
    assert.equal(statements(log).filter((text) => text.startsWith('START')).length, 1)
    assert.deepEqual((await database.sequelize.query('SELECT * FROM hero'))[0], [])
  })

  for (const [what, change] of [
    ['whose promises hide their connection', (connection: object) => Object.assign(connection, { off: undefined })],
    [
      'on a server that returns JSON as text',
      (connection: { info: object }) => Object.assign(connection.info, { hasMinVersion: () => false }),
    ],
  ] as const)
    test(`${kind.name}: the results are those of Sequelize with a driver ${what}`, async (t) => {
      const url = new URL((await kind.url()).replace('mariadb+', ''))
      const dialectModule = {
        ...mariadb,
        createConnection: async (options: object) => {
          const connection = await mariadb.createConnection({ ...options, autoJsonMap: false })
          change(connection as never)
          return connection
        },
      }
      const results = []
      for (const fastPath of [true, false]) {
        const sequelize = new Sequelize(url.href, { dialect: 'mariadb', dialectModule, logging: false })
        const database = newLifespan(sequelize, { fastPath })
        await database.start()
        t.after(() => database.stop())
        const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
        const thing = sequelize.define('Thing', { id, meta: DataTypes.JSON }, { timestamps: false, tableName: 'thing' })
        await thing.sync({ force: true })
        results.push(
          await withSession(database, async (session) => {
            const created = session.add(thing.build({ meta: null }))
            await session.flush()
            const other = await thing.create({ meta: { a: [1] } })
            return [
              created.get(),
              other.get(),
              (await session.all(select(thing))).map((one) => one.get()),
              await thing.findAll({ raw: true }),
              await session.execute(sql`SELECT * FROM thing WHERE id > ${0}`),
            ]
          }),
        )
      }
      assert.deepEqual(results[0], results[1])
    })
}

for (const [text, expected] of [
  ['SELECT `id`, `name` FROM `hero` AS `Hero` WHERE `Hero`.`id` = 1;', true],
  ['SELECT count(*) AS `count` FROM `hero`', true],
  ['SELECT f(1)', false],
  ['SELECT count (*), f(*)', false],
  ['SELECT discount(*)', false],
  ["SELECT * FROM hero INTO OUTFILE 'a'", false],
  ['SELECT * FROM hero FOR UPDATE', false],
  ['SELECT NEXT VALUE FOR ids', false],
  ['SELECT @a := 1', false],
  [' SELECT 1', false],
  ['SELECTED', false],
  ['INSERT INTO hero VALUES 1', false],
  ['WITH a AS b SELECT 1', false],
] as const)
  test(`${text} ${expected ? 'may' : 'may not'} be sent together with BEGIN`, () =>
    assert.equal(isHarmless(text), expected))
