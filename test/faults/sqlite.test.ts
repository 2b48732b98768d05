import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, rename, rm, stat } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setImmediate, setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Sequelize } from 'sequelize'
import { Controller, Field, Get, newLifespan, Post, Session, sql, Transactional, withSession } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { poolsOf } from '../../src/db/events/session-observer.js'
import { OpenedFile } from '../../src/db/dialects/sqlite/opened-file.js'
import { type DatabaseApp, databaseApp, sqliteFile, sqliteMemory } from '../support/databases.js'
import { assertWhole, said } from '../support/faults.js'
import { runs } from '../support/fuzz.js'
import { gate, until } from '../support/waiting.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]
const post = { method: 'POST' }
const MANY = Array.from({ length: 1_000 }, (_, n) => ({ name: `${n}`.padEnd(200, 'x') }))

@Controller('/')
class Heroes {
  @Post() async create() {
    await Hero.create({ name: 'Robin' })
  }
  @Post('/many') async another() {
    await Hero.create({ name: `${Math.random()}` })
  }
  @Transactional({ retry: 50 })
  @Post('/patient')
  async patient() {
    await Hero.create({ name: 'Batman' })
  }
  @Get('/whole') async read() {
    await Hero.count()
    return 'whole'
  }
  @Post('/full') async full() {
    await Team.create({ name: 'kept?' })
    await Hero.bulkCreate(MANY)
  }
  @Post('/full/caught') async caught() {
    await Hero.bulkCreate(MANY).catch(() => {})
    await Team.create({ name: 'kept?' })
  }
  @Post('/full/nested') async nested(session: Session) {
    await Team.create({ name: 'kept?' })
    await session.nested(() => Hero.bulkCreate(MANY)).catch(() => {})
  }
}

/** The part of Sequelize that its types do not have. */
interface Connections {
  getConnection(options: object): Promise<{ exec(sql: string, done: (error: Error | null) => void): void }>
  releaseConnection(connection: object): void
}

/** Executes SQL on the write connection without the app's knowledge: a setting of a program would close it. */
async function execute({ connectionManager }: Sequelize, text: string): Promise<void> {
  const manager = connectionManager as unknown as Connections
  const connection = await manager.getConnection({ type: 'INSERT' })
  await new Promise<void>((resolve, reject) => {
    connection.exec(text, (error) => (error ? reject(error) : resolve()))
  })
  manager.releaseConnection(connection)
}

for (const kind of [sqliteFile, sqliteMemory]) {
  test(`${kind.name}: a full disk answers 503, keeps nothing, also of a handler that goes on, and passes`, async (t) => {
    const app = await databaseApp(t, kind, models, [Heroes], { lifespan: { echo: false } })
    const limit = (pages: number) => execute(app.database.sequelize, `PRAGMA max_page_count = ${pages}`)
    for (const path of ['/full', '/full/caught', '/full/nested']) {
      await limit(10) // of the connection, which may be a new one after a fault
      assert.equal(await said(app.fetch(path, post)), '503, again in 1 s: The database is not available.', path)
      assert.deepEqual([await Team.count(), await Hero.count()], [0, 0], path)
    }
    await limit(1_000_000)
    assert.equal((await app.fetch('/full', post)).status, 204)
    await assertWhole(app)
  })
}

async function fileWithTables(t: TestContext): Promise<string> {
  const url = await sqliteFile.url()
  await withSession(newLifespan(url, { models, sync: true }), async () => {})
  t.after(() => rm(new URL(url).pathname, { force: true }))
  return url
}

test('a file that may only be read serves reads and answers writes with 503', async (t) => {
  const url = await fileWithTables(t)
  const readOnly = { name: 'SQLite', url: () => Promise.resolve(`${url}?mode=ro`) }
  const app = await databaseApp(t, readOnly, models, [Heroes], { lifespan: { sync: false } })
  assert.equal(await said(app.fetch('/', post)), '503, again in 1 s: The database cannot be written.')
  assert.equal(await Hero.count(), 0)
  await assertWhole(app)
})

/** The rows of a file, read by connections of their own. */
function countIn(file: string): Promise<number> {
  return withSession(newLifespan(`sqlite+sqlite3:///${file}`), async (session) => {
    return (await session.execute(sql<{ name: string }>`SELECT name FROM hero`)).length
  })
}

const AWAY = '503, again in 1 s: The database is not available.'

for (const fastPath of [true, false]) {
  const start = async (t: TestContext) => {
    const [url, other] = [await fileWithTables(t), await fileWithTables(t)]
    const kind = { name: 'SQLite', url: () => Promise.resolve(url) }
    const app = await databaseApp(t, kind, models, [Heroes], { health: true, lifespan: { echo: false, fastPath } })
    assert.equal((await app.fetch('/', post)).status, 204)
    return { app, file: new URL(url).pathname.slice(1), other: new URL(other).pathname.slice(1) }
  }

  test(`a file that was removed is a 503 until it is there again, and is not created: fastPath ${fastPath}`, async (t) => {
    const { app, file } = await start(t)
    await rename(file, `${file}.moved`)
    assert.deepEqual([await said(app.fetch('/', post)), await said(app.fetch('/whole'))], [AWAY, AWAY])
    assert.equal((await app.fetch('/readyz')).status, 503)
    await assert.rejects(stat(file), { code: 'ENOENT' })
    assert.match(app.log.join('\n'), /The database file \S+ was removed, or moved\. .* Put the file back/)
    await rename(`${file}.moved`, file)
    assert.equal((await app.fetch('/patient', post)).status, 204)
    assert.equal(await Hero.count(), 2)
    await assertWhole(app)
  })

  test(`a file that was replaced is a 503, then the new file is used: fastPath ${fastPath}`, async (t) => {
    const { app, file, other } = await start(t)
    await rename(file, `${file}.moved`)
    await copyFile(other, file) // beside the log of the old one, in which its row is
    assert.equal(await said(app.fetch('/', post)), AWAY)
    assert.match(app.log.join('\n'), /The database file \S+ was replaced by another file, .* Stop the app before/)
    assert.equal((await app.fetch('/', post)).status, 204)
    assert.deepEqual([await Hero.count(), await countIn(file), await countIn(`${file}.moved`)], [1, 1, 1])
    assert.equal((await app.fetch('/readyz')).status, 200)
    await assertWhole(app)
  })
}

for (const removed of [['-wal'], ['-shm'], ['-wal', '-shm']])
  test(`nothing of what was answered is lost when ${removed.join(' and ')} of a file in use are removed`, async (t) => {
    const url = await fileWithTables(t)
    const kind = { name: 'SQLite', url: () => Promise.resolve(url) }
    const app = await databaseApp(t, kind, models, [Heroes], { lifespan: { echo: false } })
    const file = new URL(url).pathname.slice(1)
    let created = 0
    const create = async () => {
      const answer = await said(app.fetch('/many', post))
      if (answer === '204: ') created++
      return answer
    }
    assert.equal(await create(), '204: ')
    for (const end of removed) await rm(`${file}${end}`)
    await until('a write is refused', async () => (await create()) === AWAY)
    assert.match(app.log.join('\n'), /The database file \S+ has lost its write-ahead log, .* Remove neither/)
    assert.equal(await create(), '204: ')
    assert.deepEqual([await Hero.count(), await countIn(file)], [created, created]) // the second by a connection of its own
    await assertWhole(app)
  })

class Counted {
  @Field({ type: 'integer' }) n!: number
}

@Controller('/')
class Reads {
  /** Reads until its client leaves: then the connection is closed at once. */
  @Get('/endless', Rows.of(Counted, { atOnce: 2 })) endless() {
    return rows(sql<Counted>`
      WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
      SELECT max(n) AS n FROM c WHERE (SELECT count(*) FROM sqlite_schema) >= 0`)
  }
  @Get('/whole') async read(session: Session) {
    await session.execute(sql`SELECT count(*) FROM sqlite_schema`)
    return 'whole'
  }
}

/** Begins to read, and leaves. */
async function cut(url: string, after: number): Promise<void> {
  const signal = AbortSignal.timeout(after)
  await assert.rejects(fetch(`${url}/endless`, { signal }), { name: 'TimeoutError' })
}

/** Waits until no connection for reads is open. */
function noReader({ database }: DatabaseApp): Promise<void> {
  const readers = () => poolsOf(database.sequelize).at(-1)
  return until('all are closed', () => readers()?.used === 0 && readers()?.idle === 0)
}

test('a read that is cut before anything was written leaves the file usable', async (t) => {
  const app = await databaseApp(t, sqliteFile, [], [Reads], { lifespan: { echo: false } })
  await cut(app.url, 50)
  await noReader(app)
  await setTimeout(200) // the log is looked for every 100 ms
  await assertWhole(app)
})

// SQLite would remove the log with the last connection, and make another one for that which is opened.
test('no connection is opened while one is closed, which may be the last one', async (t) => {
  const storage = new URL(await fileWithTables(t)).pathname.slice(1)
  const steps = fc.array(fc.record({ opens: fc.boolean(), takes: fc.nat(3), before: fc.nat(2) }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const file = new OpenedFile({ dialect: 'sqlite', storage, mode: 'rwc', options: {} })
      const running = { opens: 0, closes: 0 }
      const work = async (kind: keyof typeof running, takes: number) => {
        running[kind]++
        assert.ok(running.opens === 0 || running.closes === 0)
        for (let turn = 0; turn < takes; turn++) await setImmediate()
        running[kind]--
      }
      const ends: Promise<void>[] = []
      for (const { opens, takes, before } of all) {
        for (let turn = 0; turn < before; turn++) await setImmediate()
        const close = () => work('closes', takes)
        ends.push(opens ? file.open(() => work('opens', takes), close) : file.close(close))
      }
      await Promise.all(ends)
    }),
    { numRuns: runs(100) },
  )
})

test('nothing of a connection is kept when it was closed', async (t) => {
  const storage = new URL(await fileWithTables(t)).pathname.slice(1)
  const file = new OpenedFile({ dialect: 'sqlite', storage, mode: 'rwc', options: {} })
  const opened: WeakRef<object>[] = []
  for (let count = 0; count < 20; count++) {
    opened.push(
      new WeakRef(
        await file.open(
          () => Promise.resolve({ count }),
          () => Promise.resolve(),
        ),
      ),
    )
    await file.close(() => Promise.resolve())
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await setImmediate() // until then a WeakRef keeps what was read or made
  collect()
  const kept = opened.filter((reference) => reference.deref() !== undefined).length
  assert.ok(kept < 3, `${kept} of ${opened.length}`) // the engine may keep the last one
})

test('a log that was removed while only one connection was open is a 503 once, also where another one is needed', async (t) => {
  const url = await fileWithTables(t)
  const kind = { name: 'SQLite', url: () => Promise.resolve(url) }
  const app = await databaseApp(t, kind, models, [Reads], { lifespan: { echo: false } })
  await app.database.sequelize.query("INSERT INTO hero (name) VALUES ('kept')")
  const file = new URL(url).pathname.slice(1)
  await Promise.all([cut(app.url, 50), cut(app.url, 50)])
  await noReader(app)
  await rm(`${file}-wal`)
  await setTimeout(200)
  assert.equal(await said(app.fetch('/whole')), AWAY)
  await assertWhole(app)
  assert.equal(await countIn(file), 1)
})

/** Another process that holds the file's lock until it is told to let go. */
async function lockElsewhere(t: TestContext, url: string): Promise<() => Promise<void>> {
  const program = `
    const { Database } = require('sqlite3')
    const file = new Database(process.argv[1])
    file.exec('BEGIN EXCLUSIVE', (error) => console.log(error ?? 'locked'))
    process.stdin.resume().on('end', () => file.exec('COMMIT', () => process.exit()))`
  const child = spawn(process.execPath, ['--eval', program, new URL(url).pathname.slice(1)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  assert.equal(line.toString().trim(), 'locked')
  return async () => {
    child.stdin.end()
    await once(child, 'exit')
  }
}

test('a file that another process has locked answers writes with 503, and works when it is free', async (t) => {
  const url = await fileWithTables(t)
  const kind = { name: 'SQLite', url: () => Promise.resolve(`${url}?timeout=0.1`) }
  const app = await databaseApp(t, kind, models, [Heroes])
  const unlock = await lockElsewhere(t, url)
  const busy = '503, again in 1 s: The database is busy; try again.'
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => app.fetch('/', post).then(said))), [busy, busy, busy])
  await assertWhole(app)
  await unlock()
  assert.equal((await app.fetch('/', post)).status, 204)
  assert.equal(await Hero.count(), 1)
})

test('a write that is retried outlasts the lock of another process', async (t) => {
  const url = await fileWithTables(t)
  const kind = { name: 'SQLite', url: () => Promise.resolve(`${url}?timeout=0.1`) }
  const app = await databaseApp(t, kind, models, [Heroes])
  const unlock = await lockElsewhere(t, url)
  const writing = app.fetch('/patient', post)
  await setTimeout(300)
  await unlock()
  assert.equal((await writing).status, 204)
  assert.equal(await Hero.count(), 1)
})

for (const kind of [sqliteFile, sqliteMemory]) {
  test(`${kind.name}: a COMMIT that fails frees the lock for who waits to write`, async (t) => {
    const ran: string[] = []
    @Controller('/deferred')
    class Deferred {
      @Post() async create(session: Session) {
        session.afterCommit(() => ran.push('ran'))
        await session.execute(sql`INSERT INTO child (parent) VALUES (${7})`)
      }
    }
    const app = await databaseApp(t, kind, models, [Deferred, Heroes], { lifespan: { poolTimeout: 2000 } })
    await app.database.sequelize.query('CREATE TABLE parent (id INTEGER PRIMARY KEY)')
    await app.database.sequelize.query(
      'CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)',
    )
    const failing = Array.from({ length: 5 }, () => app.fetch('/deferred', post))
    const writing = app.fetch('/', post)
    assert.deepEqual(new Set((await Promise.all(failing)).map(({ status }) => status)), new Set([409]))
    assert.equal((await writing).status, 204)
    assert.deepEqual(ran, [])
    await assertWhole(app)
  })
}

test('200 readers are served while one writes and 200 wait to write, and nobody is told that the file is busy', async (t) => {
  const [written, finish] = [gate(), gate()]
  @Controller('/')
  class Queue {
    @Post('/hold') async hold() {
      await Hero.create({ name: 'first' })
      written.open()
      await finish.opened
    }
    @Post('/:n') async write(n: number) {
      await Hero.create({ name: `a${n}` })
      await Hero.create({ name: `b${n}` })
    }
    @Get('/whole') read() {
      return Hero.count()
    }
  }
  const app = await databaseApp(t, sqliteFile, models, [Queue], { lifespan: { echo: false, poolTimeout: 30_000 } })
  const holding = app.fetch('/hold', post)
  await written.opened
  const writing = Array.from({ length: 200 }, (_, n) => app.fetch(`/${n}`, post))
  const read = await Promise.all(Array.from({ length: 200 }, async () => (await app.fetch('/whole')).json()))
  assert.deepEqual(new Set(read), new Set([0]))
  finish.open()
  const statuses = (await Promise.all([holding, ...writing])).map(({ status }) => status)
  assert.deepEqual(new Set(statuses), new Set([204]))
  assert.equal(await Hero.count(), 401)
})
