import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Model, ModelStatic } from 'sequelize'
import { newLifespan, select, withSession } from 'sequitur'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import type { Constructor } from '../../src/di/token.js'
import { changes } from '../../src/migrations/difference/difference.js'
import { writeModels } from '../../src/migrations/models/write-models.js'
import { compared } from '../../src/migrations/plan/plan-migration.js'
import { mysqls, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { modelsProject } from '../support/generated-models.js'
import { root } from '../support/processes.js'

const project = modelsProject()

/** Creates tables, and writes their classes. `"` quotes names, on every database. */
async function written(kind: TestDatabase, name: string, statements: readonly string[]) {
  const url = await kind.url()
  const folder = join(project, name)
  const isMysql = kind.name.startsWith('Maria')
  await withSession(newLifespan(url), async ({ sequelize }) => {
    for (const statement of statements) await sequelize.query(isMysql ? statement.replaceAll('"', '`') : statement)
  })
  const reading = newLifespan(url)
  await reading.start()
  const catalog = await readCatalog(reading.sequelize)
  await reading.stop()
  const { notes } = writeModels(catalog, folder)
  const { models } = (await import(pathToFileURL(join(folder, 'index.ts')).href)) as {
    models: readonly (ModelStatic<Model> & Constructor)[]
  }
  const database = newLifespan(url, { models })
  await database.start()
  const both = await compared(database.sequelize, models)
  const different = changes(both.database, both.models)
  await database.stop()
  const text = (file: string) => readFileSync(join(folder, file), 'utf8')
  return { models, database: newLifespan(url, { models }), different, notes, text, files: readdirSync(folder) }
}

const NAMES = [
  'CREATE TABLE "tbl_order_items" ("id" INTEGER PRIMARY KEY, "save" INTEGER NOT NULL, "constructor" INTEGER, "class" INTEGER, "2fa" INTEGER)',
  'CREATE TABLE "OrderItem" ("id" INTEGER PRIMARY KEY, "a_b" INTEGER, "aB2" INTEGER, "a b" INTEGER, "it\'s" INTEGER, "größe" INTEGER, "$" INTEGER)',
  'CREATE TABLE "date" ("id" INTEGER PRIMARY KEY, "update" INTEGER, "${x}" INTEGER, "*/" INTEGER)',
  'CREATE TABLE "index" ("id" INTEGER PRIMARY KEY, "dataValues" INTEGER, "then" INTEGER, "where" INTEGER)',
  'CREATE TABLE "2024 sales" ("id" INTEGER PRIMARY KEY, "date" INTEGER, "date_id" INTEGER REFERENCES "date" ("id"))',
]

for (const kind of [sqliteFile, postgres, ...mysqls.slice(0, 1)])
  test(`${kind.name}: names that are reserved, hostile, or that collide have a name of their own`, async () => {
    const { models, database, different, text } = await written(kind, `names-${kind.name.slice(0, 6).trim()}`, NAMES)
    assert.deepEqual(
      models.map(({ name }) => name),
      ['Table2024Sale', 'DateModel', 'IndexModel', 'OrderItem', 'OrderItemModel'],
    )
    assert.deepEqual(
      different.filter(({ kind: change }) => change !== 'add foreign key'),
      [],
    )
    assert.match(text('order-item-model.ts'), /field: 'save' \}\) declare saveValue: number/)
    assert.match(text('table2024-sale.ts'), /declare dateModel\?: NonAttribute<DateModel \| null>/)
    await withSession(database, async (session) => {
      for (const model of models) {
        const names = Object.keys(model.getAttributes()).filter((name) => name !== 'dateId')
        session.add(model.build(Object.fromEntries(names.map((name, index) => [name, index + 1])) as never))
        await session.flush()
        const found = await session.first(select(model))
        assert.deepEqual(
          names.map((name) => found?.get(name)),
          names.map((_, index) => index + 1),
        )
      }
    })
  })

test('a table without a primary key has what identifies its rows, and says so', async () => {
  const { database, notes, text, models } = await written(postgres, 'keyless', [
    'CREATE TABLE visit (at TIMESTAMP, page TEXT)',
    'CREATE TABLE login (name TEXT NOT NULL UNIQUE, at TIMESTAMP)',
  ])
  assert.deepEqual(notes, [
    'Login: The table has no primary key: unique columns stand in for it. Migrations add none.',
    'Visit: The table has no key: all columns stand in for one, so that a change of a row is one of all that equal it. Migrations add none.',
  ])
  assert.match(text('login.ts'), /primaryKey: true, allowNull: false \}\) declare name: string/)
  assert.match(text('visit.ts'), /primaryKey: true \}\) declare page: CreationOptional<string \| null>/)
  await withSession(database, async (session) => {
    const [login] = models
    assert.ok(login)
    await login.create({ name: 'Robin', at: new Date() } as never)
    assert.ok(await session.get(login, 'Robin'))
  })
})

for (const kind of [sqliteFile, postgres, ...mysqls.slice(0, 1)])
  test(`${kind.name}: what stands in for a key is no difference`, async () => {
    const { different } = await written(kind, `stand-in-${kind.name.slice(0, 6).trim()}`, [
      'CREATE TABLE "visit" ("at" INTEGER, "page" TEXT, "note" TEXT NOT NULL)',
      'CREATE TABLE "login" ("name" VARCHAR(50) NOT NULL UNIQUE, "at" INTEGER)',
      'CREATE TABLE "attempt" ("name" VARCHAR(50) NOT NULL REFERENCES "login" ("name"), "at" INTEGER NOT NULL)',
      'CREATE UNIQUE INDEX "once" ON "attempt" ("name", "at")',
      `INSERT INTO "visit" VALUES (1, NULL, ''), (1, NULL, '')`,
    ])
    assert.deepEqual(different, [])
  })

test('a key that does not stand in for one is a difference', async () => {
  const url = await postgres.url()
  const database = newLifespan(url)
  await database.start()
  const { sequelize } = database
  await sequelize.query('CREATE TABLE visit (id INTEGER NOT NULL, page TEXT)')
  const id = { type: 'INTEGER', primaryKey: true }
  const visit = sequelize.define('visit', { id, page: 'TEXT' }, { tableName: 'visit', timestamps: false })
  const both = await compared(sequelize, [visit])
  await database.stop()
  assert.deepEqual(
    changes(both.database, both.models).map(({ kind }) => kind),
    ['change primary key'],
  )
})

test('what only PostgreSQL has is read and written, and what no class can say is a comment', async () => {
  const { models, database, different, text } = await written(postgres, 'exotic', [
    'CREATE SCHEMA sales',
    "CREATE TYPE mood AS ENUM ('it''s fine', 'bad')",
    `CREATE TABLE sales.orders (
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      price numeric(10,2) NOT NULL, quantity integer NOT NULL DEFAULT 1, total numeric GENERATED ALWAYS AS (price * quantity) STORED,
      mood mood NOT NULL DEFAULT 'bad', moods mood[], waited interval, tags text[] NOT NULL DEFAULT '{}', meta jsonb NOT NULL DEFAULT '{}',
      code uuid NOT NULL DEFAULT gen_random_uuid(), note character varying, at time(3), CHECK (price > 0))`,
    `CREATE TABLE part (a integer, b integer, name text, PRIMARY KEY (a, b))`,
    `CREATE TABLE piece (id integer PRIMARY KEY, a integer, b integer, FOREIGN KEY (a, b) REFERENCES part (a, b))`,
    "COMMENT ON TABLE sales.orders IS 'What people */ buy'",
    "COMMENT ON COLUMN sales.orders.price IS 'In euros'",
    "CREATE UNIQUE INDEX lower_note ON sales.orders (lower(note) DESC) WHERE mood = 'bad'",
    'CREATE INDEX by_meta ON sales.orders USING gin (meta jsonb_path_ops)',
  ])
  assert.deepEqual(different, [])
  const order = text('order.ts')
  assert.match(order, /^\/\*\* What people \* \/ buy \*\/\n\/\/ Only in the database: check orders_price_check\.$/m)
  assert.match(order, /^ {2}\/\*\* In euros \*\/$/m)
  assert.match(order, /declare readonly total: CreationOptional<string \| null>/)
  assert.match(order, /declare moods: CreationOptional<\("it's fine" \| 'bad'\)\[\] \| null>|declare moods: /)
  assert.match(text('piece.ts'), /^\/\/ Left out: the foreign key \(a, b\) to part/m)
  await withSession(database, async (session) => {
    const [model] = models
    assert.ok(model)
    const row = await model.create({ price: '1.50', quantity: 2, mood: "it's fine", tags: ['a'] } as never)
    const found = await session.get(model, row.get('id') as string)
    assert.deepEqual(
      ['total', 'mood', 'tags', 'meta', 'quantity'].map((name) => found?.get(name)),
      ['3.00', "it's fine", ['a'], {}, 2],
    )
  })
})

for (const kind of [sqliteFile, postgres, ...mysqls.slice(0, 1)])
  test(`${kind.name}: a computed column is read, and is written by the database alone`, async () => {
    const { models, database, different, text } = await written(kind, `computed-${kind.name.slice(0, 6).trim()}`, [
      `CREATE TABLE "line" ("id" INTEGER PRIMARY KEY, "price" INTEGER NOT NULL, "twice" INTEGER GENERATED ALWAYS AS ("price" * 2) STORED)`,
      // MariaDB has none that is NOT NULL.
      `CREATE TABLE "sum" ("id" INTEGER PRIMARY KEY, "twice" INTEGER GENERATED ALWAYS AS ("id" * 2) STORED ${kind.name === 'MariaDB' ? '' : 'NOT NULL'})`,
    ])
    assert.deepEqual(different, [])
    assert.match(text('line.ts'), /declare readonly twice: CreationOptional<number \| null>/)
    await withSession(database, async (session) => {
      const [model, sum] = models
      assert.ok(model && sum)
      await sum.create({ id: 1 } as never)
      assert.equal((await session.get(sum, 1))?.get('twice'), 2)
      const row = session.add(model.build({ id: 1, price: 2 } as never))
      await session.flush()
      await session.refresh(row)
      await row.update({ price: 5 } as never)
      assert.equal((await session.get(model, 1))?.get('twice'), 10)
    })
  })

test('SQLite: what Sequelize writes otherwise, and means the same, is no difference', async () => {
  const { different, notes } = await written(sqliteFile, 'alike', [
    'CREATE TABLE company (id INTEGER PRIMARY KEY, untyped, size int DEFAULT 3)',
    'CREATE TABLE employee (id int PRIMARY KEY, company_id int REFERENCES company (id), code REFERENCES company)',
    'CREATE INDEX some ON employee (company_id) WHERE company_id > 3',
    'CREATE UNIQUE INDEX others ON employee (code) WHERE (company_id > 3) AND (code <> 0)',
    'CREATE TABLE tag (id INTEGER PRIMARY KEY) WITHOUT ROWID',
    'CREATE TABLE employee_tag (employee_id int REFERENCES employee, tag_id int REFERENCES tag, PRIMARY KEY (employee_id, tag_id))',
  ])
  assert.deepEqual([different, notes], [[], ['Tag: Only in the database: without rowid.']])
})

test('all that is left out is named', async () => {
  const { different, notes, text } = await written(postgres, 'left-out', [
    'CREATE TABLE team (id INTEGER PRIMARY KEY, born DATE, code TEXT COLLATE "C")',
    'CREATE TABLE hero (id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team DEFERRABLE INITIALLY DEFERRED)',
    'CREATE INDEX by_born ON team (born DESC NULLS LAST) INCLUDE (code)',
    'CREATE TABLE "we""ird" (id INTEGER PRIMARY KEY)',
    'CREATE VIEW young AS SELECT * FROM team',
    'CREATE MATERIALIZED VIEW old AS SELECT * FROM team',
  ])
  assert.deepEqual(different, [])
  const index = 'the index by_born, as Sequelize has no option for its INCLUDE or NULLS FIRST, or it is not valid.'
  assert.deepEqual(notes.toSorted(), [
    'Hero: Left out: DEFERRABLE of the foreign key (team_id).',
    'Left out: the table we"ird, whose name Sequelize cannot write.',
    'Left out: views have no classes: old, young.',
    'Team: Left out: the collation C of the column code.',
    `Team: Left out: ${index}`,
  ])
  assert.ok(text('team.ts').includes(`\n// Left out: ${index}\n`))
})

test('PostgreSQL: a column that takes its values from a sequence of its own choice states it, and gets them', async () => {
  const { models, database, different, notes, text } = await written(postgres, 'sequences', [
    'CREATE SEQUENCE numbers START 100',
    `CREATE TABLE entry (seq INTEGER NOT NULL DEFAULT nextval('numbers'), id SERIAL PRIMARY KEY, other BIGSERIAL)`,
  ])
  assert.deepEqual(different, [])
  assert.match(text('entry.ts'), /defaultValue: literal\("nextval\('numbers'::regclass\)"\)/)
  assert.deepEqual(notes, [
    'Entry: Only in the database: the numbers of the column other, as Sequelize counts one alone.',
  ])
  await withSession(database, async () => {
    const [entry] = models
    const row = await entry?.create()
    assert.deepEqual([row?.get('seq'), row?.get('id'), row?.get('other')], [100, 1, '1'])
  })
})

test('a table without columns has no class, and people are told', async () => {
  const { different, notes, files } = await written(postgres, 'empty', [
    'CREATE TABLE nothing ()',
    'CREATE TABLE "proto" ("__proto__" TEXT)',
    'CREATE TABLE hero (id INTEGER PRIMARY KEY)',
  ])
  assert.deepEqual(different, [])
  assert.deepEqual(files, ['hero.ts', 'index.ts'])
  assert.deepEqual(notes, [
    'Left out: the table nothing, which has no column that Sequelize can write.',
    'Left out: the table proto, which has no column that Sequelize can write.',
  ])
})

test('SQLite: a key that is not the number of the row is not counted', async () => {
  const { different, text } = await written(sqliteFile, 'descending', [
    'CREATE TABLE old (id INTEGER PRIMARY KEY DESC, name TEXT)',
    'CREATE TABLE hero (id INTEGER, name TEXT, PRIMARY KEY (id DESC))',
  ])
  assert.deepEqual(different, [])
  assert.match(text('old.ts'), /primaryKey: true \}\) declare id: number/)
  assert.match(text('hero.ts'), /primaryKey: true, autoIncrement: true \}\) declare id/)
})

test('PostgreSQL: a key to a table of the same name in another schema', async () => {
  const { models, different } = await written(postgres, 'namesakes', [
    'CREATE SCHEMA "Billing"',
    'CREATE TABLE "User" ("Id" SERIAL PRIMARY KEY)',
    'CREATE TABLE "Billing"."User" (id SERIAL PRIMARY KEY, "userId" INTEGER UNIQUE REFERENCES "User" ("Id"), boss_id INTEGER REFERENCES "Billing"."User")',
    'CREATE TABLE "Billing".entry (id SERIAL PRIMARY KEY, user_id INTEGER REFERENCES "Billing"."User", "userId" INTEGER REFERENCES "User")',
  ])
  assert.equal(models.length, 3)
  assert.deepEqual(different, [])
})

test('SQLite: what a table has by itself is named', async () => {
  const { different, notes } = await written(sqliteFile, 'sqlite-only', [
    'CREATE TABLE hero (id INTEGER PRIMARY KEY, code TEXT UNIQUE ON CONFLICT REPLACE) STRICT',
    'CREATE VIRTUAL TABLE words USING fts5(text)',
  ])
  assert.deepEqual(different, [])
  assert.deepEqual(notes, [
    'Left out: virtual tables have no classes: words.',
    'Hero: Only in the database: strict, on conflict replace.',
  ])
})

for (const kind of mysqls.slice(0, 1))
  test(`${kind.name}: what a table has by itself is named`, async () => {
    const { different, notes } = await written(kind, 'mariadb-only', [
      'CREATE TABLE hero (id INTEGER PRIMARY KEY, code INTEGER INVISIBLE) PARTITION BY HASH (id) PARTITIONS 2',
      'CREATE SEQUENCE numbers',
    ])
    assert.deepEqual(different, [])
    assert.deepEqual(notes, [
      'Left out: sequences have no classes: numbers.',
      'Hero: Only in the database: partitions.',
      'Hero: Only in the database: INVISIBLE of the column code.',
    ])
  })

test('a column that no object can have is left out, and people are told', async () => {
  const { different, notes, text } = await written(postgres, 'prototype', [
    'CREATE TABLE item (id INTEGER PRIMARY KEY, "__proto__" TEXT)',
  ])
  assert.deepEqual(different, [])
  assert.deepEqual(notes, ['Item: Left out: the column __proto__, whose name Sequelize cannot write.'])
  assert.doesNotMatch(text('item.ts'), /declare proto/)
})

test('a number with a width of its own, and a default of a type that Sequelize gives none, are those of the table', async () => {
  for (const kind of mysqls.slice(0, 1)) {
    const { different, notes, text } = await written(kind, 'widths', [
      `CREATE TABLE counter (id INT PRIMARY KEY, z INT(5) ZEROFILL, big BIGINT(7) UNSIGNED ZEROFILL, small TINYINT(2),
        doc JSON DEFAULT '{}', list JSON NOT NULL DEFAULT (JSON_ARRAY(1)), note TEXT DEFAULT 'none', raw BLOB DEFAULT 'x', code CHAR(36) BINARY)
        WITH SYSTEM VERSIONING`,
    ])
    assert.deepEqual(
      notes.filter((note) => !note.includes(' check ')),
      ['Counter: Only in the database: system versioning.'],
    )
    assert.deepEqual(different, [])
    assert.match(text('counter.ts'), /@Column\(DataType\.INTEGER\(\{ length: 5 \}\)\.UNSIGNED\.ZEROFILL\) declare z/)
  }
})

test('the classes compile strictly, and have the format of the project', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const compiled = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  assert.equal(compiled.stdout + compiled.stderr, '')
  const oxfmt = join(root, 'node_modules/.bin/oxfmt')
  const folders = readdirSync(project).filter((name) => !/\.json$|^\.|^node_modules$/.test(name))
  const formatted = spawnSync(oxfmt, ['--check', ...folders], { cwd: project, encoding: 'utf8' })
  assert.equal(formatted.status, 0, formatted.stdout + formatted.stderr)
})
