import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, newLifespan, Post, Session, sql, Transactional, withSession } from 'sequitur'
import { pipelinedPg } from '../../src/db/dialects/postgres/pipelined-client.js'
import { settingsOf } from '../../src/db/dialects/postgres/server-settings.js'
import { databaseApp, postgres, statements } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

const models = [Team, Hero]
const post = { method: 'POST' }

test('PostgreSQL: isolation and READ ONLY travel in the statement that begins the transaction', async (t) => {
  @Controller('/')
  class Report {
    @Transactional({ isolation: 'serializable', readOnly: true })
    @Get()
    count() {
      return Hero.count()
    }
    @Transactional({ readOnly: true })
    @Post()
    async write() {
      await Hero.create({ name: 'Robin' })
    }
  }
  const { fetch, log } = await databaseApp(t, postgres, models, [Report])
  assert.equal((await fetch('/')).status, 200)
  assert.equal(statements(log)[0], 'START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY')
  assert.equal((await fetch('/', post)).status, 500)
  assert.equal(await Hero.count(), 0)
})

test('PostgreSQL: a connection killed inside a transaction is an error for its request only', async (t) => {
  const elsewhere = await postgres.url()
  @Controller('/')
  class Killed {
    @Post() async create(session: Session) {
      await Hero.create({ name: 'Robin' })
      const [{ pid } = { pid: 0 }] = await session.sequelize.query<{ pid: number }>('SELECT pg_backend_pid() AS pid', {
        type: QueryTypes.SELECT,
      })
      await withSession(newLifespan(elsewhere), (own) => own.execute(sql`SELECT pg_terminate_backend(${pid})`))
      await Hero.create({ name: 'Batman' })
    }
    @Get() read() {
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, postgres, models, [Killed])
  assert.equal((await fetch('/', post)).status, 503)
  for (let n = 0; n < 20; n++) assert.equal(await (await fetch('/')).json(), 0)
})

test('PostgreSQL: when all connections are taken the answer is 503 with Retry-After', async (t) => {
  let free = () => {}
  const held = new Promise<void>((resolve) => (free = resolve))
  let taken = () => {}
  const allTaken = new Promise<void>((resolve) => (taken = resolve))
  @Controller('/')
  class Holding {
    @Post() async hold() {
      await Hero.count()
      taken()
      await held
    }
    @Get() read() {
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, postgres, models, [Holding], { lifespan: { poolSize: 1, poolTimeout: 1_000 } })
  const holding = fetch('/', post)
  await allTaken
  const refused = await fetch('/')
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
  free()
  assert.equal((await holding).status, 204)
  assert.equal((await fetch('/')).status, 200)
})

test('PostgreSQL: a table that is altered under a prepared statement costs no request', async (t) => {
  @Controller('/')
  class Reading {
    @Get() read(session: Session) {
      return session.execute(sql`SELECT * FROM team WHERE id > ${0}`)
    }
  }
  const { fetch, database } = await databaseApp(t, postgres, models, [Reading], {
    lifespan: { poolSize: 1, echo: false },
  })
  assert.equal((await fetch('/')).status, 200)
  await database.sequelize.query('ALTER TABLE team ADD COLUMN motto TEXT')
  for (let n = 0; n < 3; n++) assert.equal((await fetch('/')).status, 200)
})

test('PostgreSQL: a statement that outlasts its handler is cut, and its connection replaced', async (t) => {
  @Controller('/')
  class Slow {
    @Post() async sleep(session: Session) {
      await session.execute(sql`SELECT pg_sleep(20)`)
    }
    @Get() read() {
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, postgres, models, [Slow], {
    timeouts: { handler: 200 },
    lifespan: { poolSize: 1 },
  })
  assert.equal((await fetch('/', post)).status, 503)
  await until('its connection is replaced', async () => (await fetch('/')).status === 200)
})

test('PostgreSQL: what a handler that is given up has locked is free at once', async (t) => {
  @Controller('/')
  class Locking {
    @Post() async lock(session: Session) {
      await Hero.update({ age: 1 }, { where: { name: 'Robin' } })
      await session.execute(sql`SELECT pg_sleep(25)`)
    }
    @Post('/after') async after() {
      await Hero.update({ age: 2 }, { where: { name: 'Robin' } })
    }
  }
  const { fetch, database } = await databaseApp(t, postgres, models, [Locking], { timeouts: { handler: 4_000 } })
  await withSession(database, () => Hero.create({ name: 'Robin' }))
  assert.equal((await fetch('/', post)).status, 503)
  assert.equal((await fetch('/after', post)).status, 204)
  assert.equal((await Hero.findOne())?.age, 2)
})

test('PostgreSQL: an error of a connection that nobody listens to yet does not end the process', () => {
  const { Client } = pipelinedPg({ prepared: true, settings: settingsOf({}) }) as {
    Client: new (config: object) => NodeJS.EventEmitter
  }
  assert.doesNotThrow(() => new Client({}).emit('error', new Error('terminating connection')))
})

test('PostgreSQL: of statements sent at once all fail for the reason of the first that did; what comes later is told that it came too late', async (t) => {
  const { database } = await databaseApp(t, postgres, models, [])
  const told: string[] = []
  const note = (error: unknown) => void told.push((error as Error).message)
  await assert.rejects(
    withSession(database, async (session) => {
      const failing = () =>
        session.sequelize.query('UPDATE hero SET age = 1 / 0', { type: QueryTypes.UPDATE }).catch(note)
      await Hero.create({ name: 'Robin' })
      await session.nested(() => Promise.reject(new Error('undone'))).catch(note)
      const reading = () => Promise.all([Hero.findByPk(1).catch(note), session.get(Hero, 1).catch(note)])
      await Promise.all([failing(), reading(), Hero.create({ name: 'Batman' }).catch(note)])
      await Hero.count().catch(note)
      throw new Error('enough')
    }),
    /enough/,
  )
  const [undone, ...failed] = told
  assert.equal(undone, 'undone')
  assert.deepEqual(
    failed.slice(0, -1),
    Array.from({ length: 4 }, () => 'division by zero'),
  )
  assert.match(failed.at(-1) ?? '', /^Nothing was saved: the statement was refused/)
})
