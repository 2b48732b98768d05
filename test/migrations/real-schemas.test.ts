// The same on both query paths: plans are made from catalogs, and steps are SQL as it is written; migrate.test.ts runs on both.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DataTypes, Model, type ModelStatic, type ModelAttributeColumnOptions, Sequelize } from 'sequelize'
import { newLifespan } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { JobRecord } from 'sequitur/jobs'
import * as conduit from '../../example/conduit/models.js'
import * as conditionalRequests from '../../example/guides/conditional-requests.js'
import * as tasks from '../../example/guides/tenancy.js'
import * as hero from '../../example/hero.js'
import * as account from '../../example/jobs/account.js'
import * as order from '../../example/jobs/order.js'
import * as video from '../../example/jobs/video.js'
import * as chat from '../../example/recipes/chat.js'
import * as conditional from '../../example/recipes/conditional.js'
import * as cookieSession from '../../example/recipes/cookie-session.js'
import * as rooms from '../../example/recipes/feeds/rooms.js'
import * as note from '../../example/recipes/first-steps/note.js'
import * as fullText from '../../example/recipes/full-text.js'
import * as author from '../../example/recipes/library/author.js'
import * as book from '../../example/recipes/library/book.js'
import * as lists from '../../example/recipes/lists.js'
import * as logins from '../../example/recipes/logins.js'
import * as payments from '../../example/recipes/payments.js'
import * as photos from '../../example/recipes/photos.js'
import * as documents from '../../example/recipes/s3-documents.js'
import * as tenants from '../../example/recipes/tenants.js'
import * as wallets from '../../example/recipes/wallets.js'
import * as welcome from '../../example/recipes/welcome.js'
import * as tutorialBook from '../../example/tutorial/book.js'
import * as tutorialLoan from '../../example/tutorial/loan.js'
import * as tutorialMember from '../../example/tutorial/member.js'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import type { Constructor } from '../../src/di/token.js'
import { modelCatalog } from '../../src/migrations/catalog/model-catalog.js'
import { difference } from '../../src/migrations/difference/difference.js'
import { databases, postgres, type TestDatabase } from '../support/databases.js'
import { defineSchema } from './define-schema.js'
import { KNOWN_SCHEMAS } from './known-schemas.js'

const EXAMPLES: Readonly<Record<string, readonly object[]>> = {
  account: [account],
  chat: [chat],
  conditional: [conditional],
  'conditional requests': [conditionalRequests],
  conduit: [conduit],
  'cookie session': [cookieSession],
  documents: [documents],
  feeds: [rooms, { FeedEvent }],
  'full text': [fullText],
  hero: [hero],
  idempotency: [{ IdempotencyRecord }],
  jobs: [{ JobRecord }],
  library: [author, book],
  lists: [lists],
  logins: [logins],
  note: [note],
  order: [order],
  payments: [payments],
  photos: [photos],
  tasks: [tasks],
  tenants: [tenants],
  tutorial: [tutorialBook, tutorialLoan, tutorialMember],
  video: [video],
  wallets: [wallets],
  welcome: [welcome],
}

function modelsOf(modules: readonly object[]): (ModelStatic<Model> & Constructor<Model>)[] {
  return modules.flatMap((module) => Object.values(module)).filter(isModel)
}

function isModel(value: unknown): value is ModelStatic<Model> & Constructor<Model> {
  return typeof value === 'function' && value.prototype instanceof Model
}

async function assertNoDifference(sequelize: Sequelize): Promise<void> {
  await sequelize.sync()
  const models = await modelCatalog(sequelize, Object.values(sequelize.models))
  assert.ok(models.tables.length > 0)
  assert.deepEqual(difference(await readCatalog(sequelize), models), {
    changes: [],
    unknownColumns: [],
    unknownKeys: [],
    unknown: [],
    unclear: [],
  })
}

async function opened(t: TestContext, kind: TestDatabase): Promise<Sequelize> {
  const database = newLifespan(await kind.url())
  await database.start()
  t.after(() => database.stop())
  return database.sequelize
}

// SQLite in a file makes the same tables as in memory.
for (const kind of databases.filter(({ name }) => name !== 'SQLite in a file')) {
  for (const [name, modules] of Object.entries(EXAMPLES))
    test(`${kind.name}: the models of an example are no difference to their own tables: ${name}`, async (t) => {
      const database = newLifespan(await kind.url(), { models: modelsOf(modules), sync: true })
      await database.start()
      t.after(() => database.stop())
      await assertNoDifference(database.sequelize)
    })

  for (const [name, schema] of Object.entries(KNOWN_SCHEMAS))
    test(`${kind.name}: a known schema is no difference to its own tables: ${name}`, async (t) => {
      const sequelize = await opened(t, kind)
      defineSchema(sequelize, schema)
      await assertNoDifference(sequelize)
    })

  test(`${kind.name}: each type is no difference to its own column`, async (t) => {
    const sequelize = await opened(t, kind)
    if (kind === postgres) await sequelize.query('CREATE EXTENSION citext')
    const types = { ...TYPES, ...(kind === postgres ? ON_POSTGRES : ELSEWHERE) }
    for (const [name, [type, ...values]] of Object.entries(types)) defineType(sequelize, name, type, values)
    await assertNoDifference(sequelize)
  })
}

type ColumnType = ModelAttributeColumnOptions['type']

/** A table with the type: nullable, needed, and with each default. */
function defineType(sequelize: Sequelize, name: string, type: ColumnType, values: readonly unknown[]): void {
  const defaults = values.map((defaultValue, index) => [`default_${index}`, { type, defaultValue }] as const)
  const attributes = {
    plain: { type },
    needed: { type, allowNull: false },
    described: { type, comment: `the ${name}, it's "described"` },
    ...Object.fromEntries(defaults),
  }
  const options = { timestamps: false, freezeTableName: true }
  // Not of sequelize-typescript, which maps classes.
  Sequelize.prototype.define.call(sequelize, `type_${name}`, attributes, options)
}

const TYPES: Readonly<Record<string, readonly [ColumnType, ...unknown[]]>> = {
  string: [DataTypes.STRING, '', "it's", 'a\\b', '"', 'NULL', '0', 'ä☃'],
  short: [DataTypes.STRING(20), 'x'],
  binary: [DataTypes.STRING(20, true)],
  char: [DataTypes.CHAR(3), 'abc'],
  text: [DataTypes.TEXT],
  smallint: [DataTypes.SMALLINT, 0, -1],
  integer: [DataTypes.INTEGER, 0, -1, 7],
  bigint: [DataTypes.BIGINT, 0, '9007199254740993'],
  float: [DataTypes.FLOAT, 0, 1.5, -1.25],
  real: [DataTypes.REAL, 0, 0.5],
  double: [DataTypes.DOUBLE, 0, 1e10],
  decimal: [DataTypes.DECIMAL, 0],
  decimals: [DataTypes.DECIMAL(10, 2), 0, 1.5, '2.50'],
  boolean: [DataTypes.BOOLEAN, true, false],
  time: [DataTypes.TIME, '10:11:12'],
  date: [DataTypes.DATE, new Date(0), DataTypes.NOW],
  dates: [DataTypes.DATE(6)],
  day: [DataTypes.DATEONLY, '2026-01-02'],
  json: [DataTypes.JSON],
  blob: [DataTypes.BLOB],
  uuid: [DataTypes.UUID, DataTypes.UUIDV4, 'c2d29867-3d0b-d497-9191-18a9d8ee7830'],
  enum: [DataTypes.ENUM('a', "it's", 'x, y'), 'a', "it's"],
}

const ELSEWHERE: typeof TYPES = {
  tinyint: [DataTypes.TINYINT, 1],
  mediumint: [DataTypes.MEDIUMINT, 1],
  unsigned: [DataTypes.INTEGER.UNSIGNED, 1],
  tinytext: [DataTypes.TEXT('tiny')],
  longtext: [DataTypes.TEXT('long')],
  mediumblob: [DataTypes.BLOB('medium')],
}

const ON_POSTGRES: typeof TYPES = {
  citext: [DataTypes.CITEXT, 'Abc'],
  jsonb: [DataTypes.JSONB, { a: 1 }, []],
  array: [DataTypes.ARRAY(DataTypes.STRING(5)), [], ['a', "it's"]],
  enums: [DataTypes.ARRAY(DataTypes.ENUM('p', 'q'))],
  nested: [DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INTEGER))],
  range: [DataTypes.RANGE(DataTypes.INTEGER)],
  ranges: [DataTypes.RANGE(DataTypes.DATE)],
  cidr: [DataTypes.CIDR],
  inet: [DataTypes.INET, '127.0.0.1'],
  macaddr: [DataTypes.MACADDR],
  tsvector: [DataTypes.TSVECTOR],
}
