import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { newLifespan } from 'sequitur'
import type { Catalog, TableName } from '../../src/db/catalog/catalog.js'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import { mysqls, type TestDatabase } from '../support/databases.js'

async function catalogOf(
  t: TestContext,
  kind: TestDatabase,
  statements: readonly string[],
  only?: readonly TableName[],
): Promise<Catalog> {
  const database = newLifespan(await kind.url())
  await database.start()
  t.after(() => database.stop())
  for (const statement of statements) await database.sequelize.query(statement)
  return readCatalog(database.sequelize, only ? { only } : {})
}

async function tableOf(t: TestContext, kind: TestDatabase, ...statements: readonly string[]) {
  const { tables } = await catalogOf(t, kind, statements)
  const table = tables.find(({ name }) => name === 'hero')
  assert.ok(table)
  return table
}

for (const kind of mysqls) {
  test(`${kind.name}: columns with types, defaults, collations, comments and expressions`, async (t) => {
    const { columns, comment, primaryKey } = await tableOf(
      t,
      kind,
      `CREATE TABLE hero (
        id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL DEFAULT 'it''s \\\\ a',
        age INT DEFAULT 3, born DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3), facts JSON, mine LONGTEXT CHECK (json_valid(name)),
        exact VARCHAR(5) BINARY, old VARCHAR(5) CHARACTER SET latin1, tone ENUM('a', 'it''s', 'x, y', ')', '\\\\') DEFAULT 'a',
        twice INT AS (age * 2) STORED, more INT GENERATED ALWAYS AS (age + 1) VIRTUAL COMMENT 'the "next"',
        hidden INT INVISIBLE, changed TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, CONSTRAINT whole CHECK (hidden > age)
      ) COMMENT 'who saves'`,
    )
    assert.equal(comment, 'who saves')
    assert.deepEqual(primaryKey, { name: 'PRIMARY', columns: ['id'] })
    assert.deepEqual(columns, [
      { name: 'id', type: 'bigint(20) unsigned', nullable: false, identity: 'auto_increment' },
      { name: 'name', type: 'varchar(50)', nullable: false, default: "'it''s \\\\ a'" },
      { name: 'age', type: 'int(11)', nullable: true, default: '3' },
      { name: 'born', type: 'datetime(3)', nullable: true, default: 'current_timestamp(3)' },
      { name: 'facts', type: 'json', nullable: true },
      { name: 'mine', type: 'longtext', nullable: true, attributes: { check: 'json_valid(`name`)' } },
      { name: 'exact', type: 'varchar(5)', nullable: true, collation: 'utf8mb4_bin' },
      { name: 'old', type: 'varchar(5)', nullable: true, collation: 'latin1_swedish_ci' },
      {
        name: 'tone',
        type: "enum('a','it''s','x, y',')','\\\\')",
        enumValues: ['a', "it's", 'x, y', ')', '\\'],
        nullable: true,
        default: "'a'",
      },
      { name: 'twice', type: 'int(11)', nullable: true, generated: { expression: '`age` * 2', stored: true } },
      {
        name: 'more',
        type: 'int(11)',
        nullable: true,
        comment: 'the "next"',
        generated: { expression: '`age` + 1', stored: false },
      },
      { name: 'hidden', type: 'int(11)', nullable: true, attributes: { isInvisible: true } },
      { name: 'changed', type: 'timestamp', nullable: true, attributes: { onUpdate: 'current_timestamp()' } },
    ])
  })

  test(`${kind.name}: keys and indexes, without those that the server makes for foreign keys`, async (t) => {
    const { foreignKeys, indexes, uniques } = await tableOf(
      t,
      kind,
      'CREATE TABLE team (a INT, b INT, c INT, UNIQUE (b, a), UNIQUE (c))',
      `CREATE TABLE hero (a INT, b INT, c INT, d INT, name VARCHAR(50), UNIQUE one (d, name DESC),
        CONSTRAINT two FOREIGN KEY (a, b) REFERENCES team (b, a) ON DELETE CASCADE ON UPDATE RESTRICT,
        FOREIGN KEY (c) REFERENCES team (c) ON DELETE SET NULL ON UPDATE NO ACTION,
        FOREIGN KEY (d) REFERENCES team (c))`,
      'CREATE INDEX begin ON hero (name(3), a)',
      'CREATE FULLTEXT INDEX words ON hero (name)',
    )
    const plain = { validated: true, onDelete: 'NO ACTION', onUpdate: 'NO ACTION', table: { name: 'team' } }
    assert.deepEqual(foreignKeys, [
      { ...plain, name: 'hero_ibfk_1', columns: ['c'], references: ['c'], onDelete: 'SET NULL' },
      { ...plain, name: 'hero_ibfk_2', columns: ['d'], references: ['c'] },
      { ...plain, name: 'two', columns: ['a', 'b'], references: ['b', 'a'], onDelete: 'CASCADE' },
    ])
    assert.deepEqual(uniques, [])
    const index = { unique: false, method: 'btree', include: [], valid: true }
    assert.deepEqual(indexes, [
      {
        ...index,
        name: 'begin',
        columns: [
          { column: 'name', descending: false, length: 3 },
          { column: 'a', descending: false },
        ],
      },
      {
        ...index,
        name: 'one',
        unique: true,
        columns: [
          { column: 'd', descending: false },
          { column: 'name', descending: true },
        ],
      },
      { ...index, name: 'words', method: 'fulltext', columns: [{ column: 'name', descending: false }] },
    ])
  })

  test(`${kind.name}: what models cannot express is listed by its name`, async (t) => {
    const { tables } = await catalogOf(t, kind, [
      'CREATE TABLE hero (id INT, age INT, at TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, CONSTRAINT grown CHECK (age > 3))',
      'CREATE TRIGGER touched BEFORE UPDATE ON hero FOR EACH ROW SET new.age = 4',
      'CREATE VIEW ids AS SELECT id FROM hero',
      'CREATE TABLE log (at INT) PARTITION BY HASH (at) PARTITIONS 2',
    ])
    assert.deepEqual(
      tables.map(({ name, kind: tableKind, others }) => [name, tableKind, others]),
      [
        ['hero', 'table', ['check grown', 'trigger touched', 'view ids', 'on update at']],
        ['ids', 'view', []],
        ['log', 'table', ['partitions']],
      ],
    )
  })

  test(`${kind.name}: what is read is that of the server, whatever the driver`, async (t) => {
    assert.equal((await catalogOf(t, kind, [])).kind, 'mariadb')
  })

  test(`${kind.name}: only the named tables are read`, async (t) => {
    const statements = ["`it's`", '`a \\\\ b`', 'hero', 'other'].map((name) => `CREATE TABLE ${name} (id INT)`)
    const only = [{ name: "it's" }, { name: 'hero' }, { name: 'missing' }]
    const { tables } = await catalogOf(t, kind, statements, only)
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['hero', "it's"],
    )
    assert.deepEqual((await catalogOf(t, kind, statements, [])).tables, [])
  })
}
