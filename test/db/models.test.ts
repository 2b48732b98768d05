import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  Sequelize,
} from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Model as TypescriptModel, Table } from 'sequelize-typescript'
import { Base, Collection, Controller, createApp, Field, Get, Item, newLifespan, Post, select, Session } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databaseApp, databases, statements } from '../support/databases.js'

const post = { method: 'POST' }

@Table({ tableName: 'city', timestamps: false })
class City extends Base<City> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @HasMany(() => Street) declare streets?: NonAttribute<Street[]>
}

@Table({ tableName: 'street', timestamps: false })
class Street extends Base<Street> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @ForeignKey(() => City)
  @Column({ type: DataType.INTEGER, field: 'city_id', allowNull: false })
  declare cityId: number
  @BelongsTo(() => City) declare city?: NonAttribute<City>
}

@Table({ tableName: 'visit', timestamps: false })
class Visit extends TypescriptModel<InferAttributes<Visit>, InferCreationAttributes<Visit>> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare visitor: string
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare day: number
  @Column({ type: DataType.STRING, allowNull: false }) declare place: string
}

class StreetModel {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
}

class CityModel {
  @Field() name!: string
  @Field({ type: [StreetModel] }) streets!: StreetModel[]
}

for (const kind of databases) {
  test(`${kind.name}: a flush writes what others refer to first, and deletes it last`, async (t) => {
    @Controller('/')
    class Building {
      @Post() async build(session: Session) {
        session.add(Street.build({ id: 1, name: 'Main Street', cityId: 1 }))
        session.add(City.build({ id: 1, name: 'Gotham' }))
        await session.flush()
        session.delete((await session.get(City, 1)) as City)
        session.delete((await session.get(Street, 1)) as Street)
        session.add(Street.build({ id: 2, name: 'Park Row', cityId: 2 }))
        session.add(City.build({ id: 2, name: 'Metropolis' }))
      }
    }
    const { fetch } = await databaseApp(t, kind, [City, Street], [Building])
    assert.equal((await fetch('/', post)).status, 204)
    assert.deepEqual(
      [(await City.findAll()).map(({ id }) => id), (await Street.findAll()).map(({ id }) => id)],
      [[2], [2]],
    )
  })

  test(`${kind.name}: included models are part of the session, and of the response`, async (t) => {
    @Controller('/')
    class Cities {
      @Post() async build(session: Session) {
        await City.create({ id: 1, name: 'Gotham', streets: [{ id: 1, name: 'Main Street' }] } as never, {
          include: [Street],
        })
        assert.equal(await session.count(select(City, { include: [{ model: Street, required: true }] })), 1)
      }
      @Get('/', Collection.of(CityModel)) async list(session: Session) {
        const data = await session.all(select(City, { include: [{ model: Street, separate: true }] }))
        return { data: data as (City & { streets: Street[] })[] }
      }
    }
    const { fetch, log } = await databaseApp(t, kind, [City, Street], [Cities])
    assert.equal((await fetch('/', post)).status, 204)
    log.length = 0
    assert.deepEqual(await (await fetch('/')).json(), {
      data: [{ name: 'Gotham', streets: [{ id: 1, name: 'Main Street' }] }],
    })
    assert.equal(statements(log).filter((text) => /^(BEGIN|START)/.test(text)).length, 1)
  })

  test(`${kind.name}: a row with a composite key is got by its columns`, async (t) => {
    @Controller('/')
    class Visits {
      @Get('/:visitor/:day', Item.of(Visit)) async get(visitor: string, day: number, session: Session) {
        return { data: (await session.get(Visit, { visitor, day })) as Visit }
      }
    }
    const { fetch } = await databaseApp(t, kind, [Visit], [Visits])
    await Visit.bulkCreate([1, 2].map((day) => ({ visitor: 'robin', day, place: `place ${day}` })))
    assert.deepEqual(await (await fetch('/robin/2')).json(), { data: { visitor: 'robin', day: 2, place: 'place 2' } })
  })
}

test('models of a Sequelize instance of the program are those of its lifespan', async (t) => {
  class Note extends Model<InferAttributes<Note>, InferCreationAttributes<Note>> {
    declare id: CreationOptional<number>
    declare text: string
  }
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
  Note.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      text: { type: DataTypes.STRING, allowNull: false },
    },
    { sequelize, tableName: 'note', timestamps: false },
  )
  @Controller('/')
  class Notes {
    @Post('/', Item.of(Note)) async create(session: Session) {
      const note = session.add(Note.build({ text: 'first' }))
      await session.flush()
      return { data: note }
    }
    @Post('/fail') async fail() {
      await Note.create({ text: 'second' })
      throw new Error('no')
    }
  }
  const { fetch, close } = await testApp({ controllers: [Notes], lifespan: newLifespan(sequelize, { sync: true }) })
  t.after(close)
  assert.deepEqual(await (await fetch('/', post)).json(), { data: { id: 1, text: 'first' } })
  assert.equal((await fetch('/fail', post)).status, 500)
  assert.equal(await Note.count(), 1)
})

test('a model of init() among the models of another instance stops the boot, which says what to hand over', async () => {
  class Note extends Model {}
  Note.init({ text: DataTypes.STRING }, { sequelize: new Sequelize('mariadb://localhost/none', { logging: false }) })
  const app = createApp({ controllers: [], models: [Note], lifespan: memoryDatabase(), logger: false })
  await assert.rejects(app.start(), /@Table .* on class "Note"\. Write @Table\. .* newLifespan\(sequelize\)/)
})

class UserInput {
  @Field() mail!: string
}

for (const kind of databases) {
  test(`${kind.name}: a taken value answers 409 with the attribute that it was given for`, async (t) => {
    @Controller('/')
    class Users {
      @Post() async create(input: UserInput) {
        await User.create({ mail: input.mail })
      }
    }
    const { fetch } = await databaseApp(t, kind, [User], [Users])
    const robin = { ...post, headers: { 'content-type': 'application/json' }, body: '{"mail":"robin@example.org"}' }
    await fetch('/', robin)
    const refused = await fetch('/', robin)
    const { status, errors } = (await refused.json()) as { status: number; errors: { in: string; path: string }[] }
    assert.deepEqual([status, errors.map(({ in: place, path }) => [place, path])], [409, [['body', '/mail']]])
  })
}

@Table({ tableName: 'user', timestamps: false })
class User extends Base<User> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true, field: 'e_mail' }) declare mail: string
}
