// Waits for seconds: the end of a test whose session never ends.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type CreationOptional, DatabaseError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  type AppOptions,
  Base,
  Controller,
  createApp,
  dto,
  Get,
  Inject,
  Item,
  newLifespan,
  Post,
  select,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { beginRollback, memoryDatabase, type TestApp, testApp, withRollback } from 'sequitur/testing'
import {
  type DatabaseApp,
  databaseApp,
  databases,
  mysqls,
  sqliteFile,
  sqliteMemory,
  type TestDatabase,
} from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { connectToMariadb } from '../support/mariadb.js'

/*
 * The requests of a test inside withRollback(): what a client and a callback see is the same as in a database of its own, and nothing is kept.
 */

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare text: string
}

/** What happens beside the responses. */
const events: string[] = []

/** The code of a conflict, by the name of the dialect. */
const CONFLICTS: Readonly<Record<string, string>> = {
  sqlite: 'SQLITE_BUSY',
  postgres: '40001',
  mysql: 'ER_LOCK_WAIT_TIMEOUT',
  mariadb: 'ER_LOCK_WAIT_TIMEOUT',
}

function conflict(session: Session): DatabaseError {
  const code = CONFLICTS[session.sequelize.getDialect()]
  return new DatabaseError(Object.assign(new Error('a conflict'), { code, sql: '', parameters: {} }))
}

@Controller('/heroes')
class HeroController {
  @Get('/') async list() {
    const heroes = await Hero.findAll({ order: ['name'] })
    return { names: heroes.map(({ name }) => name) }
  }
  @Post('/', Item.of(Hero)) create(input: NewHero, session: Session) {
    session.afterCommit(() => events.push(`created ${input.name}`))
    return { data: session.add(Hero.build(input)) }
  }
  @Post('/fail') async fail(session: Session) {
    session.afterCommit(() => events.push('never'))
    session.afterEnd(() => Team.create({ name: 'after the end' }))
    await Hero.create({ name: 'failed' })
    throw new Error('of the handler')
  }
  @Post('/undo') async undo(session: Session) {
    session.afterCommit(() => events.push('never'))
    await Hero.create({ name: 'undone' })
    session.rollback()
    return { count: await Hero.count() }
  }
  @Post('/caught') async caught() {
    await Hero.create({ name: 'caught' })
    await Hero.create({ name: 'caught' }).catch(() => {})
    return {}
  }
  @Post('/unawaited') async unawaited() {
    void Hero.create({ name: 'unawaited' })
    return {}
  }
  @Post('/nested') async nested(session: Session) {
    await Hero.create({ name: 'nested' })
    await session.nested(() => Hero.create({ name: 'nested' })).catch(() => {})
    await session.nested(() => Hero.create({ name: 'nested twice' }))
    return {}
  }
  @Transactional({ retry: 2 })
  @Post('/retried')
  async retried(session: Session) {
    session.afterCommit(() => events.push('retried'))
    const before = events.filter((event) => event === 'attempt').length
    events.push('attempt')
    await Hero.create({ name: `attempt ${before}` })
    if (before < 2) throw conflict(session)
    return {}
  }
  @Post('/conflict') async conflict(session: Session) {
    await Hero.create({ name: 'conflict' })
    throw conflict(session)
  }
  @Transactional({ readOnly: true })
  @Get('/reader')
  async read() {
    return { count: await Hero.count() }
  }
  @Transactional({ readOnly: true })
  @Get('/forbidden')
  async write() {
    await Hero.create({ name: 'forbidden' })
    return {}
  }
  @Transactional({ isolation: 'serializable' })
  @Post('/serializable')
  async serializable() {
    await Hero.create({ name: 'serializable' })
    return {}
  }
  @Transactional(false)
  @Post('/alone')
  async alone() {
    await Hero.create({ name: 'alone' })
    const second = await Hero.create({ name: 'alone' }).catch((error: Error) => error.name)
    return { second, count: await Hero.count() }
  }
}

const SLEEP: Readonly<Record<string, string>> = {
  postgres: 'SELECT pg_sleep(2)',
  mysql: 'DO SLEEP(2)',
  mariadb: 'DO SLEEP(2)',
}

@Controller('/slow')
class SlowController {
  @Post('/statement') async statement({ sequelize }: Session) {
    await Hero.create({ name: 'slow' })
    await sequelize.query(SLEEP[sequelize.getDialect()] ?? 'SELECT 1')
    await new Promise(() => {})
  }
}

@Controller('/pledges')
class PledgeController {
  @Post('/orphan') async orphan(session: Session) {
    session.afterCommit(() => events.push('never'))
    await session.execute(sql`INSERT INTO pledge (id, team_id) VALUES (1, 77)`)
    return {}
  }
  @Post('/late') async late(session: Session) {
    await session.execute(sql`INSERT INTO pledge (id, team_id) VALUES (2, 78)`)
    await Team.create({ id: 78, name: 'late' })
    return {}
  }
  @Post('/immediate') async immediate(session: Session) {
    await session.execute(sql`INSERT INTO pledge (id, strict_id) VALUES (3, 79)`)
    await Team.create({ id: 79, name: 'too late' })
    return {}
  }
}

/** MariaDB has no deferrable constraints. */
function pledgeTable(isDeferrable: boolean): string {
  const [deferred, immediate] = isDeferrable
    ? ['DEFERRABLE INITIALLY DEFERRED', 'DEFERRABLE INITIALLY IMMEDIATE']
    : ['', '']
  return `CREATE TABLE pledge (id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team (id) ${deferred}, strict_id INTEGER REFERENCES team (id) ${immediate})`
}

async function statusOf(api: TestApp, method: string, path: string, json?: unknown): Promise<unknown> {
  return ((await send(api, method, path, json)) as unknown[])[1]
}

interface Seen {
  readonly answers: unknown[]
  readonly events: readonly string[]
}

async function send(api: TestApp, method: string, path: string, json?: unknown): Promise<unknown> {
  const response = await api.fetch(path, { method, ...(json === undefined ? {} : { json }) })
  const body = (await response.json()) as object
  return [`${method} ${path}`, response.status, { ...body, instance: 'of this request' }]
}

/** Sends requests of each kind, one after the other. */
async function scenario(api: TestApp): Promise<Seen> {
  events.length = 0
  const answers: unknown[] = []
  const paths = ['fail', 'undo', 'caught', 'unawaited', 'nested', 'retried', 'conflict', 'serializable', 'alone']
  answers.push(await send(api, 'POST', '/heroes', { name: 'Robin', age: 17 }))
  answers.push(await send(api, 'POST', '/heroes', { name: 'Robin' }))
  answers.push(await send(api, 'POST', '/heroes', { name: 7 }))
  for (const path of paths) {
    answers.push(await send(api, 'POST', `/heroes/${path}`))
    answers.push(await send(api, 'GET', '/heroes'))
  }
  for (const path of ['reader', 'forbidden', 'nowhere']) answers.push(await send(api, 'GET', `/heroes/${path}`))
  for (const path of ['orphan', 'late', 'immediate']) answers.push(await send(api, 'POST', `/pledges/${path}`))
  answers.push(await send(api, 'GET', '/heroes'))
  await withSession(async (session) => {
    session.add(Hero.build({ name: 'of the test' }))
  })
  answers.push(await withSession(async (session) => (await session.all(select(Team))).map(({ name }) => name).sort()))
  answers.push(await Hero.count())
  return { answers, events: [...events] }
}

async function rows(): Promise<unknown> {
  return withSession(async (session) => ({
    heroes: await session.all(select(Hero, { order: ['id'], raw: true })),
    teams: await session.all(select(Team, { order: ['id'], raw: true })),
  }))
}

function statusesOf({ answers }: Seen): unknown[] {
  return answers.flatMap((answer) => (Array.isArray(answer) && typeof answer[1] === 'number' ? [answer[1]] : []))
}

async function open(
  t: TestContext,
  kind: TestDatabase,
  options: Pick<AppOptions, 'timeouts'> = {},
): Promise<DatabaseApp> {
  const controllers = [HeroController, PledgeController, SlowController]
  const api = await databaseApp(t, kind, [Hero, Team], controllers, { lifespan: { poolTimeout: 20_000 }, ...options })
  await api.database.sequelize.query(pledgeTable(!mysqls.includes(kind)))
  await Team.create({ name: 'Titans' })
  api.log.length = 0
  return api
}

for (const kind of databases) {
  test(`${kind.name}: clients and callbacks see the same as without withRollback(), and nothing is kept`, async (t) => {
    const api = await open(t, kind)
    const expected = await scenario(api)
    await api.close()
    const late = mysqls.includes(kind) ? [409, 409, 409] : [409, 201, 409]
    assert.deepEqual(
      statusesOf(expected).filter((_, index) => index < 3 || index > 2 + 2 * 9),
      [201, 409, 422, 200, 500, 404, ...late, 200],
    )
    assert.deepEqual(expected.events, ['created Robin', 'attempt', 'attempt', 'attempt', 'retried'])

    const rolledBack = await open(t, kind)
    const before = await rows()
    for (const run of ['first', 'second']) {
      let seen: Seen | undefined
      await withRollback(rolledBack, async () => void (seen = await scenario(rolledBack)))()
      assert.ok(seen)
      if (run === 'first') assert.deepEqual(seen, expected)
      else assert.deepEqual(statusesOf(seen), statusesOf(expected)) // generated keys go on
      assert.deepEqual(await rows(), before, run)
    }
    assert.equal(await statusOf(rolledBack, 'POST', '/heroes', { name: 'Robin' }), 201)
    assert.equal(await Hero.count(), 1)
  })

  test(`${kind.name}: requests that are sent at once run one after the other`, async (t) => {
    const api = await open(t, kind)
    await withRollback(api, async () => {
      const names = Array.from({ length: 20 }, (_, index) => `hero ${index % 10}`)
      const statuses = await Promise.all(names.map((name) => statusOf(api, 'POST', '/heroes', { name })))
      assert.deepEqual(statuses.toSorted(), [...Array<number>(10).fill(201), ...Array<number>(10).fill(409)])
      assert.equal(await Hero.count(), 10)
    })()
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a test that fails is undone, too, and its error is thrown`, async (t) => {
    const api = await open(t, kind)
    const failing = withRollback(api, async () => {
      assert.equal(await statusOf(api, 'POST', '/heroes', { name: 'Robin' }), 201)
      throw new Error('of the test')
    })
    await assert.rejects(failing(), { message: 'of the test' })
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a request that the test has not awaited is waited for, and undone`, async (t) => {
    const api = await open(t, kind)
    let request: Promise<unknown> | undefined
    await withRollback(api, () => {
      request = statusOf(api, 'POST', '/heroes', { name: 'Robin' })
    })()
    assert.equal(await request, 201)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: what a handler has done that is given up is undone, and the next request goes on`, async (t) => {
    const api = await open(t, kind, { timeouts: { handler: 400 } })
    await withRollback(api, async () => {
      await Hero.create({ name: 'kept in the test' })
      assert.equal(await statusOf(api, 'POST', '/slow/statement'), 503)
      assert.equal(await Hero.count(), 1) // waits for the statement that still runs
      assert.deepEqual(await send(api, 'GET', '/heroes'), [
        'GET /heroes',
        200,
        { names: ['kept in the test'], instance: 'of this request' },
      ])
    })()
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: sequelize.transaction() outside of a session is refused`, async (t) => {
    const api = await open(t, kind)
    await withRollback(api, async () => {
      await assert.rejects(
        api.database.sequelize.transaction(async () => {}),
        /sequelize.transaction\(\) outside of a session cannot be undone/,
      )
    })()
    await api.database.sequelize.transaction(() => Promise.resolve())
  })

  test(`${kind.name}: a session that does not end with the test is ended, and its connection is not used again`, async (t) => {
    const api = await open(t, kind)
    let goOn = () => {}
    let late: Promise<unknown> | undefined
    const test = withRollback(api, async () => {
      const begun = new Promise<void>((resolve) => {
        late = withSession(async () => {
          await Hero.create({ name: 'late' })
          resolve()
          await new Promise<void>((end) => (goOn = end))
          await Hero.create({ name: 'too late' })
        }).catch((error: Error) => error.message)
      })
      await begun
    })
    await assert.rejects(test(), { name: 'StillRunningError' })
    goOn()
    assert.match(String(await late), /has ended/)
    assert.equal(await Hero.count(), 0)
    assert.equal(await statusOf(api, 'POST', '/heroes', { name: 'late' }), 201)
  })
}

for (const kind of mysqls) {
  test(`${kind.name}: a statement that commits is refused, and fails the test`, async (t) => {
    const api = await open(t, kind)
    const test = withRollback(api, async () => {
      await Hero.create({ name: 'before' })
      await withSession((session) => session.execute(sql`CREATE TABLE other (id INTEGER)`)).catch(() => {})
    })
    await assert.rejects(test(), /commit before 'CREATE TABLE other/)
    assert.equal(await Hero.count(), 0)
  })

  test(`${kind.name}: a test whose transaction was committed outside of a session fails`, async (t) => {
    const api = await open(t, kind)
    const test = withRollback(api, async () => {
      await Hero.create({ name: 'before' })
      await api.database.sequelize.query('CREATE TABLE other (id INTEGER)')
      assert.equal(await statusOf(api, 'GET', '/heroes'), 500)
    })
    await assert.rejects(test(), { name: 'RollbackLostError' })
  })

  test(`${kind.name}: a test whose transaction was rolled back by a deadlock fails`, async (t) => {
    const api = await open(t, kind)
    await Hero.bulkCreate([{ name: 'first' }, { name: 'second' }])
    const update = (name: string) => `UPDATE hero SET age = age + 1 WHERE name = '${name}'`
    const other = await connectToMariadb(api.database.sequelize.getDatabaseName())
    t.after(() => other.end())
    await other.query('START TRANSACTION')
    for (let times = 0; times < 50; times++) await other.query(update('second')) // the one that has written less is rolled back
    const test = withRollback(api, async () => {
      const failure = withSession(async (session) => {
        await session.execute(sql`UPDATE hero SET age = 1 WHERE name = 'first'`)
        const waiting = other.query(update('first'))
        await session.execute(sql`UPDATE hero SET age = 1 WHERE name = 'second'`).finally(() => waiting)
      })
      await assert.rejects(failure, /Deadlock/)
      assert.equal(await statusOf(api, 'GET', '/heroes'), 500)
    })
    await assert.rejects(test(), { name: 'RollbackLostError' })
    await other.query('ROLLBACK')
    assert.equal(await Hero.sum('age'), 0)
  })
}

for (const kind of databases.filter(({ name }) => name === 'PostgreSQL')) {
  test(`${kind.name}: a COMMIT that the server turns into a rollback is one in a savepoint, too`, async (t) => {
    @Controller('/silent')
    class Silent {
      @Post('/') async fail({ transaction, sequelize }: Session) {
        await Hero.create({ name: 'lost' })
        const connection = (await Reflect.get(transaction, 'connection')) as {
          query(sql: string, done: () => void): void
        }
        await new Promise<void>((resolve) => connection.query('SELECT 1/0', resolve)) // which no session sees
        return { dialect: sequelize.getDialect() }
      }
    }
    const errors: string[] = []
    const api = await databaseApp(t, kind, [Hero, Team], [Silent], {
      logger: { info() {}, warn() {}, error: (...parts) => void errors.push(parts.map(String).join(' ')) },
    })
    assert.equal(await statusOf(api, 'POST', '/silent'), 500)
    await withRollback(api, async () => {
      assert.equal(await statusOf(api, 'POST', '/silent'), 500)
      assert.equal(await Hero.count(), 0)
    })()
    assert.equal(errors.filter((error) => error.includes('CommitFailedError')).length, 2, errors.join())
  })
}

test('all databases of an app are undone', async (t) => {
  const audit = newLifespan(await sqliteFile.url(), { models: [Entry], sync: true })
  @Controller('/both')
  class Both {
    @Post('/', Item.of(Hero)) async create(input: NewHero, session: Session, @Inject(audit.Session) log: Session) {
      log.add(Entry.build({ text: `by ${input.name}` }))
      return { data: session.add(Hero.build(input)) }
    }
  }
  const api = await testApp({
    controllers: [Both],
    models: [Hero, Team],
    lifespan: [memoryDatabase(), audit],
  })
  t.after(api.close)
  await withRollback(api, async () => {
    assert.equal(await statusOf(api, 'POST', '/both', { name: 'Robin' }), 201)
    assert.equal(await statusOf(api, 'POST', '/both', { name: 'Robin' }), 409)
    assert.deepEqual([await Hero.count(), await Entry.count()], [1, 1])
  })()
  assert.deepEqual([await Hero.count(), await Entry.count()], [0, 0])
})

test('what holds the transaction while it sends a request is reported, and undone', async (t) => {
  const api = await open(t, sqliteMemory)
  const test = withRollback(api, () =>
    withSession(async (session) => {
      await Hero.create({ name: 'held' })
      assert.equal(await statusOf(api, 'GET', '/heroes'), 500)
      session.rollback()
    }),
  )
  await assert.rejects(test(), /waited 5000 ms for the one transaction of the test/)
  assert.equal(await Hero.count(), 0)
})

test('a rollback begins in a hook, or with `await using`', async (t) => {
  const api = await open(t, sqliteMemory)
  {
    await using rollback = await beginRollback(api)
    await Hero.create({ name: 'Robin' })
    await assert.rejects(beginRollback(api), /another one of the same database runs/)
    assert.equal(await Hero.count(), 1)
    await rollback.end()
    assert.equal(await Hero.count(), 0)
  }
  const again = await beginRollback(api)
  await again.end()
})

test('the function for a test passes its arguments on, and declares none', async (t) => {
  const api = await open(t, sqliteMemory)
  const run = withRollback(api, (...args: [number, string]) => assert.deepEqual(args, [1, 'two']))
  assert.equal(run.length, 0)
  await run(1, 'two')
})

test('withRollback() needs an app of testApp() with a database', async (t) => {
  const api = await testApp({ controllers: [] })
  t.after(api.close)
  await assert.rejects(withRollback(api, () => {})(), /the app has no database/)
  const other = { ...api, app: createApp({ controllers: [] }) }
  await assert.rejects(withRollback(other, () => {})(), /takes what testApp\(\) returns/)
})
