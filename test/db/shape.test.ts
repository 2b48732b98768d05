import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { factsOfStatement } from '../../src/db/sql/shape.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

for (const [dialect, sql, shape] of [
  ['postgres', `SELECT "a1" FROM t1 WHERE b = 'x''y' AND c > 1.5e3`, `SELECT "a1" FROM t1 WHERE b = ? AND c > ?`],
  ['postgres', `SELECT $1, $tag$it's 1$tag$, E'\\'1' -- 7`, `SELECT $1, ?, ... -- 7`],
  ['postgres', `WHERE a IN (1, 2,3) AND b = -4`, `WHERE a IN (?, ...) AND b = -?`],
  ['mysql', 'SELECT `a` FROM b WHERE c = "x" AND d = 0xFF /* 1 */', 'SELECT `a` FROM b WHERE c = ? AND d = ? /* 1 */'],
  ['mariadb', `SELECT 'it\\'s' LIMIT 10`, 'SELECT ? LIMIT ?'],
  ['sqlite', `SELECT "x", [y] FROM z WHERE a = 'b' AND c = ?1`, `SELECT "x", [y] FROM z WHERE a = ? AND c = ?1`],
  ['sqlite', `SELECT 'open`, 'SELECT ?'],
] as const)
  test(`the shape of ${sql} on ${dialect}`, () => {
    assert.equal(factsOfStatement(sql, dialect).shape, shape)
    assert.equal(factsOfStatement(sql, dialect).shape, shape) // from the memory
  })

test('the shape of a long statement is bounded, and has no value that was cut', () => {
  const { shape } = factsOfStatement(`SELECT '${'secret'.repeat(100_000)}', 2`, 'postgres')
  assert.equal(shape, 'SELECT ?...')
})

test('statements that differ only in their values have one shape', () => {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const sql = (text: string, number: number) => `SELECT a1 FROM t WHERE b = ${quoted(text)} AND c = ${number}`
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.nat(), (text, number) => {
      assert.equal(factsOfStatement(sql(text, number), 'sqlite').shape, 'SELECT a1 FROM t WHERE b = ? AND c = ?')
    }),
    { numRuns: runs(200) },
  )
})
