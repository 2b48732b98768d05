import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Controller, Get, newLifespan, Post, Session, sql, Transactional, withSession } from 'sequitur'
import { databaseApp, type DatabaseApp } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { movableAddress } from '../support/movable-address.js'
import { startPostgres } from '../support/postgres-server.js'
import { until } from '../support/waiting.js'

/*
 * A database on several PostgreSQL servers of which one accepts writes. Two servers without replication are enough for it: which of them has a row says
 * where that was written.
 */

const models = [Team, Hero]
const post = { method: 'POST' }

@Controller('/')
class Heroes {
  @Get() async list() {
    return (await Hero.findAll({ order: ['id'] })).map(({ name }) => name)
  }
  @Transactional({ readOnly: true })
  @Get('/declared')
  async declared() {
    return (await Hero.findAll({ order: ['id'] })).map(({ name }) => name)
  }
  @Transactional({ readOnly: true, isolation: 'serializable' })
  @Get('/serializable')
  serializable() {
    return this.declared()
  }
  @Transactional({ readOnly: true, maxLag: 60_000 })
  @Get('/fresh')
  fresh() {
    return this.declared()
  }
  @Get('/backend') async backend(session: Session) {
    const [row] = await session.execute(sql<{ id: number }>`SELECT pg_backend_pid() AS id`)
    return row?.id
  }
  @Post('/declares-itself') async declaresItself(session: Session) {
    await session.execute(sql`SET TRANSACTION READ ONLY`)
    await Hero.create({ name: 'never' })
  }
  @Post('/:name') async create(name: string) {
    await Hero.create({ name })
  }
  @Transactional({ isolation: 'serializable' })
  @Post('/serializable/:name')
  async createSerializable(name: string) {
    await Hero.create({ name })
  }
}

const password = 'secret'
const starting = Promise.all([
  startPostgres({ lasting: true, password }),
  startPostgres({ lasting: true, password }),
] as const)
after(async () => {
  for (const { stop } of await starting) await stop()
})

/** Two servers with the same account, each with a hero that tells which it is. */
async function twoServers() {
  const servers = await starting
  for (const [n, { url }] of servers.entries()) {
    await acceptWrites(url)
    await withSession(newLifespan(url, { models, sync: true }), async (session) => {
      await Hero.destroy({ where: {} })
      session.add(Hero.build({ name: `server ${n}` }))
    })
  }
  const [a, b] = servers.map(({ url }) => new URL(url).host)
  return { servers, url: `postgres://postgres:${password}@${a},${b}/postgres` }
}

/**
 * Resolves when the connections that are open know the new setting. They are told of it one after the other, this one first, as it is the youngest; when the
 * server accepts another one, it has told all.
 */
async function configure(url: string, statement: string, isReadOnly: 'on' | 'off'): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.query('SELECT pg_reload_conf()')
  await until(`default_transaction_read_only is ${isReadOnly}`, async () => {
    const { rows } = await client.query<Record<string, unknown>>('SHOW default_transaction_read_only')
    return rows[0]?.['default_transaction_read_only'] === isReadOnly
  })
  await client.end()
  const next = new Client({ connectionString: url })
  await next.connect()
  await next.end()
}

function refuseWrites(url: string): Promise<void> {
  return configure(url, 'ALTER SYSTEM SET default_transaction_read_only = on', 'on')
}

function acceptWrites(url: string): Promise<void> {
  return configure(url, 'ALTER SYSTEM RESET default_transaction_read_only', 'off')
}

function open(t: TestContext, url: string, lifespan: { readonly replicas?: readonly string[] } = {}) {
  return databaseApp(t, { name: '', url: async () => url }, models, [Heroes], {
    lifespan: { sync: false, ...lifespan },
  })
}

/** Posts until it is accepted, and returns the statuses before. */
async function postUntilKept({ fetch }: DatabaseApp, path: string): Promise<string[]> {
  const before: string[] = []
  for (let n = 0; n < 20; n++) {
    const answer = await fetch(path, post)
    if (answer.ok) return before
    before.push(await said(answer))
  }
  throw new Error(`It is still refused: ${before.join('\n')}`)
}

const REFUSED = '503, again in 1 s: The database cannot be written.'

test('of several hosts, the first one that accepts writes is used', async (t) => {
  const { servers, url } = await twoServers()
  await refuseWrites(servers[0].url)
  const app = await open(t, url)
  assert.equal((await app.fetch('/Robin', post)).status, 204)
  assert.deepEqual(await (await app.fetch('/')).json(), ['server 1', 'Robin'])
})

test('several hosts that accept writes are named at the start, with the one that is used, and no others', async () => {
  const { servers, url } = await twoServers()
  const [a = '', b = ''] = servers.map((server) => new URL(server.url).host)
  const warningsAtStart = async () => {
    const warnings: string[] = []
    const database = newLifespan(url, { models })
    await database.start(undefined, undefined, (line) => warnings.push(line))
    await database.stop()
    return warnings.filter((line) => line.includes('accept writes'))
  }
  const [warning = '', ...more] = await warningsAtStart()
  assert.deepEqual(more, [])
  assert.ok(
    warning.includes(`): Several hosts of its URL accept writes: ${a}, ${b}. Only one of them is used`),
    warning,
  )
  assert.doesNotMatch(warning, /secret/)
  await refuseWrites(servers[1].url)
  assert.deepEqual(await warningsAtStart(), [])
})

test('the next host is used when one refuses writes, or is away', async (t) => {
  const { servers, url } = await twoServers()
  const app = await open(t, url)
  await Promise.all(Array.from({ length: 10 }, (_, n) => app.fetch(`/before-${n}`, post)))
  await refuseWrites(servers[0].url)
  assert.deepEqual(await postUntilKept(app, '/second'), [REFUSED]) // once, although ten connections were idle
  const names = (await (await app.fetch('/')).json()) as string[]
  assert.deepEqual(names, ['server 1', 'second'])
  await acceptWrites(servers[0].url)
  await servers[1].kill()
  await postUntilKept(app, '/first')
  await servers[1].restart()
  assert.ok(((await (await app.fetch('/')).json()) as string[]).includes('first'))
})

test('a standby that is reached as the main database is a 503 once, and the next connection finds the new primary', async (t) => {
  const { servers } = await twoServers()
  const address = await movableAddress(t, servers[0].url)
  const app = await open(t, address.url)
  await Promise.all(Array.from({ length: 10 }, (_, n) => app.fetch(`/before-${n}`, post)))
  await refuseWrites(servers[0].url)
  address.moveTo(servers[1].url)
  assert.deepEqual(await postUntilKept(app, '/after'), [REFUSED])
  for (let n = 0; n < 10; n++) assert.equal((await app.fetch(`/after-${n}`, post)).status, 204)
})

test('a program that only makes its own transaction read-only keeps its connections', async (t) => {
  const { servers } = await twoServers()
  const app = await open(t, servers[0].url)
  const before = await (await app.fetch('/backend')).json()
  assert.equal((await app.fetch('/declares-itself', post)).status, 503)
  assert.equal(await (await app.fetch('/backend')).json(), before)
})

test('the start fails when no host accepts writes, and says which refuses', async () => {
  const { servers, url } = await twoServers()
  for (const server of servers) await refuseWrites(server.url)
  const database = newLifespan(url, { startTimeout: 100 })
  await assert.rejects(
    database.start(),
    /None of the hosts is available: the server refuses writes, but target_session/,
  )
})

test('each host of a replica is one, and only those are used that target_session_attrs asks for', async (t) => {
  const { servers, url } = await twoServers()
  const app = await open(t, url, { replicas: [`${url}?target_session_attrs=read-only`] })
  assert.equal((await app.fetch('/declared')).status, 503)
  await refuseWrites(servers[1].url)
  await until('the second host is used', async () => (await app.fetch('/declared')).ok, 50)
  for (let n = 0; n < 5; n++) assert.deepEqual(await (await app.fetch('/declared')).json(), ['server 1'])
  assert.deepEqual(await (await app.fetch('/')).json(), ['server 0'])
})

test('with prefer-standby, the primary serves readers while there is no standby', async (t) => {
  const { url } = await twoServers()
  const app = await open(t, url, { replicas: [`${url}?target_session_attrs=prefer-standby`] })
  for (let n = 0; n < 5; n++) assert.deepEqual(await (await app.fetch('/declared')).json(), ['server 0'])
})

test('the primary serves readers that are serializable, which standbys refuse, and those with maxLag whose lag cannot be proven', async (t) => {
  const { servers } = await twoServers()
  const app = await open(t, servers[0].url, { replicas: [servers[1].url] })
  assert.deepEqual(await (await app.fetch('/declared')).json(), ['server 1'])
  assert.deepEqual(await (await app.fetch('/serializable')).json(), ['server 0'])
  assert.deepEqual(await (await app.fetch('/fresh')).json(), ['server 0'])
})
