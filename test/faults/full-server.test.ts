import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Controller, type Database, Get, Session, sql } from 'sequitur'
import { sequelizeInternals, writePoolOf } from '../../src/db/sequelize/internals.js'
import { databaseApp, postgres } from '../support/databases.js'
import { fatal } from '../support/failing-messages.js'
import { ownPostgres, said } from '../support/faults.js'
import { type Gate, gate, until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'

const skip = process.env['TEST_QUICK'] !== undefined

/** A controller one of whose requests keeps its connection until the gate opens. */
function holding({ opened }: Gate, held = () => {}) {
  @Controller()
  class Holding {
    @Get('/held') async hold(session: Session) {
      await session.execute(sql`SELECT 1`)
      held()
      await opened
    }
    @Get('/served') async serve(session: Session) {
      return session.execute(sql`SELECT 1 AS n`)
    }
  }
  return Holding
}

/** How many connections the server of a test accepts. */
const MOST = 6

/** Takes all connections that the server has left beside those of the app. @returns a function that closes one of them. */
async function fill(t: TestContext, url: string, { sequelize }: Database): Promise<() => Promise<void>> {
  const clients: Client[] = []
  const pool = writePoolOf(sequelize)
  t.after(() => Promise.all(clients.map((client) => client.end())))
  for (;;) {
    const client = new Client(url)
    client.on('error', () => {}) // the server ends before the test does
    const refused = await client.connect().then(
      () => undefined,
      (error: { readonly code?: string }) => error,
    )
    if (!refused) clients.push(client)
    else {
      assert.equal(refused.code, '53300')
      const { using, available } = pool
      if (clients.length + using + available === MOST) return async () => clients.pop()?.end()
      await setTimeout(10) // one that the app has closed takes its place until the server has noticed
    }
  }
}

async function appOnSmallServer(t: TestContext, controller: ReturnType<typeof holding>, poolTimeout = 30_000) {
  const { url } = await ownPostgres(t, { maxConnections: MOST })
  const options = { health: true, lifespan: { poolSize: 5, poolTimeout } }
  const app = await databaseApp(t, { name: 'small', url: async () => url }, [], [controller], options)
  return { ...app, url }
}

/** An app one of whose connections is in use until `held` opens. */
async function appWithHeldConnection(t: TestContext) {
  const held = gate()
  let count = 0
  const { fetch, url, database } = await appOnSmallServer(
    t,
    holding(held, () => count++),
  )
  const first = fetch('/held')
  await until('the connection is in use', () => count === 1)
  return { held, first, fetch, url, database }
}

test('an idle app is ready while others use all connections of the server', { skip }, async (t) => {
  const { fetch, database, url } = await appOnSmallServer(t, holding(gate()))
  await sequelizeInternals(database.sequelize).connectionManager.pool.destroyAllNow()
  const free = await fill(t, url, database)
  for (let n = 0; n < 3; n++) assert.equal((await fetch('/readyz')).status, 200)
  assert.equal(await said(fetch('/served')), '503, again in 1 s: The database is not available.')
  await free()
  await until('it serves', async () => (await fetch('/served')).status === 200)
})

test('requests to a full server wait for the connections that the pool has', { skip }, async (t) => {
  const { held, first, fetch, url, database } = await appWithHeldConnection(t)
  await fill(t, url, database)
  const others = Array.from({ length: 20 }, () => fetch('/served'))
  for (let n = 0; n < 3; n++) assert.equal((await fetch('/readyz')).status, 200)
  held.open()
  assert.equal((await first).status, 204)
  assert.deepEqual(
    (await Promise.all(others)).map(({ status }) => status),
    Array.from({ length: 20 }, () => 200),
  )
})

test('requests to a full server get the connections that others close', { skip }, async (t) => {
  const { held, first, fetch, url, database } = await appWithHeldConnection(t)
  const free = await fill(t, url, database)
  const second = fetch('/served')
  assert.equal((await fetch('/readyz')).status, 200)
  await free()
  assert.equal((await second).status, 200)
  held.open()
  assert.equal((await first).status, 204)
})

test('a request waits no longer than poolTimeout for a full server', { skip }, async (t) => {
  const held = gate()
  let count = 0
  const { fetch, url, database } = await appOnSmallServer(
    t,
    holding(held, () => count++),
    1_000,
  )
  const first = fetch('/held')
  await until('the connection is in use', () => count === 1)
  await fill(t, url, database)
  assert.match(await said(fetch('/served')), /^503, again in 1 s: /)
  held.open()
  assert.equal((await first).status, 204)
})

test('requests wait for the connections of the pool when PgBouncer takes no more clients', { skip }, async (t) => {
  const held = gate()
  let count = 0
  let isFull = false
  // As PgBouncer answers the first message of a client.
  const network = await watchedNetwork(t, await postgres.url(), (bytes, client, upstream) => {
    if (isFull && bytes.length > 8 && bytes.readInt32BE(4) === PROTOCOL_3)
      client.end(fatal('FATAL 08P01', 'no more connections allowed (max_client_conn)'))
    else upstream.write(bytes)
  })
  const through = { name: 'PgBouncer', url: async () => network }
  const options = { health: true, lifespan: { poolSize: 5, poolTimeout: 30_000 } }
  const { fetch } = await databaseApp(t, through, [], [holding(held, () => count++)], options)
  const first = fetch('/held')
  await until('the connection is in use', () => count === 1)
  isFull = true
  const others = Array.from({ length: 3 }, () => fetch('/served'))
  assert.equal((await fetch('/readyz')).status, 200)
  held.open()
  assert.equal((await first).status, 204)
  for (const other of others) assert.equal((await other).status, 200)
})

/** In the message that opens a connection. */
const PROTOCOL_3 = 196608
