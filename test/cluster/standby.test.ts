import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, Get, type LifespanOptions, newLifespan, Path, Post, Session, sql, Transactional } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { Load } from '../support/load.js'
import {
  type Cluster,
  type ClusterNode,
  postgresPrograms,
  promoteOne,
  startCluster,
} from '../support/postgres-cluster.js'
import { skipWithout } from '../support/skip-without.js'
import { gate, until } from '../support/waiting.js'

const skip = skipWithout('PostgreSQL with standbys', [
  `${postgresPrograms() ?? '/usr/lib/postgresql'}/pg_basebackup`,
  'ps',
])

@Controller('/')
class Heroes {
  @Transactional({ readOnly: true })
  @Get('/count')
  count() {
    return Hero.count()
  }
  @Transactional({ readOnly: true })
  @Get('/own')
  async own(session: Session) {
    const [row] = await session.execute(
      sql<{ standby: boolean; heroes: string }>`SELECT pg_is_in_recovery() AS standby, count(*) AS heroes FROM hero`,
    )
    return row
  }
  @Transactional({ readOnly: true, maxLag: 500 })
  @Get('/fresh')
  async fresh(session: Session) {
    const [row] = await session.execute(
      sql<{ standby: boolean; heroes: string }>`SELECT pg_is_in_recovery() AS standby, count(*) AS heroes FROM hero`,
    )
    return row
  }
  @Transactional({ isolation: 'serializable' })
  @Post('/serializable/:name')
  async createSerializable(@Path() name: string) {
    await Hero.create({ name })
  }
  @Post('/:name') async create(@Path() name: string) {
    await Hero.create({ name })
  }
}

@Controller('/long')
class Long {
  @Transactional({ readOnly: true })
  @Get()
  async read(session: Session) {
    const [row] = await session.execute(
      sql<{
        standby: boolean
      }>`SELECT pg_is_in_recovery() AS standby, count(CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) END) FROM hero`,
    )
    return row?.standby
  }
}

test(
  'a URL that names only a standby is a warning; a reader that it cancels is served by the primary',
  { skip },
  async (t) => {
    const { primary, standbys } = await startCluster(t)
    const [standby] = standbys
    await primary.query('CREATE TABLE hero AS SELECT n AS id FROM generate_series(1, 100) n')
    const written = async () => (await standby.query(`SELECT 1 FROM pg_tables WHERE tablename = 'hero'`)).length === 1
    await until('the table is on the standby', written, 50)
    await standby.query('ALTER SYSTEM SET max_standby_streaming_delay = 0')
    await standby.query('SELECT pg_reload_conf()')
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const logger = { info: write, warn: write, error: write }
    const alone = await testApp({ controllers: [Long], lifespan: newLifespan(standby.url), logger })
    await alone.close()
    assert.match(lines.join('\n'), /is a standby, which refuses all writes\. Write the URL of its primary/)
    const app = await testApp({
      controllers: [Long],
      lifespan: newLifespan(primary.url, { replicas: [standby.url] }),
      logger: false,
    })
    t.after(app.close)
    const answer = app.fetch('/long')
    const isReading = async () =>
      (await standby.query(`SELECT 1 FROM pg_stat_activity WHERE query ~ 'pg_slee[p]' AND state = 'active'`)).length > 0
    await until('the standby reads', isReading, 50)
    await primary.query('DELETE FROM hero')
    await primary.query('VACUUM hero')
    assert.equal(await (await answer).json(), false)
  },
)

/** An app on all three servers, whose standbys serve readers. */
async function openApp(t: TestContext, { primary, standbys }: Cluster, options: LifespanOptions = {}) {
  const hosts = [primary, ...standbys].map(({ host }) => host).join()
  const url = `postgres://postgres@${hosts}/postgres`
  const database = newLifespan(url, {
    sync: true,
    replicas: [`${url}?target_session_attrs=prefer-standby`],
    ...options,
  })
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = await testApp({
    controllers: [Heroes],
    models: [Team, Hero],
    lifespan: database,
    logger: { info: write, warn: write, error: write },
    timeouts: { handler: 3_000 },
    cursorSecret: 'the same in all processes',
  })
  t.after(app.close)
  return { ...app, log }
}

/** What was acknowledged is there, and nothing that was refused. */
async function assertLedger(load: Load, primary: ClusterNode): Promise<void> {
  const rows = new Set((await primary.query('SELECT name FROM hero')).map(({ name }) => name))
  const lost = [...load.outcomes].filter(([name, outcome]) => outcome === 'kept' && !rows.has(name))
  const resurrected = [...load.outcomes].filter(([name, outcome]) => outcome === 'refused' && rows.has(name))
  assert.deepEqual({ lost, resurrected }, { lost: [], resurrected: [] })
}

async function keepsMore(load: Load, count: number): Promise<void> {
  const before = load.count('kept')
  await until(`${count} more are kept`, () => load.count('kept') > before + count, 20)
}

for (const [title, end] of [
  ['killed', (primary: ClusterNode) => primary.kill()],
  ['frozen', async (primary: ClusterNode) => primary.freeze()],
] as const) {
  test(
    `the primary is ${title} under 32 writers, and a standby promoted: what was acknowledged is there`,
    { skip },
    async (t) => {
      const cluster = await startCluster(t)
      const app = await openApp(t, cluster)
      const load = new Load(t, app.url, 32)
      await keepsMore(load, 100)
      await end(cluster.primary)
      const next = await promoteOne(cluster)
      const promoted = performance.now()
      await keepsMore(load, 100)
      t.diagnostic(`100 more were kept ${Math.round(performance.now() - promoted)} ms after the promotion`)
      await load.stop()
      t.diagnostic(
        ['kept', 'refused', 'unknown', 'cut off'].map((one) => `${load.count(one as 'kept')} ${one}`).join(', '),
      )
      await assertLedger(load, next)
      assert.equal((await app.fetch('/count')).status, 200)
    },
  )
}

test(
  'a former primary that comes back after the promotion is not used, although it accepts writes and is the first host',
  { skip },
  async (t) => {
    const cluster = await startCluster(t)
    const app = await openApp(t, cluster)
    const load = new Load(t, app.url, 8)
    await keepsMore(load, 100)
    cluster.primary.freeze()
    const next = await promoteOne(cluster)
    await keepsMore(load, 100)
    cluster.primary.thaw()
    const [row] = await cluster.primary.query('SELECT now()::text AS thawed')
    const hosts = [cluster.primary, ...cluster.standbys].map(({ host }) => host).join()
    const later = newLifespan(`postgres://postgres@${hosts}/postgres`)
    await later.start()
    const port = await later.session((session) => session.execute(sql`SELECT inet_server_port() AS port`))
    await later.stop()
    assert.deepEqual(port, [{ port: next.port }])
    // Longer than a host that was away is passed over. Each time the app opens new connections.
    for (let second = 0; second < 14; second++) {
      await next.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '' AND pid <> pg_backend_pid()`,
      )
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
    await keepsMore(load, 100)
    await load.stop()
    await assertLedger(load, next)
    // It has no standby any more, so that a COMMIT would wait.
    const waiting = await cluster.primary.query(
      `SELECT query FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_start > '${String(row?.['thawed'])}'`,
    )
    assert.deepEqual(waiting, [])
  },
)

test(
  'standbys that are killed fail no reader: another one serves it, and without any the primary',
  { skip },
  async (t) => {
    const cluster = await startCluster(t)
    const app = await openApp(t, cluster)
    assert.equal((await app.fetch('/Robin', { method: 'POST' })).status, 204)
    const read = async () => (await app.fetch('/count')).status
    const [first, second] = cluster.standbys
    await Promise.all(Array.from({ length: 16 }, read))
    await first.kill()
    for (let n = 0; n < 5; n++)
      assert.deepEqual(new Set(await Promise.all(Array.from({ length: 16 }, read))), new Set([200]))
    await second.kill()
    // None is left: the primary serves them.
    assert.deepEqual(new Set(await Promise.all(Array.from({ length: 16 }, read))), new Set([200]))
  },
)

test(
  'a handler with maxLag reads from a standby that keeps up, and from the primary while the standbys lag',
  { skip },
  async (t) => {
    const cluster = await startCluster(t)
    const app = await openApp(t, cluster)
    const read = async () => (await (await app.fetch('/fresh')).json()) as { standby: boolean; heroes: string }
    await app.fetch('/Robin', { method: 'POST' })
    await until('a standby has it', async () => (await read()).standby)
    assert.deepEqual(await read(), { standby: true, heroes: '1' })
    for (const standby of cluster.standbys) await standby.query('SELECT pg_wal_replay_pause()')
    await app.fetch('/Alfred', { method: 'POST' })
    // Within half a second a standby may still serve: it has what was committed before.
    await until('the primary serves', async () => !(await read()).standby)
    for (let n = 0; n < 5; n++) assert.deepEqual(await read(), { standby: false, heroes: '2' })
    for (const standby of cluster.standbys) await standby.query('SELECT pg_wal_replay_resume()')
    await until('a standby serves again', async () => (await read()).standby)
    assert.equal((await read()).heroes, '2')
    // An idle primary is no lag, however long it is idle.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    assert.equal((await read()).standby, true)
  },
)

for (const readYourWrites of ['cookie', 'header'] as const) {
  test(
    `a client that sends its ${readYourWrites} back reads what it has written, from a standby once that has it`,
    { skip },
    async (t) => {
      const cluster = await startCluster(t)
      const app = await openApp(t, cluster, { readYourWrites })
      const read = async (token: Record<string, string> = {}) =>
        (await (await app.fetch('/own', { headers: token })).json()) as { standby: boolean; heroes: string }
      const write = async (name: string) => {
        const { status, headers } = await app.fetch(`/${name}`, { method: 'POST' })
        assert.equal(status, 204)
        const [pair = ''] = String(headers.get('set-cookie')).split(';', 1)
        return readYourWrites === 'cookie'
          ? { cookie: pair }
          : { 'sequitur-position': String(headers.get('sequitur-position')) }
      }
      const first = await write('Robin')
      await until('a standby serves', async () => (await read(first)).standby)
      assert.equal((await read(first)).heroes, '1')
      for (const standby of cluster.standbys) await standby.query('SELECT pg_wal_replay_pause()')
      const second = await write('Alfred')
      for (let n = 0; n < 5; n++) {
        assert.deepEqual(await read(second), { standby: false, heroes: '2' })
        assert.deepEqual(await read(first), { standby: true, heroes: '1' })
        assert.deepEqual(await read(), { standby: true, heroes: '1' })
      }
      const third = await write('Barbara')
      const [reading] = await Promise.all([
        read(third),
        ...cluster.standbys.map((standby) => standby.query('SELECT pg_wal_replay_resume()')),
      ])
      assert.equal(reading.heroes, '3')
      await until('a standby serves', async () => (await read(third)).standby)
      for (let n = 0; n < 20; n++) {
        const own = await write(`Hero ${n}`)
        assert.equal((await read(own)).heroes, String(4 + n))
      }
    },
  )
}

test('a standby that is reached as the main database is a 503 with Retry-After', { skip }, async (t) => {
  const cluster = await startCluster(t)
  const writer = await openApp(t, cluster)
  await writer.close()
  const [standby] = cluster.standbys
  await until('the standby has the tables', () =>
    standby.query('SELECT 1 FROM hero').then(
      () => true,
      () => false,
    ),
  )
  const app = await testApp({
    controllers: [Heroes],
    models: [Team, Hero],
    lifespan: newLifespan(standby.url),
    logger: false,
  })
  t.after(app.close)
  for (const path of ['/Robin', '/serializable/Robin'])
    assert.equal(await said(app.fetch(path, { method: 'POST' })), '503, again in 1 s: The database cannot be written.')
})

/** Reads a table on a standby, then waits for the test. */
async function waitingReader(t: TestContext, url: string) {
  const [reading, goOn] = [gate(), gate()]

  @Controller('/')
  class Reader {
    @Transactional({ readOnly: true }) @Get('/waits') async waits(session: Session) {
      await session.execute(sql`SELECT count(*) FROM held`)
      reading.open()
      await goOn.opened
      await session.execute(sql`SELECT 1 AS one`)
    }
    @Transactional({ readOnly: true }) @Get('/one') async one(session: Session) {
      return session.execute(sql`SELECT 1 AS one`)
    }
  }
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = await testApp({
    controllers: [Reader],
    lifespan: newLifespan(url),
    logger: { info() {}, warn() {}, error: write },
  })
  t.after(app.close)
  return { app, log, reading, goOn }
}

test(
  'a standby that ends connections because of what it replays: 503s, and the next requests are served',
  { skip },
  async (t) => {
    const { primary, standbys } = await startCluster(t)
    const [standby] = standbys
    await standby.query('ALTER SYSTEM SET max_standby_streaming_delay = 0')
    await standby.query('SELECT pg_reload_conf()')
    await primary.query('CREATE DATABASE dropped')
    await primary.query('CREATE TABLE held AS SELECT 1 AS id')
    const hasTable = async () => (await standby.query(`SELECT 1 FROM pg_tables WHERE tablename = 'held'`)).length === 1
    await until('the table is on the standby', hasTable, 50)

    // FATAL 40001: a transaction that waits has a lock on a table that the primary drops.
    const { app, log, reading, goOn } = await waitingReader(t, standby.url)
    const waiting = said(app.fetch('/waits'))
    await reading.opened
    await primary.query('DROP TABLE held')
    await until('the table is dropped on the standby', async () => !(await hasTable()), 50)
    goOn.open()
    assert.match(await waiting, /^503, again in 1 s: /)
    assert.match(log.join('\n'), /conflict with recovery/)
    assert.equal((await app.fetch('/one')).status, 200)

    // FATAL 57P04: the database of the connection is dropped.
    const other = new URL(standby.url)
    other.pathname = '/dropped'
    const inDropped = await testApp({ controllers: [Long], lifespan: newLifespan(other.href), logger: false })
    t.after(inDropped.close)
    await primary.query('DROP DATABASE dropped')
    const isDropped = async () =>
      (await standby.query(`SELECT 1 FROM pg_database WHERE datname = 'dropped'`)).length === 0
    await until('the database is dropped on the standby', isDropped, 50)
    assert.match(await said(inDropped.fetch('/long')), /^503, again in 1 s: /)
  },
)
