import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import {
  Controller,
  Get,
  type LifespanOptions,
  newLifespan,
  Post,
  select,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { databaseApp } from '../support/databases.js'
import { assertWhole, ownPostgres, said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { pgbouncerVersion, startPgbouncer } from '../support/pgbouncer.js'
import { postgresUrl } from '../support/postgres.js'
import { skipWithout } from '../support/skip-without.js'
import { gate, until } from '../support/waiting.js'

/*
 * Behind PgBouncer several clients share a server connection, one transaction after the other.
 */

const program = process.env['TEST_PGBOUNCER'] || 'pgbouncer'
const skip = skipWithout('PgBouncer', [program])

/** Whether it keeps the prepared statements of its clients: from 1.21 on. */
const keepsStatements = /^1\.(?:2[1-9]|[3-9]\d)/.test(pgbouncerVersion(program) ?? '')

const post = { method: 'POST' }
const models = [Team, Hero]

// This file starts PgBouncer itself, with its own settings for each test.
const around = process.env['TEST_PGBOUNCER']
before(() => void delete process.env['TEST_PGBOUNCER'])
after(() => void (around && (process.env['TEST_PGBOUNCER'] = around)))

interface Pooled {
  /** The database through PgBouncer. */
  readonly url: string
  /** The database itself. */
  readonly server: Client
  readonly kind: { readonly name: string; url(): Promise<string> }
}

async function pooled(t: TestContext, settings: Record<string, string | number> = {}, own?: string): Promise<Pooled> {
  const direct = own ?? (await postgresUrl())
  const pooler = await startPgbouncer(program, direct, settings)
  const server = await clientOf(t, direct)
  t.after(pooler.stop)
  const url = pooler.through(direct)
  return { url, server, kind: { name: 'PgBouncer', url: () => Promise.resolve(url) } }
}

async function clientOf(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // a server that a test kills
  await client.connect()
  t.after(() => client.end().catch(() => {}))
  return client
}

/** The settings that limit a transaction, as the server knows them. */
const limits = (session: Session) =>
  session.execute<Record<string, string>>(sql`
    SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
      current_setting('idle_in_transaction_session_timeout') AS idle`)

async function databaseOf(t: TestContext, url: string, options: LifespanOptions) {
  const database = newLifespan(url, options)
  await database.start()
  t.after(() => database.stop())
  return database
}

const poolers: readonly (readonly [what: string, settings: Record<string, string>])[] = [
  ['by transaction', {}],
  ['by session', { pool_mode: 'session' }],
  [
    'that ignores unknown parameters',
    { ignore_startup_parameters: 'statement_timeout,lock_timeout,extra_float_digits' },
  ],
]

for (const [what, settings] of poolers)
  for (const preparedStatements of [undefined, false] as const)
    test(
      `a pooler ${what}${preparedStatements === false ? ', without prepared statements' : ''}: each transaction has its limits`,
      { skip },
      async (t) => {
        const { url } = await pooled(t, settings)
        const given = { statementTimeout: 3_000, lockTimeout: 2_000, idleInTransactionTimeout: 0 }
        const database = await databaseOf(t, url, {
          ...given,
          ...(preparedStatements === false ? { preparedStatements } : {}),
        })
        assert.deepEqual(await withSession(database, limits), [{ statement: '3s', lock: '2s', idle: '0' }])
        const inside = await database.sequelize.transaction((transaction) =>
          database.sequelize.query(`SELECT current_setting('statement_timeout') AS statement`, { transaction }),
        )
        assert.deepEqual(inside[0], [{ statement: '3s' }])
      },
    )

@Controller('/')
class Heroes {
  @Get() all(session: Session) {
    return session.count(select(Hero))
  }
  @Get('/whole') whole() {
    return Hero.count()
  }
  @Get('/found/:name') found(name: string, session: Session) {
    return session.execute(sql`SELECT age FROM hero WHERE name = ${name}`)
  }
  @Post('/:name') async add(name: string, session: Session) {
    await Team.findOrCreate({ where: { name } })
    session.add(Hero.build({ name }))
    await session.flush()
    await session.nested(() => session.execute(sql`SELECT 1 / 0`)).catch(() => {})
  }
  @Transactional({ retry: 50 })
  @Post('/:name/birthday')
  async birthday(name: string) {
    const hero = await Hero.findOne({ where: { name }, rejectOnEmpty: true })
    await hero.update({ age: (hero.age ?? 0) + 1 })
  }
}

test('nothing is left on a server connection for its next client', { skip }, async (t) => {
  const { kind, url } = await pooled(t, { default_pool_size: 1 })
  const other = await clientOf(t, url)
  const state = async () => ({
    process: (await other.query('SELECT pg_backend_pid()')).rows,
    settings: (
      await other.query(`SELECT name, setting FROM pg_settings WHERE source IN ('session', 'client') ORDER BY name`)
    ).rows.filter(({ name }) => !TRACKED.has(name)),
    statements: (await other.query(`SELECT name FROM pg_prepared_statements WHERE name NOT LIKE 'PGBOUNCER%'`)).rows,
    locks: (await other.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).rows,
    listens: (await other.query('SELECT pg_listening_channels()')).rows,
  })
  const untouched = await state()
  const app = await databaseApp(t, kind, models, [Heroes])
  for (const name of ['Robin', 'Batgirl']) assert.equal((await app.fetch(`/${name}`, post)).status, 204)
  for (const path of ['/', '/found/Robin', '/whole']) assert.equal((await app.fetch(path)).status, 200)
  assert.deepEqual(await state(), untouched)
})

/** Settings that PgBouncer gives each client back. */
const TRACKED = new Set([
  'application_name',
  'client_encoding',
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'standard_conforming_strings',
  'search_path',
  'default_transaction_read_only',
  'in_hot_standby',
  'scram_iterations',
])

test('each client has the time zone of Sequelize, and literals without backslashes', { skip }, async (t) => {
  const { url, server } = await pooled(t, { default_pool_size: 1 })
  await server.query(`ALTER DATABASE ${server.database} SET TimeZone = 'Asia/Tokyo'`)
  const database = await databaseOf(t, url, {})
  const other = await clientOf(t, url)
  for (let round = 0; round < 3; round++) {
    await other.query(`SET TimeZone = 'America/Lima'; SET standard_conforming_strings = off`)
    const [rows] = await database.sequelize.query(
      `SELECT current_setting('TimeZone') AS zone, current_setting('standard_conforming_strings') AS strings`,
    )
    assert.deepEqual(rows, [{ zone: 'UTC', strings: 'on' }])
  }
})

for (const maximum of keepsStatements ? ['100', '0'] : [undefined]) {
  const isPrepared = maximum === '100'
  test(
    `statements are ${isPrepared ? '' : 'not '}prepared where PgBouncer ${isPrepared ? 'keeps' : 'does not keep'} them`,
    { skip },
    async (t) => {
      const { kind, server } = await pooled(t, {
        default_pool_size: 3,
        ...(maximum === undefined ? {} : { max_prepared_statements: maximum }),
      })
      const app = await databaseApp(t, kind, models, [Heroes])
      assert.equal((await app.fetch('/Robin', post)).status, 204)
      const reads = Array.from({ length: 60 }, () => app.fetch('/found/Robin'))
      for (const read of reads) assert.equal((await read).status, 200)
      const names = await withSession(app.database, async (session) => {
        await session.execute(sql`SELECT age FROM hero WHERE name = ${'Robin'}::text`)
        return session.execute<{ name: string }>(
          sql`SELECT name FROM pg_prepared_statements WHERE statement LIKE ${'%FROM hero%'}::text`,
        )
      })
      assert.equal(names.length > 0, isPrepared)
      // A table that is altered: each connection notices once, and a GET handler is run again.
      await server.query('ALTER TABLE hero ADD motto text')
      await server.query('ALTER TABLE hero ALTER age TYPE bigint')
      for (let n = 0; n < 20; n++) assert.equal((await app.fetch('/found/Robin')).status, 200)
    },
  )
}

test(
  'an app that starts after a table was altered does not find the statements that were prepared before',
  { skip },
  async (t) => {
    const { kind, server } = await pooled(t, { default_pool_size: 1 })
    const earlier = await databaseApp(t, kind, models, [Heroes])
    assert.equal((await earlier.fetch('/Robin', post)).status, 204)
    await earlier.close()
    await server.query('ALTER TABLE hero ALTER age TYPE smallint')
    const { fetch } = await databaseApp(t, kind, models, [Heroes])
    assert.equal((await fetch('/Batgirl', post)).status, 204)
  },
)

test('concurrent increments on few server connections are all there', { skip }, async (t) => {
  const { kind } = await pooled(t, { default_pool_size: 3 })
  const app = await databaseApp(t, kind, models, [Heroes], { lifespan: { poolSize: 20, poolTimeout: 20_000 } })
  assert.equal((await app.fetch('/Robin', post)).status, 204)
  @Controller('/')
  class Incrementing {
    @Post() async increment() {
      await Hero.increment('age', { by: 1, where: { name: 'Robin' } })
    }
  }
  await withSession(app.database, () => Hero.update({ age: 0 }, { where: {} }))
  await app.close()
  const again = await databaseApp(t, kind, models, [Incrementing], { lifespan: { poolSize: 20, poolTimeout: 20_000 } })
  const answers = await Promise.all(Array.from({ length: 200 }, () => again.fetch('/', post)))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [204])
  assert.equal((await withSession(again.database, () => Hero.findOne()))?.age, 200)
})

@Controller('/')
class Slow {
  @Post() async sleep(session: Session) {
    await Hero.update({ age: 1 }, { where: { name: 'Robin' } })
    await session.execute(sql`SELECT pg_sleep(25)`)
  }
  @Post('/locked') async locked() {
    await Hero.update({ age: 1 }, { where: { name: 'Robin' } })
  }
  @Get('/whole') whole() {
    return Hero.count()
  }
}

const ACTIVE = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE state <> 'idle' AND datname = current_database() AND pid <> pg_backend_pid()`

test('statements that are given up leave nothing that runs, and no lock', { skip }, async (t) => {
  const { kind, server } = await pooled(t)
  const app = await databaseApp(t, kind, models, [Slow], { lifespan: { poolSize: 20 }, timeouts: { handler: 8_000 } })
  await withSession(app.database, () => Hero.create({ name: 'Robin' }))
  const active = async () => Number((await server.query(ACTIVE)).rows[0].count)
  const answers = Array.from({ length: 15 }, () => said(app.fetch('/', post)))
  await until('one sleeps, and the others wait for its lock', async () => (await active()) === 15)
  for (const answer of answers) assert.match(await answer, /^503/)
  await until('nothing runs', async () => (await active()) === 0)
  assert.equal((await app.fetch('/locked', post)).status, 204)
  await assertWhole(app)
})

test('COMMIT is limited, and what it could not do is not kept', { skip }, async (t) => {
  const { kind, server } = await pooled(t)
  const app = await databaseApp(t, kind, models, [Heroes], { lifespan: { statementTimeout: 1_500 } })
  await server.query(`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$`)
  await server.query(`CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON hero DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slowly()`)
  const answer = await said(app.fetch('/Robin', post))
  assert.match(answer, /^50[34]/)
  await until('nothing runs', async () => Number((await server.query(ACTIVE)).rows[0].count) === 0)
  assert.equal((await server.query('SELECT 1 FROM hero')).rows.length, 0)
  await assertWhole(app)
})

test('a statement outside of transactions is limited, too', { skip }, async (t) => {
  const { url, server } = await pooled(t)
  const { sequelize } = await databaseOf(t, url, { statementTimeout: 2_000 })
  await assert.rejects(sequelize.query('SELECT pg_sleep(25)'), /canceling statement/)
  await until('nothing runs', async () => Number((await server.query(ACTIVE)).rows[0].count) === 0)
})

test(
  'a statement that waits for a lock, and a transaction that sends nothing, end by their limits',
  { skip },
  async (t) => {
    const held = gate()
    @Controller('/')
    class Waiting {
      @Post() async lock() {
        await Hero.update({ age: 2 }, { where: { name: 'Robin' } })
      }
      @Post('/idle') async idle(session: Session) {
        await Hero.update({ age: 3 }, { where: { name: 'Robin' } })
        await held.opened
        await session.execute(sql`SELECT 1`)
      }
      @Get('/whole') whole() {
        return Hero.count()
      }
    }
    const { kind, server } = await pooled(t)
    const app = await databaseApp(t, kind, models, [Waiting], {
      lifespan: { lockTimeout: 300, idleInTransactionTimeout: 1_000 },
    })
    await server.query(`INSERT INTO hero (name) VALUES ('Robin')`)
    await server.query('BEGIN; UPDATE hero SET age = 1')
    assert.match(await said(app.fetch('/', post)), /^503.*holds a lock/)
    await server.query('ROLLBACK')
    const idle = said(app.fetch('/idle', post))
    const transactions = `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()`
    await until('it is idle', async () => (await server.query(transactions)).rows.length === 1)
    await until('the server has ended it', async () => (await server.query(transactions)).rows.length === 0)
    held.open()
    assert.match(await idle, /^503/)
    assert.equal((await server.query('SELECT age FROM hero')).rows[0].age, 0)
    await assertWhole(app)
  },
)

test('a server that is killed during COMMIT: it is not known whether it was saved', { skip }, async (t) => {
  const own = await ownPostgres(t, { lasting: true })
  const { kind, server } = await pooled(t, { server_login_retry: 1, query_wait_timeout: 3 }, own.url)
  const app = await databaseApp(t, kind, models, [Heroes])
  await server.query(`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$`)
  await server.query(`CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON hero DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slowly()`)
  const answer = said(app.fetch('/Robin', post))
  const committing = `SELECT pid FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'`
  await until('it commits', async () => (await server.query(committing)).rows.length === 1)
  await server.query(`SELECT pg_terminate_backend(pid) FROM (${committing}) AS found`)
  assert.match(await answer, /^503: It is not known whether this was saved/)
  await own.kill()
  assert.match(await said(app.fetch('/whole')), /^503/)
  await own.restart()
  await until('it answers again', async () => (await app.fetch('/whole')).status === 200, 100)
  await assertWhole(app)
})

const refusals: readonly (readonly [what: string, settings: Record<string, string>, path: string, says: RegExp])[] = [
  ['a pooler by statement', { pool_mode: 'statement' }, '', /Set pool_mode = transaction/],
  ['a database that does not exist', {}, '/nowhere', /"nowhere" does not exist/],
]
for (const [what, settings, path, says] of refusals)
  test(`${what} stops the start at once`, { skip }, async (t) => {
    const { url } = await pooled(t, settings)
    const log: string[] = []
    const wrong = Object.assign(new URL(url), path === '' ? {} : { pathname: path }).href
    await assert.rejects(
      newLifespan(wrong, { startTimeout: 60_000 }).start((line) => log.push(line)),
      says,
    )
    assert.deepEqual(log, [])
  })
