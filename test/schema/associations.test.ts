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
import { BelongsTo, BelongsToMany, Column, DataType, ForeignKey, HasMany, HasOne, Table } from 'sequelize-typescript'
import {
  Base,
  Collection,
  Controller,
  createApp,
  dto,
  Get,
  Item,
  newLifespan,
  Page,
  Paginate,
  Post,
  select,
  Session,
} from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { conformsTo } from '../support/documented.js'
import { componentsOf, echo, issuesOf } from '../support/echo.js'

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @HasMany(() => Hero) declare members?: NonAttribute<Hero[]>
}

@Table({ tableName: 'power', timestamps: false })
class Power extends Base<Power> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @BelongsToMany(() => Hero, () => HeroPower) declare heroes?: NonAttribute<Hero[]>
}

@Table({ tableName: 'hero_power', timestamps: false })
class HeroPower extends Base<HeroPower> {
  @ForeignKey(() => Hero) @Column({ type: DataType.INTEGER, primaryKey: true }) declare heroId: number
  @ForeignKey(() => Power) @Column({ type: DataType.INTEGER, primaryKey: true }) declare powerId: number
  @Column(DataType.STRING) declare secret: string | null
}

@Table({ tableName: 'lair', timestamps: false })
class Lair extends Base<Lair> {
  @ForeignKey(() => Hero) @Column({ type: DataType.INTEGER, primaryKey: true }) declare heroId: number
  @Column({ type: DataType.STRING, allowNull: false }) declare place: string
}

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: CreationOptional<number | null>
  @BelongsTo(() => Team) declare team?: NonAttribute<Team | null>
  @HasOne(() => Lair) declare lair?: NonAttribute<Lair | null>
  @BelongsToMany(() => Power, () => HeroPower) declare powers?: NonAttribute<Power[]>
}

class HeroAlone extends dto(Hero, {}) {}
class HeroInTeam extends dto(Hero, { pick: ['name', 'team'] }) {}

const ORDER = [['id'], ['members', 'id'], ['members', 'powers', 'id'], ['members', 'powers', 'heroes', 'id']] as never

@Controller('/')
class Heroes {
  @Get('/', Page.of(Hero)) list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { include: [Team, Lair, Power], order: ['id', [Power, 'id', 'ASC']] }))
  }
  @Get('/bare', [Hero]) bare() {
    return Hero.findAll({ order: ['id'] })
  }
  @Get('/alone', [HeroAlone]) alone(session: Session) {
    return session.all(select(Hero, { include: [Team, Power], order: ['id'] }))
  }
  @Get('/in-team', [HeroInTeam]) inTeam(session: Session) {
    return session.all(select(Hero, { include: [Team, Power], order: ['id'] }))
  }
  @Get('/teams', Collection.of(Team)) async teams() {
    const include = { model: Hero, include: [{ model: Power, include: [Hero] }] }
    return { data: await Team.findAll({ include, order: ORDER }) }
  }
  @Get('/plain', Item.of(Hero)) async plain() {
    const hero = await Hero.findByPk(1, {
      include: [Team, Power],
      order: [['powers', 'id', 'ASC']],
      rejectOnEmpty: true,
    })
    return { data: hero.get({ plain: true }) }
  }
  @Get('/partly', [Hero]) partly() {
    return Hero.findAll({ include: { model: Team, attributes: ['id'] } })
  }
}

async function fill() {
  await Team.bulkCreate([
    { id: 1, name: 'Titans' },
    { id: 2, name: 'Nobody' },
  ])
  await Power.bulkCreate([
    { id: 1, name: 'flight' },
    { id: 2, name: 'speed' },
  ])
  await Hero.bulkCreate([
    { id: 1, name: 'Robin', teamId: 1 },
    { id: 2, name: 'Raven', teamId: null },
  ])
  await Lair.create({ heroId: 1, place: 'Tower' })
  await HeroPower.bulkCreate([
    { heroId: 1, powerId: 1, secret: 'x' },
    { heroId: 1, powerId: 2, secret: 'y' },
    { heroId: 2, powerId: 1, secret: 'z' },
  ])
}

const team = { id: 1, name: 'Titans' }
const [flight, speed] = [
  { id: 1, name: 'flight' },
  { id: 2, name: 'speed' },
]
const robin = { id: 1, name: 'Robin', teamId: 1 }
const raven = { id: 2, name: 'Raven', teamId: null }

/** What each path answers. Nothing else of the rows may leave: no row of the table of links. */
const answers: Readonly<Record<string, unknown>> = {
  '/': [
    { ...robin, team, lair: { heroId: 1, place: 'Tower' }, powers: [flight, speed] },
    { ...raven, team: null, lair: null, powers: [flight] },
  ],
  '/bare': [robin, raven],
  '/alone': [robin, raven],
  '/in-team': [
    { name: 'Robin', team },
    { name: 'Raven', team: null },
  ],
  '/teams': [
    {
      ...team,
      members: [
        {
          ...robin,
          powers: [
            { ...flight, heroes: [robin, raven] },
            { ...speed, heroes: [robin] },
          ],
        },
      ],
    },
    { id: 2, name: 'Nobody', members: [] },
  ],
  '/plain': { ...robin, team, powers: [flight, speed] },
}

for (const kind of databases) {
  test(`${kind.name}: what a handler reads along is sent, with the columns that its model declares`, async (t) => {
    const models = [Team, Power, Hero, HeroPower, Lair]
    const { app, database, fetch, log } = await databaseApp(t, kind, models, [Heroes])
    await database.session(fill)
    const conforms = conformsTo(app)
    for (const [path, answer] of Object.entries(answers)) {
      const response = await fetch(path)
      const text = await response.text()
      const json = JSON.parse(text) as { data?: unknown }
      assert.deepEqual(Array.isArray(json) ? json : json.data, answer, `${path}\n${log.join('\n')}`)
      conforms('get', path, response, text)
    }
  })
}

test('an association of which a column was not read is a 500 that names the column', async (t) => {
  const { database, fetch, log } = await databaseApp(t, sqliteMemory, [Team, Power, Hero, HeroPower, Lair], [Heroes])
  await database.session(fill)
  assert.equal((await fetch('/partly')).status, 500)
  assert.match(log.join('\n'), /Heroes\.partly returned a value that does not fit[^]*: \/0\/team\/name is missing/)
})

test('the document tells of associations by reference, also in a circle', () => {
  const components = componentsOf(createApp({ controllers: [Heroes], lifespan: memoryDatabase(), logger: false }))
  const { team, lair, powers } = components['Hero']?.properties ?? {}
  const one = (name: string) => ({
    anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }],
    readOnly: true,
  })
  const many = (name: string) => ({ type: 'array', items: { $ref: `#/components/schemas/${name}` }, readOnly: true })
  assert.deepEqual([team, lair, powers], [one('Team'), one('Lair'), many('Power')])
  assert.deepEqual(components['Hero']?.required, ['id', 'name', 'teamId'])
  assert.deepEqual(components['Team']?.properties['members'], many('Hero'))
  assert.equal(components['HeroPower'], undefined)
  assert.deepEqual(Object.keys(components['HeroAlone']?.properties ?? {}), ['id', 'name', 'teamId'])
})

for (const [what, type] of [
  ['a class derived from it', class NewHero extends dto(Hero, {}) {}],
  ['a class that picks it', class HeroWithTeam extends dto(Hero, { pick: ['id', 'name', 'team'] }) {}],
] as const) {
  test(`a client cannot send an association of ${what}`, async () => {
    const { send } = echo(type as typeof Hero)
    assert.equal((await send({ id: 1, name: 'a' })).statusCode, 201)
    assert.deepEqual(issuesOf(await send({ id: 1, name: 'a', team })), ['/team is not a known field'])
  })
}

class Author extends Model<InferAttributes<Author>, InferCreationAttributes<Author>> {
  declare id: CreationOptional<number>
  declare name: string
  declare books?: NonAttribute<Book[]>
}
class Book extends Model<InferAttributes<Book>, InferCreationAttributes<Book>> {
  declare title: string
  declare authorId: number | null
  declare author?: NonAttribute<Author | null>
}

test('associations of models made by init() are sent alike', async (t) => {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
  const options = { sequelize, timestamps: false }
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  Author.init({ id, name: { type: DataTypes.STRING, allowNull: false } }, options)
  Book.init({ title: { type: DataTypes.STRING, primaryKey: true }, authorId: DataTypes.INTEGER }, options)
  Author.hasMany(Book, { as: 'books', foreignKey: 'authorId' })
  Book.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
  @Controller()
  class Library {
    @Post('/', Item.of(Author)) async create(name: string) {
      const created = await Author.create({ name, books: [{ title: 'b', authorId: null }] } as never, {
        include: ['books'],
      })
      return { data: created }
    }
    @Get('/', Page.of(Book)) list(paginate: Paginate<Book>) {
      return paginate(select(Book, { include: ['author'] }))
    }
  }
  const { app, fetch, close } = await testApp({
    controllers: [Library],
    lifespan: newLifespan(sequelize, { sync: true }),
  })
  t.after(close)
  const response = await fetch('/?name=a', { method: 'POST' })
  const created = await response.text()
  assert.deepEqual(JSON.parse(created), { data: { id: 1, name: 'a', books: [{ title: 'b', authorId: 1 }] } })
  const { data } = (await (await fetch('/')).json()) as { data: unknown }
  assert.deepEqual(data, [{ title: 'b', authorId: 1, author: { id: 1, name: 'a' } }])
  conformsTo(app)('post', '/', response, created)
})

test('models may refer to each other in a long circle', async () => {
  const sequelize = new Sequelize('mariadb://localhost/none', { logging: false })
  const options = { timestamps: false }
  const models = Array.from({ length: 50 }, (_, index) =>
    sequelize.define(`Link${index}`, { name: DataTypes.STRING }, options),
  )
  for (const [index, model] of models.entries()) {
    const next = models[(index + 1) % models.length] as (typeof models)[number]
    model.hasMany(next, { as: 'next', foreignKey: 'previousId' })
    next.belongsTo(model, { as: 'previous', foreignKey: 'previousId' })
  }
  const deep = { id: 1, name: 'a', previousId: null, next: [{ id: 2, name: 'b', previousId: 1, secret: 1, next: [] }] }
  @Controller()
  class Chain {
    @Get('/', Page.of(models[0] as never)) list() {
      return { data: [deep], meta: { offset: 0, total_items: 1, total_pages: 1, page_number: 1 } } as never
    }
  }
  const app = createApp({ controllers: [Chain], logger: false })
  const { data } = (await app.inject('/')).json<{ data: unknown }>()
  assert.deepEqual(data, [{ ...deep, next: [{ id: 2, name: 'b', previousId: 1, next: [] }] }])
  assert.ok(componentsOf(app)['Link49'])
})
