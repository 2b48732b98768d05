import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, type Database, newLifespan } from 'sequitur'
import type { Constructor } from '../../src/di/token.js'
import { databases, postgres, statements, type TestDatabase } from '../support/databases.js'

function models(count: number): Constructor<Model>[] {
  return Array.from({ length: count }, (_, index) => {
    @Table({ modelName: `Part${index}`, tableName: `part_${index}`, timestamps: false })
    class Part extends Base<Part> {
      @Column({ type: DataType.STRING(20), allowNull: false })
      declare name: string

      @Column({ type: DataType.INTEGER })
      declare size: number | null
    }
    return Part
  })
}

interface Started {
  readonly database: Database
  readonly log: readonly string[]
}

async function started(url: string, count: number, sync = false): Promise<Started> {
  const log: string[] = []
  const database = newLifespan(url, { models: models(count), sync, echo: true })
  await database.start((line) => void log.push(line))
  return { database, log: statements(log) }
}

async function withTables(kind: TestDatabase, count: number, ...changes: readonly string[]): Promise<string> {
  const url = await kind.url()
  const { database } = await started(url, count, true)
  for (const change of changes) await database.sequelize.query(change)
  await database.stop()
  return url
}

for (const kind of databases.filter(({ name }) => name !== 'SQLite in memory')) {
  test(`${kind.name}: a start sends as many statements for twelve tables as for one`, async () => {
    const url = await withTables(kind, 12)
    const counts: number[] = []
    for (const count of [1, 12]) {
      const { database, log } = await started(url, count)
      await database.stop()
      counts.push(log.filter((sql) => !/^(?:SET|PRAGMA)\b/.test(sql)).length)
    }
    assert.equal(counts[0], counts[1])
  })

  test(`${kind.name}: the start names each difference of models and tables at once`, async () => {
    const isSqlite = kind.name.startsWith('SQLite')
    const url = await withTables(
      kind,
      1,
      'ALTER TABLE part_0 DROP COLUMN size',
      ...(isSqlite ? [] : ['ALTER TABLE part_0 ADD COLUMN extra INTEGER NOT NULL DEFAULT 0']),
    )
    await assert.rejects(started(url, 2), {
      name: 'DatabaseStartError',
      message:
        'The tables do not match the models:\n' +
        '  column size is missing in table part_0 (Part0.size)\n' +
        '  table part_1 is missing (model Part1)\n' +
        'Run your migrations. To try the app out, create missing tables with toolkit_sync=true, or newLifespan(url, { sync: true }).',
    })
  })
}

test('a column that may be NULL in one place only is named', async () => {
  const url = await withTables(
    postgres,
    1,
    'ALTER TABLE part_0 ALTER COLUMN name DROP NOT NULL',
    'ALTER TABLE part_0 ALTER COLUMN size SET NOT NULL',
  )
  await assert.rejects(started(url, 1), {
    message:
      /\n {2}column name in table part_0 may be NULL, but Part0\.name has allowNull: false\. Add NOT NULL, or remove allowNull\n {2}column size in table part_0 is NOT NULL, but Part0\.size may be null\. Write allowNull: false\n/,
  })
})

test('PostgreSQL: a column of a domain that is NOT NULL is NOT NULL, also in a view', async () => {
  const name = 'CREATE DOMAIN full_name AS VARCHAR(20) NOT NULL'
  const table = ['DROP TABLE part_0', name, 'CREATE TABLE part_0 (id SERIAL PRIMARY KEY, name full_name, size INTEGER)']
  const view = ['ALTER TABLE part_0 RENAME TO parts', 'CREATE VIEW part_0 AS SELECT * FROM parts']
  for (const changes of [table, [...table, ...view]]) {
    const { database } = await started(await withTables(postgres, 1, ...changes), 1)
    await database.stop()
  }
  const required = ['CREATE DOMAIN amount AS INTEGER NOT NULL', 'ALTER TABLE part_0 ALTER COLUMN size TYPE amount']
  await assert.rejects(started(await withTables(postgres, 1, ...required), 1), {
    message: /column size in table part_0 is NOT NULL, but Part0\.size may be null/,
  })
})

test('PostgreSQL: a server that lacks a part of the catalog starts, and its tables are compared', async () => {
  const url = await withTables(
    postgres,
    1,
    `CREATE FUNCTION public.obj_description(oid, name) RETURNS text LANGUAGE plpgsql
     AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''0A000'', MESSAGE = ''unimplemented''; END'`,
    `DO $f$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $f$`,
  )
  const { database } = await started(url, 1)
  await database.sequelize.query('ALTER TABLE part_0 DROP COLUMN size')
  await database.stop()
  await assert.rejects(started(url, 1), { message: /column size is missing in table part_0 \(Part0\.size\)/ })
})

test('PostgreSQL: the tables are those of the search path, and a view is one', async () => {
  const url = await withTables(
    postgres,
    1,
    'CREATE SCHEMA app',
    'ALTER TABLE part_0 SET SCHEMA app',
    'CREATE MATERIALIZED VIEW app.part_1 AS SELECT * FROM app.part_0',
    `DO $f$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = app', current_database()); END $f$`,
  )
  const { database } = await started(url, 2)
  await database.stop()
  await assert.rejects(started(url, 3), { message: /:\n {2}table part_2 is missing \(model Part2\)\n/ })
})
