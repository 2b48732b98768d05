// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DatabaseError, QueryTypes } from 'sequelize'
import sqlite3 from 'sqlite3'
import { type Database, sql, withSession } from 'sequitur'
import { databaseApp, sqliteFile, statements } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { anotherConnection } from '../support/sqlite-connection.js'

/*
 * On SQLite in a file, the end of a writer's transaction begins the next one, without a lock: its first statement takes the lock if it is a
 * write, and else the transaction is replaced by one that has the lock from its beginning.
 */

async function open(t: TestContext, timeout = 5) {
  const url = await sqliteFile.url()
  const file = { name: sqliteFile.name, url: () => Promise.resolve(`${url}?timeout=${timeout}`) }
  const { database, log } = await databaseApp(t, file, [Team, Hero], [], { lifespan: { fastPath: true } })
  await withSession(database, () => Hero.create({ name: 'first' })) // from now on, transactions are begun ahead
  log.length = 0
  return { database, log, other: await anotherConnection(t, url) }
}

const busy = { code: 'SQLITE_BUSY' }

const names = async () => (await Hero.findAll({ order: ['id'], transaction: null })).map(({ name }) => name)

/** The statements that SQLite executes for writers from now on, by their first words. */
async function executed(database: Database): Promise<string[]> {
  const given: unknown = await withSession(database, ({ transaction }) => Reflect.get(transaction, 'connection'))
  assert.ok(given instanceof sqlite3.Database)
  const texts: string[] = []
  given.on('trace', (text: string) => void texts.push(text.replace(';', '').split(' ', 2).join(' ')))
  return texts
}

test('a session that writes first sends no BEGIN, and one that reads first a single time', async (t) => {
  const { database, log } = await open(t)
  const texts = await executed(database)
  log.length = 0
  await withSession(database, () => Hero.create({ name: 'second' }))
  await withSession(database, (session) => session.execute(sql`SELECT 1`))
  await withSession(database, async () => {})
  const ends = ['COMMIT', 'BEGIN DEFERRED']
  assert.deepEqual(texts, ['INSERT INTO', ...ends, 'COMMIT', 'BEGIN IMMEDIATE', 'SELECT 1', ...ends])
  assert.deepEqual(
    statements(log).map((text) => text.split(' ', 2).join(' ')),
    ['BEGIN IMMEDIATE', 'INSERT INTO', 'COMMIT', 'BEGIN IMMEDIATE', 'SELECT 1', 'COMMIT'],
  )
})

test('a writer whose work is done keeps nobody from writing', async (t) => {
  const { database, other } = await open(t)
  for (let round = 0; round < 3; round++) {
    await withSession(database, async (session) => {
      await Hero.create({ name: `${round}` })
      if (round === 1) session.rollback()
    })
    await other(`INSERT INTO hero (name) VALUES ('other ${round}')`)
  }
  assert.deepEqual(await names(), ['first', '0', 'other 0', 'other 1', '2', 'other 2'])
})

test('a writer that has read first, or written first, keeps others from writing until its end', async (t) => {
  const { database, other } = await open(t)
  const write = "INSERT INTO hero (name) VALUES ('other')"
  await withSession(database, async () => {
    const { length } = await Hero.findAll()
    await assert.rejects(other(write), busy)
    await Hero.create({ name: `${length + 1}` })
  })
  await withSession(database, async () => {
    await Hero.create({ name: '3' })
    await assert.rejects(other(write), busy)
  })
  await withSession(database, async (session) => {
    await session.execute(sql`SELECT 1`)
    await assert.rejects(other(write), busy)
  })
  await other(write)
  assert.deepEqual(await names(), ['first', '2', '3', 'other'])
})

test('statements outside of sessions commit by themselves after a writer', async (t) => {
  const { database, other } = await open(t)
  const { sequelize } = database
  await Hero.create({ name: 'alone' }, { transaction: null })
  await other("INSERT INTO hero (name) VALUES ('other')")
  await withSession(database, () => Hero.create({ name: 'session' }))
  await assert.rejects(
    sequelize.transaction(async (transaction) => {
      await Hero.create({ name: 'undone' }, { transaction })
      throw new Error('undone')
    }),
    /undone/,
  )
  await sequelize.query('VACUUM', { type: QueryTypes.RAW }) // refused in a transaction
  assert.deepEqual(await names(), ['first', 'alone', 'other', 'session'])
})

test('a first write that does not get the lock fails as BEGIN would, and the next one is executed', async (t) => {
  const { database, log, other } = await open(t, 0.05)
  const create = (name: string) => withSession(database, () => Hero.create({ name }))
  const isBusy = (error: unknown) => error instanceof DatabaseError && 'code' in error.original
  await other('BEGIN IMMEDIATE')
  await assert.rejects(create('refused'), isBusy)
  await assert.rejects(
    withSession(database, async () => {
      await Hero.create({ name: 'caught' }).catch(() => {})
    }),
    isBusy,
  )
  await assert.rejects(
    withSession(database, () => Hero.findAll()),
    isBusy,
  )
  await other('COMMIT')
  await create('second')
  assert.deepEqual(await names(), ['first', 'second'])
  assert.ok(statements(log).filter((statement) => statement === 'BEGIN IMMEDIATE').length >= 4)
})
