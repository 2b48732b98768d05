import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { literal as sqlLiteral, UniqueConstraintError } from 'sequelize'
import { conflict, Controller, Get, newLifespan, Post, select, Session, sql, withSession } from 'sequitur'
import { databaseApp, databases, postgres, sqliteFile, sqliteMemory, statements } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

const models = [Team, Hero]
const post = { method: 'POST' }

for (const kind of databases) {
  test(`${kind.name}: what a handler wrote is there after its response`, async (t) => {
    @Controller('/')
    class Creating {
      @Post() async create(session: Session) {
        session.add(Hero.build({ name: 'Robin' }))
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Creating])
    assert.equal((await fetch('/', post)).status, 204)
    assert.equal(await Hero.count(), 1)
  })

  test(`${kind.name}: nothing is kept of a handler that throws`, async (t) => {
    @Controller('/')
    class Failing {
      @Post() async create(session: Session) {
        session.add(Hero.build({ name: 'Robin' }))
        await session.flush()
        await Hero.create({ name: 'Batman' })
        conflict('no')
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Failing])
    assert.equal((await fetch('/', post)).status, 409)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a handler without a Session parameter runs in a transaction, too`, async (t) => {
    @Controller('/')
    class Failing {
      @Post() async create() {
        await Hero.create({ name: 'Robin' })
        throw new Error('no')
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Failing])
    assert.equal((await fetch('/', post)).status, 500)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a handler that queries nothing sends no SQL`, async (t) => {
    @Controller('/')
    class Idle {
      @Get() hello(session: Session) {
        return { hello: typeof session.add }
      }
    }
    const { fetch, log } = await databaseApp(t, kind, models, [Idle])
    assert.deepEqual(await (await fetch('/')).json(), { hello: 'function' })
    assert.deepEqual(statements(log), [])
  })

  test(`${kind.name}: five queries at once begin one transaction`, async (t) => {
    @Controller('/')
    class Parallel {
      @Post() async counts() {
        return Promise.all([Hero, Team, Hero, Team, Hero].map((model: typeof Hero | typeof Team) => count(model)))
      }
    }
    const { fetch, log } = await databaseApp(t, kind, models, [Parallel])
    assert.deepEqual(await (await fetch('/', post)).json(), [0, 0, 0, 0, 0])
    assert.equal(statements(log).filter((text) => /^(BEGIN|START)/.test(text)).length, 1)
    assert.equal(statements(log).filter((text) => text === 'COMMIT').length, 1)
  })

  test(`${kind.name}: a result that does not fit its declaration is not kept`, async (t) => {
    @Controller('/')
    class Misfitting {
      // The compiler would refuse it: this is what any, or a raw row, brings at run time.
      @Post('/', [Number]) async create(): Promise<number[]> {
        await Hero.create({ name: 'Robin' })
        return ['one'] as unknown as number[]
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Misfitting])
    assert.equal((await fetch('/', post)).status, 500)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: session.rollback() answers as usual and keeps nothing`, async (t) => {
    @Controller('/')
    class DryRun {
      @Post() async create(session: Session) {
        const hero = await Hero.create({ name: 'Robin' })
        session.rollback()
        return { id: hero.id }
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [DryRun])
    assert.equal((await fetch('/', post)).status, 201)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a query that nobody awaited is part of the transaction`, async (t) => {
    @Controller('/')
    class Careless {
      @Post() create() {
        void Hero.create({ name: 'Robin' })
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Careless])
    assert.equal((await fetch('/', post)).status, 204)
    assert.equal(await Hero.count(), 1)
  })

  test(`${kind.name}: a query after the end is refused with what to write instead`, async (t) => {
    let late: Promise<unknown> | undefined
    @Controller('/')
    class Late {
      @Post() create() {
        late = new Promise((resolve) => setTimeout(resolve, 100))
          .then(() => Hero.create({ name: 'Robin' }))
          .catch((error: unknown) => error)
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Late])
    assert.equal((await fetch('/', post)).status, 204)
    assert.match(String(await late), /already committed.*withSession/)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: of two savepoints at once the failing one undoes only itself`, async (t) => {
    @Controller('/')
    class Savepoints {
      @Post() async create(session: Session) {
        const settled = await Promise.allSettled([
          session.nested(async () => {
            await Hero.create({ name: 'undone' })
            await new Promise((resolve) => setTimeout(resolve, 20))
            throw new Error('no')
          }),
          session.nested(() => Hero.create({ name: 'kept' })),
          Hero.create({ name: 'beside' }),
        ])
        return settled.map(({ status }) => status)
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Savepoints])
    assert.deepEqual(await (await fetch('/', post)).json(), ['rejected', 'fulfilled', 'fulfilled'])
    assert.deepEqual(
      (await Hero.findAll({ order: ['name'] })).map(({ name }) => name),
      ['beside', 'kept'],
    )
  })

  test(`${kind.name}: a savepoint in a savepoint undoes only itself`, async (t) => {
    @Controller('/')
    class Nested {
      @Post() async create(session: Session) {
        await session.nested(async () => {
          await Hero.create({ name: 'outer' })
          const inner = session.nested(async () => {
            await Hero.create({ name: 'inner' })
            throw new Error('no')
          })
          await inner.catch(() => {})
          await Promise.all([
            session.nested(() => Hero.create({ name: 'a' })),
            session.nested(() => Hero.create({ name: 'b' })),
          ])
        })
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Nested])
    assert.equal((await fetch('/', post)).status, 204)
    assert.deepEqual(
      (await Hero.findAll({ order: ['name'] })).map(({ name }) => name),
      ['a', 'b', 'outer'],
    )
  })

  test(`${kind.name}: sequelize.transaction() inside a handler is a savepoint of it`, async (t) => {
    @Controller('/')
    class Stock {
      @Post() async create(session: Session) {
        await session.sequelize.transaction(() => Hero.create({ name: 'Robin' }))
        await Hero.findOrCreate({ where: { name: 'Batman' } })
        throw new Error('no')
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Stock])
    assert.equal((await fetch('/', post)).status, 500)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a constraint that fails in a savepoint leaves the rest of the session as it was`, async (t) => {
    @Controller('/')
    class Recovering {
      @Post() async create(session: Session) {
        await Hero.create({ name: 'Robin' })
        const second = session.nested(() => Hero.create({ name: 'Robin' }))
        await second.catch((error: unknown) => assert(error instanceof UniqueConstraintError))
        await Hero.create({ name: 'Batman' })
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Recovering])
    assert.equal((await fetch('/', post)).status, 204)
    assert.equal(await Hero.count(), 2)
  })

  test(`${kind.name}: afterCommit runs once after a commit, and not after a failure`, async (t) => {
    const ran: string[] = []
    @Controller('/')
    class Announcing {
      @Post() async create(session: Session) {
        session.afterCommit(() => ran.push('kept'))
        // What models' hooks do, with the transaction that they are handed.
        session.transaction.afterCommit(() => void ran.push('kept, says a hook'))
        await Hero.create({ name: 'Robin' })
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Announcing])
    assert.deepEqual([(await fetch('/', post)).status, (await fetch('/', post)).status], [204, 409])
    assert.deepEqual(ran, ['kept', 'kept, says a hook'])
  })

  test(`${kind.name}: session methods read and write what they say`, async (t) => {
    @Controller('/')
    class Methods {
      @Post() async use(session: Session) {
        const [robin] = session.addAll([
          Hero.build({ name: 'Robin', age: 17 }),
          Hero.build({ name: 'Batman', age: 40 }),
        ])
        await session.flush()
        session.delete(robin as Hero)
        await session.flush()
        const batman = await session.first(select(Hero, { where: { name: 'Batman' } }))
        await session.execute(sql`UPDATE hero SET age = ${41} WHERE id = ${batman?.id}`)
        await session.refresh(batman as Hero)
        return {
          got: (await session.get(Hero, batman?.id ?? 0))?.name,
          byObject: (await session.get(Hero, { id: batman?.id ?? 0 }))?.age,
          missing: await session.get(Hero, robin?.id ?? 0),
          all: (await session.all(select(Hero))).length,
          count: await session.count(select(Hero)),
          age: batman?.age,
          rows: await session.execute(
            sql<{ n: string }>`SELECT name AS n FROM hero WHERE name = ${"Bat' OR 1=1"} OR age > ${40}`,
          ),
          inserted: await session.execute(
            sql`INSERT INTO team (id, name) VALUES (${7}, ${'$1'}) RETURNING name, '$2' AS cost`,
          ),
        }
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Methods])
    const read = { got: 'Batman', byObject: 41, missing: null, all: 1, count: 1, age: 41, rows: [{ n: 'Batman' }] }
    const expected = { ...read, inserted: [{ name: '$1', cost: '$2' }] }
    assert.deepEqual(await (await fetch('/', post)).json(), expected)
  })

  test(`${kind.name}: of 200 requests at once with two inserts each nothing is lost`, async (t) => {
    @Controller('/')
    class Pairs {
      @Post('/:n') async create(n: number, session: Session) {
        session.add(Hero.build({ name: `a${n}` }))
        await session.flush()
        await Hero.create({ name: `b${n}` })
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Pairs], { lifespan: { echo: false, poolTimeout: 30_000 } })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => fetch(`/${n}`, post)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]))
    assert.equal(await Hero.count(), 400)
  })

  test(`${kind.name}: what was added before a savepoint survives it, and what was added inside is undone with it`, async (t) => {
    @Controller('/')
    class Adding {
      @Post() async create(session: Session) {
        session.add(Hero.build({ name: 'before' }))
        const doubled = session.nested(async (inner) => {
          inner.addAll([Hero.build({ name: 'twice' }), Hero.build({ name: 'twice' })])
        })
        await assert.rejects(doubled, UniqueConstraintError)
        const thrown = session.nested(async (inner) => {
          inner.add(Hero.build({ name: 'undone' }))
          throw new Error('no')
        })
        await assert.rejects(thrown, /no/)
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Adding])
    assert.equal((await fetch('/', post)).status, 204)
    assert.deepEqual(
      (await Hero.findAll()).map(({ name }) => name),
      ['before'],
    )
  })

  test(`${kind.name}: a session that has ended refuses its own methods, also inside of another`, async (t) => {
    const late: Promise<unknown>[] = []
    let first: Session | undefined
    @Controller('/')
    class Late {
      @Post() keep(session: Session) {
        first ??= session
        session.afterCommit(() => {
          const insert = session.execute(sql`INSERT INTO team (id, name) VALUES (${1}, ${'late'})`)
          late.push(
            insert.catch((error: unknown) => error),
            session.all(select(Hero)).catch((error: unknown) => error),
          )
        })
        if (session !== first) late.push((first as Session).flush().catch((error: unknown) => error))
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Late])
    for (let n = 0; n < 2; n++) assert.equal((await fetch('/', post)).status, 204)
    assert.equal(late.length, 5)
    for (const error of await Promise.all(late)) assert.match(String(error), /already committed/)
    assert.equal(await Team.count(), 0)
  })

  test(`${kind.name}: an afterCommit that fails is told to the log with its request and its causes, and what was committed is kept`, async (t) => {
    const fail = () => {
      throw new Error('no mail was sent', { cause: new Error('the post is on strike') })
    }
    @Controller('/')
    class Telling {
      @Post() async create(session: Session) {
        session.afterCommit(fail)
        await Team.create({ name: 'Kept' })
      }
    }
    const errors: string[] = []
    const logger = { info() {}, warn() {}, error: (line: string) => void errors.push(line) }
    const { fetch, database } = await databaseApp(t, kind, models, [Telling], { logger })
    const { status, headers } = await fetch('/', post)
    assert.equal(status, 204)
    assert.equal(await Team.count(), 1)
    const id = headers.get('x-request-id') ?? ''
    assert.match(errors.join(), new RegExp(`POST / \\[${id}\\] .*afterCommit.*no mail was sent.*on strike`, 's'))
    await withSession(database, async (session) => session.afterCommit(fail))
    assert.match(errors.at(-1) ?? '', /^A session: .*no mail was sent.*on strike/s)
  })

  for (const [what, fail] of [
    ['a query of a model', () => Hero.findAll({ where: { nope: 1 } as never })],
    ['an INSERT', () => Hero.create({ name: 'Robin', age: sqlLiteral('nope') as never })],
    ['a text', (session: Session) => session.execute(sql`SELECT nope FROM hero`)],
    ['a text of Sequelize', (session: Session) => session.sequelize.query('SELECT nope FROM hero')],
  ] as const) {
    test(`${kind.name}: the log says of ${what} that fails what the database says, and who asked`, async (t) => {
      @Controller('/')
      class Failing {
        @Post() async fail(session: Session) {
          await fail(session)
        }
      }
      const { fetch, log } = await databaseApp(t, kind, models, [Failing], { lifespan: { echo: false } })
      assert.equal((await fetch('/', post)).status, 500)
      assert.match(log.join('\n'), /^POST \/ \[[^\]]+\] \w+Error: .*\bnope\b.*\n(?:.*\n)*\s+at .*fail/)
    })
  }

  for (const [what, end] of [
    ['COMMIT as a text', (session: Session) => session.execute(sql`COMMIT`)],
    ['ROLLBACK through Sequelize', (session: Session) => session.sequelize.query('/* why */ ROLLBACK')],
    ...[
      ';commit',
      '# why\nCOMMIT',
      '/*! COMMIT */',
      '/*!50000 rollback */',
      '-- why\n ; END',
      'SELECT 1; COMMIT; BEGIN',
      "SELECT ';' ; ROLLBACK; BEGIN",
      'SELECT 1;/* ; */ commit and chain',
      'SELECT (1);;\n-- why\n;SAVEPOINT a; end',
    ].map((text) => [JSON.stringify(text), (session: Session) => session.sequelize.query(text)] as const),
    ['transaction.commit()', (session: Session) => session.transaction.commit()],
  ] as const) {
    test(`${kind.name}: ${what} inside a session is refused`, async (t) => {
      @Controller('/')
      class Ending {
        @Post() async end(session: Session) {
          await Hero.create({ name: 'Robin' })
          await assert.rejects(async () => end(session), /inside a session.*session\.rollback\(\)/s)
          throw new Error('no')
        }
      }
      const { fetch } = await databaseApp(t, kind, models, [Ending])
      assert.equal((await fetch('/', post)).status, 500)
      assert.equal(await Hero.count(), 0)
    })
  }

  test(`${kind.name}: a COMMIT in a literal, a comment or the body of a trigger is none of the session`, async (t) => {
    const trigger = kind.name.startsWith('SQLite') ? 'AFTER INSERT ON hero' : 'AFTER INSERT ON hero FOR EACH ROW'
    const texts = ["SELECT '; COMMIT'", 'SELECT 1 /* ; COMMIT */', 'SELECT 1 -- ; COMMIT', 'SELECT 1; -- ; COMMIT']
    const bodies =
      kind === postgres
        ? [
            'DO $$ BEGIN PERFORM 1; END $$',
            'DO $a$ BEGIN PERFORM 1; END; $a$; SELECT 1',
            `CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 END; END; SELECT 1`,
            `CREATE FUNCTION g() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM 1; END'`,
            'CREATE RULE r AS ON UPDATE TO hero DO ALSO (SELECT 1; SELECT 2)',
          ]
        : [`CREATE TRIGGER t ${trigger} BEGIN UPDATE team SET name = 'x'; END`]
    @Controller('/')
    class Executing {
      @Post() async execute(session: Session) {
        for (const text of [...texts, ...bodies]) await session.sequelize.query(text)
      }
    }
    const { fetch, log } = await databaseApp(t, kind, models, [Executing], { lifespan: { echo: false } })
    assert.equal((await fetch('/', post)).status, 204, log.join('\n'))
  })

  test(`${kind.name}: what goes on after the handler has returned ends with the handler's time`, async (t) => {
    const state = { runs: true }
    t.after(() => void (state.runs = false))
    @Controller('/')
    class Endless {
      @Post() start(session: Session) {
        void session.nested(() => new Promise(() => {})).catch(() => {})
        void (async () => {
          while (state.runs) await Hero.count()
        })().catch(() => {})
      }
      @Get() read() {
        return Hero.count()
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Endless], {
      timeouts: { handler: 200 },
      lifespan: { echo: false },
    })
    assert.equal((await fetch('/', post)).status, 503)
    await until('a request is answered', async () => (await fetch('/')).status === 200)
  })

  test(`${kind.name}: a key that is not the primary key is refused`, async (t) => {
    @Controller('/')
    class Finding {
      @Post() async find(session: Session) {
        for (const key of [{}, { name: 'Robin' }])
          await assert.rejects(async () => session.get(Hero, key), /the key is \{ id \}/)
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Finding])
    assert.equal((await fetch('/', post)).status, 204)
  })
}

for (const [text, isRefused] of [
  ['SELECT 1; COMMIT; BEGIN', true],
  ["CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; COMMIT; BEGIN", true],
  ['CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 2 END; END; COMMIT; BEGIN', true],
  ["SELECT 1; INSERT INTO hero (name) VALUES ('Batman')", false],
] as const)
  test(`PostgreSQL: nothing of a refused request is kept behind ${text}`, async (t) => {
    @Controller('/')
    class Failing {
      @Post() async fail(session: Session) {
        await Hero.create({ name: 'Robin' })
        const executing = session.nested(() => session.sequelize.query(text))
        await (isRefused ? assert.rejects(executing, { name: 'TransactionControlError' }) : executing)
        throw new Error('no')
      }
    }
    const { fetch } = await databaseApp(t, postgres, models, [Failing])
    assert.equal((await fetch('/', post)).status, 500)
    assert.equal(await Hero.count(), 0)
  })

// MySQL checks foreign keys at once: its COMMIT does not fail for them.
for (const kind of [sqliteFile, sqliteMemory, postgres]) {
  test(`${kind.name}: a commit that fails answers an error, and the next request works`, async (t) => {
    const ran: string[] = []
    @Controller('/')
    class Deferred {
      @Post() async create(session: Session) {
        session.afterCommit(() => ran.push('ran'))
        await session.execute(sql`INSERT INTO child (parent) VALUES (${7})`)
      }
      @Post('/fine') async fine() {
        await Hero.create({ name: 'Robin' })
      }
    }
    const { fetch, database } = await databaseApp(t, kind, models, [Deferred])
    await database.sequelize.query('CREATE TABLE parent (id INTEGER PRIMARY KEY)')
    await database.sequelize.query(
      'CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)',
    )
    assert.equal((await fetch('/', post)).status, 409)
    assert.deepEqual(ran, [])
    assert.equal((await fetch('/fine', post)).status, 204)
    assert.deepEqual(await database.sequelize.query('SELECT * FROM child', { type: 'SELECT' as never }), [])
  })
}

function count(model: typeof Hero | typeof Team): Promise<number> {
  return model === Team ? Team.count() : Hero.count()
}

test('in a script, what goes wrong in an afterCommit is written to the console', async (t) => {
  const errors: string[] = []
  t.mock.method(console, 'error', (what: string, error: unknown) => errors.push(`${what} ${inspect(error)}`))
  await withSession(newLifespan(await sqliteMemory.url()), async (session) =>
    session.afterCommit(() => Promise.reject(new Error('no mail was sent'))),
  )
  assert.match(errors.join(), /An afterCommit callback failed.*no mail was sent/s)
})
