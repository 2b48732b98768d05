import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Controller, Get, Inject, newLifespan, Post, Session, sql, Transactional } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { rawSql } from '../../src/db/statements/statement.js'
import { databases, postgres, sqliteFile, type TestDatabase } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'

/*
 * Handlers that work in two databases, of which one refuses its COMMIT: by a deferred foreign key, which MySQL and MariaDB do not have.
 */

const models = [Team, Hero]
const post = { method: 'POST' }
const refusing = databases.filter(({ name }) => !/MariaDB/.test(name))
const PARTLY_SAVED =
  '500: A part of this was saved, and a part was not. Do not send it again before you have checked what is there.'
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
  ["RAISE 'in the way' USING ERRCODE = 'serialization_failure'", /caused by SequelizeDatabaseError: in the way/],
  ["RAISE 'double' USING ERRCODE = 'unique_violation'", /caused by SequelizeUniqueConstraintError/],
  ['PERFORM pg_terminate_backend(pg_backend_pid())', /caused by CommitUnknownError/],
] as const

for (const [statement, cause] of commits)
  test(`PostgreSQL: a second COMMIT that executes ${statement} is never "try again"`, async (t) => {
    const app = await twoDatabases(t, { heroes: sqliteFile, entries: postgres })
    await app.entries.sequelize
      .query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON parent DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
    assert.equal(await said(app.fetch('/fine', post)), PARTLY_SAVED)
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
