import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Item, newLifespan, select, Session, sql, withSession } from 'sequitur'
import sqlite3 from 'sqlite3'
import type { BoundValues } from '../../src/db/dialects/sqlite/bound-values.js'
import { sqlite3Of, type SqliteConnection, statementClassOf } from '../../src/db/drivers/sqlite3.js'
import { PreparedStatements } from '../../src/db/dialects/sqlite/prepared-statements.js'
import { databaseApp, sqliteFile, sqliteMemory } from '../support/databases.js'

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.STRING) declare text: string | null
  @Column(DataType.JSON) declare json: unknown
}

/** The statements of a new connection; `compiled` has the SQL of those that were compiled, `finalized` of those that were given back. */
function newStatements(t: TestContext) {
  const connection = new sqlite3.Database(':memory:') as unknown as SqliteConnection
  const compiled: string[] = []
  const finalized: string[] = []
  const Statement = statementClassOf(sqlite3Of(sqlite3))
  class Watched {
    constructor(...[owner, text, done]: ConstructorParameters<typeof Statement>) {
      compiled.push(text)
      const statement = new Statement(owner, text, done)
      const finalize = statement.finalize.bind(statement)
      return Object.assign(statement, { finalize: () => (finalized.push(text), finalize()) })
    }
  }
  const statements = new PreparedStatements(connection, Watched as unknown as typeof Statement)
  t.after(() => {
    statements.finalize()
    connection.close()
  })
  const all = (text: string, values?: BoundValues, isRepeated = true) =>
    new Promise((resolve, reject) =>
      statements.execute({ method: 'all', sql: text, values, isRepeated }, (error, rows) =>
        error ? reject(error) : resolve(rows),
      ),
    )
  return { all, compiled, finalized, statements }
}

test('a statement is compiled once, and executed with each of its values', async (t) => {
  const { all, compiled, finalized } = newStatements(t)
  for (const one of [1, null, 'a']) assert.deepEqual(await all('SELECT $1 AS v', { $1: one }), [{ v: one }])
  assert.deepEqual([compiled.length, finalized.length], [1, 0])
})

test('a statement without values has none of its last execution', async (t) => {
  const { all } = newStatements(t)
  assert.deepEqual(await all('SELECT $1 AS v', { $1: 1 }), [{ v: 1 }])
  assert.deepEqual(await all('SELECT $1 AS v'), [{ v: null }])
})

test('of more than a hundred statements the least recently used are finalized', async (t) => {
  const { all, finalized } = newStatements(t)
  for (let n = 0; n < 150; n++) {
    await all(`SELECT ${n}`)
    await all('SELECT $1 AS v', { $1: n })
  }
  assert.deepEqual(
    finalized,
    Array.from({ length: 51 }, (_, n) => `SELECT ${n}`),
  )
})

test('a statement that fails, or whose SQL or values are long or not repeated, is not kept', async (t) => {
  const { all, compiled, finalized } = newStatements(t)
  const executions = [
    () => assert.rejects(all("SELECT json('{')"), { code: 'SQLITE_ERROR' }),
    () => all('SELECT $1', { $1: 'x'.repeat(10_001) }),
    () => all('SELECT $1', { $1: Buffer.alloc(10_001) }),
    () => all(`SELECT '${'x'.repeat(10_000)}'`),
    () => all('SELECT 1', undefined, false),
  ]
  for (const execution of [...executions, ...executions]) await execution()
  assert.equal(compiled.length, 10)
  assert.deepEqual(finalized, compiled)
})

test('a statement that cannot be compiled fails once, and finalizes nothing twice', async (t) => {
  const { all, finalized } = newStatements(t)
  await assert.rejects(all('SELEC 1'), { code: 'SQLITE_ERROR', message: /near "SELEC": syntax error/ })
  assert.deepEqual(finalized, [])
})

test('one statement that is executed several times at once is compiled for each, and kept once', async (t) => {
  const { all, compiled, finalized } = newStatements(t)
  const rows = await Promise.all([1, 2, 3].map((v) => all('SELECT $1 AS v', { $1: v })))
  assert.deepEqual(rows, [[{ v: 1 }], [{ v: 2 }], [{ v: 3 }]])
  assert.deepEqual([compiled.length, finalized.length], [3, 2])
})

for (const kind of [sqliteMemory, sqliteFile])
  test(`${kind.name}: a database stops while its connections keep statements`, async () => {
    const database = newLifespan(await kind.url(), { models: [Note], sync: true })
    await database.start()
    await withSession(database, () => Note.create({ id: 1, text: 'a', json: null }))
    await withSession(database, (session) => session.get(Note, 1))
    await database.stop()
  })

test('a statement that is kept holds no snapshot, and notices that another program has changed its table', async (t) => {
  const url = await sqliteFile.url()
  const { database } = await databaseApp(t, { ...sqliteFile, url: async () => url }, [Note], [])
  const read = () => withSession(database, (session) => session.execute(sql`SELECT * FROM note`))
  await withSession(database, () => Note.create({ id: 1, text: 'a', json: null }))
  await read()
  const other = new sqlite3.Database(url.replace('sqlite+sqlite3:///', ''))
  const run = (text: string) =>
    new Promise<unknown[]>((resolve, reject) =>
      other.all(text, (error, rows) => (error ? reject(error) : resolve(rows))),
    )
  t.after(() => other.close())
  await run("ALTER TABLE note ADD COLUMN more TEXT DEFAULT 'new'")
  assert.deepEqual(await read(), [{ id: 1, text: 'a', json: null, more: 'new' }])
  assert.deepEqual(await run('PRAGMA wal_checkpoint(TRUNCATE)'), [{ busy: 0, log: 0, checkpointed: 0 }])
  await run('DROP TABLE note')
  await assert.rejects(read(), { message: 'SQLITE_ERROR: no such table: note' })
})

test('JSON in rows of raw SQL is read once, and in rows of models never twice', async (t) => {
  @Controller('/')
  class Notes {
    @Get('/raw', Item.of(Note)) async raw(session: Session) {
      const [data] = await session.execute(sql`SELECT * FROM note`)
      return { data: data as never }
    }
    @Get('/key', Item.of(Note)) async key(session: Session) {
      return { data: (await session.get(Note, 1)) as Note }
    }
    @Get('/first', Item.of(Note)) async first(session: Session) {
      return { data: (await session.first(select(Note))) as Note }
    }
  }
  const { fetch, database } = await databaseApp(t, sqliteMemory, [Note], [Notes])
  await withSession(database, () => Note.create({ id: 1, text: '5', json: '{"a":"1"}' }))
  for (const path of ['/raw', '/key', '/first'])
    assert.deepEqual(await (await fetch(path)).json(), { data: { id: 1, text: '5', json: '{"a":"1"}' } }, path)
})
