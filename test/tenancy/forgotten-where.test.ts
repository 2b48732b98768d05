import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Paginate, Post, Request, select, Session } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { random } from '../support/fuzz.js'
import { counts, leaving, type Operation, raw, reads, refused, staying, writes } from './operations.js'
import { as, Hero, rowsOf, seed, type TenantApp, tenantApp, tenantDatabases, tenantOfHeader } from './tenants.js'

/* An app whose every handler forgets the tenant. */

const operations: Readonly<Record<string, Operation>> = {
  ...reads,
  ...writes,
  ...refused,
  ...raw,
  ...leaving,
  ...Object.fromEntries(
    staying.map((text): [string, Operation] => [text, ({ session }) => session.sequelize.query(text)]),
  ),
  ...Object.fromEntries(Object.entries(counts).map(([name, [, run]]) => [name, run])),
}

@Controller('/')
class Forgetful {
  @Post('/run')
  async run(
    operation: string,
    own: number,
    foreign: number,
    foreign_team: number,
    request: Request,
    session: Session,
    paginate: Paginate<Hero>,
    byCursor: CursorPaginate<Hero>,
  ) {
    const tenant = tenantOfHeader(request) ?? 0
    const found = await operations[operation]?.({
      session,
      paginate,
      byCursor,
      own,
      foreign,
      foreignTeam: foreign_team,
      tenant,
      other: 3 - tenant,
    })
    return { found: JSON.stringify(found ?? null) }
  }
}

@Controller('/')
class Pages {
  @Get('/pages', CursorPage.of(Hero))
  pages(paginate: CursorPaginate<Hero>) {
    return paginate(select(Hero, { order: [['name', 'DESC'], 'id'] }))
  }
}

const WORDS = ['', 'one', 'two'] as const

/** The keys of a row of the tenant, of one of the other, and of a team of the other. */
type Keys = readonly [own: number, foreign: number, foreignTeam: number]

/** Calls the route as the tenant. */
async function run(app: TenantApp, tenant: number, operation: string, [own, foreign, team]: Keys) {
  const query = new URLSearchParams({
    operation,
    own: String(own),
    foreign: String(foreign),
    foreign_team: String(team),
  })
  const response = await as(app, tenant)(`/run?${query}`, { method: 'POST' })
  return { status: response.status, text: await response.text() }
}

async function keysOf({ query }: TenantApp, tenant: number): Promise<Keys> {
  const last = (table: string, of: number, name: string) =>
    `(SELECT max(id) FROM ${table} WHERE tenant_id = ${of}) AS ${name}`
  const [row] = await query(
    `SELECT ${last('hero', tenant, 'own')}, ${last('hero', 3 - tenant, 'foreign_hero')}, ${last('team', 3 - tenant, 'team')}`,
  )
  const { own, foreign_hero: foreign, team } = row as Readonly<Record<string, number | null>>
  return [Number(own), Number(foreign), Number(team)]
}

for (const kind of tenantDatabases) {
  // With policies, raw SQL is limited as well.
  const mayBe = (name: string, status: number): boolean => {
    if (name in raw && kind.hasPolicies) return true
    const isRefused =
      name in refused || name in leaving || (!kind.hasPolicies && (name in raw || staying.includes(name)))
    return isRefused ? status >= 400 : status < 300
  }

  test(`${kind.name}: each operation with a forgotten where reads and writes the rows of its tenant alone`, async (t) => {
    const app = await tenantApp(t, kind, [Forgetful])
    await seed(app.database)
    // The tenants differ in their number alone, which one database shows.
    for (const tenant of kind === tenantDatabases[0] ? [1, 2] : [2]) {
      let before = await rowsOf(app.query, 3 - tenant)
      for (const [index, name] of Object.keys(operations).entries()) {
        const { status, text } = await run(app, tenant, name, await keysOf(app, tenant))
        const what = `${name}, as tenant ${tenant}: ${status} ${text} ${app.log.at(-1)}`
        assert.ok(mayBe(name, status), what)
        assert.ok(!text.includes(String(WORDS[3 - tenant])), what)
        assert.equal(await rowsOf(app.query, 3 - tenant), before, what)
        app.log.length = 0
        if (index % 8 > 0) continue
        await seed(app.database) // some operations delete all rows
        before = await rowsOf(app.query, 3 - tenant)
      }
    }
  })

  test(`${kind.name}: a walk through all pages by cursor has the rows of the tenant alone, also with a cursor of the other`, async (t) => {
    const app = await tenantApp(t, kind, [Pages])
    await seed(app.database)
    const page = async (tenant: number, cursor: string | null) => {
      const response = await as(
        app,
        tenant,
      )(`/pages?limit=1${cursor === null ? '' : `&next_cursor=${encodeURIComponent(cursor)}`}`)
      return (await response.json()) as { data: readonly { name: string }[]; meta: { next_cursor: string | null } }
    }
    const names: string[] = []
    const foreign: string[] = []
    for (let cursor: string | null = null, n = 0; n < 10; n++) {
      const { data, meta } = await page(2, cursor)
      names.push(...data.map(({ name }) => name))
      cursor = meta.next_cursor
      if (cursor === null) break
      foreign.push(...(await page(1, cursor)).data.map(({ name }) => name))
    }
    assert.equal(names.length, 6)
    assert.ok(foreign.length > 0)
    assert.ok(names.every((name) => name.startsWith('two')))
    assert.ok(foreign.every((name) => name.startsWith('one')))
  })

  test(`${kind.name}: rows are counted for the tenant alone`, async (t) => {
    const app = await tenantApp(t, kind, [Forgetful])
    await seed(app.database)
    for (const tenant of [1, 2])
      for (const [name, [model]] of Object.entries(counts)) {
        const [row] = await app.query(
          `SELECT count(*) AS n FROM ${String(model.getTableName())} WHERE tenant_id = ${tenant}`,
        )
        const { text } = await run(app, tenant, name, [0, 0, 0])
        assert.equal(
          Number(JSON.parse(text).found),
          Number((row as { n: unknown }).n),
          `${name}: ${text} ${app.log.at(-1)}`,
        )
      }
  })

  test(`${kind.name}: requests of both tenants at once, on few connections, in random order, never meet`, async (t) => {
    const app = await tenantApp(t, kind, [Forgetful], { lifespan: { poolSize: 3, poolTimeout: 30_000 } })
    await seed(app.database)
    const pick = random(7)
    const names = Object.keys(operations)
    const keys = [[0, 0, 0], await keysOf(app, 1), await keysOf(app, 2)] as const
    for (let round = 0; round < 12; round++)
      await Promise.all(
        Array.from({ length: 12 }, async () => {
          const tenant = 1 + pick(2)
          const name = String(names[pick(names.length)])
          const { status, text } = await run(app, tenant, name, keys[tenant] as Keys)
          assert.ok(!text.includes(String(WORDS[3 - tenant])), `${name}, as tenant ${tenant}: ${status} ${text}`)
        }),
      )
    for (const tenant of [1, 2]) assert.ok(!(await rowsOf(app.query, tenant)).includes(String(WORDS[3 - tenant])))
    const [{ n }] = (await app.query('SELECT count(*) AS n FROM hero WHERE tenant_id NOT IN (1, 2)')) as [
      { n: unknown },
    ]
    assert.equal(Number(n), 0)
  })
}
