import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Model, type ModelStatic, type QueryInterface } from 'sequelize'
import { newLifespan } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { JobRecord } from 'sequitur/jobs'
import * as conduitJobs from '../../example/conduit/migrations/2026.11.27T00.00.00.add-jobs.js'
import * as conduitTables from '../../example/conduit/migrations/2026.11.23T00.00.00.create-conduit.js'
import * as conduitFeeds from '../../example/conduit/migrations/2026.12.04T00.00.00.add-feeds.js'
import * as conduit from '../../example/conduit/models.js'
import * as hero from '../../example/hero.js'
import * as heroTables from '../../example/migrations/2026.11.21T00.00.00.create-hero.js'
import * as heroFeeds from '../../example/migrations/2026.12.04T00.00.00.add-feeds.js'
import * as idempotencyTable from '../../example/recipes/create-idempotency-table.js'
import { CREATE_TABLE, Reading } from '../../example/recipes/partitions.js'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import type { Constructor } from '../../src/di/token.js'
import { modelCatalog } from '../../src/migrations/catalog/model-catalog.js'
import { type Difference, difference } from '../../src/migrations/difference/difference.js'
import { databases, postgres, type TestDatabase } from '../support/databases.js'

interface Migration {
  up(options: { readonly context: QueryInterface }): Promise<void>
}

type Models = readonly Constructor<Model>[]

function modelsOf(...modules: readonly object[]): Models {
  return modules.flatMap((module) => Object.values(module)).filter(isModel)
}

function isModel(value: unknown): value is ModelStatic<Model> & Constructor<Model> {
  return typeof value === 'function' && value.prototype instanceof Model
}

/** What leads from the tables that the migrations have made to the models. */
async function remaining(
  t: TestContext,
  kind: TestDatabase,
  migrations: readonly Migration[],
  models: Models,
): Promise<Omit<Difference, 'unknown' | 'unknownKeys'>> {
  const url = await kind.url()
  const empty = newLifespan(url)
  await empty.start()
  for (const { up } of migrations) await up({ context: empty.sequelize.getQueryInterface() })
  await empty.stop()
  const database = newLifespan(url, { models })
  await database.start()
  t.after(() => database.stop())
  const { sequelize } = database
  const wanted = await modelCatalog(sequelize, Object.values(sequelize.models))
  const { changes, unknownColumns, unclear } = difference(await readCatalog(sequelize), wanted)
  return { changes, unknownColumns, unclear } // not `unknown` and `unknownKeys`: what no model declares is left alone
}

const NONE: Omit<Difference, 'unknown' | 'unknownKeys'> = { changes: [], unknownColumns: [], unclear: [] }

const EXAMPLES: Readonly<Record<string, readonly [readonly Migration[], Models]>> = {
  heroes: [[heroTables, heroFeeds], modelsOf(hero, { FeedEvent })],
  Conduit: [[conduitTables, conduitJobs, conduitFeeds], modelsOf(conduit, { JobRecord, FeedEvent })],
  idempotency: [[idempotencyTable], modelsOf({ IdempotencyRecord })],
}

for (const kind of databases.filter(({ name }) => name !== 'SQLite in memory')) {
  for (const [name, [migrations, models]] of Object.entries(EXAMPLES))
    test(`${kind.name}: the tables of migrations that people have written are those of the models: ${name}`, async (t) => {
      assert.deepEqual(await remaining(t, kind, migrations, models), NONE)
    })
}

test('PostgreSQL: a partitioned table is that of its model', async (t) => {
  const migration: Migration = { up: async ({ context }) => void (await context.sequelize.query(CREATE_TABLE)) }
  assert.deepEqual(await remaining(t, postgres, [migration], [Reading]), NONE)
})
