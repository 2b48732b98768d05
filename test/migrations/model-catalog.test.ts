import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Connection } from 'mysql2/promise'
import {
  DataTypes,
  type Model,
  type ModelAttributes,
  type ModelOptions,
  type ModelStatic,
  Sequelize,
  fn,
  literal,
} from 'sequelize'
import { Base, newLifespan } from 'sequitur'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import type { Catalog, TableName } from '../../src/db/catalog/catalog.js'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import { modelCatalog } from '../../src/migrations/catalog/model-catalog.js'
import { databases, mysqls, postgres, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { connectToMariadb } from '../support/mariadb.js'

type Define = (name: string, attributes: ModelAttributes, options?: ModelOptions) => ModelStatic<Model>

async function opened(
  t: TestContext,
  kind: TestDatabase,
): Promise<{ readonly sequelize: Sequelize; readonly define: Define }> {
  const database = newLifespan(await kind.url())
  await database.start()
  t.after(() => database.stop())
  const { sequelize } = database
  // Not by decorators: there are many tables.
  const define: Define = (name, attributes, options = {}) =>
    Sequelize.prototype.define.call(sequelize, name, attributes, {
      timestamps: false,
      freezeTableName: true,
      ...options,
    }) as ModelStatic<Model>
  return { sequelize, define }
}

/** What two catalogs of the same tables have in common: no estimates, no order of tables, and nothing that only models say. */
function comparable({ tables, enums }: Pick<Catalog, 'tables' | 'enums'>) {
  const plain = tables.map((table) => ({
    ...table,
    models: undefined,
    filled: undefined,
    enumValues: undefined,
    estimatedRows: undefined,
    foreignKeys: table.foreignKeys.map((key) => ({ ...key, states: undefined })),
  }))
  const byName = (one: TableName, other: TableName) => (keyOf(one) < keyOf(other) ? -1 : 1)
  return { tables: plain.sort(byName), enums: [...enums].sort(byName) }
}

const keyOf = ({ schema = '', name }: TableName) => `${schema}.${name}`

async function assertSame(sequelize: Sequelize): Promise<Catalog> {
  const models = await modelCatalog(sequelize, Object.values(sequelize.models))
  await sequelize.sync()
  const real = await readCatalog(sequelize)
  assert.deepEqual(comparable(models), comparable(real))
  return real
}

const TYPES = {
  string: DataTypes.STRING,
  short: DataTypes.STRING(20),
  binary: DataTypes.STRING(20, true),
  char: DataTypes.CHAR(3),
  text: DataTypes.TEXT,
  tiny: DataTypes.TEXT('tiny'),
  medium: DataTypes.TEXT('medium'),
  long: DataTypes.TEXT('long'),
  smallint: DataTypes.SMALLINT,
  integer: DataTypes.INTEGER,
  bigint: DataTypes.BIGINT,
  unsigned: DataTypes.INTEGER.UNSIGNED,
  filled: DataTypes.INTEGER({ length: 5, zerofill: true }),
  float: DataTypes.FLOAT,
  floats: DataTypes.FLOAT(11, 4),
  real: DataTypes.REAL,
  double: DataTypes.DOUBLE,
  decimal: DataTypes.DECIMAL,
  decimals: DataTypes.DECIMAL(10, 2),
  boolean: DataTypes.BOOLEAN,
  time: DataTypes.TIME,
  date: DataTypes.DATE,
  dates: DataTypes.DATE(6),
  day: DataTypes.DATEONLY,
  json: DataTypes.JSON,
  blob: DataTypes.BLOB,
  tinyblob: DataTypes.BLOB('tiny'),
  uuid: DataTypes.UUID,
  enum: DataTypes.ENUM('a', "it's", 'x, y'),
}
const ELSEWHERE = { tinyint: DataTypes.TINYINT, mediumint: DataTypes.MEDIUMINT }
const ON_POSTGRES = {
  citext: DataTypes.CITEXT,
  jsonb: DataTypes.JSONB,
  array: DataTypes.ARRAY(DataTypes.STRING(5)),
  enums: DataTypes.ARRAY(DataTypes.ENUM('p', 'q')),
  nested: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INTEGER)),
  range: DataTypes.RANGE(DataTypes.INTEGER),
  ranges: DataTypes.RANGE(DataTypes.DATE),
  cidr: DataTypes.CIDR,
  inet: DataTypes.INET,
  macaddr: DataTypes.MACADDR,
  tsvector: DataTypes.TSVECTOR,
}

for (const kind of databases) {
  test(`${kind.name}: the table of a model is described as its real one is: each type`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    if (kind === postgres) await sequelize.query('CREATE EXTENSION citext')
    const types = { ...TYPES, ...(kind === postgres ? ON_POSTGRES : ELSEWHERE) }
    const attributes = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))
    define('types', attributes)
    define(
      'needed',
      Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type, allowNull: false }])),
    )
    await assertSame(sequelize)
  })

  test(`${kind.name}: the table of a model is described as its real one is: defaults, keys and indexes`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    const Team = define('team', { name: { type: DataTypes.STRING(50), unique: true } })
    const Hero = define(
      'hero',
      {
        id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
        name: { type: DataTypes.STRING(40), defaultValue: `it's "a" \\ name`, comment: `the "name", it's` },
        age: { type: DataTypes.INTEGER, defaultValue: 0 },
        alive: { type: DataTypes.BOOLEAN, defaultValue: true },
        price: { type: DataTypes.DECIMAL(10, 2), defaultValue: 1.5 },
        born: { type: DataTypes.DATE, defaultValue: literal('CURRENT_TIMESTAMP') },
        seen: { type: DataTypes.DATE, defaultValue: DataTypes.NOW },
        tone: { type: DataTypes.ENUM('low', 'high'), defaultValue: 'low' },
        virtual: DataTypes.VIRTUAL(DataTypes.STRING, ['name']),
        realName: { type: DataTypes.STRING(30), field: 'real_name', unique: 'both' },
        place: { type: DataTypes.INTEGER, unique: 'both' },
      },
      {
        comment: 'who saves',
        indexes: [
          { fields: ['age', { name: 'name', order: 'DESC' }] },
          { fields: ['place'], unique: true, name: 'a place' },
        ],
      },
    )
    define('bare', {
      left: { type: DataTypes.INTEGER, primaryKey: true },
      right: { type: DataTypes.STRING(20), primaryKey: true },
    })
    Hero.belongsTo(Team, { foreignKey: 'team_id', onDelete: 'CASCADE' })
    Hero.belongsTo(Hero, { foreignKey: { name: 'friend_id', allowNull: false }, as: 'friend' })
    Hero.belongsToMany(Team, { through: 'membership', as: 'teams' })
    Team.belongsToMany(Hero, { through: 'membership', as: 'heroes' })
    const { tables } = await assertSame(sequelize)
    const hero = tables.find(({ name }) => name === 'hero')
    const indexes = hero?.indexes.map(({ name }) => name).filter((name) => name !== 'both')
    assert.deepEqual(indexes?.sort(), ['a place', 'hero_age_name'])
    assert.equal(hero?.foreignKeys.length, 2)
  })

  test(`${kind.name}: tables that refer to each other`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    const Team = define('team', {})
    const Hero = define('hero', {})
    Hero.belongsTo(Team, { foreignKey: 'team_id' })
    Team.belongsTo(Hero, { foreignKey: 'boss_id', onDelete: 'CASCADE' })
    await assertSame(sequelize)
  })

  test(`${kind.name}: hostile names`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    const long = (length: number) => 'x'.repeat(length)
    // Sequelize cannot read the indexes of such a table on PostgreSQL.
    define(kind === postgres ? 'a "table"' : `it's "a" \`table\``, {
      'a "b" c': { type: DataTypes.INTEGER, primaryKey: true },
      "d'e": DataTypes.STRING(5),
      'f, (g)': DataTypes.INTEGER,
    })
    define('select', {
      from: { type: DataTypes.INTEGER, unique: true },
      CHECK: DataTypes.INTEGER,
      ключ: DataTypes.STRING(5),
    })
    define(long(kind === postgres ? 63 : 64), { [long(60)]: { type: DataTypes.INTEGER, unique: true } })
    define('UPPER', { 'Mixed Case': { type: DataTypes.STRING(5), defaultValue: ')' } })
    await assertSame(sequelize)
  })

  test(`${kind.name}: what cannot be created is named with its model, and nothing remains`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    define('good', {})
    define('bad', { id: { type: 'NO SUCH (TYPE', primaryKey: true } })
    const before = await placesOf(sequelize)
    await assert.rejects(modelCatalog(sequelize, Object.values(sequelize.models)), {
      name: 'DatabaseStartError',
      message: /^Cannot create the table bad of bad: /,
    })
    assert.deepEqual(await placesOf(sequelize), before)
    assert.deepEqual((await readCatalog(sequelize)).tables, [])
  })
}

for (const kind of mysqls) {
  test(`${kind.name}: the indexes of a table are created by its own statement`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    const indexes = [{ fields: ['name'] }, { fields: ['code'], unique: true }, { fields: ['long'], type: 'FULLTEXT' }]
    define(
      'hero',
      { name: DataTypes.STRING(5), code: DataTypes.STRING(5), long: DataTypes.TEXT },
      { indexes: indexes as ModelOptions['indexes'] & object },
    )
    const statements: string[] = []
    // Read for each statement.
    const settings = sequelize as unknown as { readonly options: { logging: unknown } }
    settings.options.logging = (line: string) => statements.push(line)
    const { tables } = await modelCatalog(sequelize, Object.values(sequelize.models))
    assert.deepEqual(
      tables.flatMap((table) => table.indexes.map(({ name, unique, method }) => [name, unique, method])),
      [
        ['hero_code', true, 'btree'],
        ['hero_long', false, 'fulltext'],
        ['hero_name', false, 'btree'],
      ],
    )
    assert.equal(statements.filter((line) => line.includes('ALTER TABLE')).length, 0)
    await assertSame(sequelize)
  })

  test(`${kind.name}: an index with the name that the server gives to a key is refused, whatever statement creates it`, async (t) => {
    for (const name of ['owner', 'OWNER']) {
      const { sequelize, define } = await opened(t, kind)
      define('hero', {})
      const owner = { type: DataTypes.INTEGER, references: { model: 'hero', key: 'id' } }
      define('cape', { color: DataTypes.STRING(5), owner }, { indexes: [{ fields: ['color'], name }] })
      await assert.rejects(modelCatalog(sequelize, Object.values(sequelize.models)), {
        message: new RegExp(`^Cannot create the table cape of cape: .*Duplicate key name '${name}'`),
      })
    }
  })

  test(`${kind.name}: the scratch database is dropped although its connection is lost`, async (t) => {
    const { sequelize, define } = await opened(t, kind)
    for (let number = 0; number < 20; number++) define(`table_${number}`, { name: DataTypes.STRING(5) })
    const admin = await connectToMariadb(sequelize.getDatabaseName())
    t.after(() => admin.end())
    let isAmid = false
    let killed = 0
    // Read for each statement.
    const settings = sequelize as unknown as { readonly options: { logging: unknown } }
    settings.options.logging = (line: string) => (isAmid ||= line.includes('`table_3`'))
    sequelize.addHook('beforeQuery', async () => {
      if (isAmid && killed === 0) killed = await killScratch(admin)
    })
    await assert.rejects(modelCatalog(sequelize, Object.values(sequelize.models)))
    assert.equal(killed, 1)
    const [left] = await admin.query(`SHOW DATABASES LIKE '${sequelize.getDatabaseName()}%scratch%'`)
    assert.deepEqual(left, [])
  })
}

/** Returns how many connections it has ended. */
async function killScratch(admin: Connection): Promise<number> {
  const [rows] = await admin.query(
    `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE DB LIKE CONCAT(DATABASE(), '\\_scratch%')`,
  )
  const found = rows as { readonly id: number }[]
  for (const { id } of found) await admin.query(`KILL ${id}`)
  return found.length
}

// On a server with databases of other tests, those of this one. PostgreSQL lists the schemas of its own database.
async function placesOf(sequelize: Sequelize): Promise<unknown> {
  if (sequelize.getDialect() === 'sqlite') return []
  const own = sequelize.getDialect() === 'postgres' ? '' : sequelize.getDatabaseName()
  const [rows] = await sequelize.query(
    `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE '${own}%scratch%' ORDER BY 1`,
  )
  return rows
}

test('PostgreSQL: models of several schemas, of the current one by its name, and keys to tables of no model', async (t) => {
  const { sequelize, define } = await opened(t, postgres)
  await sequelize.query('CREATE SCHEMA museum')
  await sequelize.query('CREATE SCHEMA "Odd one"')
  await sequelize.query('CREATE TABLE country (code VARCHAR(2) PRIMARY KEY)')
  const attributes = { size: DataTypes.ENUM('s', 'l'), at: { type: DataTypes.DATE, defaultValue: fn('now') } }
  const Room = define('room', attributes, { schema: 'museum' })
  const Named = define(
    'named',
    { ...attributes, country: { type: DataTypes.STRING(2), references: { model: 'country', key: 'code' } } },
    { schema: 'public' },
  )
  const Odd = define('odd', attributes, { schema: 'Odd one' })
  Odd.belongsTo(Room, { foreignKey: 'room_id' })
  Room.belongsTo(Named, { foreignKey: 'named_id' })
  const models = await modelCatalog(sequelize, [Room, Named, Odd])
  await sequelize.sync()
  const real = await readCatalog(sequelize)
  assert.deepEqual(
    comparable(models),
    comparable({ ...real, tables: real.tables.filter(({ name }) => name !== 'country') }),
  )
  assert.deepEqual(
    models.tables.map(({ schema, name }) => [schema, name]),
    [
      ['museum', 'room'],
      [undefined, 'named'],
      ['Odd one', 'odd'],
    ],
  )
})

test('PostgreSQL: no statement names a real table, and no lock of one is taken', async (t) => {
  const { sequelize, define } = await opened(t, postgres)
  const Team = define(
    'team',
    { size: DataTypes.ENUM('s', 'l') },
    { indexes: [{ fields: ['size'], concurrently: true }] },
  )
  const Hero = define('hero', { country: { type: DataTypes.STRING(2), references: { model: 'country', key: 'code' } } })
  Hero.belongsTo(Team, { foreignKey: 'team_id' })
  await sequelize.query('CREATE TABLE country (code VARCHAR(2) PRIMARY KEY)')
  await sequelize.sync()
  const blocking = await sequelize.transaction()
  // Every other statement on them would wait, until it is cancelled.
  await sequelize.query('LOCK TABLE country, team, hero IN ACCESS EXCLUSIVE MODE', { transaction: blocking })
  const models = await modelCatalog(sequelize, [Hero, Team]).finally(() => blocking.rollback())
  assert.deepEqual(
    models.tables.map(({ name, foreignKeys }) => [name, foreignKeys.map(({ table }) => table.name)]),
    [
      ['hero', ['country', 'team']],
      ['team', []],
    ],
  )
})

test('models with one table declare it together', async (t) => {
  const { sequelize, define } = await opened(t, sqliteMemory)
  define(
    'Cat',
    { name: DataTypes.STRING(5), claws: DataTypes.INTEGER },
    { tableName: 'animal', indexes: [{ fields: ['name'] }] },
  )
  define(
    'Dog',
    { name: DataTypes.STRING(5), bark: DataTypes.INTEGER },
    { tableName: 'animal', indexes: [{ fields: ['bark'] }] },
  )
  const { tables } = await modelCatalog(sequelize, Object.values(sequelize.models))
  assert.equal(tables.length, 1)
  assert.deepEqual(tables[0]?.models, ['Cat', 'Dog'])
  assert.deepEqual(
    tables[0].columns.map(({ name }) => name),
    ['id', 'name', 'claws', 'bark'],
  )
  assert.deepEqual(
    tables[0].indexes.map(({ name }) => name),
    ['animal_bark', 'animal_name'],
  )
})

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @HasMany(() => Player, { foreignKey: 'manyId', onUpdate: 'RESTRICT' })
  declare players: Player[]
}

@Table({ tableName: 'player', timestamps: false })
class Player extends Base<Player> {
  @ForeignKey(() => Team)
  @Column
  declare openId: number

  @BelongsTo(() => Team, 'openId')
  declare open: Team

  @Column
  declare statedId: number

  @BelongsTo(() => Team, { foreignKey: 'statedId', onDelete: 'SET NULL', onUpdate: 'CASCADE' })
  declare stated: Team

  @Column
  declare manyId: number

  @Column({ type: DataType.INTEGER, references: { model: 'team', key: 'id' }, onDelete: 'RESTRICT' })
  declare ownId: number

  @Column({ type: DataType.INTEGER, references: { model: 'team', key: 'id' } })
  declare bareId: number
}

test('the actions of foreign keys that a model states are told from those that Sequelize has chosen', async (t) => {
  const database = newLifespan(await sqliteMemory.url(), { models: [Team, Player], sync: true })
  await database.start()
  t.after(() => database.stop())
  const { tables } = await modelCatalog(database.sequelize, [Player])
  const keys = tables[0]?.foreignKeys.map(({ columns, onDelete, onUpdate, states }) => ({
    columns,
    onDelete,
    onUpdate,
    states,
  }))
  assert.deepEqual(keys, [
    { columns: ['openId'], onDelete: 'NO ACTION', onUpdate: 'CASCADE', states: { onDelete: false, onUpdate: false } },
    { columns: ['statedId'], onDelete: 'SET NULL', onUpdate: 'CASCADE', states: { onDelete: true, onUpdate: true } },
    { columns: ['manyId'], onDelete: 'CASCADE', onUpdate: 'RESTRICT', states: { onDelete: false, onUpdate: true } },
    { columns: ['ownId'], onDelete: 'RESTRICT', onUpdate: 'NO ACTION', states: { onDelete: true, onUpdate: false } },
    { columns: ['bareId'], onDelete: 'NO ACTION', onUpdate: 'NO ACTION', states: { onDelete: false, onUpdate: false } },
  ])
})
