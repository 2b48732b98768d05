// Waits for seconds: time limits of handlers that need a second connection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, notFound, Post, Session, sql, Transactional, withSession } from 'sequitur'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { assertWhole, said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'

/*
 * A request has one connection of a database at a time. Pools of one connection and a long time to wait for it: what waited for a second one would
 * end with the time of its handler, with a 503.
 */

const models = [Team, Hero]
const post = { method: 'POST' }
const lifespan = { poolSize: 1, poolTimeout: 60_000, echo: false }
const timeouts = { handler: 20_000 }

/** What would take a second connection, in a handler whose session holds one. */
const ways: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'a session': () => withSession(() => Team.create({ name: 'never' })),
  'a session that reads': () => withSession(() => Team.count()),
  'a session in a savepoint': (session) => session.nested(() => withSession(() => Team.count())),
  'a session in a session': () => withSession(() => withSession(() => Team.count())),
  'a query without a transaction': () => Team.findAll({ transaction: null }),
  'SQL without a transaction': (session) => session.sequelize.query('SELECT 1', { transaction: null }),
  'a transaction of its own': (session) =>
    // Sequelize takes null, which its types do not have.
    session.sequelize.transaction({ transaction: null } as never, () => Team.count()),
}

@Controller('/whole')
class Whole {
  @Get() read() {
    return Hero.count()
  }
}

for (const kind of databases) {
  for (const [way, take] of Object.entries(ways))
    test(`${kind.name}: ${way} inside a session that holds a connection is refused at once`, async (t) => {
      @Controller('/')
      class Inside {
        @Post() async write(session: Session) {
          await Hero.create({ name: `hero ${Math.random()}` })
          await take(session)
        }
        @Get() async read(session: Session) {
          await Hero.count()
          await take(session)
        }
      }
      const app = await databaseApp(t, kind, models, [Inside, Whole], { lifespan, timeouts })
      const calls = Array.from({ length: 10 }, (_, n) => app.fetch('/', n % 2 ? post : {}))
      const answers = await Promise.all(calls)
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([500]))
      const log = app.log.join('\n')
      assert.match(log, /SecondConnectionError: .*inject it.*session\.nested.*session\.afterEnd/)
      assert.deepEqual([await Hero.count(), await Team.count()], [0, 0])
      await assertWhole(app)
    })

  test(`${kind.name}: a session inside another one that holds no connection runs; while it does, the outer one is refused`, async (t) => {
    const uses: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
      execute: (session) => session.execute(sql`SELECT 1`),
      all: (session) => session.count({ model: Hero, options: {} } as never),
      nested: (session) => session.nested(async () => {}),
      model: (session) => Hero.count({ transaction: session.transaction }),
    }
    @Controller('/')
    class Before {
      @Post() async write() {
        await withSession(() => Team.create({ name: 'before' }))
        await Hero.create({ name: 'Robin' })
      }
      @Post('/:use') async inside(use: string, session: Session) {
        await withSession(async () => {
          await Team.create({ name: use })
          await uses[use]?.(session)
        })
      }
    }
    const app = await databaseApp(t, kind, models, [Before, Whole], { lifespan, timeouts })
    assert.equal((await app.fetch('/', post)).status, 204)
    for (const use of Object.keys(uses)) assert.equal((await app.fetch(`/${use}`, post)).status, 500, use)
    assert.deepEqual([await Hero.count(), await Team.count()], [1, 1])
    await assertWhole(app)
  })

  test(`${kind.name}: after its end a session may be followed by others, also in its callbacks`, async (t) => {
    @Controller('/')
    class After {
      static later: Promise<unknown> | undefined
      @Post() async write(session: Session) {
        await Hero.create({ name: 'Robin' })
        session.afterCommit(() => withSession(() => Team.create({ name: 'committed' })))
        session.afterCommit(() => {
          After.later = withSession(() => Team.create({ name: 'later' }))
        })
      }
    }
    const app = await databaseApp(t, kind, models, [After, Whole], { lifespan, timeouts })
    assert.equal((await app.fetch('/', post)).status, 204)
    await After.later
    assert.deepEqual([await Hero.count(), await Team.count()], [1, 2])
  })

  test(`${kind.name}: what afterEnd runs is kept when the handler commits, fails, rolls back or is given up, without a second connection`, async (t) => {
    @Controller('/')
    class Audited {
      @Post('/:end') async write(end: string, session: Session, signal: AbortSignal) {
        const name = `${end} ${Math.random()}`
        session.afterEnd(() => Team.create({ name }))
        await Hero.create({ name })
        await session
          .nested(async () => {
            session.afterEnd((own) => own.execute(sql`INSERT INTO team (name) VALUES (${`${name}, nested`})`))
            throw new Error('undone')
          })
          .catch(() => {})
        if (end === 'fail') notFound('no')
        if (end === 'rollback') session.rollback()
        if (end === 'give-up') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
    }
    const app = await databaseApp(t, kind, models, [Audited, Whole], { lifespan, timeouts: { handler: 5_000 } })
    const statuses = { commit: 204, fail: 404, rollback: 204 }
    for (const [end, status] of Object.entries(statuses)) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => app.fetch(`/${end}`, post)))
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([status]))
    }
    assert.deepEqual([await Hero.count(), await Team.count()], [5, 30])
    assert.equal((await app.fetch('/give-up', post)).status, 503)
    await app.close()
    assert.doesNotMatch(app.log.join('\n'), /afterEnd/)
  })

  test(`${kind.name}: what fails in afterEnd is rolled back and logged, and the response stays`, async (t) => {
    @Controller('/')
    class Failing {
      @Post('/failing') failing(session: Session) {
        session.afterEnd(async () => {
          await Team.create({ name: 'half' })
          throw new Error('the audit failed')
        })
      }
      @Post('/inside') inside(session: Session) {
        session.afterEnd(async () => {
          await Team.create({ name: 'half' })
          await withSession(() => Team.count())
        })
      }
    }
    const app = await databaseApp(t, kind, models, [Failing, Whole], { lifespan, timeouts })
    assert.equal((await app.fetch('/failing', post)).status, 204)
    assert.match(
      app.log.join('\n'),
      /POST \/failing .*session\.afterEnd\(\) failed.*caused by Error: the audit failed/s,
    )
    assert.equal((await app.fetch('/inside', post)).status, 204)
    assert.match(app.log.join('\n'), /POST \/inside .*caused by SecondConnectionError/s)
    assert.equal(await Team.count(), 0)
    await assertWhole(app)
  })
}

test('of a handler that is run again, afterEnd runs what its last run has given', async (t) => {
  let runs = 0
  const ended: number[] = []
  @Controller('/')
  class Again {
    @Transactional({ retry: 3 })
    @Post()
    async write(session: Session) {
      const run = ++runs
      session.afterEnd(async () => void ended.push(run))
      if (run < 3)
        await session.execute(sql`DO $$ BEGIN RAISE 'in the way' USING ERRCODE = 'serialization_failure'; END $$`)
    }
  }
  const app = await databaseApp(t, postgres, models, [Again, Whole], { lifespan, timeouts })
  assert.equal((await app.fetch('/', post)).status, 204)
  assert.deepEqual(ended, [3])
  await assertWhole(app)
})

test('a session is refused after its end, also by afterEnd', async (t) => {
  let ended: Session | undefined
  @Controller('/')
  class Keeping {
    @Post() keep(session: Session) {
      ended = session
    }
  }
  const app = await databaseApp(t, postgres, models, [Keeping])
  assert.equal(await said(app.fetch('/', post)), '204: ')
  assert.throws(() => ended?.afterEnd(async () => {}), /already committed/)
})
