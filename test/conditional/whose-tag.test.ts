import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Base,
  Controller,
  Delete,
  dto,
  Field,
  Get,
  Header,
  Injectable,
  Item,
  notFound,
  Patch,
  Put,
  reply,
  Security,
  select,
  Session,
} from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'person', version: true })
class Person extends Base<Person> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare name: string
  @Column({ type: DataType.STRING, allowNull: false }) declare city: string
  @Column({ type: DataType.DOUBLE, allowNull: false }) declare score: number
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare secret: CreationOptional<number>
  declare version: CreationOptional<number>
}

class PersonRow extends dto(Person, { omit: ['secret', 'createdAt', 'updatedAt'] }) {}
class PersonName extends dto(Person, { pick: ['name', 'version'] }) {}
class Roles {
  @Field({ default: '' }) x_role!: string
}
class City {
  @Field() city!: string
}

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class User {
  constructor(@Header() readonly authorization: string) {}
}

@Controller('/')
class People {
  @Get('/me', Item.of(PersonRow, { etag: true }))
  async me({ authorization }: User, session: Session) {
    return { data: (await session.get(Person, authorization)) ?? notFound() }
  }
  @Get('/latest', Item.of(PersonRow, { etag: true }))
  async latest(session: Session) {
    return { data: (await session.first(select(Person, { order: [['name', 'DESC']] }))) ?? notFound() }
  }
  @Get('/roles/:name', Item.of(PersonRow, { etag: true }))
  async roles(name: string, session: Session, @Header() roles: Roles) {
    return { data: roles.x_role === '' ? notFound() : ((await session.get(Person, name)) ?? notFound()) }
  }
  @Get('/narrow/:name', Item.of(PersonName, { etag: true }))
  async narrow(name: string, session: Session) {
    return { data: (await session.get(Person, name, { attributes: ['name', 'version'] })) ?? notFound() }
  }
  @Get('/masked/:name', Item.of(PersonRow, { etag: true }))
  async masked(name: string, session: Session, @Header({ default: '' }) x_role: string) {
    const data = (await session.get(Person, name)) ?? notFound()
    if (x_role === '') data.set({ city: '***' })
    const headers = { vary: 'Accept', 'cache-control': 'private, max-age=5' }
    return x_role === 'own' ? reply({ data }, { headers }) : { data }
  }
  @Get('/:name', Item.of(PersonRow, { etag: true }))
  async get(name: string, session: Session) {
    return { data: (await session.get(Person, name)) ?? notFound() }
  }
  @Put('/:name', Item.of(PersonRow, { etag: true }))
  async put(name: string, { city }: City) {
    return { data: await Person.create({ name, city, score: 0.1 }) }
  }
  @Patch('/:name', Item.of(PersonRow, { etag: true }))
  async change(name: string, { city }: City, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Person, name, { city })) ?? notFound() }
  }
  @Delete('/:name') async remove(name: string) {
    await Person.destroy({ where: { name } })
  }
}

async function start(t: Parameters<typeof databaseApp>[0], kind: (typeof databases)[number]) {
  const { fetch } = await databaseApp(t, kind, [Person], [People])
  const send = async (method: string, path: string, headers: Record<string, string> = {}, city?: string) => {
    const response = await fetch(path, { method, headers, ...(city === undefined ? {} : { json: { city } }) })
    await response.text()
    const { status, headers: got } = response
    return { status, etag: got.get('etag') ?? '', vary: got.get('vary'), caching: got.get('cache-control') }
  }
  return (method: string, path: string, headers?: Record<string, string>, city?: string) =>
    send(method, path, headers, city)
}

for (const kind of databases) {
  test(`${kind.name}: the tag of one row is not that of another, nor of one made again under its key`, async (t) => {
    const send = await start(t, kind)
    const written = await send('PUT', '/Ann', {}, 'Rome')
    const ann = await send('GET', '/me', { authorization: 'Ann' })
    assert.deepEqual([ann.status, ann.vary, ann.caching], [200, 'authorization', 'private'])
    const again = await send('GET', '/me', { authorization: 'Ann', 'if-none-match': ann.etag })
    assert.deepEqual(again, { ...ann, status: 304 })
    await send('PUT', '/Bob', {}, 'Rome')
    const seen = { 'if-none-match': `${ann.etag}, ${written.etag}` }
    assert.equal((await send('GET', '/me', { authorization: 'Bob', ...seen })).status, 200)
    assert.equal((await send('GET', '/latest', seen)).status, 200)
    for (const { etag } of [ann, written])
      assert.equal((await send('PATCH', '/Bob', { 'if-match': etag }, 'Oslo')).status, 412)
    await send('DELETE', '/Ann')
    await send('PUT', '/Ann', {}, 'Paris')
    assert.equal((await send('GET', '/Ann', seen)).status, 200)
    for (const { etag } of [ann, written])
      assert.equal((await send('PATCH', '/Ann', { 'if-match': etag }, 'Oslo')).status, 412)
  })

  test(`${kind.name}: each tag that a client has of a row changes it, once`, async (t) => {
    const send = await start(t, kind)
    let { etag } = await send('PUT', '/Ann', {}, 'Rome')
    const role = { 'x-role': 'all' }
    const reads = [
      () => send('GET', '/Ann'),
      () => send('GET', '/narrow/Ann'),
      () => send('GET', '/masked/Ann'),
      () => send('GET', '/masked/Ann', role),
      () => send('PATCH', '/Ann', { 'if-match': '"0"' }, 'Oslo'),
    ]
    for (const [turn, read] of reads.entries()) {
      const changed = await send('PATCH', '/Ann', { 'if-match': etag }, `city ${turn}`)
      assert.equal(changed.status, 200, `${turn} ${etag}`)
      assert.equal((await send('PATCH', '/Ann', { 'if-match': etag }, 'lost')).status, 412)
      etag = (await read()).etag
    }
    assert.equal((await send('PATCH', '/Ann', { 'if-match': etag }, 'last')).status, 200)
  })
}

test('another representation of a row has another tag, and the headers of the handler are kept', async (t) => {
  const [kind = assert.fail()] = databases
  const send = await start(t, kind)
  await send('PUT', '/Ann', {}, 'Rome')
  const [masked, all] = [await send('GET', '/masked/Ann'), await send('GET', '/masked/Ann', { 'x-role': 'all' })]
  assert.notEqual(masked.etag, all.etag)
  assert.deepEqual([all.vary, all.caching], ['x-role', null])
  assert.equal((await send('GET', '/roles/Ann', { 'x-role': 'all' })).vary, 'x-role')
  const own = await send('GET', '/masked/Ann', { 'x-role': 'own' })
  assert.deepEqual([own.vary, own.caching], ['x-role, Accept', 'private, max-age=5'])
  assert.equal((await send('GET', '/narrow/Ann', { 'if-none-match': all.etag })).status, 200)
})

test('a digest of columns that are not sent cannot be asked for', async (t) => {
  const [kind = assert.fail()] = databases
  const send = await start(t, kind)
  const { etag } = await send('PUT', '/Ann', {}, 'Rome')
  const { rowVersion } = await import('../../src/db/models/row-version.js')
  const row = await Person.findByPk('Ann')
  const guess = (names: readonly string[]) => `"${rowVersion(row, names, 'read')?.version}"`
  assert.equal((await send('PATCH', '/Ann', { 'if-match': guess(['secret']) }, 'a')).status, 412)
  assert.equal((await send('PATCH', '/Ann', { 'if-match': guess(['city']) }, 'a')).status, 200)
  assert.notEqual(etag, '')
})

@Table({ tableName: 'reading', timestamps: false, version: true })
class Reading extends Base<Reading> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.DOUBLE) declare exact: number | null
  @Column(DataType.FLOAT) declare rough: number | null
  @Column(DataType.REAL) declare small: number | null
  @Column(DataType.JSON) declare data: unknown
}
class NewReading extends dto(Reading, { omit: ['id'] }) {}

@Controller('/readings')
class Readings {
  @Get('/:id', Item.of(Reading, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(Reading, id)) ?? notFound() }
  }
  @Put('/:id')
  async put(id: number, values: NewReading) {
    await Reading.destroy({ where: { id } })
    await Reading.create({ id, ...values })
  }
  @Patch('/:id')
  async change(id: number, ifMatch: IfMatch) {
    if (!(await ifMatch.update(Reading, id, { exact: 0 }))) notFound()
  }
}

/** Two values of a column, which a row has before and after it is made again. */
const neighbours = [
  [{ exact: 123456789.25 }, { exact: 123456789.75 }],
  [{ rough: 1.0000001 }, { rough: 1.0000002 }],
  [{ small: 1234.5 }, { small: 1234.625 }],
  [{ data: 1 }, { data: '1' }],
  [{ data: true }, { data: 1 }],
  [{ data: 1.23456781 }, { data: 1.23456782 }],
] as const

for (const kind of databases)
  test(`${kind.name}: a row that is made again with values that differ little has another tag`, async (t) => {
    const app = await databaseApp(t, kind, [Reading], [Readings])
    const make = async (json: object) =>
      assert.equal((await app.fetch('/readings/1', { method: 'PUT', json })).status, 204)
    const read = async (etag = '') => {
      const response = await app.fetch('/readings/1', { headers: { 'if-none-match': etag } })
      await response.text()
      return { status: response.status, etag: response.headers.get('etag') ?? '' }
    }
    const change = async (etag: string) =>
      (await app.fetch('/readings/1', { method: 'PATCH', headers: { 'if-match': etag } })).status
    for (const [before, after] of neighbours) {
      await make(before)
      const { etag } = await read()
      assert.equal((await read(etag)).status, 304)
      await make(after)
      assert.equal((await read(etag)).status, 200, JSON.stringify(after))
      assert.equal(await change(etag), 412, JSON.stringify(after))
      assert.equal(await change((await read()).etag), 204, JSON.stringify(after))
    }
  })

@Table({ tableName: 'guest', timestamps: false, version: true })
class Guest extends Base<Guest> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  declare isHost: boolean
}
class Masked extends Guest {
  override toJSON() {
    return { id: this.id, name: this.isHost ? this.name : '***' } as never
  }
}
Table({ tableName: 'masked', timestamps: false, version: true })(Masked)

class Hidden extends Guest {
  override get(...names: []): never {
    return (String(names) === 'name' && !this.isHost ? '***' : super.get(...names)) as never
  }
}
Table({ tableName: 'hidden', timestamps: false, version: true })(Hidden)

class GuestRow extends dto(Guest, { pick: ['id', 'name'] }) {}

@Controller('/guests')
class Guests {
  @Get('/masked', Item.of(Masked, { etag: true }))
  async masked(@Header() x_role: string) {
    return { data: Object.assign((await Masked.findByPk(1)) ?? notFound(), { isHost: x_role === 'host' }) }
  }
  @Get('/hidden', Item.of(Hidden, { etag: true }))
  async hidden(@Header() x_role: string) {
    return { data: Object.assign((await Hidden.findByPk(1)) ?? notFound(), { isHost: x_role === 'host' }) }
  }
  @Get('/replaced', Item.of(GuestRow, { etag: true }))
  async replaced(@Header() x_role: string) {
    const data = (await Guest.findByPk(1)) ?? notFound()
    if (x_role !== 'host') Object.defineProperty(data, 'name', { value: '***' })
    return { data }
  }
}

for (const name of ['masked', 'hidden', 'replaced'])
  test(`the tag of a row says who reads it, where that is decided by what is ${name}`, async (t) => {
    const [kind = assert.fail()] = databases
    const app = await databaseApp(t, kind, [Guest, Masked, Hidden], [Guests])
    for (const model of [Guest, Masked, Hidden]) await model.create({ id: 1, name: 'Ann' } as never)
    const read = async (role: string, etag = '') => {
      const headers = { 'x-role': role, 'if-none-match': etag }
      const response = await app.fetch(`/guests/${name}`, { headers })
      return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() }
    }
    const host = await read('host')
    assert.match(host.text, /"Ann"/)
    assert.match((await read('guest')).text, /"\*\*\*"/)
    assert.equal((await read('guest', host.etag)).status, 200)
    assert.equal((await read('host', host.etag)).status, 304)
  })
