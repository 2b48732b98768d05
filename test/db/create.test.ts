import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreateOptions, type CreationOptional, literal, UniqueConstraintError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'stamped', timestamps: false })
class Stamped extends Base<Stamped> {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true, field: 'stamped_id' })
  declare id: CreationOptional<string>
  @Column({ type: DataType.STRING(40), allowNull: false, unique: { name: 'one_mail', msg: 'taken' }, field: 'e_mail' })
  declare mail: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: literal('(3 + 4)'), field: 'luck' })
  declare number: CreationOptional<number>
  @Column({ type: DataType.DECIMAL(10, 2) }) declare price: CreationOptional<string | null>
}

const WAYS: readonly CreateOptions[] = [
  {},
  { returning: false },
  { returning: ['id'] as never },
  { returning: true, hooks: false },
  { ignoreDuplicates: true },
  { raw: true },
]

async function outcome(create: () => Promise<Stamped>): Promise<object> {
  try {
    const row = await create()
    const { id, ...values } = row.get()
    return { values, hasId: id !== undefined && id !== null, isNew: row.isNewRecord, changed: row.changed() }
  } catch (error) {
    const { name, message, errors = [] } = error as UniqueConstraintError
    return { name, message, items: errors.map((item) => [item.path, item.type, item.instance instanceof Stamped]) }
  }
}

for (const kind of databases) {
  test(`${kind.name}: create() in a session gives what it gives outside of it, and fails as it fails there`, async (t) => {
    const { database } = await databaseApp(t, kind, [Stamped], [])
    const create = (mail: string, options: CreateOptions) =>
      Stamped.create({ mail, price: '1.50' } as never, options as never)
    const outside = (mail: string, options: CreateOptions) =>
      outcome(() => create(mail, { ...options, transaction: null }))
    const inside = (mail: string, options: CreateOptions) =>
      withSession(database, async (session) => {
        const result = await outcome(() => create(mail, options))
        if ('message' in result) session.rollback()
        return result
      })
    for (const [way, options] of WAYS.entries()) {
      for (const attempt of ['first', 'again']) {
        const [one, other] = [await inside(`in${way}@b.c`, options), await outside(`ex${way}@b.c`, options)]
        const text = JSON.stringify(one).replaceAll(`in${way}@`, `ex${way}@`)
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(other)), `${attempt}, ${JSON.stringify(options)}`)
      }
    }
    const rows = await Stamped.findAll({ where: { mail: ['in0@b.c', 'ex0@b.c'] } })
    assert.deepEqual(
      rows.map(({ number, price }) => [number, Number(price)]),
      [
        [7, 1.5],
        [7, 1.5],
      ],
    )
  })
}
