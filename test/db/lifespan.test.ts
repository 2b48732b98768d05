import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DataTypes } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  Get,
  Inject,
  lifespan,
  newLifespan,
  Page,
  Paginate,
  Post,
  select,
  Session,
  Transactional,
  withSession,
} from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databaseApp, databases, postgres, sqliteFile } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare text: string
}

@Controller('/')
class Idle {
  @Get() hello() {
    return 'hello'
  }
}

for (const kind of databases) {
  test(`${kind.name}: missing tables and columns are all named at the start`, async (t) => {
    const url = await kind.url()
    const made = newLifespan(url, { models })
    if (url.includes(':memory:')) {
      await assert.rejects(
        made.start(),
        /table team is missing \(model Team\)\n {2}table hero is missing \(model Hero\)\n.*toolkit_sync=true/s,
      )
      return
    }
    await withSession(newLifespan(url), async ({ sequelize }) => {
      await sequelize
        .getQueryInterface()
        .createTable('hero', { id: { type: DataTypes.INTEGER, primaryKey: true }, name: DataTypes.STRING })
    })
    t.after(() => made.stop())
    await assert.rejects(made.start(), (error: Error) => {
      assert.match(error.message, /table team is missing/)
      assert.match(error.message, /column age is missing in table hero \(Hero\.age\)/)
      assert.match(error.message, /column team_id is missing in table hero \(Hero\.teamId\)/)
      return true
    })
  })

  test(`${kind.name}: withSession commits when its work resolves and keeps nothing when it rejects`, async (t) => {
    const { database } = await databaseApp(t, kind, models, [Idle])
    await withSession(async () => void (await Hero.create({ name: 'Robin' })))
    const failing = withSession(database, async (session) => {
      session.add(Hero.build({ name: 'Batman' }))
      await session.flush()
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    assert.equal(await Hero.count(), 1)
  })
}

test('a script opens the database with withSession, and closes it', async () => {
  const url = await sqliteFile.url()
  const database = newLifespan(url, { models, sync: true })
  const id = await withSession(database, async () => (await Hero.create({ name: 'Robin' })).id)
  assert.equal(database.isRunning, false)
  assert.equal(
    await withSession(newLifespan(url, { models }), async (session) => (await session.get(Hero, id))?.name),
    'Robin',
  )
})

test('two pieces of work at once in a script share the database', async () => {
  const database = newLifespan(await sqliteFile.url(), { models, sync: true })
  await Promise.all(
    ['Robin', 'Batman'].map((name) => withSession(database, async () => void (await Hero.create({ name })))),
  )
  assert.equal(database.isRunning, false)
  assert.equal(await withSession(database, () => Hero.count()), 2)
})

test('withSession without a running app says how to name a database', async () => {
  await assert.rejects(
    withSession(async () => {}),
    /No app is running.*withSession\(lifespan/,
  )
})

test('one database never gets what belongs to another', async (t) => {
  const [main, audit] = [memoryDatabase({ models }), memoryDatabase({ models: [Entry] })]
  @Controller('/')
  class Two {
    @Post('/fail') async fail(session: Session, @Inject(audit.Session) log: Session) {
      await Entry.create({ text: 'tried' })
      await Hero.create({ name: 'Robin' })
      assert.notEqual(session.sequelize, log.sequelize)
      throw new Error('no')
    }
    @Post() async create(session: Session, @Inject(audit.Session) log: Session) {
      session.add(Hero.build({ name: 'Robin' }))
      log.add(Entry.build({ text: 'created' }))
    }
    @Post('/foreign') async foreign(session: Session) {
      await Entry.create({ text: 'wrong' }, { transaction: session.transaction })
    }
  }
  const { fetch, close } = await testApp({ controllers: [Two], lifespan: [main, audit] })
  t.after(close)
  const post = { method: 'POST' }
  assert.equal((await fetch('/fail', post)).status, 500)
  assert.deepEqual([await Hero.count(), await Entry.count()], [0, 0])
  assert.equal((await fetch('/', post)).status, 204)
  assert.deepEqual([await Hero.count(), await Entry.count()], [1, 1])
  assert.equal((await fetch('/foreign', post)).status, 500)
  assert.deepEqual([await Hero.count(), await Entry.count()], [1, 1])
})

test('@Transactional(false) runs a handler in no transaction', async (t) => {
  @Controller('/')
  class Free {
    @Transactional(false)
    @Post()
    async create() {
      await Hero.create({ name: 'Robin' })
      throw new Error('no')
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, models, [Free])
  assert.equal((await fetch('/', { method: 'POST' })).status, 500)
  assert.equal(await Hero.count(), 1)
})

test('a Session in a handler without a transaction stops the boot', () => {
  @Controller('/')
  class Contradicting {
    @Transactional(false)
    @Get()
    read(session: Session) {
      return typeof session
    }
  }
  const make = () => createApp({ controllers: [Contradicting], lifespan: memoryDatabase() })
  assert.throws(make, /Contradicting\.read.*@Transactional\(false\).*Session/s)
})

@Table({ tableName: 'shadow', timestamps: false })
class Overwritten extends Base<Overwritten> {
  @Column({ type: DataType.STRING, primaryKey: true }) name = 'always this'
}

@Table({ tableName: 'shadow', timestamps: false })
class Hidden extends Base<Hidden> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare name: string
  constructor(...args: ConstructorParameters<typeof Base<Hidden>>) {
    super(...args)
    // What 'name!: string' compiles to where "useDefineForClassFields" is on.
    Object.defineProperty(this, 'name', { value: undefined, writable: true, enumerable: true, configurable: true })
  }
}

for (const model of [Hidden, Overwritten]) {
  test(`a property that leaves its column ${model.name.toLowerCase()} stops the start and is named`, async (t) => {
    const database = memoryDatabase({ models: [model] })
    t.after(() => database.stop())
    await assert.rejects(
      database.start(),
      new RegExp(`${model.name}\\.name: the property hides or overwrites the column.*declare name`),
    )
  })
}

test('a model of ARRAY(BLOB) stops the start, as Sequelize does not write what it is given', async (t) => {
  @Table({ tableName: 'listed', timestamps: false })
  class Listed extends Base<Listed> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.ARRAY(DataType.BLOB) }) declare parts: Buffer[]
  }
  const database = newLifespan(await postgres.url(), { models: [Listed] })
  t.after(() => database.stop())
  await assert.rejects(
    database.start(),
    /^BootError: Listed\.parts: Sequelize writes other bytes into an ARRAY\(BLOB\)/,
  )
})

test('a model that a route answers with and no database has stops the boot, and is named with the route', async () => {
  @Table({ tableName: 'forgotten', timestamps: false })
  class Forgotten extends Base<Forgotten> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  }
  @Controller('/')
  class Lists {
    @Get('/', Page.of(Forgotten)) list(paginate: Paginate<Forgotten>) {
      return paginate(select(Forgotten))
    }
  }
  const lifespan = memoryDatabase({ models })
  await assert.rejects(
    testApp({ controllers: [Lists], lifespan }),
    /^BootError: Forgotten, which Lists\.list returns, is a model of no database\. Add it: createApp\(\{ models: \[Forgotten\] \}\)/,
  )
  assert.equal(lifespan.isRunning, false)
})

test('a model in use by a running database is refused to another', async (t) => {
  await databaseApp(t, sqliteFile, models, [Idle])
  await assert.rejects(memoryDatabase({ models }).start(), /The model Team is in use by another running database/)
})

test('a database that cannot be reached is named without its password', async () => {
  const database = newLifespan('postgres+pg://robin:s3cret@127.0.0.1:1/heroes', { startTimeout: 300 })
  await assert.rejects(database.start(), (error: Error) => {
    assert.match(error.message, /Cannot reach the database \(postgres robin@127\.0\.0\.1:1\/heroes\)/)
    assert.doesNotMatch(error.message, /s3cret/)
    return true
  })
})

test('lifespan reads toolkit_url in any letter case, then DATABASE_URL, and else says what to set', async (t) => {
  const before = { ...process.env }
  t.after(() => {
    delete process.env['Toolkit_URL']
    Object.assign(process.env, before)
  })
  for (const name of ['toolkit_url', 'DATABASE_URL']) delete process.env[name]
  await assert.rejects(lifespan.start(), /There is no database URL.*toolkit_url=sqlite\+sqlite3:/s)
  process.env['DATABASE_URL'] = 'nonsense://'
  await assert.rejects(lifespan.start(), /DATABASE_URL/)
  process.env['Toolkit_URL'] = 'sqlite+sqlite3:///:memory:'
  await lifespan.start()
  await lifespan.stop()
})

test('a URL with three slashes is a file beside the program, percent-decoded', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-cwd-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const source = `
    import { lifespan } from ${JSON.stringify(new URL('../../src/db/lifespan.ts', import.meta.url).href)}
    await lifespan.start(); await lifespan.stop()`
  const hooks = ['--import', import.meta.resolve('tsx'), '--import', import.meta.resolve('sequitur/register')]
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--conditions=sequitur-source', ...hooks, '--input-type=module', '--eval', source],
    {
      cwd: folder,
      env: { ...process.env, toolkit_url: 'sqlite+sqlite3:///./db%20x.sqlite?check_same_thread=false' },
      encoding: 'utf8',
    },
  )
  assert.equal(status, 0, stderr)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.sqlite')),
    ['db x.sqlite'],
  )
})
