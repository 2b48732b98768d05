// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import sqlite3 from 'sqlite3'
import { Base, Controller, Get, notFound, select, Session, sql, Transactional, withSession } from 'sequitur'
import { readExactIntegers } from '../../src/db/dialects/sqlite/exact-integers.js'
import { openedConnection } from '../../src/db/drivers/sqlite3.js'
import { nextTurn } from '../../src/core/promises.js'
import type { NextStatement, TransactionConnection } from '../../src/db/connection.js'
import type { TransactionObserver } from '../../src/db/dialect.js'
import { RouteReads } from '../../src/db/route-reads.js'
import { databaseApp, type DatabaseApp, openWithLog, sqliteFile, statements } from '../support/databases.js'
import { runs } from '../support/fuzz.js'
import { anotherConnection, type Execute } from '../support/sqlite-connection.js'

/*
 * On SQLite in a file, a GET handler that has always read once reads without BEGIN and COMMIT. Nobody can tell the difference, whatever it does
 * after its first read, and whatever others write in between: it sees one snapshot.
 */

/** A class of its own for each app: a model belongs to one database. */
function stockModel() {
  @Table({ tableName: 'stock', timestamps: false })
  class Stock extends Base<Stock> {
    @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
    @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
    @Column({ type: DataType.INTEGER, allowNull: false }) declare amount: number
    @Column(DataType.BLOB) declare picture: CreationOptional<Buffer | null>
  }
  return Stock
}
type StockModel = ReturnType<typeof stockModel>

/** More requests than a route needs to be known to read once. */
const ENOUGH = 12

/** What a handler does, one after the other. It writes the rows 5 and 6; others write the other ones. */
const STEPS = {
  get: (session: Session, Stock: StockModel) => session.get(Stock, 1),
  missing: (session: Session, Stock: StockModel) => session.get(Stock, 99),
  first: (session: Session, Stock: StockModel) => session.first(select(Stock, { where: { name: 'name 2' } })),
  all: (session: Session, Stock: StockModel) => session.all(select(Stock, { order: ['id'] })),
  count: (session: Session, Stock: StockModel) => session.count(select(Stock)),
  findAll: (_: Session, Stock: StockModel) => Stock.findAll({ order: ['id'] }),
  grouped: (_: Session, Stock: StockModel) => Stock.count({ group: ['amount'] }),
  both: (session: Session, Stock: StockModel) => Promise.all([session.get(Stock, 1), Stock.count(), Stock.findByPk(2)]),
  raw: (session: Session) => session.execute(sql`SELECT sum(amount) AS amount FROM stock`),
  async changed(session: Session, Stock: StockModel) {
    const stock = await session.get(Stock, 1)
    const before = stock?.amount
    // As the first write of WRITES leaves it. It is not saved.
    stock?.set('amount', 11, { raw: true })
    return before
  },
  write: (session: Session) => session.execute(sql`UPDATE stock SET amount = amount + 1 WHERE id = 5 RETURNING amount`),
  async increment(session: Session, Stock: StockModel) {
    const [first, stock] = [await session.get(Stock, 1), await session.get(Stock, 6)]
    stock?.set('amount', (first?.amount ?? 0) + 1)
    await stock?.save()
  },
  async build(session: Session, Stock: StockModel) {
    session.add(Stock.build({ name: 'built', amount: 0 }))
    await session.flush()
  },
  nested: (session: Session, Stock: StockModel) => session.nested(() => Stock.findByPk(2)),
  failed: (session: Session) => session.execute(sql`SELECT nothing FROM nowhere`),
  rollback: async (session: Session) => session.rollback(),
  transaction: (session: Session, Stock: StockModel) => Stock.findByPk(1, { transaction: session.transaction }),
  given(session: Session, Stock: StockModel) {
    void session.transaction
    return session.get(Stock, 1)
  },
  temporary: (session: Session) => session.execute(sql`CREATE TEMPORARY TABLE IF NOT EXISTS stock AS SELECT 1 AS id`),
  parallel: (session: Session, Stock: StockModel) => Promise.all([session.get(Stock, 1), session.get(Stock, 2)]),
} as const
type Step = keyof typeof STEPS

const WRITES = [
  'UPDATE stock SET amount = amount + 10 WHERE id IN (1, 2)',
  'DELETE FROM stock WHERE id = 3',
  "INSERT INTO stock (name, amount) SELECT 'new ' || coalesce(max(id), 0), 1 FROM stock",
  "UPDATE stock SET name = 'other' WHERE id = 2",
  "UPDATE stock SET picture = x'01' WHERE id = 1",
]

interface Plan {
  /** Each with the write of another connection after it. */
  readonly steps: readonly (readonly [step: Step, write: number | undefined])[]
  /** Whether the rows have blobs. */
  readonly hasPictures: boolean
}

const READS: readonly Step[] = ['get', 'missing', 'first', 'all', 'count', 'findAll', 'changed']
const step = fc.constantFrom(...(Object.keys(STEPS) as Step[]))
const write = fc.option(fc.nat(WRITES.length - 1), { nil: undefined })
const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc
    .tuple(
      fc.tuple(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...READS) }, step), write),
      fc.array(fc.tuple(step, write), { maxLength: 4 }),
    )
    .map(([first, others]) => [first, ...others]),
  hasPictures: fc.boolean(),
})

const only = (...steps: Step[]): Plan => ({ steps: steps.map((step) => [step, undefined]), hasPictures: false })

function knownReads(): RouteReads {
  const reads = new RouteReads()
  for (let count = 0; count < ENOUGH; count++) reads.countRequest()
  return reads
}

interface StockApp extends DatabaseApp {
  /** A new route, whose handler has read once for some requests if it `isKnown`. */
  route(isKnown: boolean): Promise<number>
  /**
   * What the route answers for a plan, the writes of others that were executed meanwhile, and how many times the handler was run.
   *
   * @param before writes that are executed before.
   */
  run(
    route: number,
    plan: Plan,
    before?: readonly number[],
  ): Promise<{ answer: unknown; writes: readonly number[]; runs: number; log: readonly string[] }>
}

async function stockApp(t: TestContext, fastPath: boolean, options = ''): Promise<StockApp> {
  const Stock = stockModel()
  let current: Plan
  let attempts = 0
  let writes: number[] = []
  const routes = Array.from({ length: runs(400) }, (_, index) => {
    @Controller(`/stock/${index}`)
    class Numbered {
      @Get('/', { operationId: `run${index}` }) async run(session: Session): Promise<unknown> {
        const isFirst = attempts++ === 0
        const seen: unknown[] = []
        for (const [step, number] of current.steps) {
          const work = async (): Promise<unknown> => STEPS[step](session, Stock)
          const value = await work().catch(({ name }: Error) => name)
          seen.push(JSON.parse(JSON.stringify(value ?? null)))
          // A handler that has written has the lock.
          if (isFirst && number !== undefined)
            await other(WRITES[number] ?? '').then(
              () => writes.push(number),
              ({ code }: { code: string }) => assert.equal(code, 'SQLITE_BUSY'),
            )
        }
        return seen
      }
    }
    return Numbered
  })
  const url = await sqliteFile.url()
  const kind = { name: sqliteFile.name, url: () => Promise.resolve(`${url}?timeout=5${options}`) }
  const app = await databaseApp(t, kind, [Stock], routes, { lifespan: { fastPath } })
  const other = await anotherConnection(t, url)
  let last = -1
  const run: StockApp['run'] = async (route, plan, before = []) => {
    current = plan
    attempts = 0
    writes = []
    await other('DELETE FROM stock; DELETE FROM sqlite_sequence')
    for (let id = 1; id <= 6; id++)
      await other(
        `INSERT INTO stock (id, name, amount, picture) VALUES (${id}, 'name ${id}', ${id}, ${plan.hasPictures ? "x'00'" : 'NULL'})`,
      )
    for (const number of before) await other(WRITES[number] ?? '')
    app.log.length = 0
    const response = await app.fetch(`/stock/${route}`)
    const body = (await response.json()) as { instance?: unknown }
    delete body.instance // differs for each request
    const log = statements(app.log)
    const rows = await withSession(app.database, () => Stock.findAll({ where: { id: [5, 6] }, raw: true }))
    return { answer: { status: response.status, body, rows }, writes, runs: attempts, log }
  }
  const route: StockApp['route'] = async (isKnown) => {
    last++
    const count = isKnown ? ENOUGH : 0
    for (let request = 0; request < count; request++) await run(last, only('get'))
    return last
  }
  return { ...app, route, run }
}

test('a handler sees and writes what it would in a transaction that began before or after the writes of others', async (t) => {
  const [alone, stock] = [await stockApp(t, true), await stockApp(t, false)]
  const reference = await stock.route(false)
  const property = fc.asyncProperty(plans, async (plan) => {
    const { answer, writes, log } = await alone.run(await alone.route(true), plan)
    if (READS.includes(plan.steps[0]?.[0] ?? 'get')) assert.match(log[0] ?? '', /^SELECT/, 'it is sent without BEGIN')
    const alike = { ...plan, steps: plan.steps.map(([step]) => [step, undefined] as const) }
    const answers: unknown[] = []
    for (let count = 0; count <= writes.length; count++)
      answers.push((await stock.run(reference, alike, writes.slice(0, count))).answer)
    if (!answers.some((one) => JSON.stringify(one) === JSON.stringify(answer))) assert.deepEqual(answer, answers[0])
  })
  await fc.assert(property, { numRuns: runs(100) })
})

const FRAME = ['BEGIN DEFERRED', 'COMMIT']
const framesOf = (log: readonly string[]) => log.filter((text) => /^(?:BEGIN|COMMIT|ROLLBACK)/.test(text))

test('a route reads without a transaction once it has read once for some requests, and no longer when it has read twice', async (t) => {
  const { route, run } = await stockApp(t, true)
  const own = await route(false)
  const frames: string[][] = []
  for (let count = 0; count < ENOUGH; count++) frames.push(framesOf((await run(own, only('first'))).log))
  for (const [index, frame] of frames.entries()) assert.deepEqual(frame, index < 10 ? FRAME : [], `request ${index}`)
  const twice = await run(own, only('first', 'get'))
  assert.equal(twice.runs, 1, 'nothing was changed: the handler goes on')
  assert.deepEqual(
    twice.log.map((text) => text.split(' ', 2)[0]),
    ['SELECT', 'BEGIN', 'SELECT', 'SELECT', 'COMMIT'],
  )
  for (let count = 0; count < ENOUGH; count++)
    assert.deepEqual(framesOf((await run(own, only('first'))).log), FRAME, 'it is known to read twice')
  const other = await route(false)
  for (let count = 0; count < ENOUGH; count++)
    assert.equal((await run(other, only('first', 'get'))).log[0], 'BEGIN DEFERRED', 'it has always read twice')
})

test('a handler whose first read is outdated at its second one is run again, and sees one snapshot', async (t) => {
  const { route, run } = await stockApp(t, true)
  const own = await route(true)
  const { answer, runs: count } = await run(own, {
    steps: [
      ['get', 0],
      ['all', undefined],
    ],
    hasPictures: false,
  })
  const { body } = answer as { body: readonly [{ amount: number }, readonly { amount: number }[]] }
  assert.equal(count, 2)
  assert.equal(body[0].amount, 11)
  assert.equal(body[1][0]?.amount, 11)
  assert.deepEqual(framesOf((await run(own, only('get'))).log), FRAME, 'it is known to read twice')
})

test('a known route whose handler begins with another statement, or is given the transaction, is not run again', async (t) => {
  const { route, run } = await stockApp(t, true)
  for (const first of ['raw', 'nested', 'given', 'transaction', 'write'] as const) {
    const { log, runs: count } = await run(await route(true), only(first))
    assert.equal(count, 1, first)
    assert.match(log[0] ?? '', /^BEGIN/, first)
  }
})

test('what a handler leaves on its connection after a read without a transaction is not met by the next one', async (t) => {
  const { route, run } = await stockApp(t, true)
  const own = await route(true)
  const left = await run(own, only('get', 'temporary'))
  assert.deepEqual(
    left.log.map((text) => text.split(' ', 2)[0]),
    ['SELECT', 'BEGIN', 'SELECT', 'CREATE', 'COMMIT'],
  )
  const { answer } = await run(await route(false), only('get'))
  assert.equal((answer as { status: number }).status, 200)
  for (let count = 0; count < ENOUGH; count++) assert.deepEqual((await run(own, only('get'))).answer, answer)
})

test('blobs are not compared: the handler is run again', async (t) => {
  const { route, run } = await stockApp(t, true)
  const pictures = { ...only('get', 'get'), hasPictures: true }
  assert.equal((await run(await route(true), pictures)).runs, 2)
  assert.equal((await run(await route(true), { ...pictures, hasPictures: false })).runs, 1)
})

test('other statements than reads of plain tables, and read-only handlers, have their transaction', async (t) => {
  const Stock = stockModel()
  @Table({ tableName: 'clock', timestamps: false })
  class Clock extends Base<Clock> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  }
  @Table({ tableName: 'word', timestamps: false })
  class Word extends Base<Word> {
    @Column({ type: DataType.STRING, primaryKey: true }) declare text: string
  }
  @Controller('/')
  class Reads {
    @Get('/raw') async raw(session: Session) {
      return (await session.execute(sql`SELECT 1 AS one`)).length
    }
    @Get('/view') view(session: Session) {
      return session.count(select(Clock))
    }
    @Get('/virtual') virtual(session: Session) {
      return session.count(select(Word))
    }
    @Transactional({ readOnly: true })
    @Get('/read-only')
    readOnly(session: Session) {
      return session.count(select(Stock))
    }
    @Get('/given') given(session: Session) {
      return Stock.count({ transaction: session.transaction })
    }
    @Get('/plain', Stock) async plain(session: Session) {
      return (await session.get(Stock, 1)) ?? notFound()
    }
  }
  const url = await sqliteFile.url()
  const other = await anotherConnection(t, url)
  await other('CREATE VIEW clock AS SELECT 1 AS id; CREATE VIRTUAL TABLE word USING fts5(text)')
  const app = await databaseApp(t, { name: '', url: () => Promise.resolve(url) }, [Stock, Clock, Word], [Reads], {
    lifespan: { fastPath: true },
  })
  const framesFor = async (path: string) => {
    for (let count = 0; count < ENOUGH; count++) await (await app.fetch(path)).text()
    app.log.length = 0
    await (await app.fetch(path)).text()
    return framesOf(statements(app.log)).map((text) => text.split(' ')[0])
  }
  for (const path of ['/raw', '/view', '/virtual', '/read-only', '/given'])
    assert.deepEqual(await framesFor(path), ['BEGIN', 'COMMIT'], path)
  assert.deepEqual(await framesFor('/plain'), ['BEGIN', 'ROLLBACK'], 'requests that fail are not counted')
  await withSession(app.database, () => Stock.create({ name: 'one', amount: 1 }))
  assert.deepEqual(await framesFor('/plain'), [])
})

test('SQLite executes a single read alone, and other transactions begin with the end of the last one', async (t) => {
  const { database, route, run } = await stockApp(t, true, '&pool_size=1')
  const connection = await database.connection.dialect.acquire(database.sequelize, { reader: true })
  const texts: string[] = []
  assert.ok(connection.raw instanceof sqlite3.Database)
  connection.raw.on('trace', (text: string) => void texts.push(text.split(/[ ;]/, 2)[0] ?? ''))
  await connection.release()
  const executedFor = async (step: Step) => {
    const own = await route(false)
    for (let count = 0; count < ENOUGH; count++) {
      texts.length = 0
      await run(own, only(step))
    }
    return texts
  }
  // After the request, `run` reads rows on the write connection.
  assert.deepEqual(await executedFor('get'), ['SELECT'])
  assert.deepEqual(await executedFor('raw'), ['SELECT', 'COMMIT', 'BEGIN'])
})

/** A known route whose next requests go on after their first read. */
async function knownRoute(
  t: TestContext,
  goOn: (session: Session, Stock: StockModel, other: Execute) => Promise<unknown>,
) {
  const Stock = stockModel()
  let isKnown = false
  let count = 0
  @Controller('/')
  class Reads {
    @Get() async read(session: Session): Promise<unknown> {
      count++
      await session.all(select(Stock))
      return isKnown ? goOn(session, Stock, other) : undefined
    }
  }
  const url = await sqliteFile.url()
  const app = await databaseApp(t, { name: '', url: () => Promise.resolve(url) }, [Stock], [Reads], {
    lifespan: { fastPath: true },
  })
  const other = await anotherConnection(t, url)
  for (let request = 0; request < ENOUGH; request++) await app.fetch('/')
  isKnown = true
  app.log.length = count = 0
  const response = await app.fetch('/')
  return { status: response.status, runs: count, log: statements(app.log) }
}

const nameOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ name }: Error) => name,
  )

for (const change of [
  "INSERT INTO stock (name, amount) VALUES ('new', 1)",
  'ALTER TABLE stock RENAME COLUMN picture TO image',
])
  test(`after a first read that has another result, or none, when it is repeated, no statement is executed: ${change}`, async (t) => {
    const seen: string[][] = []
    const { log, runs: count } = await knownRoute(t, async (session, Stock, other) => {
      if (seen.length === 0) await other(change)
      const steps = [
        () => session.execute(sql`SELECT 1 AS one`),
        () => session.nested(() => Stock.count()),
        () => session.execute(sql`INSERT INTO stock (name, amount) VALUES ('written', 1)`),
      ]
      const names: string[] = []
      for (const run of steps) names.push(await nameOf(run()))
      seen.push(names)
    })
    const refused = 'StaleSnapshotError'
    assert.deepEqual(seen[0], [refused, refused, refused])
    assert.ok(log.filter((text) => text.startsWith('INSERT')).length <= 1)
    assert.equal(count, 2)
  })

test('a handler that only reads is run again as a reader: it takes no lock', async (t) => {
  let isFirst = true
  const {
    log,
    status,
    runs: count,
  } = await knownRoute(t, async (session, Stock, other) => {
    if (isFirst) await other(WRITES[2] ?? '')
    isFirst = false
    await session.count(select(Stock))
    await other(WRITES[2] ?? '') // another process writes while it reads
  })
  assert.equal(status, 204)
  assert.equal(count, 2)
  assert.deepEqual(framesOf(log), ['BEGIN DEFERRED', 'ROLLBACK', 'BEGIN DEFERRED', 'COMMIT'])
})

test('a handler that writes on an old snapshot after it was run again as a reader is run again as a writer', async (t) => {
  let run = 0
  const {
    log,
    status,
    runs: count,
  } = await knownRoute(t, async (session, Stock, other) => {
    if (++run === 1) await other(WRITES[2] ?? '')
    const before = await session.count(select(Stock))
    if (run === 2) await other(WRITES[2] ?? '')
    await session.execute(sql`INSERT INTO stock (name, amount) VALUES (${`after ${before}`}, 0)`)
    assert.equal(await session.count(select(Stock)), before + 1)
  })
  assert.equal(status, 204)
  assert.equal(count, 3)
  assert.deepEqual(
    framesOf(log).filter((text) => text.startsWith('BEGIN')),
    ['BEGIN DEFERRED', 'BEGIN DEFERRED', 'BEGIN IMMEDIATE'],
  )
})

test('a handler that only asks for the connection of its transaction is run again, too', async (t) => {
  let isFirst = true
  const { status, runs: count } = await knownRoute(t, async (session, _, other) => {
    if (isFirst) await other(WRITES[2] ?? '')
    isFirst = false
    await Reflect.get(session.transaction, 'connection')
  })
  assert.equal(status, 204)
  assert.equal(count, 2)
})

test('a transaction that no one waits for is not met by the next request', async (t) => {
  const Stock = stockModel()
  let isLeft = false
  @Controller('/')
  class Reads {
    @Get('/left') async left(session: Session) {
      await session.count(select(Stock))
      if (isLeft) void (Reflect.get(session.transaction, 'connection') as Promise<unknown>).catch(() => {})
    }
    @Get('/count') count(session: Session) {
      return session.count(select(Stock))
    }
  }
  const url = await sqliteFile.url()
  const kind = { name: '', url: () => Promise.resolve(`${url}?pool_size=1`) }
  const { fetch } = await databaseApp(t, kind, [Stock], [Reads], { lifespan: { fastPath: true } })
  const other = await anotherConnection(t, url)
  for (let request = 0; request < ENOUGH; request++) for (const path of ['/left', '/count']) await fetch(path)
  isLeft = true
  assert.equal((await fetch('/left')).status, 204)
  for (let count = 1; count < 4; count++) {
    await other(WRITES[2] ?? '')
    assert.equal(await (await fetch('/count')).json(), count)
  }
})

test('a route whose result is large has its transaction', async (t) => {
  const { route, run } = await stockApp(t, true)
  const own = await route(true)
  // 6 rows of four columns, and those that are inserted before: 96 values, 96, 104 and 104.
  const framesFor = async (inserted: number) =>
    framesOf((await run(own, only('all'), Array<number>(inserted).fill(2))).log)
  for (const inserted of [18, 18, 20]) assert.deepEqual(await framesFor(inserted), [])
  assert.deepEqual(await framesFor(20), FRAME)
})

test('the program may ask for the connection of the transaction several times at once', async (t) => {
  for (const isRunning of [false, true]) {
    const { status, log } = await knownRoute(t, async (session, Stock) => {
      const { transaction } = session
      const connection = () => Reflect.get(transaction, 'connection') as Promise<object>
      const [first] = await Promise.all([isRunning ? session.all(select(Stock)) : connection(), connection()])
      assert.equal(typeof first, 'object')
    })
    assert.equal(status, 204)
    assert.equal(framesOf(log).filter((text) => text === 'BEGIN DEFERRED').length, 1)
  }
})

test('an integer that becomes greater than 2^53 between the two executions of a read is exact', async (t) => {
  @Table({ tableName: 'counter', timestamps: false })
  class Counter extends Base<Counter> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column(DataType.BIGINT) declare a: string
    @Column(DataType.BIGINT) declare b: string
  }
  @Controller('/')
  class Counters {
    @Get('/', Counter) async read(session: Session) {
      return (await session.get(Counter, 1)) ?? notFound()
    }
  }
  const url = await sqliteFile.url()
  const kind = { name: sqliteFile.name, url: () => Promise.resolve(url) }
  const { database, fetch } = await databaseApp(t, kind, [Counter], [Counters], { lifespan: { fastPath: true } })
  const other = await anotherConnection(t, url)
  await withSession(database, () => Counter.create({ id: 1, a: '5', b: '5' }))
  for (let request = 0; request < ENOUGH; request++) await fetch('/')
  const BIG = '9007199254740993'
  await other(`UPDATE counter SET a = ${BIG}`)
  // Before its second execution, which reads `a` as text, another process writes `b`.
  const { prototype } = sqlite3.Statement as unknown as {
    prototype: { all(this: { sql: string }, ...args: unknown[]): unknown }
  }
  const { all } = prototype
  t.after(() => void (prototype.all = all))
  prototype.all = function (...args) {
    if (!this.sql.includes('CASE typeof')) return all.apply(this, args)
    prototype.all = all
    void other(`UPDATE counter SET b = ${BIG}`).then(() => all.apply(this, args))
    return this
  }
  assert.deepEqual(await (await fetch('/')).json(), { id: 1, a: BIG, b: BIG })
})

test('a connection without compiled statements repeats a query until all of its integers are exact', () => {
  const BIG = 2 ** 53
  const answers = [
    { a: BIG, b: 1 },
    { a: `${BIG}`, b: BIG },
    { a: `${BIG}`, b: `${BIG}` },
  ] // another process writes in between
  const texts: string[] = []
  const connection = openedConnection({
    all(text: string, _: unknown, callback: (error: null, rows: unknown[]) => void) {
      callback(null, [answers[texts.push(text) - 1]])
    },
  })
  readExactIntegers(connection)
  const rows: unknown[] = []
  connection.all('SELECT a, b FROM counter', {}, (_: null, found: readonly unknown[]) => rows.push(...found))
  assert.deepEqual(rows, [answers[2]])
  assert.equal(texts.length, 3)
})

/** Returns as soon as BEGIN is answered. */
async function whenBegun(connection: TransactionConnection): Promise<void> {
  while (!connection.hasBegun) await nextTurn()
}

test('a connection that is closed while its transaction begins late keeps no turn to write, and reports no transaction', async (t) => {
  const { database } = await openWithLog(t, `${await sqliteFile.url()}?pool_timeout=1`, {})
  const { sequelize, dialect } = database.connection
  await sequelize.query('CREATE TABLE stock (id INTEGER)')
  const sql = 'SELECT count(*) AS count FROM stock'
  for (const isComparing of [false, true]) {
    const events: string[] = []
    const observer: TransactionObserver = {
      acquired: (acquiring) => acquiring,
      writerTurn: (acquiring) => acquiring,
      begun: () => void events.push('begun'),
      ended: () => void events.push('ended'),
    }
    const reads = knownReads()
    const connection = await dialect.acquire(sequelize, { reader: true, reads, observer })
    assert.equal(connection.prepare({ sql, kind: 'read', readsAlone: true }), undefined)
    const generated = { sql, facts: undefined }
    await new Promise<unknown>((resolve, reject) =>
      connection.send(
        { sql, generated, values: [], form: 'count', readsAlone: true, read: ({ rows }) => rows },
        { resolve, reject },
      ),
    )
    // The comparison may find the connection closed.
    const preparing = connection.prepare({ sql: 'UPDATE stock SET id = 2', kind: 'write' })?.catch(() => {})
    if (isComparing) await whenBegun(connection)
    await connection.destroy()
    await preparing
    assert.deepEqual(events, isComparing ? ['begun'] : [])
    const writer = await dialect.acquire(sequelize, {})
    await writer.release()
  }
})

test('a connection whose BEGIN fails is closed', async (t) => {
  const { database } = await openWithLog(t, await sqliteFile.url(), {})
  const { sequelize, dialect } = database.connection
  const reads = knownReads()
  const connection = await dialect.acquire(sequelize, { reader: true, reads })
  const next: NextStatement = { sql: 'SELECT 1', kind: 'read', readsAlone: true }
  assert.equal(connection.begin(next), undefined)
  assert.equal(connection.prepare(next), undefined)
  assert.equal(connection.hasBegun, false)
  await connection.command('BEGIN')
  await assert.rejects(async () => void (await connection.prepare(next)), /cannot start a transaction/)
  await connection.release()
  const another = await dialect.acquire(sequelize, { reader: true })
  assert.notEqual(another.raw, connection.raw)
  await another.begin()
  await another.destroy()
})
