import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, DataTypes, type ModelStatic } from 'sequelize'
import { AfterFind, Column, DataType, DefaultScope, Table } from 'sequelize-typescript'
import { Base, withSession } from 'sequitur'
import { databaseApp, databases, postgres, statements } from '../support/databases.js'

@Table({ tableName: 'numbered', timestamps: false })
class Numbered extends Base<Numbered> {
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'numbered_id' }) declare id: number
  @Column({ type: DataType.STRING, field: 'full_name' }) declare name: string
  @Column({ type: DataType.DECIMAL(10, 2) }) declare price: string | null
  @Column({ type: DataType.DATE }) declare at: Date | null
}

@Table({ tableName: 'large', timestamps: false })
class Large extends Base<Large> {
  @Column({ type: DataType.BIGINT, primaryKey: true }) declare id: string
}

@Table({ tableName: 'small', timestamps: false })
class Small extends Base<Small> {
  @Column({ type: DataTypes.SMALLINT, primaryKey: true }) declare id: number
}

@Table({ tableName: 'coded', timestamps: false })
class Coded extends Base<Coded> {
  @Column({ type: DataType.STRING(20), primaryKey: true }) declare code: string
}

@Table({ tableName: 'token', timestamps: false })
class Token extends Base<Token> {
  @Column({ type: DataType.UUID, primaryKey: true }) declare id: string
}

@Table({ tableName: 'soft', timestamps: true, paranoid: true })
class Soft extends Base<Soft> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  declare deletedAt: CreationOptional<Date | null>
}

@DefaultScope(() => ({ where: { open: true } }))
@Table({ tableName: 'scoped', timestamps: false })
class Scoped extends Base<Scoped> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.BOOLEAN }) declare open: boolean
}

@Table({ tableName: 'watched', timestamps: false })
class Watched extends Base<Watched> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  static found: number[] = []
  @AfterFind static note(row: Watched | null) {
    if (row) Watched.found.push(row.id)
  }
}

@Table({ tableName: 'shy', timestamps: false })
class Shy extends Base<Shy> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  static override findByPk(): never {
    throw new Error('It does not want to be found.')
  }
}

const models = [Numbered, Large, Small, Coded, Token, Soft, Scoped, Watched, Shy]
const UUID = '6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b'
const KEYS = [1, 2, -1, 0, 1.5, 70_000, 2 ** 31, 2 ** 40, 2n ** 62n, '1', '', 'one', "o'ne; --", '$1', UUID, 'ONE']

type Found = Base | null

async function outcome(find: () => Promise<Found>): Promise<unknown> {
  try {
    const row = await find()
    return row && { values: row.get(), isNew: row.isNewRecord, changed: row.changed(), model: row.constructor.name }
  } catch (error) {
    return (error as Error).name
  }
}

for (const kind of databases) {
  test(`${kind.name}: session.get() finds what findByPk() finds`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [])
    await withSession(database, async (session) => {
      session.addAll([
        Numbered.build({ id: 1, name: 'Robin', price: '1.50', at: new Date(0) }),
        Numbered.build({ id: 2, name: "O'Neil", price: null, at: null }),
        Large.build({ id: String(2n ** 62n) }),
        Large.build({ id: '1' }),
        Small.build({ id: 1 }),
        Token.build({ id: UUID }),
        Scoped.build({ id: 1, open: true }),
        Scoped.build({ id: 2, open: false }),
        Watched.build({ id: 1 }),
        ...['1', '', 'one', "o'ne; --", '$1'].map((code) => Coded.build({ code })),
      ])
      session.addAll([1, 2].map((id) => Soft.build({ id })))
    })
    await withSession(database, async () => (await Soft.findByPk(2))?.destroy())
    for (const model of [Numbered, Large, Small, Coded, Token, Soft, Scoped, Watched] as ModelStatic<Base>[]) {
      for (const key of KEYS) {
        const [gotten, found] = await Promise.all([
          outcome(() => withSession(database, (session) => session.get(model, key))),
          outcome(() => withSession(database, () => model.findByPk(key as never))),
        ])
        assert.deepEqual(gotten, found, `${model.name} ${String(key)}`)
      }
    }
  })

  test(`${kind.name}: what session.get() found is written back by its changed columns`, async (t) => {
    const { database, log } = await databaseApp(t, kind, models, [])
    await withSession(database, () => Numbered.create({ id: 1, name: 'Robin', price: null, at: null }))
    await withSession(database, async (session) => {
      const row = await session.get(Numbered, 1)
      assert.ok(row)
      row.name = 'Batman'
      session.add(row)
    })
    assert.equal((await Numbered.findByPk(1))?.name, 'Batman')
    const [update = ''] = statements(log).filter((text) => text.startsWith('UPDATE'))
    assert.match(update, /SET .full_name.\s*=/)
    assert.doesNotMatch(update, /price/)
  })

  test(`${kind.name}: session.get() asks a model that has a say in being found`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [])
    await withSession(database, () => Promise.all([Watched.create({ id: 1 }), Shy.create({ id: 1 })]))
    Watched.found = []
    await withSession(database, (session) => session.get(Watched, 1))
    assert.deepEqual(Watched.found, [1])
    await assert.rejects(
      withSession(database, (session) => session.get(Shy, 1)),
      /does not want to be found/,
    )
  })
}

test('PostgreSQL: session.get() binds its key', async (t) => {
  const { database, log } = await databaseApp(t, postgres, models, [], { lifespan: { fastPath: true } })
  await withSession(database, (session) => session.get(Coded, "o'ne"))
  assert.deepEqual(statements(log), [
    'START TRANSACTION',
    'SELECT "code" FROM "coded" AS "Coded" WHERE "Coded"."code" = $1;',
    'COMMIT',
  ])
})

test('PostgreSQL: one query can be logged apart', async (t) => {
  const { database, log } = await databaseApp(t, postgres, models, [])
  const seen: string[] = []
  await withSession(database, () => Coded.findAll({ logging: (text) => void seen.push(text) }))
  assert.deepEqual(seen, ['Executing (default): SELECT "code" FROM "coded" AS "Coded";'])
  assert.deepEqual(statements(log), ['START TRANSACTION', 'COMMIT'])
})

for (const kind of databases)
  for (const fastPath of [true, false])
    test(`${kind.name}: the key null finds no row${fastPath ? '' : ', without the fast path, too'}`, async (t) => {
      const { database, log } = await databaseApp(t, kind, [Coded], [], { lifespan: { fastPath } })
      const key: unknown = JSON.parse('null')
      await withSession(database, async (session) => {
        assert.equal(await session.get(Coded, key as string), null)
        assert.equal(await session.get(Coded, key as string, { attributes: ['code'] }), null)
      })
      assert.deepEqual(statements(log), [])
    })
