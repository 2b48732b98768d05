// Waits for seconds: time limits of handlers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes, type Sequelize } from 'sequelize'
import { Controller, Get, Post, Session, sql } from 'sequitur'
import { databaseApp, databases, openWithLog } from '../support/databases.js'
import { assertWhole, said } from '../support/faults.js'
import { silentNetwork } from '../support/silent-network.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

/*
 * A server goes on executing the statement of a connection that was closed, with its locks: it is told to end it.
 */

@Controller('/')
class Slow {
  @Post() async sleep(session: Session) {
    await Hero.create({ name: 'Robin' })
    const isPostgres = Hero.sequelize?.getDialect() === 'postgres'
    await session.execute(isPostgres ? sql`SELECT pg_sleep(25)` : sql`SELECT SLEEP(25)`)
  }
  @Get('/whole') whole() {
    return Hero.count()
  }
}

/** The server's numbers of the connections that sleep. */
async function sleeping(sequelize: Sequelize): Promise<number[]> {
  const sleep = `LIKE '%SLEEP(2%'`
  const text =
    sequelize.getDialect() === 'postgres'
      ? `SELECT pid AS id FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND UPPER(query) ${sleep} AND pid <> pg_backend_pid()`
      : `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info ${sleep} AND id <> CONNECTION_ID()`
  const found = await sequelize.query<{ id: number }>(text, { type: QueryTypes.SELECT })
  return found.map(({ id }) => id)
}

// One connection: none is idle when the network falls silent. The handler sleeps long before its time is up.
const given = { lifespan: { poolSize: 1, poolTimeout: 10_000 }, timeouts: { handler: 2_000 } }

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite'))) {
  test(`${kind.name}: the server ends the statement of a handler whose time is up`, async (t) => {
    const url = await kind.url()
    const { sequelize } = (await openWithLog(t, url, {})).database
    const same = { ...kind, url: () => Promise.resolve(url) }
    const app = await databaseApp(t, same, [Team, Hero], [Slow], given)
    const answer = app.fetch('/', { method: 'POST' })
    await until('it sleeps', async () => (await sleeping(sequelize)).length === 1)
    assert.match(await said(answer), /^503/)
    await until('it is ended', async () => (await sleeping(sequelize)).length === 0)
    assert.equal(await Hero.count(), 0)
    await assertWhole(app)
  })
}

for (const kind of databases.filter(({ name }) => name.startsWith('MariaDB'))) {
  test(`${kind.name}: a statement to end that the server has ended before does no harm`, async (t) => {
    const url = await kind.url()
    const network = await silentNetwork(t, url)
    const { sequelize } = (await openWithLog(t, url, {})).database
    const through = { ...kind, url: () => Promise.resolve(network.url) }
    const app = await databaseApp(t, through, [Team, Hero], [Slow], given)
    const answer = app.fetch('/', { method: 'POST' })
    let ids: number[] = []
    await until('it sleeps', async () => (ids = await sleeping(sequelize)).length === 1)
    network.silence({ losesClose: true })
    await sequelize.query(`KILL ${ids.join()}`)
    assert.match(await said(answer), /^503/)
    await assertWhole(app)
  })
}
