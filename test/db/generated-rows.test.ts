// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import type { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as pg from 'pg'
import { QueryTypes } from 'sequelize'
import { type Database, sql, withSession } from 'sequitur'
import { openBoth } from '../support/both-paths.js'
import { postgres, skipIfShared } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'

/*
 * On PostgreSQL rows are built by generated code; with `fastPath: false`, by pg.
 */

const names = [
  'id',
  'a b',
  'a"b',
  "a'b",
  'a\\',
  '1',
  '0',
  'Ünï\u2028',
  '$1',
  '${x}',
  'columns',
  'toString',
  '__proto__',
]

const values = [
  '1',
  '-1.5',
  '9007199254740993',
  "'text'",
  'NULL',
  'true',
  "'NaN'::float8",
  'ARRAY[1, NULL]',
  '\'{"a": 1}\'::json',
  "'2026-01-31'::date",
  "'2026-01-31 12:00:00'::timestamp",
  "'\\x00ff'::bytea",
  "'1 day'::interval",
  "'[1,2)'::int4range",
  "'a'::char(3)",
  "'00000000-0000-0000-0000-000000000000'::uuid",
  '(1, 2)',
  "'1e5'::numeric",
  "'a'::name",
]

/** Those that leave a statement one that is prepared. */
const unquoted = values.filter((value) => !value.includes("'"))

test('rows with any columns are those of pg, with the order of their properties', async (t) => {
  const [fast, plain] = await openBoth(t, postgres, [])
  const next = random(7)
  const pick = (list: readonly string[]) => list[next(list.length)] ?? ''
  for (let round = 0; round < runs(200); round++) {
    const columns = Array.from({ length: 1 + next(6) }, () => `"${pick(names).replaceAll('"', '""')}"`)
    const row = () => `SELECT ${columns.map((name) => `${pick(values)} AS ${name}`).join(', ')}`
    const text = next(5) === 0 ? `SELECT * FROM (${row()}) AS t WHERE false` : row()
    const both = [await rowsOf(fast.database, text), await rowsOf(plain.database, text)]
    assert.equal(describe(both[0]), describe(both[1]), text)
  }
})

test('a column that a table gets later is in the rows of a statement that was prepared before', async (t) => {
  const [fast] = await openBoth(t, postgres, ['CREATE TABLE growing (id integer)', 'INSERT INTO growing VALUES (1)'])
  const read = () =>
    withSession(fast.database, async (session) => session.execute(sql`SELECT * FROM growing WHERE id = ${1}`))
  assert.deepEqual(await read(), [{ id: 1 }])
  await fast.database.sequelize.query('ALTER TABLE growing ADD COLUMN name text')
  await read().catch(() => {}) // the statement is prepared again after this
  assert.deepEqual(await read(), [{ id: 1, name: null }])
})

test('the rows of a statement that is prepared are the same at every execution', async (t) => {
  const [fast, plain] = await openBoth(t, postgres, [])
  const next = random(8)
  const pick = (list: readonly string[]) => list[next(list.length)] ?? ''
  for (let round = 0; round < runs(60); round++) {
    const columns = Array.from({ length: next(5) }, () => `${pick(unquoted)} AS "${pick(names).replaceAll('"', '""')}"`)
    const text = `SELECT ${columns.join(', ')} FROM generate_series(1, $1::integer) AS row`
    const counts = [0, 2, 1, 0]
    const read = (database: Database) =>
      withSession(database, async () => {
        const all: object[][] = []
        for (const count of counts)
          all.push(await database.sequelize.query(text, { bind: [count], type: QueryTypes.SELECT }))
        return all
      })
    const both = [await read(fast.database), await read(plain.database)]
    assert.deepEqual(both[0]?.map(describe), both[1]?.map(describe), text)
  }
})

test('statements that fail, and values that cannot be sent, fail alike and leave the connection usable', async (t) => {
  const opened = await openBoth(t, postgres, ['CREATE TABLE copied (n integer)'])
  const unsendable = {
    toPostgres() {
      throw new Error('This value cannot be sent.')
    },
  }
  const failing = [
    sql`SELECT ${'a'}::integer AS n`,
    sql`SELECT ${1} / 0 AS n`,
    sql`SELECT nothing WHERE ${1} = 1`,
    sql`SELECT ${unsendable}::text AS n`,
    sql`SELECT ${1}::integer AS n; SELECT 2 AS n`,
    sql`COPY copied FROM STDIN`,
  ]
  const outcomes = []
  for (const { database } of opened) {
    const messages = []
    for (const statement of failing) {
      const failure: unknown = await withSession(database, (session) => session.execute(statement)).catch(
        (e: unknown) => e,
      )
      messages.push(failure instanceof Error ? failure.message : failure)
      const ones = await withSession(database, (session) => session.execute(sql`SELECT ${1}::integer AS n`))
      assert.deepEqual(ones, [{ n: 1 }])
    }
    outcomes.push(messages)
  }
  assert.deepEqual(outcomes[0], outcomes[1])
  assert.equal(outcomes[0]?.filter((message) => typeof message === 'string').length, failing.length)
})

test('SQL with several statements returns the rows of all', async (t) => {
  for (const { database } of await openBoth(t, postgres, [])) {
    const rows = await withSession(database, (session) =>
      session.execute(sql`SELECT 1 AS a; SELECT 2 AS b; SET LOCAL lock_timeout = 1; SELECT 3 AS a`),
    )
    assert.deepEqual(rows, [{ a: 1 }, { b: 2 }, { a: 3 }])
  }
})

test('the server is asked for the columns of a prepared statement once', { skip: skipIfShared }, async (t) => {
  const [fast] = await openBoth(t, postgres, [])
  const described: string[] = []
  const { prototype } = pg.Connection as unknown as { prototype: { describe(this: unknown, portal: object): void } }
  const original = prototype.describe
  t.mock.method(prototype, 'describe', function (this: unknown, portal: object) {
    described.push('describe')
    original.call(this, portal)
  })
  await withSession(fast.database, async (session) => {
    for (let round = 0; round < 3; round++)
      assert.deepEqual(await session.execute(sql`SELECT ${round}::integer AS n`), [{ n: round }])
    for (let round = 0; round < 3; round++)
      assert.deepEqual(await session.execute(sql`SET LOCAL lock_timeout = 1000`), [])
  })
  assert.deepEqual(described, ['describe'])
})

test(
  'a server that compares only families of types is asked for the columns each time',
  { skip: skipIfShared },
  async (t) => {
    const { prototype } = pg.Connection as unknown as {
      prototype: { startup(config: object): void; describe(portal: object): void }
    }
    const { startup } = prototype
    t.mock.method(prototype, 'startup', function (this: EventEmitter & typeof prototype, config: object) {
      startup.call(this, config)
      this.emit('parameterStatus', { parameterName: 'crdb_version', parameterValue: 'v25.1' })
    })
    const [fast] = await openBoth(t, postgres, ['CREATE TABLE renamed (a integer)', 'INSERT INTO renamed VALUES (1)'])
    const describe = t.mock.method(prototype, 'describe')
    await withSession(fast.database, async (session) => {
      for (let round = 0; round < 3; round++)
        assert.deepEqual(await session.execute(sql`SELECT * FROM renamed WHERE a = ${1}`), [{ a: 1 }])
    })
    assert.equal(describe.mock.callCount(), 3)
  },
)

function rowsOf({ sequelize }: Database, text: string): Promise<object[]> {
  return sequelize.query(text, { type: QueryTypes.SELECT })
}

// Not deepEqual(): a column named __proto__ may be the prototype of its row.
function describe(rows: readonly object[] | undefined): string {
  const described = rows?.map((row) => [
    Object.getPrototypeOf(row) === Object.prototype,
    Object.entries(Object.getOwnPropertyDescriptors(row)).map(([name, { value }]) => `${name}: ${inspect(value)}`),
  ])
  return JSON.stringify(described)
}
