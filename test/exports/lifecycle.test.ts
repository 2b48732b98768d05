import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Field, Get, Post, select, sql, withSession } from 'sequitur'
import { Rows, rows, type RowsOptions } from 'sequitur/exports'
import { type DatabaseApp, databaseApp, databases, mysqls, postgres, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { observed } from '../support/observed.js'
import { SlowClient } from '../support/slow-client.js'
import { until } from '../support/waiting.js'

class Line {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
}

/** Characters of a generated row. */
const LENGTH = 2_000

/** `10 ** digits` generated rows. */
function generated(digits: number) {
  const names = Array.from({ length: digits }, (_, at) => `digit d${at}`)
  const number = names.map((_, at) => `d${at}.d * ${10 ** at}`).join(' + ')
  const digit = Array.from({ length: 10 }, (_, at) => `SELECT ${at}${at === 0 ? ' AS d' : ''}`).join(' UNION ALL ')
  const text = `WITH digit AS (${digit}) SELECT ${number} AS number, '${'x'.repeat(LENGTH)}' AS text, 'hidden' AS secret FROM ${names.join(', ')}`
  return { kind: 'sql', texts: [text], values: [] } as const
}

function exporting(options: RowsOptions = {}) {
  @Controller('/')
  class Exports {
    @Get('/lines/:digits', Rows.of(Line, options)) lines(digits: number) {
      return rows(generated(digits) as ReturnType<typeof sql<Line>>)
    }
    @Get('/heroes', Rows.of(Hero, options)) heroes() {
      return rows(select(Hero, { order: ['id'] }))
    }
    @Get('/count') async count() {
      return { count: await Hero.count() }
    }
    @Post('/heroes') async create() {
      await Hero.bulkCreate(Array.from({ length: 5_000 }, (_, at) => ({ name: `${Date.now()}-${at}` })))
    }
  }
  return Exports
}

function start(t: TestContext, database: (typeof databases)[number], options?: RowsOptions, more: object = {}) {
  return databaseApp(t, database, [Team, Hero], [exporting(options)], { lifespan: { echo: false }, ...more })
}

/** Counts the rows that are read of a database. */
function readRows(t: TestContext) {
  const statements = observed(t, 'sequitur.statement')
  return () => statements.reduce((sum, { rows: count = 0 }) => sum + count, 0)
}

/** Waits until a number no longer grows. */
async function settled(value: () => number): Promise<number> {
  let last = -1
  for (let same = 0; same < 10;) {
    same = value() === last ? same + 1 : 0
    last = value()
    await wait(50)
  }
  return last
}

const transactions: Readonly<Record<string, string>> = {
  postgres: `SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
  mariadb: `SELECT count(*) AS count FROM information_schema.processlist WHERE db = database() AND command <> 'Sleep' AND id <> connection_id()`,
  mysql: `SELECT count(*) AS count FROM information_schema.processlist WHERE db = database() AND command <> 'Sleep' AND id <> connection_id()`,
}

/** How many statements and transactions the server executes for the app. */
async function active({ database }: DatabaseApp): Promise<number> {
  const text = transactions[database.sequelize.getDialect()]
  if (text === undefined) return 0
  const [row] = await database.sequelize.query<{ count: unknown }>(text, { type: QueryTypes.SELECT })
  return Number(row?.count)
}

for (const kind of databases) {
  test(`of a client that does not read, rows are read no further than its buffers, on ${kind.name}`, async (t) => {
    const app = await start(t, kind)
    const read = readRows(t)
    const client = new SlowClient(t, app.url, '/lines/4')
    assert.match(await client.head(), /^HTTP\/1\.1 200 [^]*application\/x-ndjson/i)
    const stalled = await settled(read)
    assert.ok(stalled * LENGTH < 12_000_000, `${stalled} of 10000 rows`)
    client.readOn()
    await until('all is sent', () => client.isClosed, 50, 60_000)
    assert.ok(client.isWhole)
    assert.equal(client.text.match(/"number":/g)?.length, 10_000)
    assert.ok(!client.text.includes('secret') && !client.text.includes('hidden'))
    assert.ok(read() >= 10_000)
  })

  test(`a client that leaves frees the only connection at once, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, {}, { lifespan: { echo: false, poolSize: 1 } })
    for (let round = 0; round < 3; round++) {
      const client = new SlowClient(t, app.url, '/lines/6')
      await client.head()
      if (round > 0) client.readOn()
      if (round > 1) await wait(30)
      client.leave()
      assert.deepEqual(await (await app.fetch('/count')).json(), { count: 0 })
      await until('nothing runs on the server', async () => (await active(app)) === 0)
    }
    assert.deepEqual(app.log, [])
  })

  test(`more exports than the limit are a 503, until one ends, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { atOnce: 1 })
    const client = new SlowClient(t, app.url, '/lines/6')
    await client.head()
    const refused = await app.fetch('/heroes')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
    assert.equal(
      ((await refused.json()) as { detail: string }).detail,
      'Too many exports are running; try again later.',
    )
    client.leave()
    await until('another may run', async () => (await app.fetch('/heroes')).status === 200)
  })

  test(`a client that stalls is cut, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { clientTimeout: 200, atOnce: 1 })
    const client = new SlowClient(t, app.url, '/lines/6')
    await client.head()
    await until('another may run', async () => (await app.fetch('/heroes')).status === 200)
    client.readOn()
    await until('it is cut', () => client.isClosed)
    assert.ok(!client.isWhole)
    assert.deepEqual(await (await app.fetch('/count')).json(), { count: 0 })
  })

  test(`a client that takes all rows too slowly is cut, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { timeout: 1_000, atOnce: 1 })
    const client = new SlowClient(t, app.url, '/lines/6')
    await client.head()
    assert.equal((await app.fetch('/heroes')).status, 503)
    await until('another may run', async () => (await app.fetch('/heroes')).status === 200)
    client.readOn()
    await until('it is cut', () => client.isClosed)
    assert.ok(!client.isWhole)
  })

  test(`one client has its own limit, and leaves room for others, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { atOnce: 2, of: ({ headers }) => String(headers.accept) })
    const client = new SlowClient(t, app.url, '/lines/6')
    await client.head()
    const ask = (accept: string) => app.fetch('/lines/1', { headers: { accept } })
    const refused = await ask('application/x-ndjson')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5'])
    // In memory, SQLite has one connection, for which the others wait.
    if (kind !== sqliteMemory) assert.equal((await ask('text/csv')).status, 200)
    client.leave()
    await until('it may export again', async () => (await ask('application/x-ndjson')).status === 200)
  })

  test(`what fails before the first row has its own status, on ${kind.name}`, async (t) => {
    const app = await start(t, kind)
    await app.database.sequelize.query('DROP TABLE hero')
    const failed = await app.fetch('/heroes')
    assert.deepEqual([failed.status, failed.headers.get('content-type')], [500, 'application/problem+json'])
    const missing = await app.fetch('/lines/99')
    assert.equal(missing.status, 500)
    assert.equal((await app.fetch('/lines/1')).status, 200)
  })

  test(`HEAD reads no rows, on ${kind.name}`, async (t) => {
    const app = await start(t, kind)
    const read = readRows(t)
    const response = await app.fetch('/lines/3', { method: 'HEAD', headers: { accept: 'text/csv' } })
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
    assert.deepEqual([response.status, response.headers.get('vary'), read()], [200, 'Accept', 0])
  })

  // A database in memory has one connection: writers wait for it.
  if (kind === sqliteMemory) continue
  test(`rows that are written meanwhile are not sent, on ${kind.name}`, async (t) => {
    const app = await start(t, kind)
    for (let at = 0; at < 4; at++) await app.fetch('/heroes', { method: 'POST' })
    const client = new SlowClient(t, app.url, '/heroes')
    await client.head()
    await withSession(app.database, async (session) => {
      await session.execute(sql`DELETE FROM hero WHERE id % 2 = 0`)
      await session.execute(sql`UPDATE hero SET age = 99`)
    })
    await app.fetch('/heroes', { method: 'POST' })
    client.readOn()
    await until('all is sent', () => client.isClosed, 20, 20_000)
    assert.ok(client.isWhole)
    assert.equal(client.text.match(/"age":0,/g)?.length, 20_000)
    assert.ok(!client.text.includes('"age":99'))
  })
}

/** Ends the server's side of the connections of the app that are not idle. */
async function kill(app: DatabaseApp): Promise<void> {
  const isPostgres = app.database.sequelize.getDialect() === 'postgres'
  if (isPostgres) {
    await app.database.sequelize.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
    )
    return
  }
  const found = await app.database.sequelize.query<{ id: number }>(
    `SELECT id FROM information_schema.processlist WHERE db = database() AND command <> 'Sleep' AND id <> connection_id()`,
    { type: QueryTypes.SELECT },
  )
  for (const { id } of found) await app.database.sequelize.query(`KILL ${id}`)
}

for (const kind of [...databases.filter((one) => one === postgres), ...(process.env['TEST_QUICK'] ? [] : mysqls)]) {
  for (const accept of ['application/x-ndjson', 'application/json', 'text/csv']) {
    test(`a connection to ${kind.name} that is killed breaks the response as ${accept}`, async (t) => {
      const app = await start(t, kind)
      const client = new SlowClient(t, app.url, '/lines/6', accept)
      await client.head()
      await kill(app)
      client.readOn()
      await until('it is cut', () => client.isClosed, 20, 20_000)
      assert.ok(!client.isWhole)
      if (accept === 'application/x-ndjson') {
        const line = client.text.trimEnd().split('\n').at(-1) ?? ''
        assert.match(line, /^\{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"Not all rows/)
      }
      assert.deepEqual(await (await app.fetch('/count')).json(), { count: 0 })
      assert.equal((await app.fetch('/lines/2')).status, 200)
    })
  }
}
