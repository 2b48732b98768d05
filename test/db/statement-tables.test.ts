import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tablesNamedIn, tablesOfStatement } from '../../src/db/sql/statement-tables.js'

/** The tables that a statement names, and those that it writes: `hero!` if rows may be deleted. */
const statements: readonly (readonly [sql: string, named: string, written: string, dialect?: string])[] = [
  ['SELECT "id" FROM "public"."Hero" AS h JOIN team t ON t.id = h.team_id', 'hero team', ''],
  ['SELECT (SELECT count(*) FROM medal) FROM hero FOR UPDATE', 'medal hero', ''],
  ['INSERT INTO "hero" ("id") VALUES ($1) RETURNING "id"', 'hero', 'hero'],
  ['INSERT INTO hero SELECT * FROM team', 'hero team', 'hero'],
  ['INSERT OR REPLACE INTO hero VALUES (1)', 'hero', 'hero!', 'sqlite'],
  ['REPLACE INTO hero VALUES (1)', 'hero', 'hero!', 'mysql'],
  ['UPDATE hero SET n = (SELECT max(n) FROM team) WHERE id = 1', 'hero team', 'hero'],
  ['UPDATE OR ROLLBACK hero SET n = 1', 'hero', 'hero', 'sqlite'],
  ['UPDATE hero, team SET hero.n = 1', 'hero team', 'hero team', 'mysql'],
  ['UPDATE hero JOIN (SELECT id FROM medal) m JOIN team SET team.n = 1', 'hero medal team', 'hero team', 'mysql'],
  ['DELETE FROM hero WHERE team_id IN (SELECT id FROM team)', 'hero team', 'hero!'],
  [
    'WITH gone AS (DELETE FROM hero RETURNING *) INSERT INTO grave SELECT * FROM gone',
    'hero grave gone',
    'hero! grave',
  ],
  ['WITH young AS (SELECT * FROM hero) SELECT * FROM young', 'hero young', ''],
  ['SELECT 1; DELETE FROM hero', 'hero', 'hero!'],
  ['TRUNCATE hero', '', '*!'],
  ['ALTER TABLE hero ADD n INTEGER', 'hero', '*!'],
  ['CALL everything()', '', '*!', 'mysql'],
  ['EXPLAIN ANALYZE DELETE FROM hero', 'hero', '*!'],
  ['SET LOCAL statement_timeout = 1', '', ''],
  ['LOCK TABLE hero', '', ''],
  [
    'CREATE OR REPLACE FUNCTION pg_temp.testfunc() RETURNS RECORD AS $f$ BEGIN INSERT INTO hero VALUES (1); END $f$ LANGUAGE plpgsql; SELECT * FROM pg_temp.testfunc(); DROP FUNCTION IF EXISTS pg_temp.testfunc()',
    'hero testfunc',
    'hero',
  ],
]

for (const [sql, named, written, dialect = 'postgres'] of statements)
  test(`the tables of ${sql}`, () => {
    const found = tablesOfStatement(sql, dialect)
    assert.deepEqual([...new Set(found.named)].join(' '), named)
    assert.deepEqual(found.written.map(({ table, deletes }) => (deletes ? `${table}!` : table)).join(' '), written)
  })

test('the rows of a long INSERT are not read', () => {
  const rows = Array.from({ length: 50_000 }, (_, n) => `(${n}, 'FROM "x')`).join(', ')
  assert.deepEqual(tablesOfStatement(`INSERT INTO hero VALUES ${rows}`, 'sqlite').written, [
    { table: 'hero', deletes: false },
  ])
})

test('the definition of a trigger names what it writes', () => {
  const trigger = 'CREATE TRIGGER t AFTER UPDATE ON hero BEGIN INSERT INTO log SELECT 1; UPDATE team SET n = 1; END'
  const named = tablesNamedIn(trigger, 'sqlite')
  assert.ok(named.includes('log') && named.includes('team'))
})
