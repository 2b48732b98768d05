import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Base,
  Controller,
  Delete,
  dto,
  Get,
  Item,
  notFound,
  Page,
  Paginate,
  Patch,
  Post,
  select,
  Session,
  Transactional,
} from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'hero', timestamps: false, version: true })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  declare version: CreationOptional<number>
}

class NewHero extends dto(Hero, { pick: ['name', 'age'] }) {}
class Changes extends dto(Hero, { pick: ['name', 'age'], partial: true }) {}

@Controller('/heroes')
class HeroController {
  @Get('/', Page.of(Hero, { etag: true }))
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: ['id'] }))
  }

  @Get('/:id', Item.of(Hero, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound() }
  }

  @Post('/', Item.of(Hero, { etag: true }))
  async create(input: NewHero) {
    return { data: await Hero.create({ ...input }) }
  }

  @Patch('/:id', Item.of(Hero, { etag: true }))
  async change(id: number, changes: Changes, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Hero, id, changes)) ?? notFound() }
  }

  @Transactional({ retry: 5 })
  @Patch('/:id/retried', Item.of(Hero, { etag: true }))
  async retried(id: number, changes: Changes, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Hero, id, changes)) ?? notFound() }
  }

  @Transactional({ retry: 5, isolation: 'serializable' })
  @Patch('/:id/serializable', Item.of(Hero, { etag: true }))
  async serializable(id: number, changes: Changes, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Hero, id, changes)) ?? notFound() }
  }

  @Delete('/:id')
  async remove(id: number, ifMatch: IfMatch) {
    if (!(await ifMatch.delete(Hero, id))) notFound()
  }
}

const CLIENTS = 12

async function itemOf(
  response: Response | undefined,
): Promise<{ readonly data: { readonly id: number; readonly age: number } }> {
  assert.ok(response)
  return JSON.parse(await response.text())
}

for (const kind of databases) {
  test(`${kind.name}: of the clients with the same ETag, exactly one changes the row`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Hero], [HeroController], { lifespan: { poolTimeout: 20_000 } })
    const created = await fetch('/heroes', { method: 'POST', json: { name: 'Robin', age: 0 } })
    const { data } = await itemOf(created)
    let etag = created.headers.get('etag') ?? ''
    assert.match(etag, /^"0-/)
    for (const [round, suffix] of ['', '/retried', '/serializable'].entries()) {
      const path = `/heroes/${data.id}${suffix}`
      const answers = await Promise.all(
        Array.from({ length: CLIENTS }, (_, age) =>
          fetch(path, { method: 'PATCH', json: { age: round * 100 + age + 1 }, headers: { 'if-match': etag } }),
        ),
      )
      const winners = answers.filter(({ status }) => status === 200)
      const losers = answers.filter(({ status }) => status !== 200)
      assert.equal(winners.length, 1)
      assert.deepEqual([...new Set(losers.map(({ status }) => status))], [412])
      const { data: won } = await itemOf(winners[0])
      const present = await fetch(`/heroes/${data.id}`, { headers: { 'if-none-match': etag } })
      assert.equal(present.status, 200)
      assert.equal((await itemOf(present)).data.age, won.age)
      const now = present.headers.get('etag')
      assert.notEqual(now, etag)
      for (const { headers } of winners) assert.equal(headers.get('etag'), now)
      for (const { headers } of losers) assert.ok(headers.get('etag')?.startsWith(now?.split('-')[0] ?? '?'))
      etag = now ?? ''
    }
    const removed = await Promise.all(
      Array.from({ length: CLIENTS }, (_, index) =>
        index % 2
          ? fetch(`/heroes/${data.id}`, { method: 'DELETE', headers: { 'if-match': etag } })
          : fetch(`/heroes/${data.id}`, {
              method: 'PATCH',
              json: { age: 1000 + index },
              headers: { 'if-match': etag },
            }),
      ),
    )
    assert.equal(removed.filter(({ status }) => status < 300).length, 1)
    assert.ok(removed.every(({ status }) => [200, 204, 404, 412].includes(status)))
  })
}
