import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, dto, Get, Item, notFound, Page, Paginate, Patch, Post, select, Session } from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import { Rows, rows } from 'sequitur/exports'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { listOf } from 'sequitur/lists'
import { random } from '../support/fuzz.js'
import { as, Hero, models, rowsOf, seed, tenantApp, tenantDatabases } from './tenants.js'

/*
 * One controller with lists, exports, conditional changes and idempotent requests, whose handlers name no tenant.
 */

class NewHero extends dto(Hero, { pick: ['name', 'age'] }) {}
class HeroChanges extends dto(Hero, { pick: ['name', 'age'], partial: true }) {}
class HeroRow extends dto(Hero, { pick: ['id', 'name', 'age'] }) {}
class Heroes extends listOf(Hero, { filter: { age: ['gte'], name: ['contains'] }, sort: ['id', 'age'] }) {}

@Idempotent({ of: ({ headers }) => String(headers['x-tenant']) })
@Controller('/heros')
class HeroController {
  @Get('/', Page.of(HeroRow))
  list(query: Heroes, paginate: Paginate<Hero>) {
    return paginate(query.select())
  }

  @Get('/all', Page.of(HeroRow))
  all(paginate: Paginate<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/export', Rows.of(HeroRow))
  export(query: Heroes) {
    return rows(query.select())
  }

  @Get('/:id', Item.of(HeroRow, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound('Hero not found') }
  }

  @Post('/', Item.of(HeroRow))
  async create(hero: NewHero) {
    return { data: await Hero.create({ ...hero } as never) }
  }

  @Patch('/:id', Item.of(HeroRow, { etag: true }))
  async change(id: number, changes: HeroChanges, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Hero, id, { ...changes })) ?? notFound('Hero not found') }
  }
}

interface HeroData {
  readonly id: number
  readonly name: string
  readonly age: number
}

for (const kind of tenantDatabases)
  test(`lists, exports, conditional and idempotent requests of two tenants: ${kind.name}`, async (t) => {
    const app = await tenantApp(t, kind, [HeroController], { models: [...models, IdempotencyRecord] })
    await seed(app.database)
    const below = random(4711)
    for (const tenant of [1, 2]) {
      const other = 3 - tenant
      const fetch = as(app, tenant)
      const rowsOfOther = await rowsOf(app.query, other)
      const word = ['one', 'two'][tenant - 1] ?? ''
      const send = (method: string, path: string, body: object, headers: Record<string, string>) =>
        fetch(path, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      const seeded = ((await (await fetch('/heros/all?limit=100')).json()) as { data: HeroData[] }).data
      const known = new Map(seeded.map((hero) => [hero.id, hero]))

      for (let turn = 0; turn < 12; turn++) {
        const body = { name: `${word} ${turn}`, age: below(50) }
        // Both tenants send the same keys.
        const [first, ...replays] = await Promise.all(
          [1, 2, 3].map(async () => {
            let response: Response
            do response = await send('POST', '/heros', body, { 'idempotency-key': `"key ${turn}"` })
            while (response.status === 409)
            assert.equal(response.status, 201)
            return ((await response.json()) as { data: HeroData }).data
          }),
        )
        assert.ok(first)
        for (const replay of replays) assert.deepEqual(replay, first)
        known.set(first.id, first)
      }

      for (const hero of [...known.values()].slice(0, 5)) {
        const etag = (await fetch(`/heros/${hero.id}`)).headers.get('etag') ?? ''
        const key = { 'idempotency-key': `change-${hero.id}` }
        const changed = await send('PATCH', `/heros/${hero.id}`, { age: 99 }, { 'if-match': etag, ...key })
        const replayed = await send('PATCH', `/heros/${hero.id}`, { age: 99 }, { 'if-match': etag, ...key })
        const text = await changed.text()
        assert.deepEqual([replayed.status, await replayed.text()], [200, text])
        assert.equal(replayed.headers.get('etag'), changed.headers.get('etag'))
        const stale = { 'if-match': etag, 'idempotency-key': `stale-${hero.id}` }
        assert.equal((await send('PATCH', `/heros/${hero.id}`, { age: 1 }, stale)).status, 412)
        known.set(hero.id, { ...hero, age: 99 })
      }

      const foreign = (await app.query(`SELECT id FROM hero WHERE tenant_id = ${other}`)) as readonly { id: number }[]
      for (const { id } of foreign) {
        assert.equal((await fetch(`/heros/${id}`)).status, 404)
        const key = { 'if-match': '*', 'idempotency-key': `foreign-${id}` }
        assert.ok([404, 412].includes((await send('PATCH', `/heros/${id}`, { age: 1 }, key)).status))
      }

      const expected = [...known.values()].toSorted((a, b) => a.id - b.id)
      for (const filter of [
        '',
        '&filter[age][gte]=30',
        `&filter[name][contains]=${word}`,
        '&filter[name][contains]=1',
      ]) {
        const least = filter.includes('gte') ? 30 : 0
        const part = /contains\]=(.*)/.exec(filter)?.[1] ?? ''
        const rowsWanted = expected.filter(({ age, name }) => age >= least && name.includes(part))
        const page = (await (await fetch(`/heros?sort=id&limit=100${filter}`)).json()) as {
          data: HeroData[]
          meta: { total_items: number }
        }
        assert.deepEqual([page.data, page.meta.total_items], [rowsWanted, rowsWanted.length])
        const exported = await fetch(`/heros/export?sort=id${filter}`, { headers: { accept: 'application/json' } })
        assert.deepEqual(await exported.json(), rowsWanted)
      }
      // The second request knows the total of the first.
      for (let turn = 0; turn < 2; turn++) {
        const { data, meta } = (await (await fetch('/heros/all?limit=3')).json()) as {
          data: HeroData[]
          meta: { total_items: number }
        }
        assert.deepEqual([data, meta.total_items], [expected.slice(0, 3), expected.length])
      }
      assert.equal(await rowsOf(app.query, other), rowsOfOther)
    }
  })
