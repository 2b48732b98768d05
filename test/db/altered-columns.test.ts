import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, DatabaseError, type DataType as ColumnType, QueryTypes } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, select, type Session, sql, withSession } from 'sequitur'
import { databaseApp, postgres } from '../support/databases.js'

/** A column of a model, its type before and after a migration, and a value that only the new type can store. */
const changes = [
  ['date', 'timestamptz', DataType.DATE, new Date('2024-05-06'), new Date('2024-05-06T07:08:09.123Z')],
  ['integer', 'bigint', DataType.BIGINT, 1, 3_000_000_000],
  ['smallint', 'integer', DataType.INTEGER, 1, 100_000],
  ['real', 'double precision', DataType.DOUBLE, 1, 0.123456789012345],
  ['real', 'double precision', DataType.DOUBLE, 1, 1e300],
  ['char(3)', 'varchar(80)', DataType.STRING, 'abc', 'longer '],
  ['numeric(6,2)', 'numeric(12,4)', DataType.DECIMAL(12, 4), '1.5', '12345678.1234'],
  ['varchar(5)', 'text', DataType.TEXT, 'abc', 'longer '],
  ['integer', 'text', DataType.TEXT, '1', 'a text'],
  ['text', 'uuid', DataType.UUID, 'b1e29d3e-51b4-4c5c-a6b0-bb34b61f0b3c', '00e29d3e-51b4-4c5c-a6b0-bb34b61f0b3c'],
] as const

function modelsOf(type: ColumnType) {
  @Table({ tableName: 'altered_row', timestamps: false })
  class Row extends Base<Row> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: CreationOptional<number>
    @Column({ type }) declare value: unknown
  }
  @Table({ tableName: 'altered_key', timestamps: false })
  class Keyed extends Base<Keyed> {
    @Column({ type, primaryKey: true }) declare value: unknown
  }
  return { Row, Keyed }
}

type Models = ReturnType<typeof modelsOf>

/** Each leaves the value in the row 1, or finds it there. */
const writes: Readonly<Record<string, (models: Models, value: unknown, session: Session) => Promise<unknown>>> = {
  create: async ({ Row }, value) => (await Row.destroy({ where: { id: 1 } }), Row.create({ id: 1, value })),
  add: async ({ Row }, value, session) => {
    await Row.destroy({ where: { id: 1 } })
    session.add(Row.build({ id: 1, value }))
    await session.flush()
  },
  'instance.update': async ({ Row }, value) => (await Row.findByPk(1, { rejectOnEmpty: true })).update({ value }),
  'Model.update': ({ Row }, value) => Row.update({ value }, { where: { id: 1 } }),
  upsert: ({ Row }, value) => Row.upsert({ id: 1, value }),
  bulkCreate: async ({ Row }, value) => (await Row.destroy({ where: { id: 1 } }), Row.bulkCreate([{ id: 1, value }])),
  'raw SQL': (_, value, session) => session.execute(sql`UPDATE altered_row SET value = ${value} WHERE id = ${1}`),
  bind: ({ Row }, value) =>
    Row.sequelize?.query('UPDATE altered_row SET value = $1 WHERE id = 1', { bind: [value] }) ?? Promise.reject(),
}

const reads: typeof writes = {
  get: async ({ Keyed }, value, session) => (await session.get(Keyed, value as string)) !== null,
  first: async ({ Row }, value, session) => (await session.first(select(Row, { where: { value } }))) !== null,
  all: async ({ Row }, value, session) => (await session.all(select(Row, { where: { value } }))).length === 1,
  count: async ({ Row }, value, session) => (await session.count(select(Row, { where: { value } }))) === 1,
  'raw SQL': async (_, value, session) =>
    (await session.execute(sql`SELECT id FROM altered_row WHERE value = ${value}`)).length === 1,
  destroy: async ({ Keyed }, value) => (await Keyed.destroy({ where: { value } })) === 1,
  'instance.destroy': async ({ Keyed }, value, session) => {
    await Keyed.build({ value }, { isNewRecord: false }).destroy()
    return (await session.execute(sql`SELECT 1 FROM altered_key`)).length === 0
  },
}

async function alteredTables(t: Parameters<typeof databaseApp>[0], [from, to, type]: (typeof changes)[number]) {
  const models = modelsOf(type)
  const { database } = await databaseApp(t, postgres, [models.Row, models.Keyed], [], { lifespan: { poolSize: 1 } })
  const { sequelize } = database
  const alter = async (name: string) => {
    for (const table of ['altered_row', 'altered_key'])
      await sequelize.query(`ALTER TABLE ${table} ALTER COLUMN value TYPE ${name} USING value::text::${name}`)
  }
  const fill = async (value: unknown) => {
    const literal = sequelize.escape(value instanceof Date ? value.toISOString() : String(value))
    await sequelize.query(`DELETE FROM altered_row; DELETE FROM altered_key;
      INSERT INTO altered_row VALUES (1, ${literal}); INSERT INTO altered_key VALUES (${literal})`)
    return async () => {
      const text = `SELECT value = ${literal}::${to} AS same FROM altered_row`
      return (await sequelize.query<{ same: boolean }>(text, { type: QueryTypes.SELECT }))[0]?.same
    }
  }
  await fill(to === 'timestamptz' ? '2024-05-06' : 1).catch(() => {})
  return { database, models, fill, toOld: () => alter(from), toNew: () => alter(to) }
}

const IS_OUTDATED =
  /cached plan must not change|is of type|operator does not exist|cannot cast|cache lookup failed for type/

/** A statement may be refused once, by an error after which a request is sent again. */
async function withRetry<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    assert.ok(error instanceof DatabaseError && IS_OUTDATED.test(error.message), String(error))
    return run()
  }
}

test('PostgreSQL: a statement that names a type is executed after the type was dropped and created again', async (t) => {
  const { database } = await databaseApp(t, postgres, [], [], { lifespan: { poolSize: 1 } })
  const { sequelize } = database
  await sequelize.query('DROP TYPE IF EXISTS altered_mood')
  const read = () =>
    withSession(database, (session) => session.execute(sql`SELECT ${'sad'}::altered_mood::text AS mood`))
  for (const step of ['', 'DROP TYPE altered_mood;', 'ALTER TYPE altered_mood RENAME TO altered_old;']) {
    await sequelize.query(`${step} CREATE TYPE altered_mood AS ENUM ('sad', 'glad')`)
    assert.deepEqual(await withRetry(read), [{ mood: 'sad' }])
    assert.deepEqual(await read(), [{ mood: 'sad' }])
  }
  await sequelize.query('DROP TYPE altered_old, altered_mood')
})

for (const change of changes) {
  const [from, to, , before, after] = change
  const name = `PostgreSQL: after a change of ${from} to ${to}, with ${String(after)},`

  test(`${name} what is written on a warm connection is stored as it is`, async (t) => {
    const { database, models, fill, toOld, toNew } = await alteredTables(t, change)
    for (const [kind, write] of Object.entries(writes)) {
      await fill(before)
      await toOld()
      const run = (value: unknown) => withSession(database, (session) => write(models, value, session))
      for (let time = 0; time < 2; time++) await withRetry(() => run(before))
      await toNew()
      const isStored = await fill(after)
      await fill(before)
      await withRetry(() => run(after))
      assert.equal(await isStored(), true, kind)
    }
  })

  test(`${name} what is searched on a warm connection is found`, async (t) => {
    const { database, models, fill, toOld, toNew } = await alteredTables(t, change)
    for (const [kind, read] of Object.entries(reads)) {
      await fill(before)
      await toOld()
      const run = (value: unknown) => withSession(database, (session) => read(models, value, session))
      for (let time = 0; time < 2; time++) {
        await fill(before)
        await withRetry(() => run(before))
      }
      await toNew()
      await fill(after)
      assert.equal(await withRetry(() => run(after)), true, kind)
    }
  })
}
