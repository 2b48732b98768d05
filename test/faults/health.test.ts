import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Sequelize } from 'sequelize'
import { Controller, createApp, Get, newLifespan, Session, sql } from 'sequitur'
import {
  type DatabaseApp,
  databaseApp,
  databases,
  mysqls,
  postgres,
  skipIfShared,
  sqliteMemory,
} from '../support/databases.js'
import { ownPostgres } from '../support/faults.js'
import { silentNetwork } from '../support/silent-network.js'
import { type Gate, gate, until } from '../support/waiting.js'

const servers = process.env['TEST_QUICK'] ? [] : [postgres, ...mysqls]

interface Readiness {
  readonly status: number
  readonly body: { readonly status: string; readonly checks?: Readonly<Record<string, string>> }
}

async function readiness({ fetch }: Pick<DatabaseApp, 'fetch'>): Promise<Readiness> {
  const response = await fetch('/readyz')
  return { status: response.status, body: (await response.json()) as Readiness['body'] }
}

/** A controller whose requests keep their connection until the gate opens. */
function holding({ opened }: Gate, held: () => void) {
  @Controller()
  class Holding {
    @Get('/held') async hold(session: Session) {
      await session.execute(sql`SELECT 1`)
      held()
      await opened
    }
    @Get('/served') async serve(session: Session) {
      await session.execute(sql`SELECT 1`)
      return 'served'
    }
  }
  return Holding
}

for (const kind of databases) {
  test(`${kind.name}: an app whose database answers is ready, and a check leaves nothing behind`, async (t) => {
    const app = await databaseApp(t, kind, [], [holding(gate(), () => {})], { health: true })
    for (let n = 0; n < 20; n++) {
      const { status, body } = await readiness(app)
      assert.equal(status, 200)
      assert.deepEqual(Object.values(body.checks ?? {}), ['ok'])
    }
    assert.equal((await app.fetch('/served')).status, 200)
    await app.database.ping()
    assert.deepEqual(
      app.log,
      app.log.filter((line) => /Executing/.test(line)),
      'a check is no log entry',
    )
  })

  test(`${kind.name}: an app is ready while requests use all of its connections`, async (t) => {
    const held = gate()
    let count = 0
    const app = await databaseApp(t, kind, [], [holding(held, () => count++)], {
      health: true,
      lifespan: { poolSize: 2, poolTimeout: 10_000 },
    })
    const most = kind === sqliteMemory ? 1 : 2
    const requests = Array.from({ length: 6 }, () => app.fetch('/held'))
    await until('all connections are in use', () => count === most)
    for (let n = 0; n < 3; n++) assert.equal((await readiness(app)).status, 200)
    held.open()
    for (const { status } of await Promise.all(requests)) assert.equal(status, 204)
  })
}

async function serverConnections(app: DatabaseApp): Promise<number> {
  const isPostgres = app.database.sequelize.getDialect() === 'postgres'
  const rows = await app.database.session((session) =>
    session.execute<{ n: number }>(
      isPostgres
        ? sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()`
        : sql`SELECT count(*) AS n FROM information_schema.processlist WHERE db = database()`,
    ),
  )
  return Number(rows[0]?.n)
}

for (const kind of servers) {
  test(`${kind.name}: checks of a busy pool close their connections`, { skip: skipIfShared }, async (t) => {
    const held = gate()
    let count = 0
    const app = await databaseApp(t, kind, [], [holding(held, () => count++)], {
      health: true,
      lifespan: { poolSize: 1, poolTimeout: 10_000 },
    })
    const request = app.fetch('/held')
    await until('the connection is in use', () => count === 1)
    for (let n = 0; n < 5; n++) assert.equal((await readiness(app)).status, 200)
    held.open()
    assert.equal((await request).status, 204)
    await until('one connection is left', async () => (await serverConnections(app)) === 1)
  })

  for (const isBusy of [false, true]) {
    test(`${kind.name}: without an answer ${isBusy ? 'an app with a busy pool' : 'an app'} is not ready within the limit, and is ready again when the network is`, async (t) => {
      const network = await silentNetwork(t, await kind.url())
      const held = gate()
      let count = 0
      const app = await databaseApp(
        t,
        { name: 'silent', url: async () => network.url },
        [],
        [holding(held, () => count++)],
        {
          health: { timeout: 1_000 },
          lifespan: { poolSize: 1, poolTimeout: 1_500, statementTimeout: 2_000 },
          logger: false,
        },
      )
      const request = isBusy ? app.fetch('/held') : undefined
      if (isBusy) await until('the connection is in use', () => count === 1)
      else assert.equal((await readiness(app)).status, 200)
      network.silence({ losesNew: true })
      const { status, body } = await readiness(app)
      assert.deepEqual([status, body.status, Object.values(body.checks ?? {})], [503, 'unavailable', ['failed']])
      network.recover()
      await until('it is ready', async () => (await readiness(app)).status === 200)
      held.open()
      await request
      await until('it serves', async () => (await app.fetch('/served')).status === 200)
    })
  }
}

async function readyAfter(t: TestContext, change: (url: string) => Promise<unknown>) {
  const url = await postgres.url()
  const app = await databaseApp(t, { name: '', url: async () => url }, [], [holding(gate(), () => {})], {
    health: true,
  })
  await Promise.all(Array.from({ length: 5 }, () => app.fetch('/served')))
  await change(url)
  return readiness(app)
}

test(
  'connections that were lost while they were idle do not make an app unready',
  { skip: servers.length === 0 },
  async (t) => {
    const { status } = await readyAfter(t, async (url) => {
      const other = new Sequelize(url, { logging: false })
      await other.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      await other.close()
    })
    assert.equal(status, 200)
  },
)

test(
  'a database that is stopped makes the app unready, by its name alone, and one line logs why',
  { skip: servers.length === 0 },
  async (t) => {
    const server = await ownPostgres(t)
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const app = createApp({
      controllers: [holding(gate(), () => {})],
      lifespan: [newLifespan('sqlite:///:memory:'), newLifespan(server.url)],
      health: true,
      logger: { info() {}, warn: write, error: write },
    })
    t.after(() => app.close())
    const { url } = await app.listen(0)
    await server.stop()
    for (let n = 0; n < 3; n++) {
      const response = await fetch(`${url}/readyz`)
      const name = new URL(server.url).pathname.slice(1)
      assert.equal(response.status, 503)
      assert.deepEqual(await response.json(), {
        status: 'unavailable',
        checks: { 'sqlite :memory:': 'ok', [`postgres ${name}`]: 'failed' },
      })
    }
    assert.equal((await fetch(`${url}/livez`)).status, 200)
    const told = lines.filter((line) => line.startsWith('Not ready'))
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /^Not ready, as this check fails: postgres \w+\. .*(ECONNREFUSED|terminat)/s)
  },
)

test(
  'an app that uses all connections that its account may open is ready',
  { skip: servers.length === 0 || skipIfShared }, // PgBouncer waits for a connection
  async (t) => {
    const url = new URL(await postgres.url())
    const admin = new Sequelize(url.href, { logging: false })
    const role = `few_${url.pathname.slice(1)}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT 1`)
    const held = gate()
    let count = 0
    const limited = Object.assign(new URL(url), { username: role, password: 'few' }).href
    const app = await databaseApp(t, { name: '', url: async () => limited }, [], [holding(held, () => count++)], {
      health: true,
      lifespan: { poolSize: 1, sync: false },
    })
    const request = app.fetch('/held')
    await until('the connection is in use', () => count === 1)
    assert.equal((await readiness(app)).status, 200)
    held.open()
    assert.equal((await request).status, 204)
    await app.close()
    await admin.query(`DROP ROLE ${role}`)
    await admin.close()
  },
)
