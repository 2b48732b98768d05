// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type CreationOptional, DataTypes, Model, type ModelAttributes, Sequelize } from 'sequelize'
import { newLifespan, type Session, withSession } from 'sequitur'
import { sequelizeInternals } from '../../src/db/sequelize/internals.js'

/*
 * What has a say in the statements of a model keeps it, in a session: then Sequelize executes them.
 */

abstract class Row extends Model {
  declare id: CreationOptional<number>
  declare name: string
}

interface Setup {
  readonly table?: string
  readonly id?: object
  readonly others?: ModelAttributes
}

async function open(
  t: TestContext,
  model: typeof Row & (new () => Row),
  { table, id, others }: Setup = {},
): Promise<{
  readonly sequelize: Sequelize
  readonly inSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>
}> {
  const sequelize = new Sequelize('sqlite::memory:', { logging: false })
  const key = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true, ...id }
  model.init({ id: key, name: DataTypes.STRING, ...others }, { sequelize, timestamps: false, tableName: 'row_' })
  const database = newLifespan(sequelize, { sync: table === undefined, fastPath: true })
  if (table !== undefined) await sequelize.query(table)
  await database.start()
  t.after(() => database.stop())
  return { sequelize, inSession: (work) => withSession(database, work) }
}

for (const [what, table] of [
  ['a BIGINT', 'CREATE TABLE row_ (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(255))'],
  ['of a table WITHOUT ROWID', 'CREATE TABLE row_ (id INT NOT NULL PRIMARY KEY, name VARCHAR(255)) WITHOUT ROWID'],
] as const)
  test(`a key that the program gives stays, if it is ${what}`, async (t) => {
    class Given extends Row {}
    const { inSession } = await open(t, Given, { table })
    await inSession(async (session) => {
      const instance = session.add(Given.build({ id: 900, name: 'a' }))
      await session.flush()
      assert.equal(instance.id, 900)
      await Given.create({ id: 2, name: 'b' })
      await instance.update({ name: 'changed' })
      assert.deepEqual(await Given.findAll({ raw: true, order: ['id'] }), [
        { id: 2, name: 'b' },
        { id: 900, name: 'changed' },
      ])
    })
  })

test('a column may be called returning', async (t) => {
  class Returned extends Row {}
  const { inSession } = await open(t, Returned, { others: { returning: DataTypes.BOOLEAN } })
  const created = await inSession(() => Returned.create({ name: 'a', returning: true }))
  assert.deepEqual([created.id, created.isNewRecord], [1, false])
})

test('a table that the model chooses for each statement is used', async (t) => {
  let table = 'row_'
  class Sharded extends Row {
    static override getTableName = () => table
  }
  const { sequelize, inSession } = await open(t, Sharded)
  await sequelize.query('CREATE TABLE other (id INTEGER PRIMARY KEY, name VARCHAR(255))')
  await inSession(async (session) => {
    for (table of ['row_', 'other']) {
      session.add(Sharded.build({ name: table }))
      await session.flush()
    }
  })
  for (const name of ['row_', 'other'])
    assert.deepEqual((await sequelize.query(`SELECT name FROM ${name}`))[0], [{ name }])
})

test('hooks of queries, a replaced query() and an own runHooks() see what models send', async (t) => {
  const seen: string[] = []
  class Hooked extends Row {}
  class Own extends Row {
    static runHooks = (name: string) => void seen.push(name)
  }
  const hooked = await open(t, Hooked)
  hooked.sequelize.addHook('beforeQuery', () => void seen.push('beforeQuery'))
  await hooked.inSession(async (session) => {
    session.add(Hooked.build({ name: 'a' }))
    await session.flush()
    await Hooked.create({ name: 'b' })
  })
  assert.deepEqual(seen.splice(0), ['beforeQuery', 'beforeQuery'])

  const own = await open(t, Own)
  await own.inSession(() => Own.create({ name: 'a' }))
  assert.ok(seen.includes('beforeCreate'))

  const { sequelize, inSession } = await open(t, class Traced extends Row {})
  const query = t.mock.method(sequelize, 'query')
  await inSession(async () => {
    await sequelize.model('Traced').create({ name: 'a' })
    await sequelize.model('Traced').findAll()
  })
  assert.equal(query.mock.callCount(), 2)
})

test('a hook is called that is added after statements were compiled, and not after it is removed', async (t) => {
  const seen: string[] = []
  class Later extends Row {}
  const { sequelize, inSession } = await open(t, Later)
  const use = () =>
    inSession(async (session) => {
      session.add(Later.build({ name: 'a' }))
      await session.flush()
      await session.get(Later, 1)
      await (await Later.findOne())?.destroy()
    })
  const ofModels = ['beforeFind', 'afterFind', 'beforeSave', 'afterCreate', 'beforeDestroy'] as const
  const check = async (name: string, add: () => unknown, remove: () => unknown) => {
    await use()
    assert.deepEqual(seen, [], `before ${name} is added`)
    add()
    await use()
    assert.ok(seen.length > 0 && seen.every((one) => one === name), `${name}: ${String(seen)}`)
    remove()
    seen.length = 0
  }
  for (const name of ofModels) {
    const hook = () => void seen.push(name)
    await check(
      name,
      () => Later.addHook(name, 'later', hook),
      () => Later.removeHook(name, 'later'),
    )
    await check(
      name,
      () => sequelize.addHook(name, 'later', hook),
      () => sequelize.removeHook(name, 'later'),
    )
  }
  const onQuery = () => void seen.push('beforeQuery')
  await check(
    'beforeQuery',
    () => sequelize.addHook('beforeQuery', 'later', onQuery),
    () => sequelize.removeHook('beforeQuery', 'later'),
  )
})

test('a hook is called that takes the place of one of this package', async (t) => {
  let calls = 0
  class Replaced extends Row {}
  const { sequelize, inSession } = await open(t, Replaced)
  const own = { name: 'sequitur: read generated columns', fn() {} }
  const hooks = [own]
  Object.assign(sequelizeInternals(sequelize).options.hooks ?? {}, { beforeCreate: hooks })
  await inSession(() => Replaced.create({ name: 'a' }))
  hooks[0] = { name: 'mine', fn: () => void calls++ }
  await inSession(() => Replaced.create({ name: 'b' }))
  assert.equal(calls, 1)
})

test('a plugin that replaces a method of Sequelize is called, also if it comes after the start', async (t) => {
  class Tenant extends Row {}
  const { inSession } = await open(t, Tenant)
  await inSession(() => Tenant.create({ name: 'theirs' }))
  const { findAll } = Model
  t.mock.method(Model, 'findAll', function (this: typeof Tenant) {
    return findAll.call(this, { where: { name: 'mine' } })
  })
  assert.deepEqual(await inSession(() => Tenant.findAll()), [])
  t.mock.restoreAll()
  assert.equal((await inSession(() => Tenant.findAll())).length, 1)
})

test('what changes while a row is inserted is still a change', async (t) => {
  class Changing extends Row {}
  const { inSession } = await open(t, Changing)
  await inSession(async () => {
    const instance = Changing.build({ name: 'before' })
    const saving = instance.save()
    instance.name = 'after'
    await saving
    assert.deepEqual([instance.name, instance.changed(), instance.previous('name')], ['after', ['name'], 'before'])
    await instance.save()
    assert.deepEqual(await Changing.findAll({ raw: true }), [{ id: 1, name: 'after' }])
  })
})
