import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, type LifespanOptions, Post, Session, sql } from 'sequitur'
import { type DatabaseApp, databaseApp, postgres, skipIfShared } from '../support/databases.js'
import { assertWhole, said, settled } from '../support/faults.js'
import { type Gate, gate, until } from '../support/waiting.js'
import { Hero, Team } from '../support/hero.js'

const post = { method: 'POST' }
/** Milliseconds that a request waits for a connection: that some are opened at once takes long on a busy machine. */
const PATIENCE = 10_000

@Controller('/whole')
class Whole {
  @Get() async read() {
    await Hero.count()
    return 'whole'
  }
}

function heroApp(t: TestContext, controller: new () => object, lifespan: LifespanOptions = {}): Promise<DatabaseApp> {
  return databaseApp(t, postgres, [Team, Hero], [controller, Whole], {
    lifespan: { echo: false, poolTimeout: PATIENCE, ...lifespan },
  })
}

/** Ends the server's side of the connections that do this, from a connection that is outside of every session. */
async function killThose({ database }: DatabaseApp, doing: string): Promise<void> {
  const ask = (text: string) => database.sequelize.query<{ pid: number }>(text, { type: QueryTypes.SELECT })
  let killed: number[] = []
  await until(doing, async () => {
    const found = await ask(`SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${doing}`)
    killed = found.map(({ pid }) => pid)
    return killed.length > 0
  })
  const left = `SELECT pid FROM pg_stat_activity WHERE pid IN (${killed.join()})`
  await until('they are gone', async () => (await ask(left)).length === 0)
}

test('a connection killed while its transaction is idle fails its request only', async (t) => {
  const [idle, goOn] = [gate(), gate()]
  @Controller('/')
  class Waiting {
    @Post() async create() {
      await Hero.create({ name: 'Robin' })
      idle.open()
      await goOn.opened
      await Hero.create({ name: 'Batman' })
    }
  }
  const app = await heroApp(t, Waiting)
  const creating = app.fetch('/', post)
  await idle.opened
  await killThose(app, `state = 'idle in transaction'`)
  goOn.open()
  assert.equal(await said(creating), '503, again in 1 s: The database is not available.')
  assert.equal(await Hero.count(), 0)
  await assertWhole(app)
})

test('a connection killed while its handler does something else is no success', async (t) => {
  const ran: string[] = []
  const [idle, goOn] = [gate(), gate()]
  @Controller('/')
  class Waiting {
    @Post() async create(session: Session) {
      session.afterCommit(() => ran.push('ran'))
      await Hero.create({ name: 'Robin' })
      idle.open()
      await goOn.opened
    }
  }
  const app = await heroApp(t, Waiting)
  const creating = app.fetch('/', post)
  await idle.opened
  await killThose(app, `state = 'idle in transaction'`)
  goOn.open()
  assert.equal((await creating).status, 503)
  assert.deepEqual([await Hero.count(), ran], [0, []])
  await assertWhole(app)
})

test('a connection killed during a query fails its request only', async (t) => {
  @Controller('/')
  class Slow {
    @Post() async create(session: Session) {
      await Hero.create({ name: 'Robin' })
      await session.execute(sql`SELECT pg_sleep(60)`)
    }
  }
  const app = await heroApp(t, Slow)
  const creating = app.fetch('/', post)
  await killThose(app, `state = 'active' AND query LIKE '%pg_sleep(60)%'`)
  assert.equal(await said(creating), '503, again in 1 s: The database is not available.')
  assert.equal(await Hero.count(), 0)
  await assertWhole(app)
})

async function checkHeroesAtCommit({ database }: DatabaseApp, body: string): Promise<void> {
  await database.sequelize.query(
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON hero DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`,
  )
}

@Controller('/')
class Announcing {
  static ran = 0
  @Post() async create(session: Session) {
    session.afterCommit(() => Announcing.ran++)
    await Hero.create({ name: 'Robin' })
  }
}

test('a connection killed during COMMIT answers that the outcome is unknown, and nothing is announced', async (t) => {
  Announcing.ran = 0
  const app = await heroApp(t, Announcing)
  await checkHeroesAtCommit(app, 'PERFORM pg_sleep(60)')
  const creating = app.fetch('/', post)
  await killThose(app, `state = 'active' AND query = 'COMMIT'`)
  assert.match(await said(creating), /^503: It is not known whether this was saved/)
  assert.match(app.log.join('\n'), /CommitUnknownError: The outcome is unknown: COMMIT was not answered/)
  assert.equal(Announcing.ran, 0)
  await assertWhole(app)
})

test('a constraint that fails at COMMIT keeps nothing, announces nothing, and leaves the pool whole', async (t) => {
  Announcing.ran = 0
  const app = await heroApp(t, Announcing, { poolSize: 2 })
  await checkHeroesAtCommit(app, `RAISE 'no heroes' USING ERRCODE = 'unique_violation'`)
  const answers = await Promise.all(Array.from({ length: 20 }, () => app.fetch('/', post)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([409]))
  assert.deepEqual([await Hero.count(), Announcing.ran], [0, 0])
  await assertWhole(app)
})

test('a statement that takes longer than its timeout answers 504 and keeps nothing', async (t) => {
  @Controller('/')
  class Slow {
    @Post() async create(session: Session) {
      await Hero.create({ name: 'Robin' })
      await session.execute(sql`SELECT pg_sleep(60)`)
    }
  }
  const app = await heroApp(t, Slow, { statementTimeout: 1_000 })
  assert.equal(await said(app.fetch('/', post)), '504: The database took too long.')
  assert.equal(await Hero.count(), 0)
  await assertWhole(app)
})

/** Holds the table of heroes until the gate opens; resolves when it is held. */
async function lockHeroes(t: TestContext, { database }: DatabaseApp, release: Gate): Promise<void> {
  const held = gate()
  const holding = database.sequelize.transaction(async (transaction) => {
    await database.sequelize.query('LOCK TABLE hero IN ACCESS EXCLUSIVE MODE', { transaction })
    held.open()
    await release.opened
  })
  t.after(() => (release.open(), holding))
  await held.opened
}

test('a table that somebody else has locked answers 503 after the lock timeout, and works when it is free', async (t) => {
  const release = gate()
  const app = await heroApp(t, Announcing, { lockTimeout: 1_000 })
  await lockHeroes(t, app, release)
  assert.match(await said(app.fetch('/', post)), /^503, again in 1 s: Another request holds a lock/)
  release.open()
  await until('the table is free', async () => (await app.fetch('/whole')).status === 200)
  assert.equal((await app.fetch('/', post)).status, 204)
  assert.equal(await Hero.count(), 1)
  await assertWhole(app)
})

test('a transaction that the server ends for being idle answers 503 and keeps nothing', async (t) => {
  @Controller('/')
  class Dawdling {
    @Post() async create() {
      await Hero.create({ name: 'Robin' })
      await new Promise((resolve) => setTimeout(resolve, 3_000))
    }
  }
  const app = await heroApp(t, Dawdling, { idleInTransactionTimeout: 1_000 })
  assert.equal(await said(app.fetch('/', post)), '503, again in 1 s: The database is not available.')
  assert.equal(await Hero.count(), 0)
  await assertWhole(app)
})

test('requests that find the pool exhausted answer 503 with Retry-After, and the rest is served', async (t) => {
  const [taken, finish] = [gate(), gate()]
  let [asked, holding] = [0, 0]
  @Controller('/')
  class Holding {
    @Post() async hold() {
      await Hero.create({ name: `hero ${++asked}` })
      if (++holding === 2) taken.open()
      await finish.opened
    }
  }
  const app = await heroApp(t, Holding, { poolSize: 2, poolTimeout: 1_500 })
  const held = [app.fetch('/', post), app.fetch('/', post)]
  await taken.opened
  const refused = await Promise.all(Array.from({ length: 5 }, () => app.fetch('/', post).then(said)))
  assert.deepEqual(new Set(refused), new Set(['503, again in 1 s: The server is busy; try again.']))
  finish.open()
  assert.deepEqual(
    (await Promise.all(held)).map(({ status }) => status),
    [204, 204],
  )
  assert.equal(await Hero.count(), 2)
  await assertWhole(app)
})

test(
  'a pooled connection killed while nobody uses it is not noticed by the next requests',
  { skip: skipIfShared },
  async (t) => {
    const app = await heroApp(t, Announcing)
    await assertWhole(app)
    await settled(app)
    await killThose(app, `state = 'idle'`)
    await assertWhole(app)
  },
)
