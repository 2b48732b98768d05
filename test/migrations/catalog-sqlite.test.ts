import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { newLifespan } from 'sequitur'
import type { Table } from '../../src/db/catalog/catalog.js'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import { sqliteMemory } from '../support/databases.js'

async function tablesOf(t: TestContext, ...statements: readonly string[]): Promise<readonly Table[]> {
  const database = newLifespan(await sqliteMemory.url())
  await database.start()
  t.after(() => database.stop())
  for (const statement of statements) await database.sequelize.query(statement)
  return (await readCatalog(database.sequelize)).tables
}

async function tableOf(t: TestContext, ...statements: readonly string[]): Promise<Table> {
  const [table] = await tablesOf(t, ...statements)
  assert.ok(table)
  return table
}

test('SQLite: columns with their types, defaults, collations and expressions', async (t) => {
  const { columns, kind } = await tableOf(
    t,
    `CREATE TABLE hero (
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- a comment, with ) and '
      name varchar ( 50 ) NOT NULL DEFAULT 'it''s' COLLATE NOCASE,
      "odd, (name" DECIMAL(10, 2) DEFAULT (1 + 2),
      born DATETIME DEFAULT CURRENT_TIMESTAMP,
      twice INTEGER GENERATED ALWAYS AS (id * 2) STORED,
      loud TEXT AS (upper(name) || ')'),
      free
    )`,
  )
  assert.equal(kind, 'table')
  assert.deepEqual(columns, [
    { name: 'id', type: 'INTEGER', nullable: false, identity: 'autoincrement' },
    { name: 'name', type: 'VARCHAR(50)', nullable: false, default: "'it''s'", collation: 'NOCASE' },
    { name: 'odd, (name', type: 'DECIMAL(10,2)', nullable: true, default: '1 + 2' },
    { name: 'born', type: 'DATETIME', nullable: true, default: 'CURRENT_TIMESTAMP' },
    { name: 'twice', type: 'INTEGER', nullable: true, generated: { expression: 'id * 2', stored: true } },
    { name: 'loud', type: 'TEXT', nullable: true, generated: { expression: "upper(name) || ')'", stored: false } },
    { name: 'free', type: '', nullable: true },
  ])
})

test('SQLite: the key is the number of the row only where it is one INTEGER', async (t) => {
  const tables = await tablesOf(
    t,
    'CREATE TABLE a (id integer, name TEXT, CONSTRAINT a_key PRIMARY KEY (id))',
    'CREATE TABLE b (id INT PRIMARY KEY)',
    'CREATE TABLE c (id INTEGER, place INTEGER, PRIMARY KEY (place, id))',
    'CREATE TABLE d (id INTEGER PRIMARY KEY) WITHOUT ROWID',
    'CREATE TABLE e (id INTEGER) STRICT',
  )
  assert.deepEqual(
    tables.map(({ columns }) => columns[0]?.identity),
    ['rowid', undefined, undefined, undefined, undefined],
  )
  assert.deepEqual(
    tables.map(({ primaryKey }) => primaryKey),
    [
      { name: 'a_key', columns: ['id'] },
      { columns: ['id'] },
      { columns: ['place', 'id'] },
      { columns: ['id'] },
      undefined,
    ],
  )
  assert.deepEqual(
    tables.map(({ others }) => others),
    [[], [], [], ['without rowid'], ['strict']],
  )
})

test('SQLite: foreign keys with their names, actions and times', async (t) => {
  const tables = await tablesOf(
    t,
    'CREATE TABLE team (id INTEGER PRIMARY KEY, a INT, b INT, UNIQUE (a, b))',
    `CREATE TABLE hero (
      team_id INTEGER CONSTRAINT hero_team REFERENCES team ON DELETE SET NULL ON UPDATE CASCADE,
      next_id INTEGER REFERENCES "team" (id) NOT NULL DEFERRABLE INITIALLY DEFERRED CHECK (next_id > 0),
      a INT REFERENCES team (id) NOT DEFERRABLE, b INT REFERENCES team (id) DEFERRABLE,
      CONSTRAINT both FOREIGN KEY (a, b) REFERENCES team (a, b) ON DELETE RESTRICT
    )`,
  )
  const none = { table: { name: 'team' }, onDelete: 'NO ACTION', onUpdate: 'NO ACTION', validated: true }
  assert.deepEqual(tables[0]?.foreignKeys, [
    { ...none, name: 'hero_team', columns: ['team_id'], references: ['id'], onDelete: 'SET NULL', onUpdate: 'CASCADE' },
    { ...none, columns: ['next_id'], references: ['id'], deferrable: 'deferred' },
    { ...none, columns: ['a'], references: ['id'] },
    { ...none, columns: ['b'], references: ['id'], deferrable: 'immediate' },
    { ...none, name: 'both', columns: ['a', 'b'], references: ['a', 'b'], onDelete: 'RESTRICT' },
  ])
  assert.deepEqual(tables[0].others, ['check next_id > 0'])
  assert.deepEqual(tables[1]?.uniques, [{ columns: ['a', 'b'] }])
})

test('SQLite: indexes with directions, expressions, collations and conditions', async (t) => {
  const { indexes, uniques } = await tableOf(
    t,
    'CREATE TABLE hero (name TEXT, age INT, CONSTRAINT "one of each" UNIQUE (name, age))',
    'CREATE INDEX by_age ON hero (age DESC, name COLLATE NOCASE)',
    `CREATE UNIQUE INDEX "by where" ON hero (lower(name) DESC, (age + 1)) WHERE age > 3 AND name <> ') WHERE'`,
  )
  assert.deepEqual(uniques, [{ name: 'one of each', columns: ['name', 'age'] }])
  const plain = { method: 'btree', include: [], valid: true }
  assert.deepEqual(indexes, [
    {
      ...plain,
      name: 'by where',
      unique: true,
      columns: [
        { expression: 'lower(name)', descending: true },
        { expression: 'age + 1', descending: false },
      ],
      where: "age > 3 AND name <> ') WHERE'",
    },
    {
      ...plain,
      name: 'by_age',
      unique: false,
      columns: [
        { column: 'age', descending: true },
        { column: 'name', descending: false, collation: 'NOCASE' },
      ],
    },
  ])
})

test('SQLite: what models cannot express is listed by its name', async (t) => {
  const tables = await tablesOf(
    t,
    'CREATE TABLE hero (id INTEGER PRIMARY KEY, age INT CONSTRAINT grown CHECK (age > 3), CHECK (id > 0))',
    'CREATE TRIGGER touch AFTER INSERT ON hero BEGIN SELECT 1; END',
    'CREATE VIEW names AS SELECT id FROM "HERO"',
    `CREATE VIEW text AS SELECT 'no hero' AS id`,
  )
  assert.deepEqual(
    tables.map(({ name, kind, others }) => ({ name, kind, others })),
    [
      { name: 'hero', kind: 'table', others: ['check grown', 'check id > 0', 'trigger touch', 'view names'] },
      { name: 'names', kind: 'view', others: [] },
      { name: 'text', kind: 'view', others: [] },
    ],
  )
})

test('SQLite: only the named tables are read, with the views that depend on them', async (t) => {
  const database = newLifespan(await sqliteMemory.url())
  await database.start()
  t.after(() => database.stop())
  for (const name of ['hero', "it's", 'other']) await database.sequelize.query(`CREATE TABLE "${name}" (id INT)`)
  await database.sequelize.query('CREATE VIEW ids AS SELECT id FROM hero')
  const { tables } = await readCatalog(database.sequelize, {
    only: [{ name: 'hero' }, { name: "it's" }, { name: 'missing' }],
  })
  assert.deepEqual(
    tables.map(({ name, others }) => [name, others]),
    [
      ['hero', ['view ids']],
      ["it's", []],
    ],
  )
})
