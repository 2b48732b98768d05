import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import {
  Controller,
  Get,
  type LifespanOptions,
  newLifespan,
  Post,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { sequelizeInternals } from '../../src/db/sequelize/internals.js'
import { type DatabaseApp, databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { ownPostgres, said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { observed } from '../support/observed.js'
import { until } from '../support/waiting.js'

const models = [Team, Hero]
const post = { method: 'POST' }

@Controller('/')
class Routed {
  @Transactional({ readOnly: true })
  @Get('/declared')
  async declared(session: Session) {
    const heroes = await Hero.findAll()
    const teams = await session.execute(sql<{ name: string }>`SELECT name FROM team`)
    return [...heroes, ...teams].map(({ name }) => name)
  }
  @Get('/undeclared') async undeclared() {
    return (await Hero.findAll()).map(({ name }) => name)
  }
  @Post() async create() {
    await Hero.create({ name: 'Batman' })
    return Hero.count()
  }
  @Transactional({ readOnly: true })
  @Post('/refused')
  async refused() {
    await Hero.create({ name: 'Joker' })
  }
  @Transactional({ readOnly: true })
  @Post('/refused/raw')
  async refusedRaw(session: Session) {
    await session.execute(sql`INSERT INTO team (name) VALUES ('Villains')`).catch(() => {})
  }
}

/** A database with the tables, and one hero and one team that tell which it is. */
async function seeded(kind: TestDatabase, name: string): Promise<string> {
  const url = await kind.url()
  await withSession(newLifespan(url, { models, sync: true }), async (session) => {
    session.addAll([Hero.build({ name })])
    session.addAll([Team.build({ name })])
  })
  return url
}

async function names(url: string): Promise<unknown[]> {
  return withSession(newLifespan(url), ({ sequelize }) =>
    sequelize.query('SELECT name FROM hero UNION ALL SELECT name FROM team ORDER BY name', { type: QueryTypes.SELECT }),
  )
}

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite'))) {
  test(`${kind.name}: what is declared read-only is served by the replica, all else by the writer`, async (t) => {
    const [writer, replica] = [await seeded(kind, 'writer'), await seeded(kind, 'replica')]
    const written = { name: kind.name, url: () => Promise.resolve(writer) }
    const app = await databaseApp(t, written, models, [Routed], { lifespan: { sync: false, replicas: [replica] } })
    const statements = observed(t, 'sequitur.statement')
    for (let n = 0; n < 5; n++) {
      assert.deepEqual(await (await app.fetch('/declared')).json(), ['replica', 'replica'])
      assert.deepEqual(await (await app.fetch('/undeclared')).json(), ['writer'])
    }
    assert.equal(await (await app.fetch('/', post)).json(), 2)
    assert.deepEqual(await names(replica), [{ name: 'replica' }, { name: 'replica' }])
    const pools = statements[0]?.database.pools() ?? []
    assert.deepEqual(
      pools.map(({ name, max, waiting }) => [name, max, waiting]),
      [
        ['primary', 10, 0],
        ['replicas', 10, 0],
      ],
    )
  })

  test(`${kind.name}: a read-only handler that writes keeps nothing, on the writer or on the replica`, async (t) => {
    const [writer, replica] = [await seeded(kind, 'writer'), await seeded(kind, 'replica')]
    const written = { name: kind.name, url: () => Promise.resolve(writer) }
    const app = await databaseApp(t, written, models, [Routed], { lifespan: { sync: false, replicas: [replica] } })
    assert.equal((await app.fetch('/refused', post)).status, 500)
    assert.match(app.log.join('\n'), /ReadOnlyError: This handler writes, but is declared/)
    await (await app.fetch('/refused/raw', post)).text()
    assert.deepEqual(await names(writer), [{ name: 'writer' }, { name: 'writer' }])
    assert.deepEqual(await names(replica), [{ name: 'replica' }, { name: 'replica' }])
  })
}

@Controller('/cancelled')
class Cancelled {
  @Transactional({ readOnly: true })
  @Get()
  async read(session: Session) {
    const [row] = await session.execute(sql<{ name: string }>`SELECT cancelled() AS name`)
    return row?.name
  }
  @Transactional({ readOnly: true })
  @Post()
  post(session: Session) {
    return this.read(session)
  }
  @Transactional({ readOnly: true, retry: 1 })
  @Post('/retried')
  retried(session: Session) {
    return this.read(session)
  }
}

test('a handler that a replica cancels because of what it replays is run again on the primary, or is told so', async (t) => {
  const [writer, replica] = [await seeded(postgres, 'writer'), await seeded(postgres, 'replica')]
  const define = (url: string, body: string) =>
    withSession(newLifespan(url), ({ sequelize }) =>
      sequelize.query(`CREATE FUNCTION cancelled() RETURNS text LANGUAGE plpgsql AS 'BEGIN ${body}; END'`),
    )
  await define(writer, `RETURN ''writer''`)
  await define(replica, `RAISE ''canceling statement due to conflict with recovery'' USING ERRCODE = ''40001''`)
  const app = await databaseApp(t, { name: '', url: async () => writer }, models, [Cancelled], {
    lifespan: { sync: false, replicas: [replica] },
  })
  assert.equal(await (await app.fetch('/cancelled')).json(), 'writer')
  assert.equal(await (await app.fetch('/cancelled/retried', post)).json(), 'writer')
  assert.equal(
    await said(app.fetch('/cancelled', post)),
    '503, again in 1 s: A replica cancelled the statement; try again.',
  )
})

test('while the replica is down what it serves answers 503, and the writer goes on', async (t) => {
  const server = await ownPostgres(t, { lasting: true })
  const replica = await seeded({ name: 'replica', url: () => Promise.resolve(server.url) }, 'replica')
  const kind = databases.find(({ name }) => name === 'PostgreSQL') as TestDatabase
  const app = await databaseApp(t, kind, models, [Routed], { lifespan: { replicas: [replica] } })
  assert.equal((await app.fetch('/declared')).status, 200)
  await server.kill()
  assert.match(await said(app.fetch('/declared')), /^503, again in 1 s: The database is not available/)
  assert.equal((await app.fetch('/', post)).status, 201)
  await server.restart()
  assert.deepEqual(await (await app.fetch('/declared')).json(), ['replica', 'replica'])
})

/** An app with two replicas, on servers of their own, and what is sent many times at once is read. */
async function withTwoReplicas(t: TestContext) {
  const servers = await Promise.all([ownPostgres(t, { lasting: true }), ownPostgres(t, { lasting: true })] as const)
  const replicas: string[] = []
  for (const [n, { url }] of servers.entries())
    replicas.push(await seeded({ name: '', url: async () => url }, `replica ${n}`))
  const writer = await seeded(postgres, 'writer')
  const open = (given: readonly string[] = replicas, lifespan: LifespanOptions = {}) => {
    const kind = { name: '', url: async () => writer }
    return databaseApp(t, kind, models, [Routed], { lifespan: { sync: false, replicas: given, ...lifespan } })
  }
  return { servers, replicas, open }
}

/** Which database answers each of sixteen simultaneous requests: its name, or the status of an error. */
async function answering({ fetch }: DatabaseApp): Promise<string[]> {
  const answers = Array.from({ length: 16 }, async () => {
    const answer = await fetch('/declared')
    return answer.status === 200 ? ((await answer.json()) as string[]).join() : said(answer)
  })
  return [...new Set(await Promise.all(answers))].sort()
}

const first = 'replica 0,replica 0'
const second = 'replica 1,replica 1'

test('one dead replica fails no request while another is available; it serves again once it is back', async (t) => {
  const { servers, open } = await withTwoReplicas(t)
  const app = await open()
  assert.deepEqual(await answering(app), [first, second])
  await servers[1].kill()
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(await answering(app), [first])
    await sequelizeInternals(app.database.sequelize).connectionManager.pool.destroyAllNow() // as after an idle pause
  }
  await servers[1].restart()
  await until('both replicas answer', async () => (await answering(app)).length === 2, 100)
  assert.deepEqual(await answering(app), [first, second])
})

test('a replica that does not answer new connections fails no request', async (t) => {
  const { replicas, open } = await withTwoReplicas(t)
  const network = createServer(() => {}) // takes connections, and says nothing
  await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
  const held = new Set<Socket>()
  network.on('connection', (socket) => held.add(socket))
  t.after(() => {
    for (const socket of held) socket.destroy()
    network.close()
  })
  const { port } = network.address() as AddressInfo
  const frozen = Object.assign(new URL(replicas[1] as string), { port: String(port) }).href
  const app = await open([frozen, replicas[0] as string])
  for (let n = 0; n < 3; n++) assert.equal((await app.fetch('/declared')).status, 200)
  assert.deepEqual(await answering(app), [first])
})

test('while all replicas are away their requests are 503s, or served by the primary if the app allows it', async (t) => {
  const { servers, replicas, open } = await withTwoReplicas(t)
  await Promise.all(servers.map(({ kill }) => kill()))
  const strict = await open()
  assert.deepEqual(await answering(strict), ['503, again in 1 s: The database is not available.'])
  await strict.close()
  const lenient = await open(replicas, { replicaFallback: true })
  assert.deepEqual(await answering(lenient), ['writer,writer'])
  await servers[0].restart()
  await until('the replica answers', async () => (await answering(lenient)).join() === first, 100)
})
