import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, Post, Session, sql, Transactional } from 'sequitur'
import { databaseApp, sqliteFile, sqliteMemory, statements } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { gate } from '../support/waiting.js'

const models = [Team, Hero]
const post = { method: 'POST' }

test('a reader does not wait for an open writer, and sees only what was committed', async (t) => {
  const [written, finish] = [gate(), gate()]
  @Controller('/')
  class Both {
    @Post() async write() {
      await Hero.create({ name: 'Robin' })
      written.open()
      await finish.opened
    }
    @Get() read() {
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, models, [Both])
  const writing = fetch('/', post)
  await written.opened
  assert.equal(await (await fetch('/')).json(), 0)
  finish.open()
  await writing
  assert.equal(await (await fetch('/')).json(), 1)
})

test('a GET that writes waits for its turn and is run once when nobody wrote before it', async (t) => {
  const [written, finish] = [gate(), gate()]
  let runs = 0
  @Controller('/')
  class Both {
    @Post() async write() {
      await Hero.create({ name: 'Robin' })
      written.open()
      await finish.opened
    }
    @Get() async visit() {
      runs++
      setTimeout(finish.open, 20)
      await Hero.create({ name: `visit ${runs}` })
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, models, [Both])
  const writing = fetch('/', post)
  await written.opened
  assert.equal(await (await fetch('/')).json(), 2)
  assert.equal((await writing).status, 204)
  assert.equal(runs, 1)
})

test('a GET that writes on an old snapshot is run again, as a writer', async (t) => {
  const [hasRead, goOn] = [gate(), gate()]
  let runs = 0
  @Controller('/')
  class Both {
    @Post() async write() {
      await Hero.create({ name: 'Robin' })
    }
    @Get() async visit(session: Session) {
      const before = await Hero.count()
      if (++runs === 1) {
        hasRead.open()
        await goOn.opened
      }
      await Hero.create({ name: `visit after ${before}` })
      session.afterCommit(() => runs++)
      return before
    }
  }
  const { fetch, log } = await databaseApp(t, sqliteFile, models, [Both])
  const visiting = fetch('/')
  await hasRead.opened
  await fetch('/', post)
  goOn.open()
  assert.equal(await (await visiting).json(), 1)
  assert.equal(runs, 3)
  assert.deepEqual(
    (await Hero.findAll({ order: ['id'] })).map(({ name }) => name),
    ['Robin', 'visit after 1'],
  )
  assert.deepEqual(
    statements(log).filter((text) => text.startsWith('BEGIN')),
    ['BEGIN DEFERRED', 'BEGIN IMMEDIATE', 'BEGIN IMMEDIATE'],
  )
})

test('a GET that catches the error of its old snapshot is run again all the same', async (t) => {
  const [hasRead, goOn] = [gate(), gate()]
  let runs = 0
  @Controller('/')
  class Both {
    @Post() async write() {
      await Hero.create({ name: 'Robin' })
    }
    @Get() async visit() {
      await Hero.count()
      if (++runs === 1) {
        hasRead.open()
        await goOn.opened
      }
      await Hero.create({ name: 'visit' }).catch(() => {})
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, models, [Both])
  const visiting = fetch('/')
  await hasRead.opened
  await fetch('/', post)
  goOn.open()
  assert.equal((await visiting).status, 204)
  assert.equal(await Hero.count({ where: { name: 'visit' } }), 1)
})

for (const kind of [sqliteFile, sqliteMemory]) {
  test(`${kind.name}: a connection writes again after a read-only session`, async (t) => {
    @Controller('/')
    class Both {
      @Transactional({ readOnly: true })
      @Post('/refused')
      async refused() {
        await Hero.create({ name: 'Robin' })
      }
      @Post() async write() {
        await Hero.create({ name: 'Robin' })
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Both])
    assert.equal((await fetch('/refused', post)).status, 500)
    assert.equal((await fetch('/', post)).status, 204)
    assert.equal(await Hero.count(), 1)
  })
}

test('a reader that did not get its turn to write gives its own connection back, and keeps nobody else from it', async (t) => {
  const [written, finish, waits] = [gate(), gate(), gate()]
  @Controller('/')
  class Both {
    @Post() async write() {
      await Hero.create({ name: 'Robin' })
      written.open()
      await finish.opened
    }
    @Get('/visit') async visit() {
      waits.open()
      await Hero.create({ name: 'visit' })
    }
    @Get() read() {
      return Hero.count()
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, models, [Both], { lifespan: { poolSize: 1, poolTimeout: 1_500 } })
  const writing = fetch('/', post)
  await written.opened
  const visiting = fetch('/visit')
  await waits.opened
  const reading = new Promise((resolve) => setTimeout(resolve, 750)).then(() => fetch('/'))
  assert.equal((await visiting).status, 503)
  assert.deepEqual([(await reading).status, (await fetch('/')).status], [200, 200])
  finish.open()
  assert.equal((await writing).status, 204)
  assert.equal((await fetch('/visit')).status, 204)
})

test('an idle reader, which has begun its next transaction, holds no snapshot', async (t) => {
  let names = 0
  @Controller('/')
  class Both {
    @Post() async write() {
      await Hero.create({ name: `Robin ${names++}` })
    }
    @Get() read() {
      return Hero.count()
    }
  }
  const { fetch, log, database } = await databaseApp(t, sqliteFile, models, [Both], { lifespan: { poolSize: 1 } })
  const read = async () => (await fetch('/')).json()
  const counts: unknown[] = []
  for (let round = 0; round < 3; round++) {
    counts.push(await read(), await Hero.count({ transaction: null })) // the second one is no session's: it ends with its statement
    await fetch('/', post)
    const [busy] = await database.sequelize.query<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)', {
      type: QueryTypes.SELECT,
    })
    assert.equal(busy?.busy, 0)
    counts.push(await Hero.count({ transaction: null }), await read())
  }
  assert.deepEqual(counts, [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3])
  const reads = statements(log).filter((text) => text === 'BEGIN DEFERRED' || text === 'COMMIT')
  assert.equal(reads.filter((text) => text === 'BEGIN DEFERRED').length, 6)
  assert.equal(reads.filter((text) => text === 'COMMIT').length, 9) // with those of three writers
})

test('a GET whose statement failed leaves its reader in order', async (t) => {
  let names = 0
  @Controller('/')
  class Both {
    @Get() read() {
      return Hero.count()
    }
    @Get('/wrong') async wrong(session: Session) {
      await session.execute(sql`SELECT * FROM nowhere`)
    }
    @Transactional({ readOnly: true })
    @Get('/only')
    only() {
      return Hero.count()
    }
    @Get('/write') async write() {
      await Hero.create({ name: `Robin ${names++}` })
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, models, [Both], { lifespan: { poolSize: 1 }, logger: false })
  const statuses: number[] = []
  for (const path of ['/', '/wrong', '/', '/only', '/', '/write', '/', '/only', '/write', '/wrong', '/write', '/only'])
    statuses.push((await fetch(path)).status)
  assert.deepEqual(statuses, [200, 500, 200, 200, 200, 204, 200, 200, 204, 500, 204, 200])
  assert.equal(await (await fetch('/')).json(), 3)
})
