import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, fn, Op } from 'sequelize'
import { Column, createIndexDecorator, DataType, Index, Table } from 'sequelize-typescript'
import { Base, newLifespan, withSession } from 'sequitur'
import { indexesOf } from '../../src/db/indexes/table-indexes.js'
import { databases, mysqls } from '../support/databases.js'

/* Indexes whose fields are attributes with other columns, as with `underscored`. */

const Pair = createIndexDecorator({ name: 'pair', unique: true })

@Table({
  tableName: 'writer',
  timestamps: false,
  underscored: true,
  indexes: [
    { name: 'by_attribute', fields: ['firstName', 'last_name'] },
    { name: 'by_object', fields: [{ name: 'lastName', order: 'DESC' }] },
    { name: 'by_old_name', fields: [{ attribute: 'birthYear' } as never] },
  ],
})
class Writer extends Base<Writer> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING }) declare firstName: string
  @Column({ type: DataType.STRING }) declare lastName: string
  @Column({ type: DataType.INTEGER }) declare birthYear: number
  @Column({ type: DataType.STRING, unique: 'key' }) declare penName: string
  @Column({ type: DataType.STRING, unique: 'key' }) declare mainGenre: string
}

@Table({ tableName: 'reader', timestamps: false, underscored: true })
class Reader extends Base<Reader> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Index('by_decorator') @Column({ type: DataType.STRING }) declare firstName: string
  @Pair @Column({ type: DataType.STRING }) declare lastName: string
  @Pair @Column({ type: DataType.INTEGER }) declare birthYear: number
  @Index @Column({ type: DataType.STRING, field: 'land' }) declare birthPlace: string
}

/** The column of one attribute has the name of another attribute. */
@Table({ tableName: 'swapped', timestamps: false, indexes: [{ name: 'by_a', fields: ['a'] }] })
class Swapped extends Base<Swapped> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING, field: 'b' }) declare a: string
  @Column({ type: DataType.STRING, field: 'a' }) declare c: string
}

@Table({
  tableName: 'partial',
  timestamps: false,
  underscored: true,
  indexes: [
    { name: 'open_ones', fields: ['lastName'], where: { [Op.and]: [{ closedAt: null }, { lastName: 'x' }] } },
    { name: 'by_expression', fields: [fn('lower', col('last_name'))] },
  ],
})
class Partial extends Base<Partial> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING }) declare lastName: string
  @Column({ type: DataType.DATE }) declare closedAt: Date | null
}

@Table({ tableName: 'misspelt', timestamps: false, indexes: [{ name: 'by_name', fields: ['nmae'] }] })
class Misspelt extends Base<Misspelt> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING }) declare name: string
}

@Table({ tableName: 'twofold', timestamps: false, indexes: [{ name: 'by_name', fields: ['name'] }] })
class Twofold extends Base<Twofold> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Index({ name: 'one_name', unique: true }) @Column({ type: DataType.STRING }) declare name: string
}

test('a model with @Index and @Table({ indexes }) does not start: those of @Index would be lost', async () => {
  const database = newLifespan('sqlite+sqlite3:///:memory:', { sync: true, models: [Twofold] })
  await assert.rejects(database.start(), {
    name: 'BootError',
    message:
      'Twofold has @Index and @Table({ indexes }), of which sequelize-typescript keeps only the indexes of @Table. Write all of them in one of the two.',
  })
})

for (const kind of databases) {
  test(`${kind.name}: an index has the columns of the attributes that it names, also when its model is mapped again`, async () => {
    for (let time = 0; time < 2; time++) {
      const database = newLifespan(await kind.url(), { sync: true, models: [Writer, Reader, Swapped] })
      const [writer, reader, swapped] = await withSession(database, () =>
        Promise.all(
          [Writer, Reader, Swapped].map(async (model) => {
            const indexes = await indexesOf(database.sequelize, model)
            return new Map(indexes.map(({ name, columns }) => [name, columns.map((column) => column.name)]))
          }),
        ),
      )
      const named = ['by_attribute', 'by_object', 'by_old_name'].map((name) => writer?.get(name))
      assert.deepEqual(named, [['first_name', 'last_name'], ['last_name'], ['birth_year']])
      const withPenName = [...(writer?.values() ?? [])].filter((names) => names.includes('pen_name'))
      assert.deepEqual(withPenName, [['pen_name', 'main_genre']])
      const decorated = ['by_decorator', 'pair'].map((name) => reader?.get(name))
      assert.deepEqual(decorated, [['first_name'], ['last_name', 'birth_year']])
      assert.ok([...(reader?.values() ?? [])].some((names) => names.includes('land')))
      assert.deepEqual(swapped?.get('by_a'), ['a'])
    }
  })

  test(`${kind.name}: the app does not start if an index names no attribute and no column, and says which`, async () => {
    const database = newLifespan(await kind.url(), { sync: true, models: [Misspelt] })
    await assert.rejects(
      database.start(),
      (error) =>
        error instanceof Error &&
        error.name === 'DatabaseStartError' &&
        error.message.endsWith(
          'The index by_name of table misspelt names nmae, which is no attribute and no column of Misspelt. ' +
            'Correct the name in @Index, or in the indexes of @Table: Misspelt has id, name.',
        ),
    )
  })
}

for (const kind of databases.filter((one) => !mysqls.includes(one)))
  test(`${kind.name}: the condition of an index has the columns of its attributes`, async () => {
    const database = newLifespan(await kind.url(), { sync: true, models: [Partial] })
    const found = await withSession(database, () => indexesOf(database.sequelize, Partial))
    assert.deepEqual(
      found
        .filter(({ name }) => name === 'open_ones')
        .map(({ columns, sortsAllRows }) => [columns[0]?.name, sortsAllRows]),
      [['last_name', false]],
    )
  })
