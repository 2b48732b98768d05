import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, newLifespan, Session, sql } from 'sequitur'
import { sequelizeInternals } from '../../src/db/sequelize/internals.js'
import { databaseApp, mysqls, openWithLog, postgres, skipIfShared } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * A new connection whose first statement fails, or is not answered, is closed: it takes no place on the server, nor in the pool.
 */

@Controller('/')
class Asking {
  @Get() ask(session: Session) {
    return session.execute(sql`SELECT 1 AS one`)
  }
}

const MYSQL = {
  first: 'SET SESSION',
  connections: 'SELECT id FROM information_schema.processlist WHERE db = database()',
}
const kinds = [
  {
    kind: postgres,
    first: 'SELECT pg_backend_pid()',
    connections: 'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
  },
  ...mysqls.map((kind) => ({ kind, ...MYSQL })),
]

for (const { kind, first, connections } of kinds) {
  for (const how of ['fails', 'is not answered'])
    test(`${kind.name}: a connection whose first statement ${how} is closed`, { skip: skipIfShared }, async (t) => {
      const url = await kind.url()
      let disturbed = 0
      const network = await watchedNetwork(t, url, (bytes, _, upstream) => {
        const text = bytes.toString('latin1')
        if (disturbed === 0 || !text.includes(first)) return void upstream.write(bytes)
        disturbed--
        if (how === 'fails') upstream.write(Buffer.from(text.replace(first, first.replace('S', 'X')), 'latin1'))
      })
      const through = { ...kind, url: () => Promise.resolve(network) }
      const lifespan = { poolSize: 2, poolTimeout: 300, connectTimeout: 300 }
      const app = await databaseApp(t, through, [], [Asking], { lifespan })
      const { sequelize } = (await openWithLog(t, url, {})).database
      const count = async () => (await sequelize.query(connections, { type: QueryTypes.SELECT })).length
      await sequelizeInternals(app.database.sequelize).connectionManager.pool.destroyAllNow()
      await until('that of the start is closed', async () => (await count()) === 1)
      disturbed = 4
      const statuses = new Set<number>()
      await until('all four were met', async () => {
        statuses.add((await app.fetch('/')).status)
        return disturbed === 0
      })
      await until('the pool is whole', async () => (await app.fetch('/')).status === 200)
      assert.deepEqual(
        [...statuses].filter((status) => status !== 200),
        [503],
      )
      await until('no more connections are open', async () => (await count()) <= 3)
    })
}

test('PostgreSQL: a connection of the start, on which Sequelize does not get the types, is closed', async (t) => {
  const url = await postgres.url()
  const types = 'WITH ranges'
  let isDisturbed = true
  const network = await watchedNetwork(t, url, (bytes, _, upstream) => {
    const text = bytes.toString('latin1')
    upstream.write(isDisturbed ? Buffer.from(text.replace(types, 'WITX ranges'), 'latin1') : bytes)
    if (text.includes(types)) isDisturbed = false
  })
  const { sequelize } = (await openWithLog(t, url, {})).database
  const database = newLifespan(network, { poolSize: 1 })
  t.after(() => database.stop())
  await database.start() // tries again
  assert.equal(isDisturbed, false)
  const count = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()`
  await until('one is open', async () => (await sequelize.query(count, { type: QueryTypes.SELECT })).length === 2)
})
