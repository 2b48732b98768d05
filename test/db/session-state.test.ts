import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, sql, Session, withSession } from 'sequitur'
import { databaseApp, postgres, skipIfShared } from '../support/databases.js'

const lifespan = { poolSize: 1, echo: false }

test('PostgreSQL: values are read as they are, whatever the defaults of the database are', async (t) => {
  const first = await databaseApp(t, postgres, [], [], { lifespan })
  const { sequelize } = first.database
  const name = new URL(await postgres.url()).pathname.slice(1)
  const set = (change: string) => sequelize.query(`ALTER DATABASE "${name}" ${change}`)
  const settings = ['datestyle', 'intervalstyle', 'bytea_output', 'extra_float_digits']
  const values = ['SQL, DMY', 'sql_standard', 'escape', '-15']
  try {
    for (const [index, setting] of settings.entries()) await set(`SET ${setting} = '${values[index]}'`)
    const { database } = await databaseApp(t, postgres, [], [], { lifespan })
    const read = sql`SELECT timestamptz '2024-05-06 07:08:09Z' AS at, interval '1 day 2 hours' AS span, bytea '\\xff00' AS bytes,
      float8 '0.12345678901234567' AS number`
    const [row] = await withSession(database, (session) => session.execute(read))
    assert.deepEqual(JSON.parse(JSON.stringify(row)), {
      at: '2024-05-06T07:08:09.000Z',
      span: { days: 1, hours: 2 },
      bytes: { type: 'Buffer', data: [255, 0] },
      number: 0.12345678901234567,
    })
  } finally {
    for (const setting of settings) await set(`RESET ${setting}`)
  }
})
