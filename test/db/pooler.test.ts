import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { type Database, type LifespanOptions, newLifespan, Session, sql, withSession } from 'sequitur'
import { postgres, skipIfShared } from '../support/databases.js'
import { transactionPooler } from '../support/transaction-pooler.js'

/*
 * A pooler that assigns server connections to transactions, without PgBouncer: see test/cluster/pgbouncer.test.ts for that.
 */

async function started(t: TestContext, url: string, options: LifespanOptions): Promise<Database> {
  const database = newLifespan(url, { poolSize: 1, ...options })
  await database.start()
  t.after(() => database.stop())
  return database
}

async function serverOf(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  t.after(() => client.end())
  return client
}

/** A limit in the transaction, and how many statements the server connection has prepared. */
const state = async (session: Session) => {
  const [limit] = await session.execute<{ limit: string }>(
    sql`SELECT current_setting('statement_timeout') AS limit WHERE ${1}::integer = 1`,
  )
  const prepared = await session.execute(sql`SELECT name FROM pg_prepared_statements`)
  return { limit: limit?.limit, prepared: prepared.length }
}

test('PostgreSQL: behind a pooler each client has its own limits, whichever server connection it is given', async (t) => {
  const pooler = await transactionPooler(t, await postgres.url(), { hidesProcess: true })
  const one = await started(t, pooler.url, { statementTimeout: 7_000 })
  const other = await started(t, pooler.url, { statementTimeout: 9_000 })
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await withSession(one, state), { limit: '7s', prepared: 0 })
    assert.deepEqual(await withSession(other, state), { limit: '9s', prepared: 0 })
    const [rows] = await one.sequelize.query(`SELECT current_setting('statement_timeout') AS limit`)
    assert.deepEqual(rows, [{ limit: '0' }])
    pooler.rotate()
  }
})

test('PostgreSQL: statements are prepared behind a pooler if the URL says so', async (t) => {
  const pooler = await transactionPooler(t, await postgres.url(), { hidesProcess: true })
  const database = await started(t, pooler.url, { fastPath: true, preparedStatements: true, statementTimeout: 7_000 })
  assert.deepEqual(await withSession(database, state), { limit: '7s', prepared: 1 })
})

test('PostgreSQL: a limit of 0 lifts that of the database', async (t) => {
  const url = await postgres.url()
  const server = await serverOf(t, url)
  await server.query(`ALTER DATABASE ${server.database} SET statement_timeout = '5s'`)
  const database = await started(t, url, { statementTimeout: 0 })
  assert.equal((await withSession(database, state)).limit, '0')
})

test('PostgreSQL: a connection of its own has its settings until it is closed', { skip: skipIfShared }, async (t) => {
  const database = await started(t, await postgres.url(), {})
  const [rows] = await database.sequelize.query(
    `SELECT current_setting('TimeZone') AS zone, current_setting('standard_conforming_strings') AS strings,
       current_setting('client_min_messages') AS messages, current_setting('lock_timeout') AS lock`,
  )
  assert.deepEqual(rows, [{ zone: 'UTC', strings: 'on', messages: 'warning', lock: '10s' }])
})
