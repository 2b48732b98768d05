import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, type Model, type ModelStatic, Op, QueryTypes, Sequelize, type Transaction } from 'sequelize'
import { newLifespan, withSession } from 'sequitur'
import { databases, type TestDatabase } from '../support/databases.js'

/*
 * Sessions send statements in ways of their own. Whatever Sequelize's models can do gives in a session what it gives in
 * sequelize.transaction() of an instance that knows nothing of sessions.
 */

type AnyModel = ModelStatic<Model>
type Shop = Readonly<Record<'Shop' | 'Item' | 'Tag' | 'Tagging' | 'Note', AnyModel>>
/** With the transaction where nothing joins it by itself. */
type Step = (models: Shop, joined: { transaction?: Transaction }, sequelize: Sequelize) => Promise<unknown>

function define(sequelize: Sequelize): Shop {
  const key = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const plain = { timestamps: false, underscored: true }
  const Shop = sequelize.define(
    'Shop',
    { id: key, name: { type: DataTypes.STRING(50), unique: true }, openedOn: DataTypes.DATEONLY },
    plain,
  )
  const Item = sequelize.define(
    'Item',
    {
      id: key,
      label: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [1, 20] } },
      price: { type: DataTypes.DECIMAL(10, 2), field: 'unit_price' },
      stock: { type: DataTypes.INTEGER, defaultValue: 0 },
      extra: DataTypes.JSON,
      shout: {
        type: DataTypes.VIRTUAL,
        get(this: Model) {
          return `${String(this.getDataValue('label' as never))}!`
        },
      },
      soldAt: DataTypes.DATE,
    },
    {
      ...plain,
      version: true,
      paranoid: true,
      timestamps: true,
      createdAt: false,
      updatedAt: false,
      scopes: { cheap: { where: { price: { [Op.lt]: 2 } } } },
      hooks: { beforeSave: (item: Model) => void item.set('stock', Number(item.get('stock')) + 1) },
    },
  )
  const Tag = sequelize.define('Tag', { name: { type: DataTypes.STRING(20), primaryKey: true } }, plain)
  const Tagging = sequelize.define('Tagging', { weight: { type: DataTypes.INTEGER, defaultValue: 1 } }, plain)
  const Note = sequelize.define(
    'Note',
    {
      shopId: { type: DataTypes.INTEGER, primaryKey: true },
      line: { type: DataTypes.INTEGER, primaryKey: true },
      text: DataTypes.TEXT,
    },
    plain,
  )
  Shop.hasMany(Item, { as: 'items', foreignKey: 'shopId' })
  Item.belongsTo(Shop, { as: 'shop', foreignKey: 'shopId' })
  Item.belongsToMany(Tag, { through: Tagging, as: 'tags', foreignKey: 'itemId' })
  Tag.belongsToMany(Item, { through: Tagging, as: 'items', foreignKey: 'tagName' })
  Shop.hasOne(Shop, { as: 'branch', foreignKey: 'parentId' })
  Shop.hasMany(Note, { as: 'notes', foreignKey: 'shopId' })
  return { Shop, Item, Tag, Tagging, Note }
}

const SOLD = new Date('2024-02-29T12:34:56.000Z')
const whole = [
  { association: 'items', include: [{ association: 'tags' }] },
  { association: 'branch' },
  { association: 'notes' },
]

const STEPS: Readonly<Record<string, Step>> = {
  create: ({ Shop }, joined) => Shop.create({ name: 'One', openedOn: '2020-01-31' }, joined),
  'create with includes': ({ Shop }, joined) =>
    Shop.create(
      {
        name: 'Two',
        items: [{ label: 'a', price: '1.50', extra: { deep: [1, null] }, tags: [{ name: 'red' }] }, { label: 'b' }],
        notes: [{ line: 1, text: "it's $1 and ?" }],
      },
      { ...joined, include: [{ association: 'items', include: ['tags'] }, 'notes'] },
    ),
  bulkCreate: ({ Item }, joined) =>
    Item.bulkCreate(
      [3, 4, 5].map((n) => ({ shopId: 1, label: `bulk ${n}`, price: `${n}.25`, soldAt: SOLD })),
      { ...joined, validate: true, individualHooks: true, returning: true },
    ),
  'bulkCreate that updates': ({ Note }, joined) =>
    Note.bulkCreate(
      [
        { shopId: 2, line: 1, text: 'new' },
        { shopId: 2, line: 2, text: 'other' },
      ],
      { ...joined, updateOnDuplicate: ['text'] },
    ),
  'bulkCreate that ignores': ({ Tag }, joined) =>
    Tag.bulkCreate([{ name: 'red' }, { name: 'blue' }], { ...joined, ignoreDuplicates: true }).then(() => null),
  'the whole': ({ Shop }, joined) => Shop.findAll({ ...joined, include: whole, order: ['id', ['items', 'id', 'ASC']] }),
  'separate includes': ({ Shop }, joined) =>
    Shop.findAll({
      ...joined,
      include: [{ association: 'items', separate: true, order: [['id', 'DESC']] }],
      order: ['id'],
    }),
  'a page with its count': ({ Item }, joined) =>
    Item.findAndCountAll({
      ...joined,
      include: ['shop'],
      order: [['label', 'DESC']],
      limit: 2,
      offset: 1,
      distinct: true,
    }),
  raw: ({ Item }, joined) => Item.findAll({ ...joined, raw: true, nest: true, include: ['shop'], order: ['id'] }),
  'attributes and functions': ({ Item }, joined, { fn, col }) =>
    Item.findAll({
      ...joined,
      attributes: ['shopId', [fn('count', col('id')), 'n'], [fn('max', col('stock')), 'most']],
      group: ['shopId'],
      order: ['shopId'],
    }),
  findByPk: ({ Shop }, joined) => Shop.findByPk(1, joined),
  'findByPk of nothing': ({ Shop }, joined) => Shop.findByPk(99, joined),
  'findByPk that is to be there': ({ Shop }, joined) => Shop.findByPk(99, { ...joined, rejectOnEmpty: true }),
  'findOne with a lock': ({ Shop }, joined) => Shop.findOne({ ...joined, where: { name: 'Two' }, lock: true }),
  scope: ({ Item }, joined) => Item.scope('cheap').findAll({ ...joined, order: ['id'] }),
  'count, sum, max': async ({ Item }, joined) => [
    await Item.count(joined),
    Number(await Item.sum('stock', joined)),
    await Item.max('label', joined),
  ],
  'findOrCreate of what is there': ({ Shop }, joined) =>
    Shop.findOrCreate({ ...joined, where: { name: 'One' }, defaults: { openedOn: '1999-01-01' } }),
  'findOrCreate of what is not': ({ Shop }, joined) =>
    Shop.findOrCreate({ ...joined, where: { name: 'Three' }, defaults: { openedOn: '1999-01-01' } }),
  findCreateFind: ({ Shop }, joined) => Shop.findCreateFind({ ...joined, where: { name: 'One' } }),
  upsert: async ({ Note }, joined) => {
    await Note.upsert({ shopId: 2, line: 3, text: 'upserted' }, joined)
    await Note.upsert({ shopId: 2, line: 3, text: 'again' }, joined)
    return Note.findAll({ ...joined, order: ['line'] })
  },
  'update of an instance': async ({ Item }, joined) => {
    const item = await Item.findOne({ ...joined, where: { label: 'a' }, rejectOnEmpty: true })
    await item.update({ label: 'A', soldAt: SOLD }, joined)
    return [item, await item.reload(joined)]
  },
  'an outdated version': async ({ Item }, joined) => {
    const [one, other] = [
      await Item.findOne({ ...joined, order: ['id'] }),
      await Item.findOne({ ...joined, order: ['id'] }),
    ]
    await one?.update({ label: 'first' }, joined)
    return other?.update({ label: 'second' }, joined)
  },
  'update of many': ({ Item }, joined) => Item.update({ stock: 7 }, { ...joined, where: { shopId: 1 } }),
  increment: async ({ Item }, joined) => {
    await Item.increment({ stock: 2 }, { ...joined, where: { shopId: 1 } })
    const item = await Item.findOne({ ...joined, order: [['id', 'DESC']], rejectOnEmpty: true })
    await item.decrement('stock', { ...joined, by: 3 })
    return item.reload(joined)
  },
  'associations by their methods': async ({ Item, Tag }, joined) => {
    const item = (await Item.findOne({ ...joined, where: { label: 'b' }, rejectOnEmpty: true })) as Model &
      Record<string, (...args: unknown[]) => Promise<unknown>>
    const tags = await Tag.findAll({ ...joined, order: ['name'] })
    await item['addTags']?.(tags, { ...joined, through: { weight: 5 } })
    await item['createTag']?.({ name: 'green' }, joined)
    await item['removeTag']?.(tags[0], joined)
    return [
      await item['countTags']?.(joined),
      await item['getTags']?.({ ...joined, order: ['name'] }),
      await item['getShop']?.(joined),
    ]
  },
  'destroy and restore': async ({ Item }, joined) => {
    const item = await Item.findOne({ ...joined, where: { label: 'b' }, rejectOnEmpty: true })
    await item.destroy(joined)
    const gone = await Item.findByPk(item.get('id') as number, joined)
    await item.restore(joined)
    return [gone, await Item.count(joined)]
  },
  'destroy of many': ({ Note }, joined) => Note.destroy({ ...joined, where: { line: { [Op.gt]: 1 } } }),
  'a value that is not valid': ({ Item }, joined) => Item.create({ label: 'x'.repeat(30) }, joined),
  'a NULL that must not be': ({ Item }, joined) => Item.bulkCreate([{ label: null }], joined),
  'a text with replacements': (_, joined, sequelize) =>
    sequelize.query('SELECT name FROM shops WHERE name IN (:names) ORDER BY name', {
      ...joined,
      replacements: { names: ['One', 'Two'] },
      type: QueryTypes.SELECT,
    }),
  'a text with binds': (_, joined, sequelize) =>
    sequelize.query('SELECT name FROM shops WHERE name = $name', {
      ...joined,
      bind: { name: 'One' },
      type: QueryTypes.SELECT,
      plain: true,
    }),
  'a text of a model': ({ Shop }, joined, sequelize) =>
    sequelize.query('SELECT id, name FROM shops ORDER BY id', { ...joined, model: Shop, mapToModel: true }),
  'an UPDATE by text': async (_, joined, sequelize) => {
    const [, changed] = await sequelize.query("UPDATE notes SET text = 'by text'", {
      ...joined,
      type: QueryTypes.UPDATE,
    })
    return changed
  },
}

// Decimals and 64-bit integers are texts on every database of ours.
const asNumber = (_: string, value: unknown) =>
  typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value

/** The driver mariadb writes the statement with its values into the messages of its errors. In Sequitur they must not get into a log. */
const STATEMENT = /^\(conn:[^)]*\) (?<message>[^]*)\nsql: [^]*$/

async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: JSON.parse(JSON.stringify((await work()) ?? null), asNumber) as unknown }
  } catch (error) {
    const { name, message } = error as Error
    return { name, message: message.replace(STATEMENT, '$<message>') }
  }
}

/** What each step gives, one transaction for each, and what the tables hold afterwards. */
async function run(sequelize: Sequelize, within: (work: (joined: object) => Promise<unknown>) => Promise<unknown>) {
  const models = define(sequelize)
  await sequelize.sync()
  const results: Record<string, unknown> = {}
  for (const [name, step] of Object.entries(STEPS)) {
    results[name] = await outcome(() => within((joined) => step(models, joined, sequelize)))
  }
  for (const [name, model] of Object.entries(models))
    results[`table ${name}`] = await outcome(() =>
      model.findAll({ raw: true, paranoid: false, order: [...model.primaryKeyAttributes] }),
    )
  return results
}

async function instance(kind: TestDatabase): Promise<Sequelize> {
  const url = new URL(await kind.url())
  const dialect = url.protocol.slice(0, -1).split('+')[0] as 'sqlite' | 'postgres' | 'mysql' | 'mariadb'
  if (dialect === 'sqlite')
    return new Sequelize({ dialect, storage: decodeURIComponent(url.pathname).slice(1), logging: false })
  return new Sequelize(url.href.replace(/\+\w+:/, ':'), {
    logging: false,
    // As in Sequitur, where no bound value may get into a log.
    dialectOptions: dialect === 'mariadb' ? { logParam: false } : {},
  })
}

for (const kind of databases.filter(({ name }) => !name.includes('memory'))) {
  test(`${kind.name}: models do in a session what they do in a transaction of Sequelize's own`, async () => {
    const stock = await instance(kind)
    const expected = await run(stock, (work) => stock.transaction((transaction) => work({ transaction })))
    await stock.close()
    const database = newLifespan(await kind.url())
    await database.start()
    const found = await run(database.sequelize, (work) => withSession(database, () => work({})))
    await database.stop()
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(found[name], value, name)
  })
}
