import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DataTypes, Model, Op, Sequelize } from 'sequelize'
import { Column, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  Get,
  Item,
  newLifespan,
  Page,
  Paginate,
  Post,
  Session,
  dto,
  select,
  withSession,
} from 'sequitur'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'

function inZone(t: TestContext, zone: string): void {
  const before = process.env['TZ']
  process.env['TZ'] = zone
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
}

/** Type texts that Sequelize does not know. */
const TYPES = {
  postgres: ['TIMESTAMP', 'timestamp (3) without time zone', 'TIMESTAMPTZ'],
  mysql: ['DATETIME(3)', 'timestamp(3) NULL', 'DATETIME'],
  sqlite: ['TIMESTAMP', 'DATETIME(3)', 'timestamptz'],
}

function typesOf(kind: TestDatabase): readonly string[] {
  if (kind.name.startsWith('Maria')) return TYPES.mysql
  return kind.name === 'PostgreSQL' ? TYPES.postgres : TYPES.sqlite
}

function apiOf(type: string) {
  @Table({ tableName: 'visit', timestamps: false })
  class Visit extends Base<Visit> {
    @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
    @Column(type) declare at: Date
  }

  class VisitInput extends dto(Visit, {}) {}

  @Controller('/visits')
  class Visits {
    @Get('/', Page.of(Visit))
    list(paginate: Paginate<Visit>) {
      return paginate(select(Visit, { order: ['at'], where: { at: { [Op.gte]: new Date('2021-07-01T12:00:00Z') } } }))
    }

    @Post('/', Item.of(Visit))
    create(input: VisitInput, session: Session) {
      return { data: session.add(Visit.build(input)) }
    }
  }
  return { Visit, Visits }
}

// The clocks of Berlin show 02:30 in October twice.
const MOMENTS = ['2021-07-01T12:00:00.000Z', '2021-10-31T00:30:00.000Z', '2021-10-31T01:30:00.000Z']

for (const kind of databases)
  for (const type of typesOf(kind))
    test(`${kind.name}: a column of the type text ${type} has the moment that a client has sent, in any time zone`, async (t) => {
      inZone(t, 'Europe/Berlin')
      const { Visit, Visits } = apiOf(type)
      const { fetch, database } = await databaseApp(t, kind, [Visit], [Visits])
      for (const [id, at] of MOMENTS.entries()) {
        const created = await fetch('/visits', { method: 'POST', json: { id, at } })
        assert.deepEqual(await created.json(), { data: { id, at } })
      }
      const { data } = (await (await fetch('/visits')).json()) as { data: { at: string }[] }
      assert.deepEqual(
        data.map(({ at }) => at),
        MOMENTS,
      )
      const [rows] = await database.sequelize.query(
        "SELECT id FROM visit WHERE CAST(at AS CHAR(40)) LIKE '2021-07-01 12:00:00%'",
      )
      assert.deepEqual(rows, [{ id: 0 }])
    })

test('a client that sends no moment for a column of a type text is refused', async (t) => {
  const [kind] = databases
  assert.ok(kind)
  const { Visit, Visits } = apiOf('TIMESTAMP')
  const { fetch } = await databaseApp(t, kind, [Visit], [Visits])
  const refused = await fetch('/visits', { method: 'POST', json: { id: 1, at: 'yesterday' } })
  assert.equal(refused.status, 422)
})

@Table({ tableName: 'parcel', timestamps: false })
class Parcel extends Base<Parcel> {
  @Column({ type: 'INTEGER', primaryKey: true }) declare id: number
  @Column('VARCHAR(3)') declare code: string
  @Column('NUMERIC(6,2)') declare price: string
  @Column('BOOLEAN') declare fragile: boolean
  @Column('DATE') declare due: string
}

class ParcelInput extends dto(Parcel, {}) {}

@Controller('/parcels')
class Parcels {
  @Post('/', Item.of(Parcel))
  create(input: ParcelInput, session: Session) {
    return { data: session.add(Parcel.build(input)) }
  }

  @Get('/', Page.of(Parcel))
  list(paginate: Paginate<Parcel>) {
    return paginate(select(Parcel))
  }
}

for (const kind of databases)
  test(`${kind.name}: columns with type texts have the values of the types that they name`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Parcel], [Parcels])
    const parcel = { id: 1, code: 'abc', price: '1.50', fragile: true, due: '2021-07-01' }
    const post = (json: object) => fetch('/parcels', { method: 'POST', json })
    assert.equal((await post(parcel)).status, 201)
    assert.deepEqual(((await (await fetch('/parcels')).json()) as { data: unknown }).data, [parcel])
    for (const wrong of [{ code: 'abcd' }, { price: '12345.00' }, { fragile: 2 }, { due: '2021-02-30' }, { id: 1.5 }])
      assert.equal((await post({ ...parcel, ...wrong })).status, 422, JSON.stringify(wrong))
  })

test('models of an instance of the program keep moments, too', async (t) => {
  inZone(t, 'Europe/Berlin')
  const sequelize = new Sequelize({ dialect: 'sqlite', logging: false })
  class Visit extends Model {
    declare at: Date
  }
  Visit.init({ at: 'TIMESTAMP', days: 'TIMESTAMP[]' }, { sequelize, tableName: 'visit', timestamps: false })
  await withSession(newLifespan(sequelize, { sync: true }), async (session) => {
    await Visit.create({ at: new Date('2021-07-01T12:00:00Z') })
    assert.equal((await session.first(select(Visit)))?.at.toISOString(), '2021-07-01T12:00:00.000Z')
  })
})
