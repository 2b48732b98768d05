import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { QueryTypes, type Sequelize } from 'sequelize'
import { writePoolOf } from '../../src/db/sequelize/internals.js'
import type { DatabaseApp } from './databases.js'
import { startPostgres } from './postgres-server.js'
import { until } from './waiting.js'

/*
 * What tests of faults share: a PostgreSQL server to kill, and what must hold after a fault.
 */

/** Starts a PostgreSQL server for one test, which may kill it without an effect on other tests. */
export async function ownPostgres(t: TestContext, choices: Parameters<typeof startPostgres>[0] = {}) {
  const server = await startPostgres(choices)
  t.after(server.stop)
  return server
}

/** Queries for the open transactions of a database, except the one of the query itself. */
const OPEN_TRANSACTIONS: Readonly<Record<string, string>> = {
  postgres: `SELECT state AS open FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
  mariadb: `SELECT trx_state AS open FROM information_schema.innodb_trx JOIN information_schema.processlist p
    ON p.id = trx_mysql_thread_id WHERE p.db = database()`,
}

async function openTransactions(sequelize: Sequelize): Promise<unknown[]> {
  const dialect = sequelize.getDialect()
  const text = OPEN_TRANSACTIONS[dialect === 'mysql' ? 'mariadb' : dialect]
  return text === undefined ? [] : sequelize.query(text, { type: QueryTypes.SELECT, transaction: null })
}

/** Asserts that a fault has no after-effects: no transaction is open, and as many requests succeed at once as the pool has connections. */
export async function assertWhole({ fetch, database }: DatabaseApp, path = '/whole'): Promise<void> {
  // InnoDB refreshes its table of transactions only if it was not read for 100 ms.
  await until('no transaction is open', async () => (await openTransactions(database.sequelize)).length === 0, 250)
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(path)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from({ length: 10 }, () => 200),
  )
}

/** Waits until no connection is being opened: one that is killed then is not idle. */
export async function settled({ database }: Pick<DatabaseApp, 'database'>): Promise<void> {
  const pool = writePoolOf(database.sequelize)
  await until('no connection is being opened', () => pool.size === pool.available + pool.using)
}

const BLANK = 'about:blank'

/** The status, the type, the Retry-After header and the detail of a response as one string, for assertions. */
export async function said(answer: Response | Promise<Response>): Promise<string> {
  const { status, headers } = await answer
  const text = await (await answer).text()
  const { detail = '', type = BLANK } = text === '' ? {} : (JSON.parse(text) as { detail?: string; type?: string })
  const wait = headers.get('retry-after')
  return `${status}${type === BLANK ? '' : ` ${type}`}${wait === null ? '' : `, again in ${wait} s`}: ${detail}`
}
