import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, newLifespan, Post, Session, sql, Transactional, withSession } from 'sequitur'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { ownPostgres, said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]
const post = { method: 'POST' }

@Controller('/')
class Routed {
  @Transactional({ readOnly: true })
  @Get('/declared')
  async declared(session: Session) {
    const heroes = await Hero.findAll()
    const teams = await session.execute(sql<{ name: string }>`SELECT name FROM team`)
    return [...heroes, ...teams].map(({ name }) => name)
  }
  @Get('/undeclared') async undeclared() {
    return (await Hero.findAll()).map(({ name }) => name)
  }
  @Post() async create() {
    await Hero.create({ name: 'Batman' })
    return Hero.count()
  }
  @Transactional({ readOnly: true })
  @Post('/refused')
  async refused() {
    await Hero.create({ name: 'Joker' })
  }
  @Transactional({ readOnly: true })
  @Post('/refused/raw')
  async refusedRaw(session: Session) {
    await session.execute(sql`INSERT INTO team (name) VALUES ('Villains')`).catch(() => {})
  }
}

/** A database with the tables, and one hero and one team that tell which it is. */
async function seeded(kind: TestDatabase, name: string): Promise<string> {
  const url = await kind.url()
  await withSession(newLifespan(url, { models, sync: true }), async (session) => {
    session.addAll([Hero.build({ name })])
    session.addAll([Team.build({ name })])
  })
  return url
}

async function names(url: string): Promise<unknown[]> {
  return withSession(newLifespan(url), ({ sequelize }) =>
    sequelize.query('SELECT name FROM hero UNION ALL SELECT name FROM team ORDER BY name', { type: QueryTypes.SELECT }),
  )
}

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite'))) {
  test(`${kind.name}: what is declared read-only is served by the replica, all else by the writer`, async (t) => {
    const [writer, replica] = [await seeded(kind, 'writer'), await seeded(kind, 'replica')]
    const written = { name: kind.name, url: () => Promise.resolve(writer) }
    const app = await databaseApp(t, written, models, [Routed], { lifespan: { sync: false, replicas: [replica] } })
    for (let n = 0; n < 5; n++) {
      assert.deepEqual(await (await app.fetch('/declared')).json(), ['replica', 'replica'])
      assert.deepEqual(await (await app.fetch('/undeclared')).json(), ['writer'])
    }
    assert.equal(await (await app.fetch('/', post)).json(), 2)
    assert.deepEqual(await names(replica), [{ name: 'replica' }, { name: 'replica' }])
  })

  test(`${kind.name}: a read-only handler that writes keeps nothing, on the writer or on the replica`, async (t) => {
    const [writer, replica] = [await seeded(kind, 'writer'), await seeded(kind, 'replica')]
    const written = { name: kind.name, url: () => Promise.resolve(writer) }
    const app = await databaseApp(t, written, models, [Routed], { lifespan: { sync: false, replicas: [replica] } })
    assert.equal((await app.fetch('/refused', post)).status, 500)
    assert.match(app.log.join('\n'), /ReadOnlyError: This handler writes, but is declared/)
    await (await app.fetch('/refused/raw', post)).text()
    assert.deepEqual(await names(writer), [{ name: 'writer' }, { name: 'writer' }])
    assert.deepEqual(await names(replica), [{ name: 'replica' }, { name: 'replica' }])
  })
}

test('while the replica is down what it serves answers 503, and the writer goes on', async (t) => {
  const server = await ownPostgres(t, { lasting: true })
  const replica = await seeded({ name: 'replica', url: () => Promise.resolve(server.url) }, 'replica')
  const kind = databases.find(({ name }) => name === 'PostgreSQL') as TestDatabase
  const app = await databaseApp(t, kind, models, [Routed], { lifespan: { replicas: [replica] } })
  assert.equal((await app.fetch('/declared')).status, 200)
  await server.kill()
  assert.match(await said(app.fetch('/declared')), /^503, again in 1 s: The database is not available/)
  assert.equal((await app.fetch('/', post)).status, 201)
  await server.restart()
  assert.deepEqual(await (await app.fetch('/declared')).json(), ['replica', 'replica'])
})
