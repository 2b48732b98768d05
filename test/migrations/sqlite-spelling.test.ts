import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, DataTypes, fn, Op } from 'sequelize'
import { canonicalSql } from '../../src/db/catalog/sqlite/canonical-sql.js'
import { led } from './leading.js'
import { migratedDatabases } from './migration-folder.js'

for (const [one, other] of [
  ['a>1', '"A"  >\n1'],
  ['((a))', '[a]'],
  ['(a = 1) AND (b = 2)', 'a=1 and `b` == 2'],
  ['((a = 1 OR b = 2)) AND c', '(a=1 or (b=2)) and (c)'],
  ['a AND (b AND c)', 'a AND b AND c'],
  ['lower(`name`)', 'LOWER ( "name" )'],
  ['a IN (1,2)', 'A in ( 1, 2 )'],
  ['a IS NOT NULL /* or b */', 'a is not null'],
  ["a != 'X'", "a <> 'X'"],
  ['a BETWEEN (1) AND 2', 'a between 1 and 2'],
  ['a BETWEEN 1 AND (2) AND (b = 2)', 'a between 1 and 2 and b = 2'],
] as const)
  test(`SQLite: ${one} is ${other}`, () => assert.equal(canonicalSql(one), canonicalSql(other)))

for (const [one, other] of [
  ["a = 'x'", "a = 'X'"],
  ["a = 'x y'", "a = 'x  y'"],
  ['(a OR b) AND c', 'a OR (b AND c)'],
  ['a - (b - c)', 'a - b - c'],
  ['NOT (a AND b)', 'NOT a AND b'],
  ['a IN (1)', 'a IN (2)'],
  ['"and" AND b', 'and AND b'],
  ['"a b"', 'a b'],
  ['lower(a)', 'lower a'],
  ['a BETWEEN 1 AND (b = 2)', 'a BETWEEN 1 AND b = 2'],
] as const)
  test(`SQLite: ${one} is another condition than ${other}`, () =>
    assert.notEqual(canonicalSql(one), canonicalSql(other)))

test('SQLite: tables of other programs have no difference because of spaces, case, quotes and parentheses', async (t) => {
  const database = await led(t, migratedDatabases.find(({ kind }) => kind === 'sqlite') ?? assert.fail())
  await database.run(
    `create table hero (id integer primary key autoincrement, name varchar ( 50 ) default "none", made DATETIME default (CURRENT_TIMESTAMP),
       age int, twice integer as ( "age"*2 ) virtual)`,
    'create index by_name on hero (name) where (((AGE>3))and [name] is  not  null)',
    'create index by_lower on hero ( LOWER( "name" ) )',
  )
  await database.assertSame(
    (define) =>
      void define(
        'hero',
        {
          id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
          name: { type: DataTypes.STRING(50), defaultValue: 'none' },
          age: DataTypes.INTEGER,
          twice: 'INTEGER GENERATED ALWAYS AS (age * 2) VIRTUAL',
        },
        {
          indexes: [
            { name: 'hero_name', fields: ['name'], where: { age: { [Op.gt]: 3 }, name: { [Op.ne]: null } } },
            { name: 'hero_lower', fields: [fn('lower', col('name'))] },
          ],
        },
      ),
  )
})

test('SQLite: a column keeps DEFERRABLE after its NOT NULL when that is dropped', async (t) => {
  const database = await led(t, migratedDatabases.find(({ kind }) => kind === 'sqlite') ?? assert.fail())
  await database.run(
    'CREATE TABLE team (id INTEGER PRIMARY KEY AUTOINCREMENT)',
    'CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, team_id INTEGER REFERENCES team (id) NOT NULL DEFERRABLE INITIALLY DEFERRED)',
  )
  await database.lead((define) => {
    const id = () => ({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true })
    define('team', { id: id() })
    define('hero', { id: id(), team_id: DataTypes.INTEGER })
  })
  const [row] = await database.rows(`SELECT sql FROM sqlite_master WHERE name = 'hero'`)
  assert.match(JSON.stringify(row), /team_id INTEGER REFERENCES team \(id\) DEFERRABLE INITIALLY DEFERRED\\n/)
})
