import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isKnownWrite, mayWrite } from '../../src/db/sql/writes.js'

/** What statements do: 'writes' is known to write rows, 'may write' is not known to only read. */
const statements: readonly (readonly ['reads' | 'may write' | 'writes', ...string[]])[] = [
  [
    'reads',
    'SELECT 1',
    '  /* why */ select 1',
    '-- why\nSELECT 1',
    'WITH a AS (SELECT 1) SELECT * FROM a',
    "WITH a AS (SELECT replace (b, 'x', 'y') FROM c) SELECT * FROM a",
    'WITH a AS (SELECT updated_at, deleted FROM b) SELECT * FROM a',
    'PRAGMA table_info(a)',
    'EXPLAIN SELECT 1',
    'VALUES (1)',
    'SHOW TABLES',
  ],
  [
    'may write',
    'CREATE TABLE a (b)',
    'ALTER TABLE a ADD b INTEGER',
    'TRUNCATE a',
    'GRANT SELECT ON a TO b',
    'SET a = 1',
  ],
  [
    'writes',
    'INSERT INTO a VALUES (1)',
    '/* SELECT */ INSERT INTO b VALUES (1)',
    'UPDATE a SET b = 1',
    'DELETE FROM a',
    'REPLACE INTO a VALUES (1)',
    'MERGE INTO a USING b ON a.id = b.id WHEN MATCHED THEN DELETE',
    "COPY a FROM '/a'",
    "LOAD DATA INFILE 'a' INTO TABLE a",
    'CALL a()',
    'DO $$ BEGIN DELETE FROM a; END $$',
    'WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a',
    'WITH a AS (SELECT 1) REPLACE INTO b SELECT * FROM a',
    'WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a',
    'EXPLAIN ANALYZE DELETE FROM a',
    '/*!50000 INSERT INTO a VALUES (1) */',
  ],
]

for (const [what, ...all] of statements)
  for (const text of all)
    test(`'${text.replaceAll('\n', ' ')}' ${what}`, () => {
      assert.deepEqual([isKnownWrite(text), mayWrite(text)], [what === 'writes', what !== 'reads'])
    })

test('what is known to write may write, whatever stands before it', () => {
  const part = fc.constantFrom(
    'SELECT',
    'WITH',
    'INSERT',
    'REPLACE',
    '(',
    ' ',
    '/*!',
    '/*',
    '*/',
    '--',
    '#',
    '\n',
    ';',
    'a',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      return !isKnownWrite(text) || mayWrite(text)
    }),
  )
})
