// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionAcquireTimeoutError, QueryTypes } from 'sequelize'
import { type Database, type LifespanOptions, sql } from 'sequitur'
import { mysqls, openWithLog, statements } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { silentNetwork } from '../support/silent-network.js'

/*
 * On MySQL and MariaDB, the COMMIT of a session begins the transaction of the next one while sessions wait for a connection. Nobody else gets a
 * connection that is in a transaction.
 */

async function open(t: TestContext, url: string, options: LifespanOptions = {}) {
  const opened = await openWithLog(t, `${url}?pool_size=1`, { fastPath: true, ...options })
  await opened.database.sequelize.query('CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY)')
  opened.log.length = 0
  return opened
}

const insert = (database: Database, id: number) =>
  database.session((session) => session.execute(sql`INSERT INTO note (id) VALUES (${id})`))

const idsOf = async ({ sequelize }: Database) =>
  (await sequelize.query<{ id: number }>('SELECT id FROM note ORDER BY id', { type: QueryTypes.SELECT })).map(
    ({ id }) => id,
  )

/** How many transactions its only connection has begun by a statement of their own. */
async function begunBy({ sequelize }: Database): Promise<number> {
  const [row] = await sequelize.query<{ Value: string }>(`SHOW SESSION STATUS LIKE 'Com_begin'`, {
    type: QueryTypes.SELECT,
  })
  return Number(row?.Value)
}

async function isInTransaction({ sequelize }: Database): Promise<boolean> {
  const [row] = await sequelize.query<{ yes: number }>('SELECT @@in_transaction AS yes', { type: QueryTypes.SELECT })
  return Number(row?.yes) === 1
}

/** Calls a function with each statement that is logged. */
function onStatement({ sequelize }: Database, work: (statement: string) => void): void {
  const { options } = sequelize as unknown as { readonly options: { logging: unknown } }
  options.logging = (line: string) => statements([line]).forEach(work)
}

class Refused extends Error {}

for (const kind of mysqls) {
  test(`${kind.name}: the COMMIT of a session begins the transaction of the next one that waits`, async (t) => {
    const { database, log } = await open(t, await kind.url())
    const before = await begunBy(database)
    log.length = 0
    await Promise.all(Array.from({ length: 10 }, (_, id) => insert(database, id)))
    const logged = statements(log)
    assert.equal((await begunBy(database)) - before, 1)
    assert.deepEqual(logged.slice(0, 3), ['START TRANSACTION', 'INSERT INTO note (id) VALUES (?)', 'COMMIT'])
    assert.equal(logged.filter((statement) => statement === 'START TRANSACTION').length, 10)
    assert.equal(await isInTransaction(database), false)
    assert.equal((await idsOf(database)).length, 10)
  })

  test(`${kind.name}: what runs beside sessions commits its statements by itself`, async (t) => {
    const url = await kind.url()
    const { database } = await open(t, url)
    const { database: other } = await open(t, url)
    const { sequelize } = database
    const first = insert(database, 1)
    const second = insert(database, 2)
    const alone = sequelize.query('INSERT INTO note (id) VALUES (3)')
    const inTransaction = isInTransaction(database)
    const rolledBack = sequelize.transaction(async (transaction) => {
      await sequelize.query('INSERT INTO note (id) VALUES (4)', { transaction })
      throw new Refused()
    })
    const last = insert(database, 5)
    await Promise.all([first, second, alone, assert.rejects(rolledBack, Refused), last])
    assert.equal(await inTransaction, false)
    assert.deepEqual(await idsOf(other), [1, 2, 3, 5])
  })

  test(`${kind.name}: a connection that nobody waits for any more is in no transaction`, async (t) => {
    const url = await kind.url()
    const { database: other } = await open(t, url)
    const network = await silentNetwork(t, url)
    const { database, log } = await open(t, network.url, { poolTimeout: 300 })
    const before = await begunBy(database)
    let release = () => {}
    const first = database.session(async (session) => {
      await session.execute(sql`INSERT INTO note (id) VALUES (${1})`)
      release = network.hold()
    })
    const second = insert(database, 2)
    await assert.rejects(second, ConnectionAcquireTimeoutError)
    log.length = 0
    release()
    await first
    assert.deepEqual(statements(log), ['COMMIT'])
    assert.equal(await isInTransaction(database), false)
    await database.sequelize.query('INSERT INTO note (id) VALUES (3)')
    assert.deepEqual(await idsOf(other), [1, 3])
    assert.equal((await begunBy(database)) - before, 1)
  })

  test(`${kind.name}: a session is answered if the server is silent after its COMMIT`, async (t) => {
    const network = await silentNetwork(t, await kind.url())
    const { database } = await open(t, network.url, { poolTimeout: 1_000, statementTimeout: 3_000 })
    let commits = 0
    onStatement(database, (statement) => {
      if (statement === 'COMMIT' && ++commits === 2) network.silence()
    })
    let release = () => {}
    const first = database.session(async (session) => {
      await session.execute(sql`INSERT INTO note (id) VALUES (${1})`)
      release = network.hold()
    })
    await assert.rejects(insert(database, 2), ConnectionAcquireTimeoutError)
    release()
    await first
    assert.equal(commits, 2)
    assert.deepEqual(await idsOf(database), [1])
  })

  test(`${kind.name}: a log that throws leaves no connection in a transaction`, async (t) => {
    const { database } = await open(t, await kind.url())
    let begun = 0
    onStatement(database, (statement) => {
      if (statement === 'START TRANSACTION' && ++begun === 2) throw new Refused()
    })
    const [first, second, third] = await Promise.allSettled([1, 2, 3].map((id) => insert(database, id)))
    assert.deepEqual([first?.status, second?.status, third?.status], ['fulfilled', 'rejected', 'fulfilled'])
    assert.deepEqual(await idsOf(database), [1, 3])
  })

  test(`${kind.name}: a session goes on in a transaction after a statement that commits by itself`, async (t) => {
    const { database } = await open(t, await kind.url())
    const first = insert(database, 1)
    const second = database.session(async (session) => {
      await session.execute(sql`CREATE TABLE other (id INTEGER)`)
      await session.execute(sql`INSERT INTO note (id) VALUES (${2})`)
      throw new Refused()
    })
    await Promise.all([first, assert.rejects(second, Refused)])
    assert.deepEqual(await idsOf(database), [1])
  })

  test(`${kind.name}: sessions of all kinds keep what they commit, and nothing else`, async (t) => {
    const next = random(3)
    for (let round = 0; round < runs(6); round++) {
      const { database } = await open(t, await kind.url(), { fastPath: round % 3 !== 2, poolTimeout: 10_000 })
      const kept: number[] = []
      const work = Array.from({ length: 30 }, (_, id) => oneOf(database, id, next(7), kept))
      await Promise.all(work)
      assert.deepEqual(
        await idsOf(database),
        kept.toSorted((a, b) => a - b),
      )
      assert.equal(await isInTransaction(database), false)
    }
  })
}

/** Inserts a row in one of several ways; its id is added to `kept` if it is committed. */
async function oneOf(database: Database, id: number, way: number, kept: number[]): Promise<void> {
  const { sequelize } = database
  const text = `INSERT INTO note (id) VALUES (${id})`
  switch (way) {
    case 0:
      await database.session(async (session) => {
        await session.execute(sql`INSERT INTO note (id) VALUES (${id})`)
        await session.rollback()
      })
      return
    case 1:
      await assert.rejects(
        database.session((session) => session.execute(sql`INSERT INTO note (id) VALUES (${id}), (${id})`)),
      )
      return
    case 2:
      await database.session((session) => session.execute(sql`INSERT INTO note (id) VALUES (${id})`), {
        isolation: 'SERIALIZABLE',
      })
      break
    case 3:
      await assert.rejects(
        database.session((session) => session.execute(sql`INSERT INTO note (id) VALUES (${id})`), { readOnly: true }),
        /readOnly/,
      )
      return
    case 4:
      await sequelize.query(text)
      break
    case 5:
      await sequelize.transaction((transaction) => sequelize.query(text, { transaction }))
      break
    default:
      await insert(database, id)
      await sleep(0)
  }
  kept.push(id)
}
