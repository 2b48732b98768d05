import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { literal, Op } from 'sequelize'
import {
  Controller,
  Field,
  Get,
  HttpError,
  Page,
  Paginate,
  Post,
  select,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import type { StatementEnded } from 'sequitur/diagnostics'
import {
  type DatabaseApp,
  databaseApp,
  databases,
  sqliteFile,
  sqliteMemory,
  type TestDatabase,
} from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { endedRequests, observed } from '../support/observed.js'
import { gate, until } from '../support/waiting.js'

let reading = gate()
let written = gate()
let runs = 0

@Controller('/heros')
class Heros {
  @Get('/') async list(session: Session) {
    return (await session.all(select(Hero))).length
  }
  @Post('/') async create(session: Session) {
    await session.get(Hero, 1)
    session.add(Hero.build({ name: 'Robin' }))
    await session.flush()
    await Hero.findAll({ where: literal("name = 'Robin' AND age < 99") })
    await session.execute(sql`SELECT ${1} AS one`)
    await session.nested(() => Hero.count())
  }
  @Post('/failing') async failing(session: Session) {
    await session.get(Hero, 1)
    throw new HttpError(409, 'no')
  }
  @Post('/broken') async broken(session: Session) {
    await session.execute(sql`SELECT * FROM nowhere`)
  }
  @Post('/unused') unused(_session: Session) {}
  @Post('/after-end') audited(session: Session) {
    session.afterEnd(() => Hero.count())
  }
  @Transactional({ retry: 1 })
  @Post('/again')
  async again(session: Session) {
    await session.get(Hero, 1)
    if (runs++ === 0) await session.execute(sql`SELECT conflict()`)
  }
  @Post('/first') async first(session: Session) {
    session.add(Hero.build({ name: 'first' }))
    await session.flush()
    reading.open()
    await written.opened
  }
}

class HeroName {
  @Field() name!: string
}

@Controller('/pages')
class Pages {
  @Get() count() {
    return Hero.count()
  }
}

function appOn(t: TestContext, kind: TestDatabase, lifespan = {}): Promise<DatabaseApp> {
  return databaseApp(t, kind, [Team, Hero], [Heros], { lifespan })
}

function post(app: DatabaseApp, path: string): Promise<Response> {
  return app.fetch(`/heros${path}`, { method: 'POST' })
}

function withoutSavepoints(statements: readonly StatementEnded[]) {
  return statements.filter(({ isSavepoint }) => !isSavepoint)
}

for (const kind of databases) {
  for (const fastPath of [true, false]) {
    const where = `${kind.name}, ${fastPath ? 'on the fast path' : "on Sequelize's path"}`

    test(`every statement of a handler is published with its request: ${where}`, async (t) => {
      const app = await appOn(t, kind, { fastPath })
      const statements = observed(t, 'sequitur.statement')
      const ended = endedRequests(t)
      assert.equal((await post(app, '')).status, 204)
      const request = await ended.next()
      const [get, insert, find, raw, count, ...others] = withoutSavepoints(statements)
      assert.deepEqual(others, [])
      assert.match(get?.sql ?? '', /^SELECT/)
      assert.match(insert?.sql ?? '', /^INSERT/)
      assert.match(find?.sql ?? '', /name = 'Robin' AND age < 99/)
      assert.match(find?.shape ?? '', /name = \? AND age < \?/)
      assert.match(raw?.sql ?? '', /SELECT .* AS one/)
      assert.match(count?.sql ?? '', /count/)
      assert.deepEqual([get?.rows, find?.rows, raw?.rows], [0, 1, 1])
      assert.deepEqual(
        statements.filter(({ isSavepoint }) => isSavepoint).map((one) => one.sql.split(' ')[0]),
        ['SAVEPOINT', 'RELEASE'],
      )
      for (const one of statements) {
        assert.equal(one.request, request)
        assert.equal(one.route, '/heros')
        assert.equal(one.error, undefined)
        assert.ok(one.milliseconds > 0)
        assert.equal(one.database.dialect, app.database.sequelize.getDialect())
      }
      assert.equal(request.statements, 5)
      assert.ok(request.statementMilliseconds > 0)
      assert.equal(request.transaction, 'commit')
    })

    test(`a transaction is published from BEGIN to COMMIT or ROLLBACK: ${where}`, async (t) => {
      const app = await appOn(t, kind, { fastPath })
      const begun = observed(t, 'sequitur.transaction.begin')
      const ends = observed(t, 'sequitur.transaction.end')
      const ended = endedRequests(t)
      await post(app, '')
      await post(app, '/failing')
      await post(app, '/unused')
      const requests = [await ended.next(), await ended.next(), await ended.next()]
      assert.deepEqual(
        ends.map(({ outcome, request }) => [outcome, request]),
        [
          ['commit', requests[0]],
          ['rollback', requests[1]],
        ],
      )
      assert.deepEqual(
        begun.map(({ request, readOnly }) => [request, readOnly]),
        [
          [requests[0], false],
          [requests[1], false],
        ],
      )
      assert.deepEqual(
        requests.map(({ transaction }) => transaction),
        ['commit', 'rollback', undefined],
      )
      for (const { milliseconds, endMilliseconds, error } of ends) {
        assert.ok(milliseconds >= endMilliseconds && endMilliseconds > 0)
        assert.equal(error, undefined)
      }
    })

    test(`a statement that fails is published with its error: ${where}`, async (t) => {
      const app = await appOn(t, kind, { fastPath })
      const statements = observed(t, 'sequitur.statement')
      await post(app, '/broken')
      assert.equal(statements.length, 1)
      assert.match(String(statements[0]?.error), /nowhere/)
    })
  }

  test(`a connection is published with the time that it was waited for: ${kind.name}`, async (t) => {
    const app = await appOn(t, kind)
    const acquired = observed(t, 'sequitur.connection.acquired')
    await app.fetch('/heros')
    assert.equal(acquired.length, 1)
    assert.equal(acquired[0]?.error, undefined)
    assert.equal(acquired[0]?.route, '/heros')
    assert.ok(Number(acquired[0]?.milliseconds) >= 0)
  })

  test(`jobs publish without a request, and callbacks of a request with it: ${kind.name}`, async (t) => {
    const app = await appOn(t, kind)
    const statements = observed(t, 'sequitur.statement')
    await withSession(app.database, () => Hero.count())
    await post(app, '/after-end')
    assert.deepEqual(
      statements.map(({ route }) => route),
      [undefined, '/heros/after-end'],
    )
  })

  test(`a query outside of every session is published: ${kind.name}`, async (t) => {
    const app = await appOn(t, kind)
    const statements = observed(t, 'sequitur.statement')
    await app.database.sequelize.query('SELECT 1 AS one')
    assert.deepEqual(
      statements.map(({ shape, request }) => [shape, request]),
      [['SELECT ? AS one', undefined]],
    )
  })
}

for (const kind of databases.filter(({ name }) => name === 'PostgreSQL')) {
  test('a run that is repeated is published, and its request has the outcome of the last run', async (t) => {
    const app = await appOn(t, kind)
    const raise = `CREATE FUNCTION conflict() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'again' USING ERRCODE = '40001'; END $$`
    await app.database.sequelize.query(raise)
    const retried = observed(t, 'sequitur.transaction.retry')
    const ends = observed(t, 'sequitur.transaction.end')
    const ended = endedRequests(t)
    runs = 0
    assert.equal((await post(app, '/again')).status, 204)
    const request = await ended.next()
    assert.deepEqual(
      retried.map(({ attempt, request: of }) => [attempt, of]),
      [[0, request]],
    )
    assert.match(String(retried[0]?.error), /again/)
    assert.ok(Number(retried[0]?.delayMilliseconds) >= 0)
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      ['rollback', 'commit'],
    )
    assert.deepEqual([request.retries, request.transaction, request.statements], [1, 'commit', 3])
  })

  test('a pool that is exhausted is published as an error of acquiring', async (t) => {
    const app = await appOn(t, kind, { poolSize: 1, poolTimeout: 1_000 })
    const acquired = observed(t, 'sequitur.connection.acquired')
    reading = gate()
    written = gate()
    const first = post(app, '/first')
    await reading.opened
    assert.equal((await app.fetch('/heros')).status, 503)
    written.open()
    assert.equal((await first).status, 204)
    assert.equal(acquired[0]?.error, undefined)
    assert.match(String(acquired[1]?.error), /acquire|timeout/i)
  })
}

test('a COMMIT that is refused is published as a rollback with its error', async (t) => {
  const app = await appOn(t, sqliteFile)
  const run = (text: string) => app.database.sequelize.query(text)
  await run('CREATE TABLE parent (id INTEGER PRIMARY KEY)')
  await run('CREATE TABLE child (parent_id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)')
  const ends = observed(t, 'sequitur.transaction.end')
  const insert = (session: Session) => session.execute(sql`INSERT INTO child VALUES (7)`)
  await assert.rejects(withSession(app.database, insert), /FOREIGN KEY/)
  assert.deepEqual(
    ends.map(({ outcome }) => outcome),
    ['rollback'],
  )
  assert.match(String(ends[0]?.error), /FOREIGN KEY/)
})

test('the turn to write to an SQLite file is published with the length of its queue', async (t) => {
  const app = await appOn(t, sqliteFile)
  const turns = observed(t, 'sequitur.sqlite.writer')
  reading = gate()
  written = gate()
  const first = post(app, '/first')
  await reading.opened
  const others = [post(app, '/first'), post(app, '/first')]
  assert.equal((await app.fetch('/heros')).status, 200) // readers do not wait
  const writer = () => turns[0]?.database.pools().find(({ name }) => name === 'writer')
  await until('both others wait', () => writer()?.waiting === 2)
  written.open()
  await Promise.all([first, ...others])
  assert.deepEqual(
    turns.map(({ route, error, queue }) => [route, error, queue]).toSorted(),
    [0, 0, 1].map((queue) => ['/heros/first', undefined, queue]),
  )
})

test('SQLite in a file: each transaction has a beginning, also one that was begun ahead', async (t) => {
  const { fetch } = await databaseApp(t, sqliteFile, [Team, Hero], [Pages], { lifespan: { poolSize: 1 } })
  const begins = observed(t, 'sequitur.transaction.begin')
  const ends = observed(t, 'sequitur.transaction.end')
  for (const _ of [1, 2, 3]) await fetch('/pages')
  assert.deepEqual([begins.length, ends.length], [3, 3])
})

for (const kind of databases)
  test(`${kind.name}: statements of the start, and outside of sessions, name the database as those of sessions do`, async (t) => {
    const statements = observed(t, 'sequitur.statement')
    await appOn(t, kind)
    await Hero.count()
    await withSession(() => Hero.count())
    const names = new Set(statements.map(({ database }) => database.description))
    assert.ok(statements.length > 2)
    assert.deepEqual([...names], [statements.at(-1)?.database.description])
  })

for (const fastPath of [true, false])
  test(`the rows of a page are counted, also of one that Sequelize reads: fastPath ${fastPath}`, async (t) => {
    @Controller('/')
    class ByPattern {
      @Get('/', Page.of(HeroName)) list(like: string, paginate: Paginate<Hero>) {
        return paginate(select(Hero, { where: { name: { [Op.like]: like } }, order: ['id'] }))
      }
    }
    const app = await databaseApp(t, sqliteMemory, [Team, Hero], [ByPattern], { lifespan: { fastPath } })
    await Hero.bulkCreate([{ name: 'Robin' }, { name: 'Rose' }, { name: 'Batman' }])
    const statements = observed(t, 'sequitur.statement')
    assert.equal((await app.fetch('/?like=R%25')).status, 200)
    assert.equal((await app.fetch('/?like=none')).status, 200)
    const rows = statements.filter(({ sql }) => !sql.includes('count(')).map((one) => one.rows)
    assert.deepEqual(rows, [2, 0])
  })

for (const kind of databases)
  test(`${kind.name}: with the option benchmark the log has the time of each statement, also of SQL of a session`, async (t) => {
    const logged: unknown[][] = []
    const app = await appOn(t, kind, { echo: false })
    const logging = (...line: unknown[]) => logged.push(line)
    Object.assign(Reflect.get(app.database.sequelize, 'options') as object, { benchmark: true, logging })
    await withSession(app.database, (session) => session.execute(sql`SELECT ${'Robin'} AS name`))
    const [text, milliseconds] = logged.find(([line]) => String(line).includes('AS name')) ?? []
    assert.match(String(text), /SELECT/)
    assert.equal(typeof milliseconds, 'number')
  })
