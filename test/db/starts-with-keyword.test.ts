import assert from 'node:assert/strict'
import { test } from 'node:test'
import { laterStatements } from '../../src/db/sql/later-statements.js'
import { startsWithKeyword } from '../../src/db/sql/starts-with-keyword.js'

const isEnd = startsWithKeyword('COMMIT')
const MANY = 50_000

for (const [what, before] of [
  ['comments', '/* a * / b **/'],
  ['empty comments', '/**/'],
  ['executable comments', '/*!50000 '],
  ['lines', '-- a /* b\n'],
  ['semicolons', ' ;\n'],
] as const) {
  test(`a statement is found behind as many ${what} as there are, and nothing else is, in no time`, () => {
    assert.equal(isEnd(`${before.repeat(MANY)}commit`), true)
    assert.equal(isEnd(`${before.repeat(MANY)}SELECT 'commit'`), false)
    assert.equal(isEnd(`/* a */ SELECT '${before.repeat(MANY)}'`), false)
  })
}

test('what a text or a comment says is no statement', () => {
  for (const text of [
    "/* a */ SELECT '*/ commit'",
    '/* commit */ SELECT 1',
    '-- commit',
    'SELECT 1 /* ; commit */',
    '/* open commit',
  ])
    assert.equal(isEnd(text), false, text)
})

test('a comment within a comment, as PostgreSQL has it, is passed over', () => {
  for (const text of ['/* /* */ */ commit', '/*/**/*/ commit', '/* a /* b */ c */ commit'])
    assert.equal(isEnd(text), true, text)
})

test('a carriage return ends a comment of PostgreSQL, and of no other database', () => {
  assert.equal(isEnd('-- a\rcommit'), true)
  assert.deepEqual(laterStatements('SELECT 1 -- a\r; COMMIT', 'postgres'), ['COMMIT'])
  assert.deepEqual(laterStatements('SELECT 1 -- a\r; COMMIT', 'sqlite'), [])
})
