import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DataTypes } from 'sequelize'
import { Table } from 'sequelize-typescript'
import { newLifespan } from 'sequitur'
import { createJobTables, dropJobTables, JobRecord } from 'sequitur/jobs'
import { indexesOf } from '../../src/db/indexes/table-indexes.js'
import { databases, type TestDatabase } from '../support/databases.js'

/** A database in which a migration runs. */
async function migrated(t: TestContext, kind: TestDatabase, sync: boolean) {
  const database = newLifespan(await kind.url(), sync ? { models: [JobRecord], sync } : {})
  await database.start()
  t.after(() => database.stop())
  const { sequelize } = database
  const tables = sequelize.getQueryInterface()
  return {
    tables,
    /** The tables, and the indexes of that of jobs. */
    async described() {
      const names = ['job', 'job_worker', 'job_limit', 'job_cron', 'job_step']
      const columns = await Promise.all(names.map((name) => tables.describeTable(name)))
      const model = { getTableName: () => 'job' } as unknown as typeof JobRecord
      return { columns, indexes: await indexesOf(sequelize, model) }
    },
    query: (text: string) => sequelize.query(text),
  }
}

for (const kind of databases) {
  test(`${kind.name}: a migration after sync keeps the tables, and makes the same as one alone`, async (t) => {
    const alone = await migrated(t, kind, false)
    await createJobTables(alone.tables)
    const described = await alone.described()
    assert.ok(described.indexes.length >= 6)

    const synced = await migrated(t, kind, true)
    await synced.query("INSERT INTO job_cron (name, last) VALUES ('a', 1)")
    await createJobTables(synced.tables)
    assert.deepEqual(await synced.described(), described)
    assert.equal((await synced.query('SELECT name FROM job_cron'))[0].length, 1)

    // What one that has failed halfway has left out.
    await synced.tables.removeIndex('job', 'job_limited')
    await synced.tables.dropTable('job_step')
    await createJobTables(synced.tables)
    assert.deepEqual(await synced.described(), described)
    await dropJobTables(synced.tables)
    assert.equal(await synced.tables.tableExists('job'), false)
  })

  test(`${kind.name}: a migration refuses another table of the same name, and changes nothing`, async (t) => {
    const { tables } = await migrated(t, kind, false)
    await tables.createTable('job_step', { job_id: { type: DataTypes.BIGINT, primaryKey: true } })
    await assert.rejects(
      () => createJobTables(tables),
      /^BootError: createJobTables\(\): there is a table job_step, and it lacks name, result: .*\. Rename or drop it\.$/,
    )
    assert.equal(await tables.tableExists('job'), false)
  })
}

test('a class that extends the table of jobs does not start', async () => {
  @Table({ tableName: 'job', timestamps: false })
  class Job extends JobRecord {}
  const database = newLifespan('sqlite+sqlite3:///:memory:', { models: [Job], sync: true })
  await assert.rejects(
    () => database.start(),
    /Job extends a table of this package, which has one class\. Name JobRecord itself among the models\./,
  )
})
