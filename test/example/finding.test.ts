import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  dto,
  Field,
  Get,
  Item,
  notFound,
  Page,
  Paginate,
  Post,
  reply,
  select,
  Session,
} from 'sequitur'
import { databaseApp, databases, postgres } from '../support/databases.js'

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
