import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Controller,
  Field,
  Get,
  HttpError,
  Inject,
  Injectable,
  newLifespan,
  Post,
  Put,
  Session,
  sql,
  Transactional,
} from 'sequitur'
import { testApp } from 'sequitur/testing'
import { databaseApp, databases, postgres, sqliteFile } from '../support/databases.js'
import { assertWhole, said } from '../support/faults.js'
import { gate } from '../support/waiting.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]
const post = { method: 'POST' }
const put = { method: 'PUT' }

@Controller('/whole')
class Whole {
  @Get() async read() {
    await Hero.count()
    return 'whole'
  }
}

for (const kind of databases) {
  test(`${kind.name}: of ten increments at once under SERIALIZABLE with retry none is lost, and each is announced once`, async (t) => {
    let ran = 0
    @Controller('/inc')
    class Incrementing {
      @Transactional({ isolation: 'serializable', retry: 30 })
      @Put()
      async increment(session: Session) {
        session.afterCommit(() => ran++)
        const hero = (await session.get(Hero, 1)) as Hero
        hero.age += 1
        session.add(hero)
        return hero.age
      }
    }
    const lifespan = { echo: false, poolTimeout: 20_000 }
    const app = await databaseApp(t, kind, models, [Incrementing, Whole], { lifespan })
    await Hero.create({ id: 1, name: 'Robin' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.fetch('/inc', put)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), app.log.join('\n'))
    assert.deepEqual([(await Hero.findByPk(1))?.age, ran], [10, 10])
    await assertWhole(app)
  })
}

/** Two handlers that meet: each reads what the other writes, so that one of them fails at its COMMIT. */
function skewed(retry: number) {
  const ran: string[] = []
  const met = [gate(), gate()] as const
  @Controller('/skew')
  class Skewed {
    @Transactional({ isolation: 'serializable', retry })
    @Post('/:n')
    async write(n: number, session: Session) {
      session.afterCommit(() => ran.push(`hero ${n}`))
      await Hero.create({ name: `hero ${n}`, age: await Hero.count() })
      met[n as 0 | 1].open()
      await met[(1 - n) as 0 | 1].opened
    }
  }
  return { Skewed, ran }
}

test('PostgreSQL: a conflict that only COMMIT finds is retried, and the failed attempt announces nothing', async (t) => {
  const { Skewed, ran } = skewed(10)
  const app = await databaseApp(t, postgres, models, [Skewed, Whole])
  const answers = await Promise.all([app.fetch('/skew/0', post), app.fetch('/skew/1', post)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [204, 204],
  )
  assert.deepEqual(
    (await Hero.findAll({ order: ['age'] })).map(({ age }) => age),
    [0, 1],
  )
  assert.deepEqual(ran.toSorted(), ['hero 0', 'hero 1'])
  await assertWhole(app)
})

test('PostgreSQL: without retry one of two in conflict answers 503 with Retry-After', async (t) => {
  const { Skewed, ran } = skewed(0)
  const app = await databaseApp(t, postgres, models, [Skewed, Whole])
  const answers = await Promise.all([app.fetch('/skew/0', post).then(said), app.fetch('/skew/1', post).then(said)])
  const refused = '503, again in 1 s: Another request changed the same data; try again.'
  assert.deepEqual(answers.toSorted(), ['204: ', refused])
  assert.deepEqual([await Hero.count(), ran.length], [1, 1])
  await assertWhole(app)
})

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite'))) {
  /** Two handlers that lock two rows in opposite order. */
  const deadlocking = (retry: number, second: (hero: number, session: Session) => Promise<unknown>) => {
    const locked = [gate(), gate()] as const
    let runs = 0
    @Controller('/lock')
    class Deadlocking {
      @Transactional({ retry })
      @Post('/:n')
      async lock(n: number, session: Session) {
        runs++
        await Hero.increment('age', { where: { id: n + 1 } })
        locked[n as 0 | 1].open()
        await locked[(1 - n) as 0 | 1].opened
        await second(2 - n, session)
        await Team.create({ name: `team ${n}` })
      }
    }
    return { Deadlocking, runs: () => runs }
  }
  const increment = (id: number) => Hero.increment('age', { where: { id } })
  const heroes = [
    { id: 1, name: 'Robin' },
    { id: 2, name: 'Batman' },
  ]
  const ages = async () => (await Hero.findAll({ order: ['id'] })).map(({ age }) => age)

  test(`${kind.name}: of two handlers in a deadlock the one that lost is run again`, async (t) => {
    const { Deadlocking, runs } = deadlocking(5, increment)
    const app = await databaseApp(t, kind, models, [Deadlocking, Whole])
    await Hero.bulkCreate(heroes)
    const answers = await Promise.all([app.fetch('/lock/0', post), app.fetch('/lock/1', post)])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 204],
    )
    assert.deepEqual([await ages(), await Team.count()], [[2, 2], 2])
    assert(runs() >= 3)
    await assertWhole(app)
  })

  test(`${kind.name}: a handler that catches the error of its deadlock and goes on is no success`, async (t) => {
    const { Deadlocking } = deadlocking(0, (id) => increment(id).catch(() => {}))
    const app = await databaseApp(t, kind, models, [Deadlocking, Whole])
    await Hero.bulkCreate(heroes)
    const answers = await Promise.all([app.fetch('/lock/0', post), app.fetch('/lock/1', post)])
    assert.equal(answers.filter(({ ok }) => ok).length, 1)
    assert.deepEqual([await ages(), await Team.count()], [[1, 1], 1])
    await assertWhole(app)
  })

  test(`${kind.name}: of queries at once, one of which ends in a deadlock, none is kept`, async (t) => {
    const { Deadlocking } = deadlocking(0, (id) => Promise.all([increment(id), Team.create({ name: `beside ${id}` })]))
    const app = await databaseApp(t, kind, models, [Deadlocking, Whole])
    await Hero.bulkCreate(heroes)
    const answers = await Promise.all([app.fetch('/lock/0', post).then(said), app.fetch('/lock/1', post).then(said)])
    const refused = '503, again in 1 s: Another request changed the same data; try again.'
    assert.deepEqual(answers.toSorted(), ['204: ', refused])
    assert.deepEqual([await ages(), await Team.count()], [[1, 1], 2])
    await assertWhole(app)
  })

  test(`${kind.name}: a savepoint lost in a deadlock takes the whole handler along, which is run again`, async (t) => {
    const { Deadlocking } = deadlocking(5, (id, session) => session.nested(() => increment(id)))
    const app = await databaseApp(t, kind, models, [Deadlocking, Whole])
    await Hero.bulkCreate(heroes)
    const answers = await Promise.all([app.fetch('/lock/0', post), app.fetch('/lock/1', post)])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 204],
    )
    assert.deepEqual([await ages(), await Team.count()], [[2, 2], 2])
    await assertWhole(app)
  })
}

class Crew {
  @Field({ type: [String] }) names!: string[]
  @Field({ type: 'any' }) notes!: { read?: boolean }
}

@Injectable()
class Counter {
  seen = 0
}

/** Fails as the database does when others were in the way, on PostgreSQL. */
async function conflict(session: Session): Promise<void> {
  await session.execute(sql`DO $$ BEGIN RAISE 'in the way' USING ERRCODE = 'serialization_failure'; END $$`)
}

test('each attempt has a fresh body and fresh services, and what the failed one announces or adds is dropped', async (t) => {
  const ran: number[] = []
  let attempts = 0
  @Controller('/')
  class Changing {
    @Transactional({ retry: 3 })
    @Post()
    async create(crew: Crew, counter: Counter, session: Session) {
      const attempt = ++attempts
      const found = { names: [...crew.names], notes: { ...crew.notes }, seen: counter.seen }
      crew.names.push('Joker')
      crew.notes.read = true
      counter.seen++
      session.afterCommit(() => ran.push(attempt))
      session.add(Hero.build({ name: `hero ${attempt}` }))
      if (attempt < 3) await conflict(session)
      return found
    }
  }
  const app = await databaseApp(t, postgres, models, [Changing, Whole])
  const json = { names: ['Robin'], notes: {} }
  assert.deepEqual(await (await app.fetch('/', { ...post, json })).json(), { ...json, seen: 0 })
  assert.deepEqual([ran, (await Hero.findAll()).map(({ name }) => name)], [[3], ['hero 3']])
  await assertWhole(app)
})

test('a conflict that the handler turned into an error of its own is retried, and the last one is answered', async (t) => {
  let attempts = 0
  @Controller('/')
  class Turning {
    @Transactional({ retry: 2 })
    @Post()
    async create(session: Session) {
      attempts++
      await conflict(session).catch(() => teapot())
    }
  }
  const app = await databaseApp(t, postgres, models, [Turning, Whole])
  assert.equal((await app.fetch('/', post)).status, 418)
  assert.equal(attempts, 3)
  await assertWhole(app)
})

function teapot(): never {
  throw new HttpError(418)
}

test('work that one database has kept is not run again for the conflict of another', async (t) => {
  const [first, second] = [await sqliteFile.url(), await postgres.url()]
  const heroes = newLifespan(first, { sync: true, models })
  const audit = newLifespan(second)
  const kept: string[] = []
  let attempts = 0
  @Controller('/')
  class Two {
    @Transactional({ retry: 3 })
    @Post()
    async create(session: Session, @Inject(audit.Session) log: Session) {
      attempts++
      session.afterCommit(() => kept.push('hero'))
      log.afterCommit(() => kept.push('entry'))
      await Hero.create({ name: `hero ${attempts}` })
      await log.execute(sql`INSERT INTO entry VALUES (1)`)
    }
    @Transactional({ retry: 3 })
    @Post('/audit')
    async audit(@Inject(audit.Session) log: Session) {
      if (++attempts < 3) await conflict(log)
    }
  }
  const { fetch, close } = await testApp({ controllers: [Two], lifespan: [heroes, audit] })
  t.after(close)
  await audit.sequelize.query(`CREATE TABLE entry (id INTEGER);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'in the way' USING ERRCODE = 'serialization_failure'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON entry DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
  assert.equal((await fetch('/', post)).status, 500)
  assert.deepEqual([attempts, await Hero.count(), kept], [1, 1, ['hero']])
  attempts = 0
  assert.equal((await fetch('/audit', post)).status, 204)
  assert.equal(attempts, 3)
})
