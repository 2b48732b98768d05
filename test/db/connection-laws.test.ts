import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { BaseError, QueryTypes } from 'sequelize'
import type { Database } from 'sequitur'
import type { NextStatement, TransactionConnection, TransactionEnd } from '../../src/db/connection.js'
import type { TransactionNeeds } from '../../src/db/dialect.js'
import { databases, openWithLog, type TestDatabase } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'

/*
 * The laws of the connections that transactions take. Each dialect begins in its own way, and with the next statement, ahead, or apart makes no difference
 * to what is kept: that is compared with a list in memory, after transactions one after the other, and some at once, on few connections.
 * Which of those at once is refused for another one, if any, is left to the database: it keeps nothing.
 */

async function open(t: TestContext, kind: TestDatabase, fastPath: boolean) {
  const url = await kind.url()
  const { database } = await openWithLog(t, url.endsWith(':memory:') ? url : `${url}?pool_size=2`, { fastPath })
  await database.sequelize.query('CREATE TABLE note (id INTEGER PRIMARY KEY)')
  return database
}

const idsOf = async ({ sequelize }: Database) =>
  (await sequelize.query<{ id: number }>('SELECT id FROM note ORDER BY id', { type: QueryTypes.SELECT })).map(
    ({ id }) => id,
  )

/** Executes a statement in the transaction of a connection, as a session does. */
async function send(database: Database, connection: TransactionConnection, next: NextStatement): Promise<void> {
  await connection.prepare(next)
  if (!next.readsAlone) assert.equal(connection.hasBegun, true, `${next.sql} is sent in a transaction`)
  await connection.command(next.sql)
}

function end(connection: TransactionConnection, how: TransactionEnd): Promise<boolean> {
  return new Promise((resolve, reject) => connection.end(how, { resolve, reject }))
}

const READ: NextStatement = { sql: 'SELECT id FROM note', kind: 'read' }
const NEEDS: readonly TransactionNeeds[] = [
  {},
  { reader: true },
  { readOnly: true },
  { isolation: 'REPEATABLE READ' },
  { reader: true, isolation: 'SERIALIZABLE' },
  { beginsApart: true },
]

/** Errors of a transaction that another one was in the way of: of SQLite, PostgreSQL and MariaDB. */
const IN_THE_WAY = /^(?:SQLITE_BUSY|40001|40P01|ER_LOCK_DEADLOCK|ER_CHECKREAD)/

function isInTheWay(error: unknown): boolean {
  return (
    error instanceof BaseError && IN_THE_WAY.test(String(Reflect.get(Object(Reflect.get(error, 'parent')), 'code')))
  )
}

/**
 * One transaction of random statements, the same ones however those beside it go on.
 *
 * @param isAlone whether no other one runs at the same time.
 * @returns the ids that it has kept.
 */
async function transaction(
  database: Database,
  newId: () => number,
  next: (below: number) => number,
  isAlone: boolean,
): Promise<readonly number[]> {
  const { sequelize, dialect } = database.connection
  const needs = NEEDS[next(NEEDS.length)] ?? {}
  const connection = await dialect.acquire(sequelize, needs)
  const written: number[] = []
  const firstWrites = !needs.readOnly && next(2) === 0
  const insert = (id: number): NextStatement => ({ sql: `INSERT INTO note (id) VALUES (${id})`, kind: 'write' })
  const write = async () => {
    const id = newId()
    await send(database, connection, insert(id))
    written.push(id)
  }
  try {
    await connection.begin(firstWrites ? insert(0) : READ)
    if (firstWrites) await write()
    for (let count = next(4); count > 0; count--) {
      const alone = { ...READ, readsAlone: next(2) === 0 }
      await (needs.readOnly || next(2) === 0 ? send(database, connection, alone) : write())
    }
    const how = next(2) === 0 ? 'commit' : 'rollback'
    if (connection.hasBegun) assert.equal(await end(connection, how), true)
    else assert.deepEqual(written, [], 'what writes has begun')
    await connection.release()
    return how === 'commit' ? written : []
  } catch (error) {
    await connection.destroy()
    if (!isAlone && isInTheWay(error)) return []
    throw error
  }
}

for (const kind of databases)
  for (const fastPath of [true, false])
    test(`${kind.name}${fastPath ? '' : ' on the stock path'}: a connection keeps what was committed, and nothing else, however it begins`, async (t) => {
      const database = await open(t, kind, fastPath)
      const next = random(7)
      let last = 0
      const newId = () => ++last
      const kept: number[] = []
      for (let round = 0; round < runs(12); round++) {
        // Of several at once, writers of SQLite wait for each other.
        const count = 1 + next(3)
        const seeds = Array.from({ length: count }, () => next(2 ** 32))
        const all = await Promise.all(
          seeds.map((seed) => transaction(database, newId, random(seed), seeds.length === 1)),
        )
        kept.push(...all.flat())
        assert.deepEqual(
          await idsOf(database),
          kept.toSorted((a, b) => a - b),
        )
      }
    })

for (const kind of databases)
  test(`${kind.name}: a transaction that is closed keeps nothing, and its connection is not used again`, async (t) => {
    const database = await open(t, kind, true)
    const { sequelize, dialect } = database.connection
    const connection = await dialect.acquire(sequelize, {})
    await connection.begin({ sql: 'INSERT', kind: 'write' })
    await send(database, connection, { sql: 'INSERT INTO note (id) VALUES (1)', kind: 'write' })
    await connection.destroy()
    assert.deepEqual(await idsOf(database), [])
  })

for (const kind of databases.filter(({ name }) => name === 'PostgreSQL'))
  test(`${kind.name}: a COMMIT that is answered with a rollback is told`, async (t) => {
    const database = await open(t, kind, true)
    const { sequelize, dialect } = database.connection
    const connection = await dialect.acquire(sequelize, {})
    await connection.begin()
    await send(database, connection, { sql: 'INSERT INTO note (id) VALUES (1)' })
    await assert.rejects(send(database, connection, { sql: 'INSERT INTO note (id) VALUES (1)' }))
    assert.equal(await end(connection, 'commit'), false)
    await connection.release()
    assert.deepEqual(await idsOf(database), [])
  })
