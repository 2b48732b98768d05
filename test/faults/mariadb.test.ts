import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, Post, Session, sql } from 'sequitur'
import { type DatabaseApp, databaseApp, databases } from '../support/databases.js'
import { assertWhole, said, settled } from '../support/faults.js'
import { gate, until } from '../support/waiting.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]
const post = { method: 'POST' }
/** That some connections are opened at once takes long on a busy machine. */
const patient = { lifespan: { poolTimeout: 10_000 } }
const UNAVAILABLE = '503, again in 1 s: The database is not available.'

@Controller('/whole')
class Whole {
  @Get() async read() {
    await Hero.count()
    return 'whole'
  }
}

/** The server's numbers of this database's connections that do this, other than the one that asks. */
async function idsOf({ database }: DatabaseApp, doing: string): Promise<number[]> {
  const text = `SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id() AND ${doing}`
  let found: { id: number }[] = []
  await until(doing, async () => {
    found = await database.sequelize.query<{ id: number }>(text, { type: QueryTypes.SELECT })
    return found.length > 0
  })
  return found.map(({ id }) => id)
}

/** Ends the server's side of them. */
async function killThose(app: DatabaseApp, doing: string): Promise<void> {
  const { sequelize } = app.database
  const killed = await idsOf(app, doing)
  for (const id of killed) await sequelize.query(`KILL ${id}`)
  const left = `SELECT id FROM information_schema.processlist WHERE id IN (${killed.join()})`
  await until('they are gone', async () => (await sequelize.query(left, { type: QueryTypes.SELECT })).length === 0)
}

for (const kind of databases.filter(({ name }) => name.startsWith('MariaDB'))) {
  for (const [when, last] of [
    ['before its last query', async () => void (await Hero.create({ name: 'Batman' }))],
    ['before its COMMIT', async () => {}],
  ] as const) {
    test(`${kind.name}: a connection killed while its transaction is idle, ${when}, fails its request only`, async (t) => {
      const ran: string[] = []
      const [idle, goOn] = [gate(), gate()]
      let own = 0
      @Controller('/')
      class Waiting {
        @Post() async create(session: Session) {
          session.afterCommit(() => ran.push('ran'))
          await Hero.create({ name: 'Robin' })
          const [row] = await session.execute<{ id: number }>(sql`SELECT connection_id() AS id`)
          own = Number(row?.id)
          idle.open()
          await goOn.opened
          await last()
        }
      }
      const app = await databaseApp(t, kind, models, [Waiting, Whole], patient)
      const creating = app.fetch('/', post)
      await idle.opened
      await killThose(app, `id = ${own} AND command = 'Sleep'`)
      goOn.open()
      assert.match(await said(creating), /^503/, app.log.join('\n'))
      assert.deepEqual([await Hero.count(), ran], [0, []])
      await assertWhole(app)
    })
  }

  test(`${kind.name}: a connection killed during a query fails its request only`, async (t) => {
    @Controller('/')
    class Slow {
      @Post() async create(session: Session) {
        await Hero.create({ name: 'Robin' })
        await session.execute(sql`SELECT sleep(60)`)
      }
    }
    const app = await databaseApp(t, kind, models, [Slow, Whole], patient)
    const creating = app.fetch('/', post)
    await killThose(app, `info LIKE '%sleep(60)%'`)
    assert.equal(await said(creating), UNAVAILABLE, app.log.join('\n'))
    assert.equal(await Hero.count(), 0)
    await assertWhole(app)
  })

  test(`${kind.name}: a statement that an operator ends fails its request only`, async (t) => {
    @Controller('/')
    class Busy {
      @Post() async create(session: Session) {
        await Hero.create({ name: 'Robin' })
        await session.execute(
          sql`SELECT count(*) FROM seq_1_to_1000000 a, seq_1_to_1000000 b WHERE sha1(a.seq) = sha1(b.seq)`,
        )
      }
    }
    const app = await databaseApp(t, kind, models, [Busy, Whole], patient)
    const creating = app.fetch('/', post)
    for (const id of await idsOf(app, `info LIKE '%seq_1_to%'`)) await app.database.sequelize.query(`KILL QUERY ${id}`)
    assert.match(await said(creating), /^503, again in 1 s: The database ended the statement/, app.log.join('\n'))
    assert.equal(await Hero.count(), 0)
    await assertWhole(app)
  })

  test(`${kind.name}: a lock that somebody else holds answers 503 after the lock timeout, and a slow statement 504`, async (t) => {
    const [held, release] = [gate(), gate()]
    @Controller('/')
    class Locked {
      @Post('/hold') async hold() {
        await Hero.create({ name: 'Robin' })
        held.open()
        await release.opened
      }
      @Post() async create() {
        await Hero.create({ name: 'Robin' })
      }
      @Post('/slow') async slow(session: Session) {
        await Hero.create({ name: 'Batman' })
        await session.execute(sql`SELECT sleep(60)`)
      }
    }
    const lifespan = { ...patient.lifespan, lockTimeout: 1000, statementTimeout: 2000 }
    const app = await databaseApp(t, kind, models, [Locked, Whole], { lifespan })
    t.after(release.open)
    const holding = app.fetch('/hold', post)
    await held.opened
    assert.match(await said(app.fetch('/', post)), /^503, again in 1 s: Another request holds a lock/)
    assert.equal(await said(app.fetch('/slow', post)), '504: The database took too long.', app.log.join('\n'))
    release.open()
    assert.equal((await holding).status, 204)
    assert.equal(await Hero.count(), 1)
    await assertWhole(app)
  })

  test(`${kind.name}: pooled connections killed while nobody uses them are not noticed by the next requests`, async (t) => {
    const app = await databaseApp(t, kind, models, [Whole], patient)
    await assertWhole(app)
    await settled(app)
    await killThose(app, `command = 'Sleep'`)
    await assertWhole(app)
  })
}
