import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Column, DataType, Model, Table } from 'sequelize-typescript'
import sqlite3 from 'sqlite3'
import { Controller, type Database, Get, newLifespan, Post, Session, Transactional } from 'sequitur'
import { OpenedFile } from '../../src/db/dialects/sqlite/opened-file.js'
import { rawSql } from '../../src/db/statements/statement.js'
import { databaseApp, sqliteFile, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

/*
 * What the SQL of a handler leaves on its connection to SQLite.
 */

@Controller('/')
class State {
  @Post('/left') async write(text: string, session: Session) {
    await session.execute(rawSql(text))
  }
  @Get('/left') async read(text: string, session: Session) {
    await session.execute(rawSql(text))
  }
  @Transactional({ readOnly: true })
  @Get('/read-only')
  async readOnly(text: string, session: Session) {
    await session.execute(rawSql(text)).catch(() => {})
    await Hero.create({ name: 'written' })
  }
  @Post('/hero') async create(name: string) {
    await Hero.create({ name })
  }
  @Get('/count') count() {
    return Hero.count()
  }
}

const columns = 'id INTEGER PRIMARY KEY, name TEXT, age INTEGER, team_id INTEGER'

const LEFT = [
  'PRAGMA query_only = 1',
  '/* a */ PRAGMA query_only(1)',
  'PRAGMA locking_mode = EXCLUSIVE',
  `CREATE TEMP TABLE hero (${columns})`,
  `CREATE TABLE "temp".hero (${columns})`,
  'CREATE TEMPORARY TRIGGER ignored BEFORE INSERT ON hero BEGIN SELECT RAISE(IGNORE); END',
]

for (const fastPath of [true, false])
  test(`what a request has left on its connection is not met by others: fastPath ${fastPath}`, async (t) => {
    const lifespan = { echo: false, fastPath, poolSize: 1 }
    const app = await databaseApp(t, sqliteFile, [Team, Hero], [State], { lifespan })
    let count = 0
    for (const text of LEFT)
      for (const method of ['POST', 'GET']) {
        const what = `${method} ${text}`
        assert.ok((await app.fetch(`/left?${new URLSearchParams({ text }).toString()}`, { method })).ok, what)
        const created = await app.fetch(`/hero?name=${++count}`, { method: 'POST' })
        assert.deepEqual([what, created.status, await (await app.fetch('/count')).json()], [what, 204, count])
      }
    const [[row]] = (await app.database.sequelize.query('SELECT count(*) AS count FROM main.hero')) as [
      [object],
      unknown,
    ]
    assert.deepEqual(row, { count })
  })

for (const kind of [sqliteFile, sqliteMemory])
  test(`${kind.name}: a read-only handler cannot make itself one that writes`, async (t) => {
    const app = await databaseApp(t, kind, [Team, Hero], [State], { lifespan: { echo: false } })
    for (const text of ['PRAGMA query_only = 0', 'PRAGMA/**/"query_only" (0)', 'SELECT 1']) {
      const response = await app.fetch(`/read-only?${new URLSearchParams({ text }).toString()}`)
      assert.deepEqual([text, response.status, await Hero.count()], [text, 500, 0])
    }
    assert.match(app.log.join('\n'), /ReadOnlyError/)
    assert.equal((await app.fetch('/hero?name=a', { method: 'POST' })).status, 204)
  })

const STATE = [
  'PRAGMA foreign_keys',
  "SELECT 'a' LIKE 'A'",
  'PRAGMA query_only',
  'PRAGMA read_uncommitted',
  'SELECT count(*) FROM pragma_database_list',
]

for (const fastPath of [true, false])
  for (const type of [undefined, QueryTypes.SELECT])
    test(`what a statement outside of a session has left is not met by others: fastPath ${fastPath}, ${type}`, async (t) => {
      let database: Database
      @Controller('/')
      class Outside {
        @Post('/left') @Transactional(false) async leave(text: string) {
          await database.sequelize.query(text, { type: type as QueryTypes.RAW })
        }
        @Post('/hero') async create(name: string) {
          await Hero.create({ name })
        }
        @Get('/state') async state(session: Session) {
          const rows = []
          for (const text of STATE) rows.push(...(await session.execute(rawSql(text))))
          return { rows, count: await Hero.count() }
        }
      }
      const lifespan = { echo: false, fastPath, poolSize: 1 }
      const app = await databaseApp(t, sqliteFile, [Team, Hero], [Outside], { lifespan })
      ;({ database } = app)
      const state = async () => (await (await app.fetch('/state')).json()) as { rows: object[]; count: number }
      const { rows } = await state()
      let count = 0
      for (const text of [
        ...LEFT,
        'PRAGMA case_sensitive_like = 1',
        'PRAGMA foreign_keys = 0',
        'PRAGMA read_uncommitted(1)',
        "ATTACH ':memory:' AS other",
      ]) {
        assert.ok((await app.fetch(`/left?${new URLSearchParams({ text }).toString()}`, { method: 'POST' })).ok, text)
        const created = await app.fetch(`/hero?name=${++count}`, { method: 'POST' })
        assert.deepEqual([text, created.status, await state()], [text, 204, { rows, count }])
      }
    })

@Table({ tableName: 'hen', timestamps: false })
class Hen extends Model {
  @Column({ type: DataType.INTEGER, references: { model: 'egg', key: 'id' } }) declare egg_id: number | null
}

@Table({ tableName: 'egg', timestamps: false })
class Egg extends Model {
  @Column({ type: DataType.INTEGER, references: { model: 'hen', key: 'id' } }) declare hen_id: number | null
}

for (const drops of ['drop', 'truncate', 'sync', 'dropAllTables'] as const)
  test(`Sequelize turns foreign keys off and on around ${drops}()`, async (t) => {
    const database = newLifespan(await sqliteFile.url(), { models: [Hen, Egg], sync: true, echo: false })
    await database.start()
    t.after(() => database.stop())
    const { sequelize } = database
    const hen = await Hen.create({})
    const egg = await Egg.create({ hen_id: hen.get('id') })
    await hen.update({ egg_id: egg.get('id') })
    if (drops === 'dropAllTables') await sequelize.getQueryInterface().dropAllTables()
    else await sequelize[drops](drops === 'truncate' ? { cascade: true } : { force: true })
    assert.deepEqual(await sequelize.query('PRAGMA foreign_keys', { plain: true }), { foreign_keys: 1 })
    await sequelize.sync()
    await assert.rejects(Hen.create({ egg_id: 7 }), { name: 'SequelizeForeignKeyConstraintError' })
  })

for (const fastPath of [true, false])
  test(`the connection of a session that only reads is used again: fastPath ${fastPath}`, async (t) => {
    @Controller('/')
    class Reads {
      @Transactional({ readOnly: true })
      @Get('/count')
      count() {
        return Hero.count()
      }
    }
    const opens = t.mock.method(OpenedFile.prototype, 'open').mock
    const app = await databaseApp(t, sqliteFile, [Team, Hero], [Reads], { lifespan: { poolSize: 1, fastPath } })
    assert.equal((await app.fetch('/count')).status, 200)
    const before = opens.callCount()
    for (let round = 0; round < 3; round++) assert.equal((await app.fetch('/count')).status, 200)
    assert.equal(opens.callCount(), before)
  })

test('in memory, a setting that was left is not undone again with each session', async (t) => {
  const app = await databaseApp(t, sqliteMemory, [Team, Hero], [State], { lifespan: { echo: false } })
  const text = 'PRAGMA cache_size = 100'
  assert.ok((await app.fetch(`/left?${new URLSearchParams({ text }).toString()}`, { method: 'POST' })).ok)
  const sent: string[] = []
  const { exec } = sqlite3.Database.prototype
  t.mock.method(sqlite3.Database.prototype, 'exec', function (this: sqlite3.Database, ...given: [string, () => void]) {
    sent.push(given[0])
    return exec.apply(this, given)
  })
  assert.equal((await app.fetch('/hero?name=Robin', { method: 'POST' })).status, 204)
  assert.deepEqual(
    sent.filter((sql) => sql.includes('query_only')),
    [],
  )
})
