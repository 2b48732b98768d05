import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, DatabaseError, ForeignKeyConstraintError, UniqueConstraintError } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import {
  Base,
  Body,
  Controller,
  Delete,
  Field,
  HttpError,
  type InputIssue,
  mapError,
  type OwnResponse,
  Post,
  Put,
  Query,
  Session,
  sql,
} from 'sequitur'
import {
  databaseApp,
  type DatabaseApp,
  databases,
  mysqls,
  postgres,
  sqliteFile,
  sqliteMemory,
} from '../support/databases.js'

/* What a client reads of a violated constraint: the names of its own inputs, the same on every database, and no other names and no values. */

@Table({ tableName: 'country', timestamps: false })
class Country extends Base<Country> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string
}

@Table({
  tableName: 'citizen',
  timestamps: false,
  indexes: [{ name: 'one_card', unique: true, fields: ['owner', 'card_type', 'card_number'] }],
})
class Citizen extends Base<Citizen> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(80), unique: true, field: 'e_mail' }) declare mail: CreationOptional<string | null>
  @Column({ type: DataType.STRING(20), allowNull: false, defaultValue: 'secret', field: 'owner' })
  declare tenant: CreationOptional<string>
  @Column({ type: DataType.STRING(20), field: 'card_type' }) declare cardType: CreationOptional<string | null>
  @Column({ type: DataType.STRING(20), field: 'card_number' }) declare cardNumber: CreationOptional<string | null>
  @Column({ type: DataType.STRING(20), unique: { name: 'nick', msg: 'is the name of somebody else' } })
  declare nick: CreationOptional<string | null>
  @Column({ type: DataType.STRING(20), unique: true }) declare hidden: CreationOptional<string | null>
  @ForeignKey(() => Country)
  @Column({ type: DataType.INTEGER, field: 'country_id' })
  declare countryId: CreationOptional<number | null>
  @BelongsTo(() => Country, { foreignKey: 'countryId', onDelete: 'NO ACTION' }) declare country?: Country
}

class CitizenInput {
  @Field({ type: 'string', optional: true }) mail?: string
  @Field({ type: 'string', optional: true }) cardType?: string
  @Field({ type: 'string', optional: true }) cardNumber?: string
  @Field({ type: 'string', optional: true }) nick?: string
  @Field({ type: 'integer', optional: true }) countryId?: number
}
class Wrapped {
  @Field() citizen!: CitizenInput
}

@Controller('/')
class Citizens {
  @Post('/create', { status: 204 }) async create(input: CitizenInput) {
    await Citizen.create({ ...input })
  }
  @Post('/add', { status: 204 }) add(input: CitizenInput, session: Session) {
    session.add(Citizen.build({ ...input }))
  }
  @Post('/bulk', { status: 204 }) async bulk(input: CitizenInput) {
    await Citizen.bulkCreate([{ ...input }])
  }
  @Post('/raw', { status: 204 }) async raw(input: CitizenInput, session: Session) {
    const { mail = null, nick = null, cardType = null, cardNumber = null, countryId = null } = input
    await session.execute(
      sql`INSERT INTO citizen (e_mail, nick, owner, card_type, card_number, country_id) VALUES (${mail}, ${nick}, 'secret', ${cardType}, ${cardNumber}, ${countryId})`,
    )
  }
  @Put('/update', { status: 204 }) async update(input: CitizenInput) {
    const citizen = await Citizen.create({})
    await citizen.update({ ...input })
  }
  @Put('/update-all', { status: 204 }) async updateAll(input: CitizenInput) {
    const { id } = await Citizen.create({})
    await Citizen.update({ ...input }, { where: { id } })
  }
  @Post('/wrapped', { status: 204 }) async wrapped({ citizen }: Wrapped) {
    await Citizen.create({ ...citizen })
  }
  @Post('/list', { status: 204 }) async list(@Body({ type: [CitizenInput] }) citizens: CitizenInput[]) {
    await Citizen.bulkCreate(citizens.map((citizen) => ({ ...citizen })))
  }
  @Post('/query', { status: 204 }) async query(@Query() mail: string) {
    await Citizen.create({ mail })
  }
  @Post('/hidden', { status: 204 }) async hidden({ nick }: CitizenInput) {
    await Citizen.create({ ...(nick === undefined ? {} : { nick }), hidden: 'not to be told' })
  }
  @Delete('/countries/:id', { status: 204 }) async remove(id: number) {
    await Country.destroy({ where: { id } })
  }
}

type Request = readonly [method: string, path: string, body?: object]

async function said(app: DatabaseApp, [method, path, body]: Request): Promise<string> {
  const response = await app.fetch(path, body ? { method, json: body } : { method })
  if (response.status === 204) return '204'
  const text = await response.text()
  for (const secret of ['e_mail', 'owner', 'secret', 'card_', 'country_id', 'hidden', 'robin', 'citizen_', 'one_card'])
    assert.ok(!text.includes(secret), `${method} ${path}: ${text} has ${secret}`)
  const { status, detail, errors = [] } = JSON.parse(text) as { status: number; detail: string; errors?: InputIssue[] }
  return [`${status} ${detail}`, ...errors.map((issue) => `${issue.in} ${issue.path} ${issue.message}`)].join(' | ')
}

const everyWay: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/create'],
  ['POST', '/add'],
  ['POST', '/bulk'],
  ['POST', '/raw'],
  ['PUT', '/update'],
  ['PUT', '/update-all'],
]

const card = { cardType: 'id', cardNumber: 'robin-7' }
const mailTaken = 'It exists already: another one has the same mail.'
const cardTaken =
  '409 It exists already: another one has the same cardType and cardNumber. | body /cardType cardType must be unique | body /cardNumber cardNumber must be unique'

/** SQLite does not report which foreign key is violated. */
const isSqlite = (name: string) => [sqliteFile.name, sqliteMemory.name].includes(name)
const eitherWay = '409 It refers to something that does not exist, or something still refers to it.'

for (const kind of databases) {
  test(`${kind.name}: a violated constraint names the inputs of the client, however the statement was written`, async (t) => {
    const app = await databaseApp(t, kind, [Country, Citizen], [Citizens])
    const mail = "robin' for key 'PRIMARY"
    assert.equal(await said(app, ['POST', '/create', { mail, nick: 'robin', ...card }]), '204')
    await Citizen.create({ hidden: 'not to be told' })
    for (const [method, path] of everyWay) {
      assert.equal(await said(app, [method, path, { mail }]), `409 ${mailTaken} | body /mail mail must be unique`, path)
      assert.equal(await said(app, [method, path, card]), cardTaken, path)
      assert.equal(
        await said(app, [method, path, { nick: 'robin' }]),
        '409 It exists already: another one has the same nick. | body /nick is the name of somebody else',
        path,
      )
      assert.equal(
        await said(app, [method, path, { countryId: 77 }]),
        isSqlite(kind.name)
          ? eitherWay
          : '409 It refers to something that does not exist: countryId. | body /countryId refers to something that does not exist',
        path,
      )
    }
    const others: readonly (readonly [request: Request, answer: string])[] = [
      [['POST', '/wrapped', { citizen: { mail } }], `409 ${mailTaken} | body /citizen/mail mail must be unique`],
      [['POST', '/list', [{ mail }]], `409 ${mailTaken} | body  mail must be unique`],
      [['POST', `/query?mail=${encodeURIComponent(mail)}`], `409 ${mailTaken} | query /mail mail must be unique`],
      [['POST', '/hidden', {}], '409 It exists already.'],
    ]
    for (const [request, answer] of others) assert.equal(await said(app, request), answer, request[1])
    const country = await Country.create({ name: 'Gotham' })
    assert.equal(await said(app, ['POST', '/create', { countryId: country.id }]), '204')
    assert.equal(await said(app, ['DELETE', `/countries/${country.id}`]), eitherWay)
  })

  test(`${kind.name}: a column that must have a value, and one with a CHECK, is named as the client does`, async (t) => {
    class Person {
      @Field({ type: 'integer', nullable: true }) age!: number | null
    }
    @Table({ tableName: 'person', timestamps: false })
    class PersonRow extends Base<PersonRow> {
      @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
      @Column({ type: DataType.INTEGER, allowNull: false, field: 'years_lived' }) declare age: number
    }
    @Controller('/')
    class People {
      @Post('/', { status: 204 }) async create({ age }: Person) {
        await PersonRow.bulkCreate([{ age: age as number }])
      }
    }
    const app = await databaseApp(t, kind, [PersonRow], [People])
    await app.database.sequelize.query(
      mysqls.includes(kind)
        ? 'ALTER TABLE person MODIFY years_lived INTEGER NOT NULL CHECK (years_lived > 17)'
        : kind === postgres
          ? 'ALTER TABLE person ADD CHECK (years_lived > 17)'
          : 'SELECT 1',
    )
    assert.equal(await said(app, ['POST', '/', { age: null }]), '422 A value is not valid. | body /age is required')
    if (isSqlite(kind.name)) return
    const refused = await said(app, ['POST', '/', { age: 7 }])
    assert.match(refused, /^422 A constraint is violated\./)
    assert.ok(!refused.includes('lived'), refused)
  })

  test(`${kind.name}: a mapping receives the issues that clients would, in the same form`, async (t) => {
    const received: OwnResponse[] = []
    const mappings = [
      mapError(UniqueConstraintError, (_, own) => {
        received.push(own)
        return new HttpError(422, 'has been taken', { errors: own.errors })
      }),
      mapError(ForeignKeyConstraintError, 422),
      mapError(DatabaseError, 400),
    ]
    const app = await databaseApp(t, kind, [Country, Citizen], [Citizens], { errors: { mappings } })
    await said(app, ['POST', '/create', card])
    assert.equal(
      await said(app, ['POST', '/create', card]),
      '422 has been taken | body /cardType cardType must be unique | body /cardNumber cardNumber must be unique',
    )
    assert.deepEqual(received, [
      {
        status: 409,
        detail: 'It exists already: another one has the same cardType and cardNumber.',
        errors: [
          { in: 'body', path: '/cardType', message: 'cardType must be unique', rule: 'unique' },
          { in: 'body', path: '/cardNumber', message: 'cardNumber must be unique', rule: 'unique' },
        ],
      },
    ])
    const reference = await said(app, ['POST', '/create', { countryId: 77 }])
    assert.match(
      reference,
      isSqlite(kind.name) ? /^422 It refers/ : /^422 It refers .*: countryId\. \| body \/countryId refers/,
    )
  })
}

test('PostgreSQL: the columns of a constraint are known without the detail of the error, and those of a new one with it', async (t) => {
  const app = await databaseApp(t, postgres, [Country, Citizen], [Citizens])
  const { sequelize } = app.database
  await said(app, ['POST', '/create', { mail: 'robin', nick: 'robin', cardType: 'robin' }])
  await sequelize.query('CREATE UNIQUE INDEX one_type ON citizen (card_type)')
  const typeTaken = '409 It exists already: another one has the same cardType. | body /cardType cardType must be unique'
  assert.equal(await said(app, ['POST', '/create', { cardType: 'robin' }]), typeTaken)
  await sequelize.query('CREATE UNIQUE INDEX one_nick ON citizen (lower(nick))')
  assert.equal(await said(app, ['POST', '/create', { nick: 'ROBIN' }]), '409 It exists already.')
})
