import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { select, type Session, sql, withSession } from 'sequitur'
import { Job, JobRecord } from 'sequitur/jobs'
import { JobDatabase, jobDatabase } from '../../src/jobs/job-database.js'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { gate } from '../support/waiting.js'
import { Effect } from './ledger.js'

/*
 * A worker gives up a transaction that a database does not answer, and no other. Here the databases answer, and the work between two statements takes long.
 */

/** Milliseconds after which the database of a test gives up. */
const BOUND = 100

class NoJobs {
  @Job({ name: 'none' })
  run() {}
}

async function impatientDatabase(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, [Effect, JobRecord], [], { jobs: [NoJobs] })
  const mayEnd = gate()
  return {
    database: new JobDatabase(jobDatabase().sequelize, BOUND),
    mayEnd,
    /** Writes a number, and waits. */
    write: (number: number) => async (session: Session) => {
      await session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
      await mayEnd.opened
    },
    effects: async () =>
      (await withSession(app.database, (session) => session.all(select(Effect)))).map(({ number }) => number),
  }
}

const isSqlite = ({ name }: TestDatabase) => name.startsWith('SQLite')

for (const kind of databases)
  test(`${kind.name}: changes of people are not given up`, async (t) => {
    const { database, mayEnd, write, effects } = await impatientDatabase(t, kind)
    const changing = database.longTransaction(write(1))
    await wait(3 * BOUND)
    mayEnd.open()
    await changing
    assert.deepEqual(await effects(), [1])
  })

for (const kind of databases.filter((one) => !isSqlite(one)))
  test(`${kind.name}: a transaction of the worker that takes too long is given up, and rolled back`, async (t) => {
    const { database, mayEnd, write, effects } = await impatientDatabase(t, kind)
    await assert.rejects(database.transaction(write(1)), {
      name: 'SequelizeConnectionTimedOutError',
      message: /The database has not answered within 100 ms/,
    })
    mayEnd.open()
    assert.deepEqual(await effects(), [])
  })

for (const kind of databases.filter(isSqlite))
  test(`${kind.name}: a transaction of the worker that waits for another writer is not given up`, async (t) => {
    const { database, mayEnd, write, effects } = await impatientDatabase(t, kind)
    const first = database.longTransaction(write(1))
    const second = database.transaction(write(2))
    await wait(3 * BOUND)
    mayEnd.open()
    await Promise.all([first, second])
    assert.deepEqual((await effects()).toSorted(), [1, 2])
  })
