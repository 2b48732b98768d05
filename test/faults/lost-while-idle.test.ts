import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Controller, Get, Post, select, Session, sql, Transactional, withSession } from 'sequitur'
import { sequelizeInternals } from '../../src/db/sequelize/internals.js'
import { type DatabaseApp, databaseApp, databases, postgres } from '../support/databases.js'
import { assertWhole, said, settled } from '../support/faults.js'
import { serverAddress } from '../support/postgres.js'
import { watchedNetwork } from '../support/watched-network.js'
import { Hero, Team } from '../support/hero.js'

const post = { method: 'POST' }
const program = fileURLToPath(new URL('../support/programs/kill-connections.js', import.meta.url))

/** Kills the connections of an app while its event loop is blocked, so that it does not notice before its next statement. */
function killUnnoticed({ database }: DatabaseApp): void {
  const {
    dialect,
    host,
    port,
    database: name,
    username,
    password,
  }: ConnectionOptions = Object(sequelizeInternals(database.sequelize).options)
  // PgBouncer would run the statements of the program on connections that it kills.
  const address = dialect === 'postgres' ? serverAddress() : { host, port: Number(port) }
  const settings = { ...address, database: name, user: username, password: password ?? undefined }
  const { status, stderr } = spawnSync(process.execPath, [program], {
    env: { ...process.env, DIALECT: dialect, SETTINGS: JSON.stringify(settings) },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
}

interface ConnectionOptions {
  readonly dialect: string
  readonly host: string
  readonly port: number | string
  readonly database: string
  readonly username: string
  readonly password?: string | null
}

interface Pool {
  destroyAllNow(): Promise<void>
}

function poolOf({ database }: DatabaseApp): Pool {
  const { pool } = database.sequelize.connectionManager as unknown as { pool: Pool } // Sequelize's types lack it
  return pool
}

/** The socket of a connection of pg or mysql2. */
function socketOf(connection: object): Socket {
  const stream: unknown = Reflect.get(Reflect.get(connection, 'connection') ?? connection, 'stream')
  assert.ok(stream instanceof Socket)
  return stream
}

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite'))) {
  const start = async (t: Parameters<typeof databaseApp>[0]) => {
    const kill = () => killUnnoticed(app)
    let crashes = 0
    @Controller('/')
    class Heroes {
      @Get('/whole') async whole() {
        await Hero.count()
        return 'whole'
      }
      @Get('/first') async first(session: Session) {
        kill()
        return (await session.all(select(Hero))).length
      }
      @Get('/unharmed') async unharmed(session: Session) {
        return (await session.all(select(Hero))).length
      }
      @Get('/get') async get(session: Session) {
        kill()
        return (await session.get(Hero, 1))?.name
      }
      @Get('/raw') async raw(session: Session) {
        kill()
        return (await session.execute(sql`SELECT name FROM hero WHERE age < ${1}`)).length
      }
      @Transactional({ isolation: 'serializable' })
      @Post('/create')
      async create() {
        kill()
        await Hero.create({ name: 'Robin' })
      }
      @Post('/nested') async nested(session: Session) {
        kill()
        await session.nested(() => Hero.create({ name: 'Batman' }))
      }
      @Post('/flushed') async flushed(session: Session) {
        kill()
        for (let number = 1; number <= 5; number++) session.add(Hero.build({ name: `hero ${number}` }))
      }
      @Post('/together') async together() {
        kill()
        await Promise.all([Hero.create({ name: 'Joker' }), Hero.count(), Team.create({ name: 'Villains' })])
      }
      @Post('/second') async second() {
        await Hero.create({ name: 'never kept' })
        kill()
        await Hero.count()
      }
      @Post('/crash') async crash(session: Session) {
        crashes++
        await session.execute(
          session.sequelize.getDialect() === 'postgres'
            ? sql`SELECT pg_terminate_backend(pg_backend_pid())`
            : sql`KILL CONNECTION_ID()`,
        )
      }
    }
    const app = await databaseApp(t, kind, [Team, Hero], [Heroes], { lifespan: { echo: false } })
    await assertWhole(app) // fills the pool
    await settled(app)
    return { app, crashes: () => crashes }
  }

  test(`${kind.name}: connections that were killed unnoticed in the pool cost no request`, async (t) => {
    const { app } = await start(t)
    for (const path of ['/first', '/get', '/raw']) {
      await settled(app)
      const { status } = await app.fetch(path)
      assert.ok(status === 200 || status === 204, `${path} ${status} ${app.log.join('\n')}`)
    }
    for (const path of ['/create', '/nested', '/flushed', '/together']) {
      await settled(app)
      assert.equal(await said(app.fetch(path, post)), '204: ', `${path} ${app.log.join('\n')}`)
    }
    const rows = (await Hero.findAll({ order: ['id'] })).map(({ name }) => name)
    const flushed = Array.from({ length: 5 }, (_, index) => `hero ${index + 1}`)
    assert.deepEqual(rows, ['Robin', 'Batman', ...flushed, 'Joker'])
    assert.equal(await Team.count(), 1)
    await assertWhole(app)
  })

  test(`${kind.name}: a whole pool that was killed unnoticed costs none of as many sessions`, async (t) => {
    const { app } = await start(t)
    killUnnoticed(app)
    const creating = (_: unknown, number: number) => withSession(app.database, () => Hero.create({ name: `${number}` }))
    await Promise.all(Array.from({ length: 10 }, creating))
    assert.equal(await Hero.count(), 10)
    await assertWhole(app)
  })

  // The socket of the driver mariadb cannot be reached.
  if (kind.name !== 'MariaDB')
    test(`${kind.name}: one new connection that is lost before its first statement costs no request, more do`, async (t) => {
      const { app } = await start(t)
      let losses = 0
      app.database.sequelize.addHook('afterConnect', (connection: object) => {
        if (losses-- > 0) socketOf(connection).destroy()
      })
      // Not 2: the pool may be opening another connection, which would be one of them.
      for (const [lost, expected] of [
        [1, 200],
        [Infinity, 503],
      ] as const) {
        await settled(app)
        await poolOf(app).destroyAllNow()
        losses = lost
        const { status } = await app.fetch('/unharmed')
        assert.equal(status, expected, app.log.join('\n'))
      }
      losses = 0
      await settled(app)
      await poolOf(app).destroyAllNow() // it may have others that were lost
      await assertWhole(app)
    })

  test(`${kind.name}: a connection that is lost while it is set up costs no request`, async (t) => {
    const { app } = await start(t)
    let losses = 1
    app.database.sequelize.addHook('beforeConnect', () => {
      // As the driver mariadb reports it, with the SQLSTATE of a connection exception.
      if (losses-- > 0) throw Object.assign(new Error('setting timezone fails'), { errno: 45033, sqlState: '08S01' })
    })
    await poolOf(app).destroyAllNow()
    assert.equal((await app.fetch('/unharmed')).status, 200, app.log.join('\n'))
    assert.ok(losses < 0)
  })

  test(`${kind.name}: a later statement, and one that ends its own connection, are not sent again`, async (t) => {
    const { app, crashes } = await start(t)
    assert.match(await said(app.fetch('/second', post)), /^503/)
    await settled(app)
    assert.equal(await Hero.count(), 0)
    assert.match(await said(app.fetch('/crash', post)), /^503/)
    assert.equal(crashes(), 1)
    await assertWhole(app)
  })
}

test(
  'PostgreSQL: a connection that ends while the server is asked what it is costs no request',
  { skip: !databases.includes(postgres) },
  async (t) => {
    let losses = 0
    const url = await watchedNetwork(t, await postgres.url(), (bytes, client, upstream) => {
      if (bytes.includes('pg_backend_pid()') && losses-- > 0) client.destroy()
      else upstream.write(bytes)
    })
    @Controller('/')
    class Unharmed {
      @Get() async read(session: Session) {
        await session.execute(sql`SELECT 1`)
      }
    }
    const app = await databaseApp(t, { name: 'cut off', url: async () => url }, [], [Unharmed], {
      lifespan: { poolSize: 1 },
    })
    await poolOf(app).destroyAllNow()
    losses = 1
    assert.equal((await app.fetch('/')).status, 204, app.log.join('\n'))
    assert.equal(losses, -1)
    await poolOf(app).destroyAllNow()
    losses = Infinity
    assert.equal((await app.fetch('/')).status, 503, app.log.join('\n'))
    losses = 0
    assert.equal((await app.fetch('/')).status, 204, app.log.join('\n'))
  },
)
