import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import {
  Base,
  Controller,
  Get,
  HttpError,
  Item,
  Page,
  Paginate,
  Path,
  select,
  Session,
  sql,
  withSession,
} from 'sequitur'
import 'sequitur/feeds'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import type { CreationOptional } from 'sequelize'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { heard, openEvents } from './open-events.js'

@Table({ tableName: 'squad', timestamps: false })
class Squad extends Base<Squad> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'member', timestamps: false })
class Member extends Base<Member> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @ForeignKey(() => Squad)
  @Column({ type: DataType.INTEGER })
  declare squad_id: CreationOptional<number | null>
  @BelongsTo(() => Squad, { onDelete: 'CASCADE' }) declare squad?: Squad
}

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Controller()
class Lists {
  @Get('/members', Page.of(Member), { live: true })
  members(paginate: Paginate<Member>) {
    return paginate(select(Member, { order: ['id'] }))
  }

  @Get('/notes', Page.of(Note), { live: true })
  notes(paginate: Paginate<Note>) {
    return paginate(select(Note, { order: ['id'] }))
  }

  @Get('/shown', { live: true })
  shown(session: Session) {
    return session.execute(sql`SELECT name FROM shown`)
  }

  @Get('/members/:id', Item.of(Member, { etag: true }), { live: true })
  async member(@Path({ type: 'integer' }) id: number, session: Session) {
    const member = await session.get(Member, id)
    if (!member) throw new HttpError(404, 'There is no such member')
    return { data: member }
  }
}

/** How a handler changes members; each is one transaction. */
const changes: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'a model': () => Member.create({ name: 'a' }),
  'a queued change': async (session) => session.add(Member.build({ name: 'a' })),
  'a bulk insert': () => Member.bulkCreate([{ name: 'a' }, { name: 'b' }]),
  'a bulk update': () => Member.update({ name: 'c' }, { where: {} }),
  'a bulk delete': () => Member.destroy({ where: {} }),
  findOrCreate: () => Member.findOrCreate({ where: { name: 'new' } }),
  'raw SQL': (session) => session.execute(sql`INSERT INTO member (name) VALUES (${'raw'})`),
  'ON DELETE CASCADE': () => Squad.destroy({ where: {} }),
  'a savepoint': (session) => session.nested(() => Member.create({ name: 'a' })),
}

async function appOf(t: TestContext, kind: TestDatabase) {
  const app = await databaseApp(t, kind, [Squad, Member, Note], [Lists], { lifespan: { echo: false } })
  const { database } = app
  await heard(t, database)
  const change = (work: (session: Session) => Promise<unknown>) => withSession(database, work)
  return { ...app, change }
}

/** Longer than the pause between two events of a client. */
const pause = () => wait(1_100)

for (const kind of databases) {
  for (const [how, work] of Object.entries(changes))
    test(`a live list is stale after ${how} (${kind.name})`, async (t) => {
      const { url, change } = await appOf(t, kind)
      await change(() => Squad.create({ name: 'x' }))
      const client = await openEvents(t, `${url}/members`)
      await client.count(1)
      assert.deepEqual(
        client.events.map(({ event, data }) => [event, data]),
        [['stale', '{}']],
      )
      await change(work)
      await client.count(2)
    })

  test(`a live list is stale after what no session has committed (${kind.name})`, async (t) => {
    const { url, database } = await appOf(t, kind)
    const client = await openEvents(t, `${url}/members`)
    await client.count(1)
    await Member.create({ name: 'a' })
    await client.count(2)
    await pause()
    const transaction = await database.sequelize.transaction()
    await Member.create({ name: 'b' }, { transaction })
    await wait(100)
    assert.equal(client.events.length, 2)
    await transaction.commit()
    await client.count(3)
  })

  test(`a live list is not stale after what it does not read (${kind.name})`, async (t) => {
    const { url, change } = await appOf(t, kind)
    const client = await openEvents(t, `${url}/members`)
    await client.count(1)
    await pause()
    await change(() => Note.create({ name: 'n' }))
    await change(() => Squad.create({ name: 'n' })) // members refer to it
    await change(async (session) => {
      await Member.create({ name: 'gone' })
      session.rollback()
    })
    await assert.rejects(
      change(async () => {
        await Member.create({ name: 'gone' })
        throw new Error('no')
      }),
    )
    await wait(200)
    assert.equal(client.events.length, 1)
    await change(() => Member.create({ name: 'a' }))
    await client.count(2)
  })

  test(`a client that returns is told only if something has changed (${kind.name})`, async (t) => {
    const { url, change } = await appOf(t, kind)
    const other = await openEvents(t, `${url}/members`) // the tables are followed meanwhile
    const first = await openEvents(t, `${url}/members`)
    await first.count(1)
    first.close()
    const lastId = first.lastId ?? ''
    const unchanged = await openEvents(t, `${url}/members`, { 'last-event-id': lastId })
    await pause()
    assert.equal(unchanged.events.length, 0)
    unchanged.close()
    await change(() => Member.create({ name: 'a' }))
    await other.count(2)
    const changed = await openEvents(t, `${url}/members`, { 'last-event-id': lastId })
    await changed.count(1)
    const unknown = await openEvents(t, `${url}/members`, { 'last-event-id': 'of another process.1' })
    await unknown.count(1)
  })
}

/** Creates a trigger on squad that inserts a note. */
const triggers: Readonly<Record<string, readonly string[]>> = {
  sqlite: ["CREATE TRIGGER noted AFTER INSERT ON squad BEGIN INSERT INTO note (name) VALUES ('x'); END"],
  mysql: ["CREATE TRIGGER noted AFTER INSERT ON squad FOR EACH ROW INSERT INTO note (name) VALUES ('x')"],
  postgres: [
    "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO note (name) VALUES (''x''); RETURN NULL; END'",
    'CREATE TRIGGER noted AFTER INSERT ON squad FOR EACH ROW EXECUTE FUNCTION note()',
  ],
}

for (const kind of databases) {
  test(`a list is stale after what a trigger writes (${kind.name})`, async (t) => {
    const { url, change, database } = await appOf(t, kind)
    const dialect = database.sequelize.getDialect()
    for (const statement of triggers[dialect === 'mariadb' ? 'mysql' : dialect] ?? [])
      await database.sequelize.query(statement)
    const client = await openEvents(t, `${url}/notes`)
    await client.count(1)
    await change(() => Squad.create({ name: 'a' }))
    assert.equal(await Note.count(), 1)
    await client.count(2)
  })

  test(`a list of a view is stale after a change of its tables (${kind.name})`, async (t) => {
    const { url, change, database } = await appOf(t, kind)
    await database.sequelize.query('CREATE VIEW inner_view AS SELECT name, squad_id FROM member')
    await database.sequelize.query(
      'CREATE VIEW shown AS SELECT i.name FROM inner_view i LEFT JOIN squad s ON s.id = i.squad_id',
    )
    const client = await openEvents(t, `${url}/shown`)
    await client.count(1)
    await change(() => Member.create({ name: 'a' }))
    await client.count(2)
    await pause()
    await change(() => Note.create({ name: 'a' }))
    await change(() => Squad.create({ name: 'a' }))
    await client.count(3)
    assert.equal(client.events.length, 3)
  })
}

const [kind] = databases as readonly [TestDatabase]

test('a burst of changes is two events: one at once, and one for the last change', async (t) => {
  const { url, change } = await appOf(t, kind)
  const client = await openEvents(t, `${url}/members`)
  await client.count(1)
  await pause()
  const begun = performance.now()
  for (let n = 0; n < 50; n++) await change(() => Member.create({ name: `m${n}` }))
  const seconds = Math.floor((performance.now() - begun) / 1_000) // one more event for each that it takes
  await client.count(3)
  await pause()
  assert.ok(client.events.length <= 4 + seconds, `${client.events.length} events after ${seconds} s`)
})

test('the errors of a live route are those of its handler', async (t) => {
  const { url } = await appOf(t, kind)
  assert.equal((await openEvents(t, `${url}/members/7`)).status, 404)
  assert.equal((await openEvents(t, `${url}/members/x`)).status, 422)
})

test('what a client prefers decides, and caches keep both apart', async (t) => {
  const { url, fetch } = await appOf(t, kind)
  for (const accept of ['application/json', '*/*', 'application/json, text/event-stream;q=0.5']) {
    const response = await fetch('/members', { headers: { accept } })
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.match(response.headers.get('vary') ?? '', /Accept/)
  }
  const client = await openEvents(t, `${url}/members`, { accept: 'text/event-stream, application/json;q=0.5' })
  assert.equal(client.headers['content-type'], 'text/event-stream')
  assert.match(client.headers.vary ?? '', /Accept/)
  assert.equal(client.headers.etag, undefined)
})

interface OpenApiOperation {
  readonly responses: { readonly '200': { readonly content: object } }
}

test('the tag of the JSON is none of the events', async (t) => {
  const { url, fetch, change } = await appOf(t, kind)
  await change(() => Member.create({ name: 'a' }))
  const etag = (await fetch('/members/1')).headers.get('etag') ?? ''
  assert.equal((await fetch('/members/1', { headers: { 'if-none-match': etag } })).status, 304)
  const client = await openEvents(t, `${url}/members/1`, { 'if-none-match': etag })
  assert.deepEqual([client.status, client.headers.etag], [200, undefined])
  await client.count(1)
})

test('HEAD has no events', async (t) => {
  const { fetch } = await appOf(t, kind)
  const response = await fetch('/members', { method: 'HEAD', headers: { accept: 'text/event-stream' } })
  assert.deepEqual([response.headers.get('content-type'), await response.text()], ['text/event-stream', ''])
})

test('the OpenAPI document has both media types', async (t) => {
  const { fetch } = await appOf(t, kind)
  const { paths } = (await (await fetch('/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, { readonly get: OpenApiOperation }>>
  }
  const content = paths['/members']?.get.responses['200'].content ?? {}
  assert.deepEqual(Object.keys(content), ['application/json', 'text/event-stream'])
})
