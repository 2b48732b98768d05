import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Controller, Get, Inject, newLifespan, Post, Session, sql, Transactional } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { rawSql } from '../../src/db/statements/statement.js'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { databases, mysqls, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * Handlers that work in two databases, of which one refuses its COMMIT: by a deferred foreign key, which MySQL and MariaDB do not have.
 */

const models = [Team, Hero]
const post = { method: 'POST' }
const refusing = databases.filter(({ name }) => !/MariaDB/.test(name))
const PARTLY_SAVED =
  '500 urn:sequitur:partial-commit: A part of this was saved, and a part was not. Check what was saved before you send it again.'
const PERHAPS_PARTLY_SAVED =
  '500 urn:sequitur:partial-commit: It is not known whether all of this was saved, or only a part. Check what was saved before you send it again.'
const UNKNOWN = '503: It is not known whether this was saved. Check before you try again.'
const CONFLICT = '409: It refers to something that does not exist, or something still refers to it.'

const insertOrphan = (session: Session) => session.execute(sql`INSERT INTO child (parent) VALUES (${7})`)

/** A pattern of the name of a database: its dialect, and the end of its URL. */
function nameInLog(url: string): string {
  return `(?:sqlite|postgres|mariadb|mysql) \\S*${url.slice(url.lastIndexOf('/') + 1).replace(/\?.*/, '')}`
}

/** An app with heroes in one database, and a table whose rows make COMMIT fail in the other. */
async function twoDatabases(
  t: TestContext,
  kinds: { readonly heroes: TestDatabase; readonly entries: TestDatabase; readonly heroesFirst?: boolean },
) {
  const urls = [await kinds.heroes.url(), await kinds.entries.url()] as const
  const heroes = newLifespan(urls[0], { sync: true, models })
  const entries = newLifespan(urls[1])
  const log: string[] = []
  const ran: string[] = []
  let runs = 0

  /** That the function writes cannot be seen. */
  const callsFunction = async (what: string, session: Session, other: Session) => {
    await session.execute(rawSql(what))
    await other.execute(sql`SELECT insert_orphan()`)
    return {}
  }

  @Controller('/')
  class Two {
    @Get('/calls') getCalls(
      what: string,
      @Inject(heroes.Session) session: Session,
      @Inject(entries.Session) other: Session,
    ) {
      return callsFunction(what, session, other)
    }
    @Post('/calls') postCalls(
      what: string,
      @Inject(heroes.Session) session: Session,
      @Inject(entries.Session) other: Session,
    ) {
      return callsFunction(what, session, other)
    }
    @Transactional({ retry: 3 })
    @Post('/both')
    async both(@Inject(heroes.Session) session: Session, @Inject(entries.Session) other: Session) {
      runs++
      session.afterCommit(() => ran.push('hero'))
      other.afterCommit(() => ran.push('entry'))
      await insertOrphan(other)
      await Hero.create({ name: 'Robin' })
    }
    @Post('/queued') async queued(@Inject(heroes.Session) session: Session, @Inject(entries.Session) other: Session) {
      session.add(Hero.build({ name: 'Thor' }))
      await insertOrphan(other)
    }
    @Post('/reading') async reading(@Inject(entries.Session) other: Session) {
      await Hero.count()
      await insertOrphan(other)
    }
    @Post('/unused') async unused(@Inject(entries.Session) other: Session) {
      await insertOrphan(other)
    }
    @Post('/rolled-back') async rolledBack(
      @Inject(heroes.Session) session: Session,
      @Inject(entries.Session) other: Session,
    ) {
      await Hero.create({ name: 'Robin' })
      session.rollback()
      await insertOrphan(other)
    }
    @Post('/fine') async fine(@Inject(entries.Session) other: Session) {
      await Hero.create({ name: 'Batman' })
      await other.execute(sql`INSERT INTO parent (id) VALUES (${1})`)
    }
  }
  const write = (line: string) => void log.push(line)
  const { fetch, close } = await testApp({
    controllers: [Two],
    lifespan: kinds.heroesFirst === false ? [entries, heroes] : [heroes, entries],
    logger: { info: write, warn: write, error: write },
  })
  t.after(close)
  await entries.sequelize.query('CREATE TABLE parent (id INTEGER PRIMARY KEY)')
  await entries.sequelize.query(
    'CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)',
  )
  const rows = async (table: string) => (await entries.sequelize.query(`SELECT * FROM ${table}`))[0].length
  return { fetch, log, ran, rows, runs: () => runs, entries, names: urls.map(nameInLog) }
}

for (const heroes of databases)
  for (const entries of refusing) {
    const both = `${heroes.name}, then ${entries.name}`

    test(`${both}: when the second COMMIT fails, the answer and the log tell that a part was saved`, async (t) => {
      const app = await twoDatabases(t, { heroes, entries })
      assert.equal(await said(app.fetch('/both', post)), PARTLY_SAVED)
      assert.deepEqual([await Hero.count(), await app.rows('child'), app.runs(), app.ran], [1, 0, 1, ['hero']])
      const [entry = '', ...others] = app.log.filter((line) => line.includes('PartialCommitError'))
      assert.deepEqual(others, [])
      const [committed, failed] = app.names
      assert.match(
        entry,
        new RegExp(`POST /both.*Committed: ${committed} \\(1 of 2\\). COMMIT failed: ${failed} \\(2 of 2\\).`),
      )
      assert.match(entry, /caused by SequelizeForeignKeyConstraintError/)
      assert.equal(await said(app.fetch('/queued', post)), PARTLY_SAVED)
      assert.equal(await said(app.fetch('/fine', post)), '204: ')
    })

    test(`${both}: nothing is told to be saved where nothing was`, async (t) => {
      const app = await twoDatabases(t, { heroes, entries })
      for (const path of ['/reading', '/unused', '/rolled-back'])
        assert.equal(await said(app.fetch(path, post)), CONFLICT, path)
      assert.deepEqual([await Hero.count(), await app.rows('child')], [0, 0])
      assert.doesNotMatch(app.log.join('\n'), /PartialCommitError/)
    })
  }

test('when the first COMMIT fails, nothing is saved in the second database', async (t) => {
  const app = await twoDatabases(t, { heroes: sqliteFile, entries: sqliteFile, heroesFirst: false })
  for (const path of ['/both', '/queued']) assert.equal(await said(app.fetch(path, post)), CONFLICT)
  assert.deepEqual([await Hero.count(), app.ran], [0, []])
})

/** What COMMIT does on PostgreSQL, and how the log describes it. */
const commits = [
  ["RAISE 'in the way' USING ERRCODE = 'serialization_failure'", PARTLY_SAVED, /by SequelizeDatabaseError: in the way/],
  ["RAISE 'double' USING ERRCODE = 'unique_violation'", PARTLY_SAVED, /caused by SequelizeUniqueConstraintError/],
  ['PERFORM pg_terminate_backend(pg_backend_pid())', PERHAPS_PARTLY_SAVED, /caused by CommitUnknownError/],
] as const

for (const [statement, answer, cause] of commits)
  test(`PostgreSQL: a second COMMIT that executes ${statement} is never "try again"`, async (t) => {
    const app = await twoDatabases(t, { heroes: sqliteFile, entries: postgres })
    await app.entries.sequelize
      .query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON parent DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
    assert.equal(await said(app.fetch('/fine', post)), answer)
    assert.equal(await Hero.count(), 1)
    assert.match(app.log.join('\n'), cause)
  })

for (const heroes of [sqliteFile, postgres])
  test(`${heroes.name}, then PostgreSQL: a GET that has only read in the first database has saved nothing there`, async (t) => {
    const app = await twoDatabases(t, { heroes, entries: postgres })
    await app.entries.sequelize.query(
      'CREATE FUNCTION insert_orphan() RETURNS void LANGUAGE sql AS $$ INSERT INTO child (parent) VALUES (7) $$',
    )
    const calls = (method: string, what: string) =>
      said(app.fetch(`/calls?what=${encodeURIComponent(what)}`, { method }))
    for (const read of ['SELECT 1', 'WITH one AS (SELECT 1) SELECT * FROM one', 'EXPLAIN SELECT 1']) {
      assert.equal(await calls('GET', read), CONFLICT, read)
      assert.equal(await calls('POST', read), PARTLY_SAVED, read)
    }
    for (const write of ["UPDATE hero SET name = 'a'", 'CREATE TABLE made (id INTEGER)'])
      assert.equal(await calls('GET', write), PARTLY_SAVED, write)
  })

/** When a connection is closed: before the server gets COMMIT, or when it has answered. */
type Loss = 'before' | 'after'

interface LossyServer {
  /** The URL of a new database, through a proxy. */
  readonly url: string
  /** Loses the next COMMIT. */
  lose(loss: Loss): void
}

async function lossyServer(t: TestContext, kind: TestDatabase): Promise<LossyServer> {
  let next: Loss | undefined
  const writers = new WeakSet<object>() // not the connection on which keys are deleted that have expired
  const server = new URL(await kind.url())
  server.port ||= '3306'
  const url = await watchedNetwork(t, server.href, (bytes, client, upstream) => {
    if (bytes.includes('INSERT INTO thing')) writers.add(client)
    const loss = writers.has(client) && bytes.includes('COMMIT') ? next : undefined
    if (loss) next = undefined
    if (loss === 'before') return void client.destroy()
    if (loss === 'after')
      upstream
        .unpipe(client)
        .once('data', () => client.destroy())
        .resume()
    upstream.write(bytes)
  })
  return { url, lose: (loss) => void (next = loss) }
}

/** An app that writes a row into each of two databases, the second of which has the keys of requests. */
async function twoServers(t: TestContext, kinds: readonly [TestDatabase, TestDatabase]) {
  const servers = [await lossyServer(t, kinds[0]), await lossyServer(t, kinds[1])] as const
  const first = newLifespan(servers[0].url)
  const second = newLifespan(servers[1].url, { sync: true, models: [IdempotencyRecord] })
  const log: string[] = []

  @Controller('/')
  class Two {
    @Idempotent({ required: false })
    @Transactional({ retry: 3 })
    @Post('/both')
    async both(@Inject(first.Session) one: Session, @Inject(second.Session) two: Session) {
      await one.execute(sql`INSERT INTO thing (id) VALUES (${1})`)
      await two.execute(sql`INSERT INTO thing (id) VALUES (${1})`)
    }
  }
  const app = await testApp({
    controllers: [Two],
    lifespan: [first, second],
    logger: { info() {}, warn() {}, error: (line) => void log.push(line) },
  })
  t.after(app.close)
  for (const { sequelize } of [first, second]) await sequelize.query('CREATE TABLE thing (id INTEGER)')
  const rowsOf = async ({ sequelize }: typeof first) => (await sequelize.query('SELECT * FROM thing'))[0].length
  return {
    log,
    servers,
    rows: async () => [await rowsOf(first), await rowsOf(second)],
    /** @param key none if it is left out. */
    both: (key?: string) => said(app.fetch('/both', { ...post, headers: key ? { 'idempotency-key': key } : {} })),
  }
}

/** Which COMMIT is lost, what is answered, and how many rows each database has then, and after the request was sent again with its key. */
const lost = [
  { which: 0, loss: 'before', answer: UNKNOWN, rows: [0, 0], again: [1, 1] },
  { which: 0, loss: 'after', answer: UNKNOWN, rows: [1, 0], again: [2, 1] },
  { which: 1, loss: 'before', answer: PERHAPS_PARTLY_SAVED, rows: [1, 0], again: [2, 1] },
  // The key was saved with the rows.
  { which: 1, loss: 'after', answer: PERHAPS_PARTLY_SAVED, rows: [1, 1], again: [1, 1] },
] as const

for (const [one, other] of [
  [postgres, postgres],
  ...mysqls.flatMap((kind) => [[postgres, kind] as const, [kind, postgres] as const]),
])
  for (const { which, loss, answer, rows, again } of lost)
    test(`${one.name}, then ${other.name}: COMMIT ${which + 1} is lost ${loss} the server executes it`, async (t) => {
      const app = await twoServers(t, [one, other])
      app.servers[which].lose(loss)
      assert.equal(await app.both('key'), answer)
      assert.deepEqual(await app.rows(), rows)
      assert.equal(app.log.length, 1)
      assert.match(
        app.log.join(),
        which === 0 ? /^POST \/both.*CommitUnknownError/ : /Perhaps only a part.*\(1 of 2\).*not answered.*\(2 of 2\)/,
      )
      // Until the server has noticed that the connection is gone, its transaction has the key.
      let answered = ''
      await until('the key is free', async () => !(answered = await app.both('key')).startsWith('409'))
      assert.equal(answered, '204: ')
      assert.deepEqual(await app.rows(), again)
      app.servers[which].lose(loss)
      assert.equal(await app.both(), answer)
    })

for (const kind of mysqls)
  for (const which of [0, 1])
    test(`${kind.name}: a statement that commits by itself, in database ${which + 1} of two, saves nothing of either`, async (t) => {
      const lifespans = [newLifespan(await kind.url()), newLifespan(await kind.url())] as const

      @Controller('/')
      class Two {
        @Post('/both') async both(
          @Inject(lifespans[0].Session) one: Session,
          @Inject(lifespans[1].Session) two: Session,
        ) {
          for (const session of [one, two]) await session.execute(sql`INSERT INTO thing (id) VALUES (${1})`)
          await [one, two][which]?.execute(sql`CREATE TABLE made (id INTEGER)`)
        }
      }
      const app = await testApp({ controllers: [Two], lifespan: lifespans, logger: false })
      t.after(app.close)
      for (const { sequelize } of lifespans) await sequelize.query('CREATE TABLE thing (id INTEGER)')
      assert.equal((await app.fetch('/both', post)).status, 500)
      for (const { sequelize } of lifespans) assert.deepEqual((await sequelize.query('SELECT * FROM thing'))[0], [])
    })
