import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { QueryTypes } from 'sequelize'
import { type Database, sql, withSession } from 'sequitur'
import { openBoth } from '../support/both-paths.js'
import { postgres } from '../support/databases.js'
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
