import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Model, ModelStatic } from 'sequelize'
import { newLifespan, select, type Session, withSession } from 'sequitur'
import type { Table } from '../../src/db/catalog/catalog.js'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import type { Constructor } from '../../src/di/token.js'
import { modelCatalog } from '../../src/migrations/catalog/model-catalog.js'
import { changes } from '../../src/migrations/difference/difference.js'
import { writeModels } from '../../src/migrations/models/write-models.js'
import { models as conduit } from '../../example/conduit/models.js'
import { Hero } from '../../example/hero.js'
import { Author, Biography } from '../../example/recipes/library/author.js'
import { Book, BookTag, Tag } from '../../example/recipes/library/book.js'
import { mysqls, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { modelsProject } from '../support/generated-models.js'
import { root } from '../support/processes.js'
import { rowOf } from '../support/rows.js'

const project = modelsProject()

const CASES: readonly (readonly [schema: string, kinds: readonly TestDatabase[]])[] = [
  ['chinook-sqlite', [sqliteFile]],
  ['chinook-postgres', [postgres]],
  ['chinook-mysql', mysqls.slice(0, 1)],
  ['northwind-sqlite', [sqliteFile]],
  ['northwind-postgres', [postgres]],
  ['pagila-postgres', [postgres]],
  ['sakila-mysql', mysqls.slice(0, 1)],
]

function statementsOf(schema: string): string[] {
  const text = readFileSync(new URL(`schemas/${schema}.sql`, import.meta.url), 'utf8')
  return text.replace(/^--.*\n/, '').split(/;\n/)
}

async function importModels(folder: string): Promise<readonly (ModelStatic<Model> & Constructor)[]> {
  const { models } = await import(pathToFileURL(join(folder, 'index.ts')).href)
  return models
}

for (const [schema, kinds] of CASES)
  for (const kind of kinds)
    test(`${schema}: the classes of an existing database start without a difference, and have its rows`, async () => {
      const url = await kind.url()
      const folder = join(project, schema)
      await withSession(newLifespan(url), async ({ sequelize }) => {
        for (const statement of statementsOf(schema)) await sequelize.query(statement)
      })
      const { models, tables } = await startWithoutDifference(url, folder)
      assert.equal(models.length, tables)
      const database = newLifespan(url, { models })
      await withSession(database, async (session) => {
        await writeRows(session, models)
      })
      await withSession(database, async (session) => {
        for (const model of models) await readRow(session, model)
      })
    })

/** Writes the classes twice, starts with them, and compares their tables with those of the database. */
async function startWithoutDifference(url: string, folder: string) {
  const reading = newLifespan(url)
  await reading.start()
  const catalog = await readCatalog(reading.sequelize)
  await reading.stop()
  writeModels(catalog, folder)
  const texts = textsOf(folder)
  assert.ok(writeModels(catalog, folder).files.every(({ state }) => state === 'unchanged'))
  assert.deepEqual(textsOf(folder), texts)
  const models = await importModels(folder)
  const database = newLifespan(url, { models })
  await database.start()
  const wanted = await modelCatalog(database.sequelize, models)
  assert.deepEqual(changes(catalog, wanted).map(inShort), [])
  // A new database, too, does what this one does when a row is deleted: a difference leaves it open where models do not state it.
  assert.deepEqual(deletions(wanted.tables, catalog.tables), deletions(catalog.tables, wanted.tables))
  await database.stop()
  return { models, tables: catalog.tables.filter(({ kind }) => kind === 'table').length }
}

function textsOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

function inShort(change: object): unknown {
  return JSON.stringify(change, (key, value) => (key === 'table' ? value.name : value))
}

// Tables refer to each other in circles.
const UNCHECKED: Readonly<Record<string, readonly [before: string, after: string]>> = {
  postgres: ['SET LOCAL session_replication_role = replica', 'SET LOCAL session_replication_role = origin'],
  mariadb: ['SET FOREIGN_KEY_CHECKS = 0', 'SET FOREIGN_KEY_CHECKS = 1'],
}

/** What a deleted row does to those that refer to it, by the columns of the foreign keys that the others have, too. */
function deletions(tables: readonly Table[], others: readonly Table[]): string[] {
  const textsOf = (all: readonly Table[]) =>
    all.flatMap(({ name, foreignKeys }) =>
      foreignKeys.map((key) => [`${name} (${key.columns.join(', ')}) -> ${key.table.name}`, key.onDelete] as const),
    )
  const known = new Set(textsOf(others).map(([key]) => key))
  return textsOf(tables)
    .filter(([key]) => known.has(key))
    .map(([key, action]) => `${key}: ${action}`)
    .toSorted()
}

async function writeRows(session: Session, models: readonly ModelStatic<Model>[]): Promise<void> {
  const { sequelize } = session
  const [before, after] = UNCHECKED[sequelize.getDialect()] ?? []
  if (before !== undefined) await sequelize.query(before)
  for (const model of models) session.add(model.build(rowOf(model) as never))
  await session.flush()
  if (after !== undefined) await sequelize.query(after)
}

/** All keys are equal, so that each row is associated with those of all other tables. */
async function readRow(session: Session, model: ModelStatic<Model>): Promise<void> {
  const found = await session.first(select(model))
  assert.ok(found, model.name)
  for (const [name, value] of Object.entries(rowOf(model)))
    assert.deepEqual(comparable(found.get(name)), comparable(value), `${model.name}.${name}`)
  for (const name of Object.keys(model.associations)) {
    const loaded = await session.first(select(model, { include: [name] }))
    const associated = [loaded?.get(name)].flat()
    assert.ok(associated.length === 1 && associated[0], `${model.name}.${name}`)
  }
}

// SQLite returns a DECIMAL as a number, the driver of MariaDB a SET as a list, and only PostgreSQL the padding of a CHAR.
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return comparable(value[0])
  if (typeof value !== 'string') return value
  return /^1(?:\.00?)?$/.test(value) ? 1 : value.trimEnd()
}

const EXAMPLES: readonly (readonly [name: string, models: readonly Constructor<Model>[]])[] = [
  ['example-hero', [Hero]],
  ['example-conduit', conduit],
  ['example-library', [Author, Biography, Book, BookTag, Tag]],
]

for (const kind of [sqliteFile, postgres, ...mysqls.slice(0, 1)])
  for (const [name, given] of EXAMPLES)
    test(`${name} on ${kind.name}: the tables that sync creates have classes without a difference`, async () => {
      const url = await kind.url()
      const creating = newLifespan(url, { models: given, sync: true })
      await creating.start()
      await creating.stop()
      const folder = join(project, `${name}-${kind.name.replaceAll(/\W/g, '-')}`)
      await startWithoutDifference(url, folder)
    })

test('the generated files compile strictly, and have the format of the project', () => {
  const compiled = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
    encoding: 'utf8',
  })
  assert.equal(compiled.stdout + compiled.stderr, '')
  const folders = readdirSync(project).filter((name) => name.includes('-'))
  const formatted = spawnSync(join(root, 'node_modules/.bin/oxfmt'), ['--check', ...folders], {
    cwd: project,
    encoding: 'utf8',
  })
  assert.equal(formatted.status, 0, formatted.stdout + formatted.stderr)
})
