import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Table } from 'sequelize-typescript'
import { newLifespan } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'

test('a class that extends the table of jobs does not start', async () => {
  @Table({ tableName: 'job', timestamps: false })
  class Job extends JobRecord {}
  const database = newLifespan('sqlite+sqlite3:///:memory:', { models: [Job], sync: true })
  await assert.rejects(
    () => database.start(),
    /Job extends a table of jobs, which has one class\. Name JobRecord itself among the models\./,
  )
})
