import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, Get, Post, Transactional } from 'sequitur'
import { type DatabaseApp, databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { gate, until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'

/*
 * The connection is lost when a statement outside of a session was sent, and before its answer has come.
 */

const UNKNOWN = '503: It is not known whether this was saved. Check before you try again.'
const UNAVAILABLE = '503, again in 1 s: The database is not available.'

let app: DatabaseApp
/** The server may execute a statement whose connection is lost after the next request: each name is written once. */
let written = 0

@Controller('/')
class Plain {
  @Transactional(false)
  @Post('/create')
  async create() {
    await Hero.create({ name: `Robin ${++written}` })
  }
  @Transactional(false)
  @Post('/update')
  async update() {
    await app.database.sequelize.query(`/* why */ UPDATE hero SET age = 1`)
  }
  @Transactional(false)
  @Get('/read')
  async read() {
    await Hero.findAll()
  }
  @Transactional(false)
  @Post('/own')
  async own() {
    await app.database.sequelize.transaction(async (transaction) => {
      await Hero.create({ name: `Robin ${++written}` }, { transaction })
    })
  }
  @Post('/beside') async beside() {
    await Hero.create({ name: `Robin ${++written}` }, { transaction: null })
  }
}

/** Starts an app whose connection is lost as soon as the server was sent such a statement. */
async function losingApp(t: TestContext, kind: TestDatabase, fastPath: boolean) {
  const state: { losesAt?: RegExp | undefined } = {}
  const url = await watchedNetwork(t, await kind.url(), (bytes, client, upstream) => {
    const isLost = state.losesAt?.test(bytes.toString('latin1'))
    upstream.write(bytes, () => isLost && client.destroy())
  })
  const through = { ...kind, url: () => Promise.resolve(url) }
  app = await databaseApp(t, through, [Team, Hero], [Plain], { lifespan: { echo: false, fastPath } })
  return state
}

const CASES: readonly (readonly [method: string, path: string, losesAt: RegExp, answer: string])[] = [
  ['POST', '/create', /INSERT INTO/, UNKNOWN],
  ['POST', '/update', /UPDATE hero/, UNKNOWN],
  ['POST', '/beside', /INSERT INTO/, UNKNOWN],
  ['POST', '/own', /COMMIT/, UNKNOWN],
  ['POST', '/own', /INSERT INTO/, UNAVAILABLE],
  ['GET', '/read', /SELECT .*hero/, UNAVAILABLE],
]

for (const kind of databases.filter(({ name }) => !name.startsWith('SQLite')))
  for (const fastPath of [true, false])
    test(`${kind.name}: a write without a transaction that is not answered is unknown; fastPath: ${fastPath}`, async (t) => {
      const state = await losingApp(t, kind, fastPath)
      for (const [method, path, losesAt, answer] of CASES) {
        state.losesAt = losesAt
        assert.equal(await said(app.fetch(path, { method })), answer, `${path} ${losesAt.source}`)
        state.losesAt = undefined
        await Hero.destroy({ where: {} })
      }
      assert.equal((await app.fetch('/create', { method: 'POST' })).status, 204)
      assert.match(
        app.log.join('\n'),
        /WriteUnknownError: The outcome is unknown: a statement outside of a transaction/,
      )
    })

let end = gate()

@Controller('/')
class Unfinished {
  @Transactional(false)
  @Post('/saved')
  async saved() {
    await Hero.create({ name: 'Robin' })
    await end.opened
  }
  @Transactional(false)
  @Get('/saved')
  async read() {
    await end.opened
  }
  @Post('/undone') async undone() {
    await Hero.create({ name: 'Batman' })
    await end.opened
  }
}

const LATE = '503, again in 1 s: The answer took too long.'

for (const kind of databases)
  test(`${kind.name}: of a handler without a transaction that is given up it is not known what is saved`, async (t) => {
    end = gate()
    const timeouts = { handler: 1_500, drain: 20 }
    const opened = await databaseApp(t, kind, [Team, Hero], [Unfinished], { timeouts, lifespan: { echo: false } })
    const post = { method: 'POST' }
    assert.deepEqual(await Promise.all([said(opened.fetch('/saved', post)), said(opened.fetch('/saved'))]), [
      UNKNOWN,
      LATE,
    ])
    assert.equal(await said(opened.fetch('/undone', post)), LATE)
    await until('one row is there', async () => (await Hero.count()) === 1)
    await Hero.destroy({ where: {} })
    const running = said(opened.fetch('/saved', post))
    await until('the row is there', async () => (await Hero.count()) === 1)
    const closing = opened.close()
    assert.equal(await running, UNKNOWN)
    end.open()
    await closing
  })

for (const kind of databases)
  test(`${kind.name}: a transaction that would stay open on a connection of the pool is refused`, async (t) => {
    @Controller('/')
    class Open {
      @Transactional(false)
      @Post('/run')
      async run(statement: string) {
        await app.database.sequelize.query(statement)
      }
      @Post('/session') async inSession() {
        await Hero.create({ name: 'Batman' })
        throw new Error('rolled back')
      }
    }
    app = await databaseApp(t, kind, [Team, Hero], [Open, Plain], { lifespan: { poolSize: 1, echo: false } })
    const run = async (statement: string) =>
      (await app.fetch(`/run?statement=${encodeURIComponent(statement)}`, { method: 'POST' })).status
    const opening = ['BEGIN', '/* why */ begin transaction', 'SAVEPOINT a']
    if (!kind.name.startsWith('SQLite')) opening.splice(2, 1, 'START TRANSACTION')
    for (const statement of opening) assert.equal(await run(statement), 500, statement)
    assert.match(app.log.join('\n'), /TransactionControlError: BEGIN: outside of a session/)
    // The driver of SQLite does not execute what follows the first statement.
    if (kind.name.startsWith('SQLite')) assert.equal(await run('SELECT 1; BEGIN'), 204)
    assert.equal((await app.fetch('/create', { method: 'POST' })).status, 204)
    assert.equal((await app.fetch('/session', { method: 'POST' })).status, 500)
    assert.equal(await Hero.count(), 1)
    if (kind === postgres) assert.equal(await run('BEGIN; UPDATE hero SET age = 1; COMMIT'), 204)
    if (kind === postgres) assert.equal(await run('BEGIN; UPDATE hero SET age = 1; COMMIT AND CHAIN'), 500)
  })
