import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Sql, sql } from 'sequitur'
import { sql as ofMigrations, steps } from 'sequitur/migrations'
import { migrationDigest } from '../../src/migrations/steps/step-text.js'
import { withCondition } from '../../src/migrations/run/batches.js'

const any = (value: unknown) => value as never

test('sql of sequitur/migrations is that of sequitur', () => assert.equal(ofMigrations, sql))

for (const [name, make, message] of [
  ['an unknown kind of database', () => steps(any('oracle'), []), /^steps\(\): the first argument is 'oracle'\./],
  ['steps that are no list', () => steps('sqlite', any({})), /^steps\(\): the second argument is no list\./],
  ['a text as a step', () => steps('sqlite', [sql`SELECT 1`, any('SELECT 1')]), /^steps\(\): step 2 is 'SELECT 1'\./],
  ['a text that stands alone', () => steps.alone(any('VACUUM')), /^steps\.alone\(\) is 'VACUUM'\./],
  ['a question that is a text', () => steps.alone(sql`VACUUM`, { done: any('x') }), /^steps\.alone\(\): done is 'x'\./],
  ['batches of no rows', () => steps.batches('hero', 'id', 0, sql`x`), /^steps\.batches\(\): size is 0\./],
  [
    'batches of a table as Sequelize names it',
    () => steps.batches(any({ tableName: 'hero' }), 'id', 9, sql`DELETE FROM hero`),
    /^steps\.batches\(\): the table is an object with tableName\. Write 'hero', or \{ schema/,
  ],
  [
    'batches of an INSERT',
    () => steps.batches('a', 'id', 9, sql`INSERT INTO a`),
    /^steps\.batches\(\) takes an UPDATE/,
  ],
  ['work that is no function', () => steps.run(any(sql`SELECT 1`)), /^steps\.run\(\) takes a function\./],
] as const) {
  test(`steps() refuses ${name}`, () => assert.throws(make, { name: 'BootError', message }))
}

const range = sql`id <= ${9}`
const conditioned = (statement: Sql) => {
  const { texts, values } = withCondition(statement, range, 'postgres')
  return [texts.join('?'), values]
}

for (const [statement, expected] of [
  [sql`DELETE FROM hero`, ['DELETE FROM hero\nWHERE id <= ?', [9]]],
  [
    sql`UPDATE hero SET name = ${'x'} WHERE age = ${1} OR age = ${2}`,
    ['UPDATE hero SET name = ? WHERE ( age = ? OR age = ?\n) AND id <= ?', ['x', 1, 2, 9]],
  ],
  [
    sql`UPDATE hero SET name = (SELECT name FROM team WHERE id = ${1}), note = 'where' -- where`,
    [`UPDATE hero SET name = (SELECT name FROM team WHERE id = ?), note = 'where' -- where\nWHERE id <= ?`, [1, 9]],
  ],
] as const) {
  test(`the range of a batch is a condition of ${statement.texts.join('?')}`, () =>
    assert.deepEqual(conditioned(statement), expected))
}

const digest = (value: unknown) => migrationDigest(steps('sqlite', [sql`UPDATE hero SET note = ${value}`]))

test('the digest of a migration is another one for other values', () => {
  for (const [one, other] of [
    [new Date(1), new Date(2)],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1n }, { a: 2n }],
    [Buffer.from('a'), Buffer.from('b')],
    ['a', 'b'],
  ])
    assert.notEqual(digest(one), digest(other))
})

test('the digest of a migration with a date is the same in each time zone', (t) => {
  const { TZ } = process.env
  t.after(() => (TZ === undefined ? delete process.env['TZ'] : (process.env['TZ'] = TZ)))
  const digests = ['UTC', 'Asia/Tokyo'].map((zone) => {
    process.env['TZ'] = zone
    return digest(new Date(0))
  })
  assert.equal(digests[0], digests[1])
})

test('batches refuse a statement with something after its conditions', () =>
  assert.throws(
    () => conditioned(sql`DELETE FROM hero WHERE id > 3 RETURNING id`),
    /^MigrationError: steps\.batches\(\): leave/,
  ))
