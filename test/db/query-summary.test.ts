import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { summarizeQuery } from '../../src/db/sql/query-summary.js'

const summaries: readonly (readonly [sql: string, summary: string, dialect?: string])[] = [
  ['SELECT "id", "name" FROM "hero" AS "Hero" WHERE "Hero"."id" = $1', 'SELECT hero'],
  ['SELECT `id` FROM `hero` AS `Hero` LIMIT 1;', 'SELECT hero', 'mysql'],
  ['INSERT INTO "hero" ("id","name") VALUES (DEFAULT,$1) RETURNING "id"', 'INSERT hero'],
  ['INSERT INTO shipping (id, address) SELECT id, address FROM orders WHERE id = ?', 'INSERT shipping SELECT orders'],
  ['select * from songs, artists a, "main"."labels" order by from_year', 'SELECT songs artists main.labels'],
  [
    'SELECT day FROM (SELECT * FROM orders o JOIN customers c ON o.customer = c.id, x) t, y',
    'SELECT SELECT orders customers x y',
  ],
  ['SELECT a.b FROM (heros h LEFT OUTER JOIN teams ON h.team = teams.id)', 'SELECT heros teams'],
  [
    'UPDATE "hero" SET "name"=\'FROM secrets\' WHERE id IN (SELECT id FROM teams) FOR UPDATE',
    'UPDATE hero SELECT teams',
  ],
  ['DELETE FROM hero WHERE NOT EXISTS (SELECT 1 FROM team)', 'DELETE hero SELECT team'],
  ['INSERT INTO a VALUES (1) ON CONFLICT (id) DO UPDATE SET n = 2', 'INSERT a'],
  ['INSERT IGNORE INTO a VALUES (1) ON DUPLICATE KEY UPDATE n = 2', 'INSERT a', 'mariadb'],
  ['INSERT OR REPLACE INTO a VALUES (1)', 'INSERT a', 'sqlite'],
  ["REPLACE INTO a SELECT replace(n, 'x', 'y'), insert(n, 1, 2, 'z') FROM b", 'REPLACE a SELECT b', 'mysql'],
  ['SELECT extract(year FROM day), trim(both FROM n) FROM t WHERE a IS DISTINCT FROM b', 'SELECT t'],
  ['WITH recent AS (SELECT * FROM orders) SELECT * FROM recent', 'SELECT orders SELECT recent'],
  ['SELECT 1 UNION ALL SELECT 2 FROM t FOR NO KEY UPDATE', 'SELECT SELECT t'],
  ['SELECT * FROM generate_series(1, 2) WHERE x IN (1, 2), y', 'SELECT generate_series'],
  ["SELECT * FROM 'secret'", 'SELECT', 'sqlite'],
  ["/* FROM a */ SELECT -- FROM b\n 'FROM c' FROM d", 'SELECT d'],
  ['CREATE TABLE IF NOT EXISTS "hero" ("id" INTEGER REFERENCES team ON DELETE CASCADE)', 'CREATE TABLE hero'],
  ['DROP INDEX CONCURRENTLY IF EXISTS heros_name', 'DROP INDEX heros_name'],
  ['CREATE UNIQUE INDEX heros_name ON heros (name)', 'CREATE INDEX heros_name'],
  ['BEGIN ISOLATION LEVEL SERIALIZABLE', 'BEGIN'],
  ['SAVEPOINT "s-1"', 'SAVEPOINT'],
  ['ROLLBACK TO SAVEPOINT "s-1"', 'ROLLBACK'],
  ['SET LOCAL statement_timeout = 1000', 'SET'],
  ["PRAGMA table_info('hero')", 'PRAGMA', 'sqlite'],
  ['', ''],
  ['  ;', ''],
]

for (const [sql, summary, dialect = 'postgres'] of summaries) {
  test(`the summary of ${JSON.stringify(sql)} is ${summary}`, () => {
    assert.equal(summarizeQuery(sql, dialect), summary)
  })
}

// Each group is one table, and no other group is the same.
const TABLES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  postgres: [
    ['patient', 'Patient', 'PATIENT', '"patient"'],
    ['"Patient"'],
    ['"PATIENT"'],
    ['"a patient"'],
    ['"A patient"'],
    ['"Ä"'],
    ['ä', '"ä"'],
    ['public.patient', '"public"."patient"', 'public."patient"', 'PUBLIC.Patient'],
    ['"Public".patient', '"Public"."patient"'],
    ['public."Patient"'],
  ],
  mysql: [
    ['patient', '`patient`'],
    ['Patient', '`Patient`'],
    ['`a patient`'],
    ['clinic.patient', '`clinic`.`patient`', 'clinic.`patient`'],
  ],
  sqlite: [
    ['patient', 'Patient', '"patient"', '"Patient"', '`patient`', '[PATIENT]'],
    ['"a patient"', '[A Patient]', '`a patient`'],
    ['main.patient', '"main"."patient"', 'MAIN.[Patient]'],
  ],
}

for (const [dialect, tables] of Object.entries({ ...TABLES, mariadb: TABLES['mysql'] ?? [] }))
  test(`a table has one name in summaries, however it is written, and no other table has it: ${dialect}`, () => {
    const names = tables.map((forms) =>
      forms.map((form) => summarizeQuery(`SELECT * FROM ${form} AS p WHERE p.id = 1`, dialect)),
    )
    for (const [index, forms] of names.entries()) assert.deepEqual(new Set(forms).size, 1, String(tables[index]))
    assert.equal(new Set(names.map(([first]) => first)).size, tables.length, String(names))
  })

test('a summary ends before the first name that does not fit', () => {
  const names = Array.from({ length: 60 }, (_, index) => `table_${index}`)
  const summary = summarizeQuery(`SELECT * FROM ${names.join(', ')}`, 'postgres')
  assert.ok(summary.length <= 255)
  assert.ok(summary.length > 240)
  assert.ok(names.includes(summary.split(' ').at(-1) ?? ''))
})

test('no string of a statement is in its summary', () => {
  const dialects = fc.constantFrom('postgres', 'mysql', 'mariadb', 'sqlite')
  const parts = fc.constantFrom(
    'SELECT',
    'FROM',
    'UPDATE',
    'INTO',
    'a',
    '(',
    ')',
    ',',
    '.',
    "'S3CRET'",
    "E'S3CRET'",
    '$1',
  )
  fc.assert(
    fc.property(fc.array(parts), dialects, (words, dialect) => {
      assert.doesNotMatch(summarizeQuery(words.join(' '), dialect), /S3CRET/)
    }),
  )
})

test('the time of a summary does not grow with the length of the statement', () => {
  const values = '(1, 2), '.repeat(100_000)
  assert.equal(summarizeQuery(`INSERT INTO a VALUES ${values}(3, 4)`, 'postgres'), 'INSERT a')
})
