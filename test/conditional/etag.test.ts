import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import type { CreationOptional, NonAttribute } from 'sequelize'
import {
  Base,
  Collection,
  Controller,
  dto,
  Get,
  Item,
  notFound,
  Page,
  Paginate,
  Patch,
  Post,
  reply,
  select,
  Session,
} from 'sequitur'
import { Page as CursorPage, Paginate as PaginateByCursor } from 'sequitur/cursor'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'hero', version: 'revision' })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, field: 'full_name' }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare age: CreationOptional<number>
  @ForeignKey(() => Team) @Column({ type: DataType.INTEGER }) declare team_id: CreationOptional<number | null>
  @BelongsTo(() => Team, 'team_id') declare team?: NonAttribute<Team>
}

class HeroName extends dto(Hero, { pick: ['id', 'name'] }) {}
class NewHero extends dto(Hero, { pick: ['name'] }) {}

/** Of the row in the result of a handler: one for its version, one for the body. */
let reads = 0

@Controller('/')
class EtagController {
  @Get('/heroes/:id', Item.of(Hero, { etag: true }))
  async hero(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound() }
  }

  @Get('/names/:id', Item.of(HeroName, { etag: true }))
  async name(id: number, session: Session) {
    const hero = (await session.get(Hero, id)) ?? notFound()
    return {
      get data() {
        reads++
        return hero
      },
    }
  }

  @Get('/with-team/:id', Item.of(Hero, { etag: true }))
  async withTeam(id: number, session: Session) {
    return { data: (await session.get(Hero, id, { include: [Team] })) ?? notFound() }
  }

  @Get('/teams/:id', Item.of(Team, { etag: true }))
  async team(id: number, session: Session) {
    return { data: (await session.get(Team, id)) ?? notFound() }
  }

  @Get('/teams', Collection.of(Team, { etag: true }))
  async teams(session: Session) {
    return { data: await session.all(select(Team, { order: ['id'] })) }
  }

  @Get('/pages', Page.of(Team, { etag: true }))
  page(paginate: Paginate<Team>) {
    return paginate(select(Team, { order: ['id'] }))
  }

  @Get('/cursor', CursorPage.of(Team, { etag: true }))
  cursor(paginate: PaginateByCursor<Team>) {
    return paginate(select(Team, { order: ['id'] }))
  }

  @Get('/own/:id', Item.of(Team, { etag: true }))
  async own(id: number, session: Session) {
    return reply({ data: (await session.get(Team, id)) ?? notFound() }, { headers: { ETag: '"own"', 'X-More': '1' } })
  }

  @Post('/heroes', Item.of(Hero, { etag: true }))
  async create({ name }: NewHero) {
    return { data: await Hero.create({ name }) }
  }

  @Post('/teams', Item.of(Team, { etag: true }))
  async createTeam({ name }: NewHero) {
    return { data: await Team.create({ name }) }
  }

  @Patch('/heroes/:id/bulk')
  async bulk(id: number) {
    await Hero.update({ name: 'bulk' }, { where: { id } })
  }

  @Patch('/heroes/:id/nothing')
  async nothing(id: number) {
    await Hero.update({}, { where: { id } })
  }

  @Patch('/heroes/:id/increment')
  async increment(id: number) {
    await Hero.increment('age', { where: { id } })
  }

  @Patch('/heroes/:id/decrement')
  async decrement(id: number) {
    await Hero.decrement('age', { where: { id } })
  }

  @Patch('/heroes/:id/save')
  async save(id: number, session: Session) {
    const hero = (await session.get(Hero, id)) ?? notFound()
    session.add(hero.set({ name: 'save' }))
  }

  @Patch('/teams/:id')
  async rename(id: number, { name }: NewHero) {
    await Team.update({ name }, { where: { id } })
  }
}

async function start(t: Parameters<typeof databaseApp>[0], kind = sqliteMemory) {
  const api = await databaseApp(t, kind, [Hero, Team], [EtagController])
  const send = async (method: string, path: string, headers: Record<string, string> = {}, json?: unknown) => {
    const response = await api.fetch(path, { method, headers, ...(json === undefined ? {} : { json }) })
    return {
      status: response.status,
      etag: response.headers.get('etag') ?? '',
      headers: response.headers,
      text: await response.text(),
    }
  }
  const create = async (path: string, name: string): Promise<{ readonly id: number; readonly etag: string }> => {
    const { text, etag } = await send('POST', path, {}, { name })
    return { id: JSON.parse(text).data.id, etag }
  }
  return { send, create, ...api }
}

for (const kind of databases) {
  test(`${kind.name}: after each kind of write, the ETag that was read before is not answered with 304`, async (t) => {
    const { send, create } = await start(t, kind)
    const { id, etag: created } = await create('/heroes', 'Robin')
    assert.match(created, /^"0-/)
    const { etag } = await send('GET', `/heroes/${id}`)
    assert.equal((await send('GET', `/heroes/${id}`, { 'if-none-match': etag })).status, 304)
    const seen = new Set([etag])
    for (const write of ['save', 'bulk', 'increment', 'decrement', 'save', 'bulk']) {
      assert.equal((await send('PATCH', `/heroes/${id}/${write}`)).status, 204, write)
      const fresh = await send('GET', `/heroes/${id}`, { 'if-none-match': [...seen].join(', ') })
      assert.equal(fresh.status, 200, write)
      seen.add(fresh.etag)
      assert.equal((await send('GET', `/heroes/${id}`, { 'if-none-match': fresh.etag })).status, 304, write)
    }
    await send('PATCH', `/heroes/${id}/nothing`)
    const unchanged = await send('GET', `/heroes/${id}`, { 'if-none-match': [...seen].join(', ') })
    assert.equal(unchanged.status, 304)
  })
}

test('a 304 has the ETag and no body, and the body is not built for it', async (t) => {
  const { send, create } = await start(t)
  const { id } = await create('/heroes', 'Robin')
  const first = await send('GET', `/names/${id}`)
  assert.deepEqual([first.status, reads], [200, 2])
  for (const method of ['GET', 'HEAD']) {
    reads = 0
    const { status, etag, headers, text } = await send(method, `/names/${id}`, {
      'if-none-match': `W/"x", W/${first.etag}`,
    })
    assert.deepEqual([status, etag, text, headers.get('content-type'), reads], [304, first.etag, '', null, 1])
  }
  assert.equal((await send('GET', `/names/${id}`, { 'if-none-match': '*' })).status, 304)
  assert.equal((await send('HEAD', `/names/${id}`)).etag, first.etag)
})

test('a response with more than the row has the version and a digest, and changes with both', async (t) => {
  const { send, create } = await start(t)
  const [{ id }, team] = [await create('/heroes', 'Robin'), await create('/teams', 'Titans')]
  assert.match((await send('GET', `/with-team/${id}`)).etag, /^"0-/)
  await Hero.update({ team_id: team.id }, { where: { id } })
  const { etag } = await send('GET', `/with-team/${id}`)
  assert.match(etag, /^"1-[a-z\d]+-[\w-]{22}-[\w-]{22}"$/)
  assert.equal((await send('GET', `/with-team/${id}`, { 'if-none-match': etag })).status, 304)
  await send('PATCH', `/teams/${team.id}`, {}, { name: 'Young Justice' })
  const renamed = await send('GET', `/with-team/${id}`, { 'if-none-match': etag })
  assert.equal(renamed.status, 200)
  assert.match(renamed.etag, /^"1-/)
})

test('items of models without a version, lists and pages have a digest of what is sent', async (t) => {
  const { send, create } = await start(t)
  const { id, etag } = await create('/teams', 'Titans')
  assert.equal(etag, '', 'what a write returns may differ from what a read sends')
  for (const path of [`/teams/${id}`, '/teams', '/pages', '/cursor']) {
    const before = await send('GET', path)
    assert.match(before.etag, /^"[\w-]{22}"$/, path)
    const kept = await send('GET', path, { 'if-none-match': before.etag })
    assert.deepEqual([kept.status, kept.text, kept.etag], [304, '', before.etag], path)
    await send('PATCH', `/teams/${id}`, {}, { name: `after ${path}` })
    const after = await send('GET', path, { 'if-none-match': before.etag })
    assert.equal(after.status, 200, path)
    assert.notEqual(after.etag, before.etag, path)
  }
})

test('an ETag of the handler is kept, and its headers are in the 304', async (t) => {
  const { send, create } = await start(t)
  const { id } = await create('/teams', 'Titans')
  assert.equal((await send('GET', `/own/${id}`)).etag, '"own"')
  const { status, headers } = await send('GET', `/own/${id}`, { 'if-none-match': '"own"' })
  assert.deepEqual([status, headers.get('x-more')], [304, '1'])
})

test('errors have no ETag', async (t) => {
  const { send } = await start(t)
  const { status, etag } = await send('GET', '/heroes/404', { 'if-none-match': '*' })
  assert.deepEqual([status, etag], [404, ''])
})
