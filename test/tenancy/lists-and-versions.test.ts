import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Delete, Get, Item, notFound, Page, Paginate, Patch, Session } from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import { listOf } from 'sequitur/lists'
import { as, Hero, rowsOf, seed, tenantApp, tenantDatabases } from './tenants.js'

class HeroList extends listOf(Hero, {
  filter: { name: ['eq', 'contains'], id: ['gte'], 'team.name': ['eq', 'contains'] },
  sort: ['name', 'team.name'],
  include: ['team', 'powers'],
}) {}

@Controller('/heroes')
class Heroes {
  @Get('/', Page.of(Hero))
  list(query: HeroList, paginate: Paginate<Hero>) {
    return paginate(query.select())
  }
  @Get('/:id', Item.of(Hero, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound() }
  }
  @Patch('/:id', Item.of(Hero, { etag: true }))
  async change(id: number, age: number, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Hero, id, { age })) ?? notFound() }
  }
  @Delete('/:id')
  async remove(id: number, ifMatch: IfMatch) {
    if (!(await ifMatch.delete(Hero, id))) notFound()
  }
}

for (const kind of tenantDatabases) {
  test(`${kind.name}: whatever filters, sorts and includes a client asks for, the list is that of its tenant`, async (t) => {
    const app = await tenantApp(t, kind, [Heroes])
    await seed(app.database)
    const queries = [
      '',
      'filter[name][contains]=hero',
      'filter[name][contains]=two',
      'filter[id][gte]=0&sort=-name',
      'filter[team.name][contains]=team',
      'filter[team.name][contains]=two',
      'sort=team.name&include=team',
      'include=team,powers',
      'include=powers&limit=1',
      'filter[team.name][eq]=two%20team%201&include=team',
    ]
    for (const query of queries) {
      const response = await as(app, 1)(`/heroes?${query}`)
      const text = await response.text()
      assert.equal(response.status, 200, `${query}: ${text}`)
      assert.ok(!text.includes('two'), `${query}: ${text}`)
      const { meta } = JSON.parse(text) as { meta: { total_items: number } }
      assert.equal(meta.total_items, query.includes('two') ? 0 : 4, query)
    }
  })

  test(`${kind.name}: a version of another tenant's row opens nothing`, async (t) => {
    const app = await tenantApp(t, kind, [Heroes])
    await seed(app.database)
    const [{ id }] = (await app.query('SELECT max(id) AS id FROM hero WHERE tenant_id = 2')) as [{ id: number }]
    const before = await rowsOf(app.query, 2)
    const tag = (await as(app, 2)(`/heroes/${id}`)).headers.get('etag') ?? ''
    assert.notEqual(tag, '')
    assert.equal((await as(app, 1)(`/heroes/${id}`, { headers: { 'if-none-match': tag } })).status, 404)
    for (const method of ['PATCH', 'DELETE'])
      for (const match of [tag, '*']) {
        const response = await as(app, 1)(`/heroes/${id}?age=9`, { method, headers: { 'if-match': match } })
        assert.ok([404, 412].includes(response.status), `${method} ${match}: ${response.status}`)
      }
    assert.equal(await rowsOf(app.query, 2), before)
    const own = await as(app, 2)(`/heroes/${id}?age=9`, { method: 'PATCH', headers: { 'if-match': tag } })
    assert.equal(own.status, 200)
    assert.equal((await as(app, 2)(`/heroes/${id}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status, 204)
  })
}
