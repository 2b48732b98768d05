import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Post, Session, Transactional } from 'sequitur'
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
