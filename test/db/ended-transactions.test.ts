import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Sequelize } from 'sequelize-typescript'
import { Controller, type Database, type LifespanOptions, newLifespan, Post, Session, withSession } from 'sequitur'
import { rawSql } from '../../src/db/statements/statement.js'
import { databaseApp, mysqls, type TestDatabase } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { mariadbOptions } from '../support/mariadb.js'

/*
 * Statements that end the transaction of a session on MariaDB and MySQL, in ways that their text does not show.
 */

const PARTLY_SAVED =
  '500 urn:sequitur:partial-commit: A part of this was saved, and a part was not. Check what was saved before you send it again.'
const FAILED = '500: Something went wrong on our side.'

/** Each is executed between two rows that are written; then the handler fails. */
const CASES: readonly (readonly [what: string, answer: string, kept: readonly string[]])[] = [
  ['CALL commits()', PARTLY_SAVED, ['a', 'inner']],
  ['/* why */ CALL commits()', PARTLY_SAVED, ['a', 'inner']],
  ['/*!40000 CALL commits() */', PARTLY_SAVED, ['a', 'inner']],
  ['CALL begins_again()', PARTLY_SAVED, ['a']],
  ['CALL commits_and_fails()', PARTLY_SAVED, ['a']],
  ['CALL rolls_back()', PARTLY_SAVED, []],
  ['CALL keeps()', FAILED, []],
  ["EXECUTE IMMEDIATE 'COMMIT'", PARTLY_SAVED, ['a']],
  ['IF 1 THEN COMMIT; END IF', PARTLY_SAVED, ['a']],
  ['SET STATEMENT max_statement_time = 1 FOR COMMIT', PARTLY_SAVED, ['a']],
  ['SET/**/STATEMENT max_statement_time = 1 FOR COMMIT', PARTLY_SAVED, ['a']],
  ['CREATE TEMPORARY SEQUENCE other', PARTLY_SAVED, ['a']],
  ['LOCK/**/TABLES team WRITE', PARTLY_SAVED, ['a']],
  ['FLUSH TABLES', FAILED, []],
  ['SET autocommit = 1', FAILED, []],
  ['SET SESSION lock_wait_timeout = 1, @@autocommit := 0', FAILED, []],
  ['CHECK TABLE hero', FAILED, []],
  ['UNLOCK TABLES', FAILED, []],
  ['CREATE TABLE other (id INT)', FAILED, []],
]

const PROCEDURES = [
  "commits() BEGIN INSERT INTO hero (name) VALUES ('inner'); COMMIT; END",
  'begins_again() BEGIN COMMIT; START TRANSACTION; END',
  "commits_and_fails() BEGIN COMMIT; SIGNAL SQLSTATE '45000'; END",
  'rolls_back() ROLLBACK',
  "keeps() BEGIN INSERT INTO hero (name) VALUES ('inner'); SELECT 1; END",
  'begins_read_only() BEGIN COMMIT; START TRANSACTION READ ONLY; END',
  "sets_mode() SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'",
  'sets_autocommit() SET autocommit = 0',
  'locks() DO GET_LOCK("left_over", 0)',
]

async function appOn(t: TestContext, kind: TestDatabase, lifespan: LifespanOptions) {
  @Controller('/')
  class Heroes {
    @Post('/between') async between(what: string, session: Session) {
      await Hero.create({ name: 'a' })
      await session.execute(rawSql(what)).catch(() => {})
      await Hero.create({ name: 'b' })
      throw new Error('undo')
    }
    @Post('/autocommit') async autocommit(what: string, after: string, session: Session) {
      await session.execute(rawSql(what))
      await Hero.create({ name: 'a' })
      await session.execute(rawSql(after))
      throw new Error('undo')
    }
    @Post('/alone') async alone(what: string, after: string, session: Session) {
      await session.execute(rawSql(what))
      if (after) await session.execute(rawSql(after))
      return { done: true }
    }
    @Post('/nested') async nested(what: string, session: Session) {
      await Hero.create({ name: 'a' })
      await session.nested(() => session.execute(rawSql(what))).catch(() => {})
      return { done: true }
    }
  }
  const app = await databaseApp(t, kind, [Team, Hero], [Heroes], { lifespan })
  for (const procedure of PROCEDURES) await app.database.sequelize.query(`CREATE PROCEDURE ${procedure}`)
  const post = (path: string, what: string, after = '') =>
    said(app.fetch(`${path}?${new URLSearchParams({ what, after }).toString()}`, { method: 'POST' }))
  const names = async () => (await Hero.findAll({ order: ['name'] })).map(({ name }) => name)
  return { ...app, post, names }
}

for (const kind of mysqls)
  test(`${kind.name}: tables of engines without transactions are named at startup`, async (t) => {
    const url = await kind.url()
    const before = newLifespan(url, { sync: true, models: [Team, Hero] })
    await before.start()
    await before.sequelize.query('ALTER TABLE hero ENGINE = Aria')
    await before.stop()
    const log: string[] = []
    const logger = { info() {}, warn: (line: string) => void log.push(line), error() {} }
    await databaseApp(t, { name: kind.name, url: () => Promise.resolve(url) }, [Team, Hero], [], { logger })
    const named = log.filter((line) => line.includes('Aria'))
    assert.match(named.join(), /table hero has the engine Aria, .* ALTER TABLE hero ENGINE = InnoDB/)
    assert.doesNotMatch(named.join(), /team/)
  })

for (const kind of mysqls)
  for (const fastPath of [true, false]) {
    const name = `${kind.name}, ${fastPath ? 'fast' : 'stock'} path`
    test(`${name}: no statement after the end of the transaction is executed, and the response says what may be saved`, async (t) => {
      const { post, names } = await appOn(t, kind, { fastPath, poolSize: 1 })
      for (const [what, answer, kept] of CASES) {
        assert.deepEqual([what, await post('/between', what), await names()], [what, answer, kept])
        await Hero.destroy({ where: {} })
      }
      assert.equal(await post('/nested', 'CALL commits()'), PARTLY_SAVED)
    })

    test(`${name}: a procedure that commits may be all of the work, and nothing follows it`, async (t) => {
      const { post, names, database } = await appOn(t, kind, { fastPath, poolSize: 1 })
      assert.equal(await post('/alone', 'CALL commits()'), '201: ')
      assert.equal(await post('/alone', 'CALL begins_again()', "INSERT INTO hero (name) VALUES ('b')"), PARTLY_SAVED)
      assert.equal(await post('/alone', 'CALL keeps()', 'DELETE FROM hero'), '409: It exists already.')
      assert.deepEqual(await names(), ['inner'])
      const autocommit = await database.sequelize.query("SELECT IF(@@autocommit, 'on', 'off') AS it", { plain: true })
      assert.deepEqual(autocommit, { it: 'on' })
    })
  }

for (const kind of mysqls)
  test(`${kind.name}: autocommit that is set beside other variables saves nothing unnoticed`, async (t) => {
    const { post, names } = await appOn(t, kind, { poolSize: 1 })
    for (const set of ["SET @a = 'x', autocommit", 'SET/**/autocommit', 'SET@@autocommit']) {
      assert.deepEqual([set, await post('/autocommit', `${set} = 0`, `${set} = 1`)], [set, PARTLY_SAVED])
      assert.deepEqual(await names(), ['a'])
      await Hero.destroy({ where: {} })
    }
  })

/** A database whose driver executes several statements of one text. */
async function withSeveralStatements(t: TestContext, kind: TestDatabase): Promise<Database> {
  const sequelize = new Sequelize({
    ...mariadbOptions(await kind.url()),
    pool: { max: 1 },
    dialectOptions: { multipleStatements: true },
  })
  const database = newLifespan(sequelize, { sync: true, models: [Team, Hero] })
  await database.start()
  t.after(() => database.stop())
  for (const procedure of PROCEDURES) await sequelize.query(`CREATE PROCEDURE ${procedure}`)
  return database
}

for (const kind of mysqls)
  test(`${kind.name}: each statement of a text with several is judged`, async (t) => {
    const database = await withSeveralStatements(t, kind)
    const between = (text: string) =>
      withSession(database, async (session) => {
        await Hero.create({ name: 'a' })
        await session.execute(rawSql(text))
        await Hero.create({ name: 'b' })
      })
    for (const [text, error, kept] of [
      ['SELECT 1; COMMIT', 'TransactionControlError', []],
      ['SELECT 1; CREATE TABLE other (id INT)', 'ImplicitCommitError', []],
      ["SELECT ';'; CALL commits()", 'PartialCommitError', ['a', 'inner']],
      ["SELECT 1; INSERT INTO hero (name) VALUES ('a')", 'SequelizeUniqueConstraintError', []],
    ] as const) {
      await assert.rejects(between(text), { name: error }, text)
      const rows = await Hero.findAll({ order: ['name'] })
      assert.deepEqual([text, rows.map(({ name }) => name)], [text, kept])
      await Hero.destroy({ where: {} })
    }
    await between("SELECT 1; INSERT INTO hero (name) VALUES ('c')")
    assert.equal(await Hero.count(), 3)
    await withSession(database, (session) => session.execute(rawSql("SELECT 1; SET SESSION sql_mode = 'ANSI'")))
    const [mode] = await withSession(database, (session) => session.execute(rawSql('SELECT @@sql_mode AS mode')))
    assert.doesNotMatch(JSON.stringify(mode), /ANSI/)
  })

for (const kind of mysqls)
  test(`${kind.name}: the next session does not go on in a transaction that a procedure has begun`, async (t) => {
    const { database } = await appOn(t, kind, { poolSize: 1 })
    const call = withSession(database, (session) => session.execute(rawSql('CALL begins_read_only()')))
    const next = withSession(database, () => Hero.create({ name: 'a' })) // waits for the connection
    await call
    await next
    assert.equal(await Hero.count(), 1)
  })

const STATE = `SELECT @@sql_mode AS m, @x AS x, @@tx_isolation AS i, @@time_zone AS z, DATABASE() AS d, CAST(@@autocommit AS CHAR) AS a,
  COALESCE(IS_USED_LOCK('left_over') = CONNECTION_ID(), 0) = 0 AS free`

for (const kind of mysqls)
  test(`${kind.name}: what a procedure, or a statement outside of sessions, has set on a connection is not there in the next session`, async (t) => {
    const { database } = await appOn(t, kind, { poolSize: 1 })
    const { sequelize } = database
    const run = (text: string) => withSession(database, (session) => session.execute(rawSql(text)))
    const before = await run(STATE)
    for (const text of [
      'CALL sets_mode()',
      'CALL sets_autocommit()',
      'CALL locks()',
      'SELECT 7 INTO @x',
      'SELECT @x := 7',
    ])
      for (const execute of [run, (sql: string) => sequelize.query(sql)]) {
        await execute(text)
        assert.deepEqual([text, await run(STATE)], [text, before])
      }
    for (const text of [
      "SET time_zone = '+05:00'",
      'SET GLOBAL max_connections = @@max_connections, @x = 7',
      'USE mysql',
    ]) {
      await sequelize.query(text)
      assert.deepEqual([text, await run(STATE)], [text, before])
    }
  })

for (const kind of mysqls)
  test(`${kind.name}: what a session has set on its connection is not there in the next one`, async (t) => {
    const database = newLifespan(await kind.url(), { poolSize: 1 })
    await database.start()
    t.after(() => database.stop())
    const run = (text: string) => withSession(database, (session) => session.execute(rawSql(text)))
    const read = 'SELECT @@sql_mode AS m, @x AS x, @@tx_isolation AS i, @@time_zone AS z, DATABASE() AS d'
    const before = await run(read)
    const changes = ["/* a */ SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'", 'SET @x = 7', "SET time_zone = '+05:00'"]
    for (const text of [...changes, "SET SESSION tx_isolation = 'READ-UNCOMMITTED'", 'USE mysql']) {
      await run(text)
      assert.deepEqual([text, await run(read)], [text, before])
    }
    await run('CREATE TEMPORARY TABLE left_over (id INT)')
    await assert.rejects(run('SELECT id FROM left_over'), /doesn't exist/)
    await run("SELECT GET_LOCK('left_over', 0)")
    assert.deepEqual(await run("SELECT COALESCE(IS_USED_LOCK('left_over') = CONNECTION_ID(), 0) = 0 AS free"), [
      { free: 1 },
    ])
  })
