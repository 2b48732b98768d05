import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, fn, type NonAttribute } from 'sequelize'
import { Column, DataType, HasMany, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  dto,
  Factory,
  Field,
  file,
  Get,
  Injectable,
  Item,
  newLifespan,
  notFound,
  Page,
  Paginate,
  Post,
  reply,
  select,
  Session,
  sql,
  withSession,
} from 'sequitur'
import { testApp } from 'sequitur/testing'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { gate } from '../support/waiting.js'

/*
 * What docs/finding.md answers without a program of its own.
 */

class Address {
  @Field({ minLength: 1 }) city!: string
}

@Table({ tableName: 'person', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Person extends Base<Person> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare house_id: number
  @Column({ type: DataType.JSON, allowNull: false }) declare address: Address
  declare deletedAt: CreationOptional<Date | null>
}
class NewPerson extends dto(Person, { omit: ['id', 'address', 'deletedAt'] }) {
  @Field() address!: Address
}
class PersonModel extends dto(Person, { omit: ['address'] }) {
  @Field() address!: Address
}

@Controller('/people')
class People {
  @Post('/', Item.of(PersonModel)) create(person: NewPerson, session: Session) {
    return { data: session.add(Person.build({ ...person })) }
  }
  @Post('/:id/removal', { status: 204 }) async remove(id: number, session: Session) {
    session.delete((await session.get(Person, id)) ?? notFound('no person'))
  }
  @Post('/:id/restoration', { status: 204 }) async restore(id: number, session: Session) {
    await ((await session.get(Person, id, { paranoid: false })) ?? notFound('no person')).restore()
  }
  @Get('/', Page.of(PersonModel)) list(paginate: Paginate<PersonModel>) {
    return paginate(select(Person))
  }
  @Get('/all', Page.of(PersonModel)) all(paginate: Paginate<PersonModel>) {
    return paginate(select(Person, { paranoid: false }))
  }
  @Get('/cached') cached() {
    return reply({ ok: true }, { headers: { 'cache-control': 'private, max-age=60' } })
  }
}

@Controller('/houses')
class Houses {
  @Get('/:house_id/people/:id', Item.of(PersonModel)) async person(house_id: number, id: number, session: Session) {
    return { data: (await session.first(select(Person, { where: { id, house_id } }))) ?? notFound('no person') }
  }
}

for (const kind of databases)
  test(`${kind.name}: soft delete, a class for a JSON column, a nested resource, and Cache-Control`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Person], [People, Houses])
    const post = (path: string, json?: unknown) =>
      fetch(path, { method: 'POST', ...(json === undefined ? {} : { json }) })
    const total = async (path: string) =>
      ((await (await fetch(path)).json()) as { meta: { total_items: number } }).meta.total_items
    assert.equal((await post('/people', { house_id: 1, address: { city: 'Rome' } })).status, 201)
    for (const address of [5, {}, { city: '' }, 'Rome'])
      assert.equal((await post('/people', { house_id: 1, address })).status, 422)

    assert.equal((await fetch('/houses/1/people/1')).status, 200)
    assert.equal((await fetch('/houses/2/people/1')).status, 404)

    assert.equal((await post('/people/1/removal')).status, 204)
    assert.deepEqual([await total('/people'), await total('/people/all')], [0, 1])
    assert.equal((await post('/people/1/removal')).status, 404)
    assert.equal((await post('/people/1/restoration')).status, 204)
    assert.equal(await total('/people'), 1)

    assert.equal((await fetch('/people/cached')).headers.get('cache-control'), 'private, max-age=60')
  })

@Table({ tableName: 'tagged', timestamps: false })
class Tagged extends Base<Tagged> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.ARRAY(DataType.STRING(5)), allowNull: false }) declare tags: string[]
  @Column({ type: DataType.DECIMAL(12, 2), allowNull: false }) declare price: string
}
class NewTagged extends dto(Tagged, { omit: ['id'] }) {}

@Controller('/tagged')
class TaggedController {
  @Post('/', Item.of(Tagged)) create(tagged: NewTagged, session: Session) {
    return { data: session.add(Tagged.build(tagged)) }
  }
}

test('PostgreSQL: arrays and decimals', { skip: process.env['TEST_QUICK'] !== undefined }, async (t) => {
  const { fetch } = await databaseApp(t, postgres, [Tagged], [TaggedController])
  const post = (json: unknown) => fetch('/tagged', { method: 'POST', json })
  const created = await post({ tags: ['a', 'b'], price: '1.10' })
  assert.deepEqual(await created.json(), { data: { id: 1, tags: ['a', 'b'], price: '1.10' } })
  for (const tags of ['a', ['too long'], [1]]) assert.equal((await post({ tags, price: '1.10' })).status, 422)
})

@Table({ tableName: 'comment', timestamps: false })
class Comment extends Base<Comment> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare subject_type: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare subject_id: number
}
@Table({ tableName: 'picture', timestamps: false })
class Picture extends Base<Picture> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @HasMany(() => Comment, { foreignKey: 'subject_id', constraints: false, scope: { subject_type: 'picture' } })
  declare comments?: NonAttribute<Comment[]>
}

@Table({ tableName: 'seat', timestamps: false, underscored: true })
class Seat extends Base<Seat> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare hallId: number
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare seatNumber: number
  @Column({ type: DataType.STRING, field: 'who_sits', allowNull: false }) declare person: string
}

@Controller('/halls')
class Halls {
  @Get('/pictures', Page.of(Picture)) pictures(paginate: Paginate<Picture>) {
    return paginate(select(Picture, { include: [Comment] }))
  }
  @Get('/:hallId/seats/:seatNumber', Item.of(Seat)) async seat(hallId: number, seatNumber: number, session: Session) {
    return { data: (await session.get(Seat, { hallId, seatNumber })) ?? notFound('no seat') }
  }
}

for (const kind of databases)
  test(`${kind.name}: a polymorphic association, a composite key, and columns with other names`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Comment, Picture, Seat], [Halls])
    await withSession(database, async () => {
      const { id } = await Picture.create({})
      for (const subject_type of ['picture', 'story']) await Comment.create({ subject_type, subject_id: id })
      await Seat.create({ hallId: 1, seatNumber: 2, person: 'Robin' })
    })
    const [picture] = ((await (await fetch('/halls/pictures')).json()) as { data: { comments: unknown[] }[] }).data
    assert.deepEqual(picture?.comments, [{ id: 1, subject_type: 'picture', subject_id: 1 }])
    const seat = await fetch('/halls/1/seats/2')
    assert.deepEqual(await seat.json(), { data: { hallId: 1, seatNumber: 2, person: 'Robin' } })
    const [rows] = await withSession(database, ({ sequelize }) => sequelize.query('SELECT * FROM seat'))
    assert.deepEqual(rows, [{ hall_id: 1, seat_number: 2, who_sits: 'Robin' }])
  })

@Table({ tableName: 'message', timestamps: false })
class Message extends Base<Message> {
  @Column({ type: DataType.UUID, primaryKey: true, defaultValue: fn('uuidv7') }) declare id: CreationOptional<string>
  @Column({ type: DataType.DATE }) declare sent_at: CreationOptional<Date | null>
}

@Controller('/messages')
class Messages {
  @Post('/', Item.of(Message)) create(session: Session) {
    return { data: session.add(Message.build({})) }
  }
}

test(
  'PostgreSQL 18: keys by uuidv7() ascend, and a job skips the messages that another one sends',
  { skip: process.env['TEST_QUICK'] !== undefined },
  async (t) => {
    const [{ n: version } = { n: 0 }] = await withSession(newLifespan(await postgres.url()), (session) =>
      session.execute<{ n: number }>(sql`SELECT current_setting('server_version_num')::int AS n`),
    )
    if (version < 180_000) return t.skip('uuidv7() is new in version 18')
    const { fetch, database } = await databaseApp(t, postgres, [Message], [Messages])
    const ids: string[] = []
    for (let n = 0; n < 4; n++) {
      const { data } = (await (await fetch('/messages', { method: 'POST' })).json()) as { data: { id: string } }
      ids.push(data.id)
    }
    assert.deepEqual(ids, ids.toSorted())
    assert.equal(ids[0]?.[14], '7')
    const unsent = select(Message, { where: { sent_at: null }, order: ['id'], limit: 2, lock: true, skipLocked: true })
    const isRead = gate()
    const isRepeated = gate()
    const first = withSession(database, async (session) => {
      const rows = await session.all(unsent)
      isRead.open()
      await isRepeated.opened
      return rows.map(({ id }) => id)
    })
    await isRead.opened
    const others = await withSession(database, (session) => session.all(unsent))
    isRepeated.open()
    assert.deepEqual([await first, others.map(({ id }) => id)], [ids.slice(0, 2), ids.slice(2)])
  },
)

test('a page of HTML, and what is made at startup and disposed of at the end', async () => {
  const life: string[] = []
  @Injectable({ lifetime: 'application' })
  class Cache {
    @Factory() static async of() {
      await Promise.resolve()
      life.push('started')
      return new this()
    }
    [Symbol.asyncDispose]() {
      life.push('ended')
      return Promise.resolve()
    }
  }
  @Controller('/')
  class Pages {
    constructor(readonly cache: Cache) {}
    @Get('/page', { produces: 'text/html' }) page() {
      return file(Buffer.from('<h1>Robin</h1>'), { type: 'text/html; charset=utf-8' })
    }
  }
  const { fetch, close } = await testApp({ controllers: [Pages] })
  assert.deepEqual(life, ['started'])
  const page = await fetch('/page')
  assert.deepEqual(
    [page.headers.get('content-type'), await page.text()],
    ['text/html; charset=utf-8', '<h1>Robin</h1>'],
  )
  await close()
  assert.deepEqual(life, ['started', 'ended'])
})
