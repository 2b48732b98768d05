import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, withSession } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { toBound } from '../../src/db/statements/statement.js'

test('values are never part of the text', () => {
  assert.deepEqual(toBound(sql`SELECT * FROM hero WHERE name = ${"x'; DROP TABLE hero"} AND age > ${3}`), {
    sql: 'SELECT * FROM hero WHERE name = $1 AND age > $2',
    bind: ["x'; DROP TABLE hero", 3],
  })
})

test('a statement inside of a statement is one statement', () => {
  const old = sql`age > ${30}`
  const named = sql`${old} AND name = ${'Robin'}`
  assert.deepEqual(toBound(sql`SELECT 1 FROM hero WHERE ${named} LIMIT ${5}`), {
    sql: 'SELECT 1 FROM hero WHERE age > $1 AND name = $2 LIMIT $3',
    bind: [30, 'Robin', 5],
  })
})

test('a dollar in the text stays a dollar', async () => {
  const rows = await withSession(memoryDatabase(), (session) =>
    session.execute(sql`SELECT '$1' AS a, '$$' AS b, 'US$5' AS c, 'x$$y' AS d, '$name $$x$$' AS e, ${'$1'} AS f`),
  )
  assert.deepEqual(rows, [{ a: '$1', b: '$$', c: 'US$5', d: 'x$$y', e: '$name $$x$$', f: '$1' }])
})

test('an undefined value is refused where it stands', () => {
  assert.throws(() => sql`SELECT 1 WHERE id = ${undefined}`, /after 'SELECT 1 WHERE id =' is undefined.*null/)
})
