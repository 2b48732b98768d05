// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Client } from 'pg'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  Get,
  type LifespanOptions,
  Paginate,
  Post,
  select,
  Session,
  sql,
  Transactional,
} from 'sequitur'

import { databaseApp, type DatabaseApp, postgres, skipIfShared, statements } from '../support/databases.js'
import { runs } from '../support/fuzz.js'
import { clientOf } from '../support/postgres.js'
import { until } from '../support/waiting.js'

/*
 * On PostgreSQL a GET handler that only reads plain columns sends no BEGIN and no COMMIT. Nobody can tell the difference: not the handler, whatever
 * else it does, and whatever others write in between.
 */

/** A class of its own for each app: a model belongs to one database. */
function stockModel() {
  @Table({ tableName: 'stock', timestamps: false })
  class Stock extends Base<Stock> {
    @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
    @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
    @Column({ type: DataType.INTEGER, allowNull: false }) declare amount: number
  }
  return Stock
}
type StockModel = ReturnType<typeof stockModel>

/** What a handler does, one after the other. It writes the rows 5 and 6; the writers write the others. */
const STEPS = {
  get: (session: Session, Stock: StockModel) => session.get(Stock, 1),
  missing: (session: Session, Stock: StockModel) => session.get(Stock, 99),
  first: (session: Session, Stock: StockModel) => session.first(select(Stock, { where: { name: 'name 2' } })),
  all: (session: Session, Stock: StockModel) => session.all(select(Stock, { order: ['id'] })),
  count: (session: Session, Stock: StockModel) => session.count(select(Stock)),
  findByPk: (_: Session, Stock: StockModel) => Stock.findByPk(3),
  findAll: (_: Session, Stock: StockModel) => Stock.findAll({ order: ['id'] }),
  both: (session: Session, Stock: StockModel) =>
    Promise.all([session.get(Stock, 1), session.count(select(Stock)), Stock.findByPk(2)]),
  raw: (session: Session) => session.execute(sql`SELECT sum(amount) AS amount FROM stock`),
  write: (session: Session) => session.execute(sql`UPDATE stock SET amount = amount + 1 WHERE id = 5 RETURNING amount`),
  async build(session: Session, Stock: StockModel) {
    session.add(Stock.build({ name: 'built', amount: 0 }))
    await session.flush()
  },
  nested: (session: Session, Stock: StockModel) => session.nested(() => Stock.findByPk(2)),
  async undone(session: Session, Stock: StockModel) {
    const work = async (inner: Session) => {
      await inner.execute(sql`UPDATE stock SET amount = 1000 WHERE id = 6`)
      throw new Error('undone')
    }
    await session.nested(work).catch(() => undefined)
    return session.get(Stock, 6)
  },
  caught: (session: Session, Stock: StockModel) =>
    session.nested(() => Stock.create({ name: 'name 4', amount: 1 })).catch(({ name }: Error) => name),
  failed: (session: Session) => session.execute(sql`SELECT 1/0`),
  rollback: async (session: Session) => session.rollback(),
  transaction: (session: Session, Stock: StockModel) => Stock.findByPk(1, { transaction: session.transaction }),
  locked: (_: Session, Stock: StockModel) => Stock.findByPk(4, { lock: true }),
} as const
type Step = keyof typeof STEPS

const WRITES = [
  'UPDATE stock SET amount = amount + 10 WHERE id IN (1, 2)',
  'DELETE FROM stock WHERE id = 3',
  "INSERT INTO stock (name, amount) SELECT 'new ' || count(*), 1 FROM stock",
  "UPDATE stock SET name = 'other' WHERE id = 2",
]

interface Plan {
  /** Each with the write of another connection after it. */
  readonly steps: readonly (readonly [step: Step, write: number | undefined])[]
  readonly endsWithPage: boolean
}

const READS: readonly Step[] = ['get', 'first', 'all', 'count', 'findByPk', 'both']
const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...READS), fc.constantFrom(...(Object.keys(STEPS) as Step[]))),
      fc.option(fc.nat(WRITES.length - 1), { nil: undefined }),
    ),
    { minLength: 1, maxLength: 6 },
  ),
  endsWithPage: fc.boolean(),
})

interface StockApp {
  readonly app: DatabaseApp
  readonly other: Client
  /** What a handler of GET that follows the plan answers, what it logs, and the rows afterwards. */
  run(plan: Plan): Promise<{ readonly answer: unknown; readonly log: readonly string[] }>
}

async function stockApp(t: TestContext, lifespan: LifespanOptions): Promise<StockApp> {
  const Stock = stockModel()
  let current: Plan
  @Controller('/stock')
  class Stocks {
    @Get() async run(session: Session, paginate: Paginate<InstanceType<StockModel>>): Promise<unknown> {
      const seen: unknown[] = []
      const see = async (work: () => Promise<unknown>) =>
        seen.push(
          await Promise.resolve()
            .then(work)
            .catch(({ name }: Error) => name),
        )
      for (const [step, write] of current.steps) {
        await see(() => STEPS[step](session, Stock))
        if (write !== undefined) await other.query(WRITES[write] ?? '')
      }
      if (current.endsWithPage) await see(() => paginate(select(Stock)))
      return JSON.parse(JSON.stringify(seen)) // of any shape: the response is not declared
    }
  }
  const app = await databaseApp(t, postgres, [Stock], [Stocks], { lifespan: { fastPath: true, ...lifespan } })
  const other = await clientOf(t, app)
  const run = async (plan: Plan) => {
    current = plan
    await other.query('TRUNCATE stock RESTART IDENTITY')
    await other.query(`INSERT INTO stock (name, amount) SELECT 'name ' || n, n FROM generate_series(1, 6) AS n`)
    app.log.length = 0
    const response = await app.fetch('/stock')
    const { rows } = await other.query('SELECT * FROM stock ORDER BY id')
    const body = (await response.json()) as { instance?: unknown }
    delete body.instance // differs for each request
    return { answer: { status: response.status, body, rows }, log: statements(app.log) }
  }
  return { app, other, run }
}

const only = (...steps: Step[]): Plan => ({
  steps: steps.map((step) => [step, undefined] as const),
  endsWithPage: false,
})

test('a handler sees and writes the same rows as in a transaction, while others write', async (t) => {
  const [alone, together] = [await stockApp(t, {}), await stockApp(t, { fastPath: false })]
  const property = fc.asyncProperty(plans, async (plan) => {
    assert.deepEqual((await alone.run(plan)).answer, (await together.run(plan)).answer)
  })
  await fc.assert(property, { numRuns: runs(100) })
})

test('only reads of plain columns are sent without a transaction', { skip: skipIfShared }, async (t) => {
  const { run } = await stockApp(t, {})
  const begins = async (plan: Plan) => {
    const { log } = await run(plan)
    return log.filter((statement) => /^(?:START|COMMIT|ROLLBACK)/.test(statement))
  }
  const IN_TRANSACTION = ['START TRANSACTION', 'COMMIT']
  for (const step of READS) assert.deepEqual(await begins(only(step)), [], step)
  assert.deepEqual(await begins(only('get', 'findByPk', 'all')), [])
  for (const step of ['raw', 'nested', 'transaction', 'locked'] as const)
    assert.deepEqual(await begins(only(step)), IN_TRANSACTION, step)
  const { log } = await run(only('get', 'write', 'get'))
  assert.deepEqual(
    log.map((statement) => statement.split(' ')[0]),
    ['SELECT', 'START', 'UPDATE', 'SELECT', 'COMMIT'],
  )
  assert.deepEqual(await begins({ steps: [], endsWithPage: true }), [
    'START TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'COMMIT',
  ])
})

test('a transaction is needed where the default isolation level is another one', { skip: skipIfShared }, async (t) => {
  const levelOf = async (lifespan: LifespanOptions, prepare: (one: StockApp) => Promise<unknown>) => {
    const one = await stockApp(t, lifespan)
    await prepare(one)
    const { log } = await one.run(only('get'))
    return log.length > 1 ? 'transaction' : 'alone'
  }
  const raw = (statement: string) => (one: StockApp) => one.app.database.sequelize.query(statement)
  assert.equal(await levelOf({}, async () => {}), 'alone')
  assert.equal(await levelOf({ preparedStatements: false }, async () => {}), 'transaction')
  const poolOfOne = { poolSize: 1 }
  for (const [statement, level] of [
    // The connection is closed: the next request has another one, with the default of the server.
    ["SET default_transaction_isolation = 'repeatable read'", 'alone'],
    ['SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'alone'],
    ["SELECT set_config('default_transaction_isolation', 'serializable', false)", 'alone'],
    // Not known to leave anything.
    ["UPDATE pg_settings SET setting = 'serializable' WHERE name = 'default_transaction_isolation'", 'transaction'],
  ] as const)
    assert.equal(await levelOf(poolOfOne, raw(statement)), level, statement)
  const newDefault = async ({ app, other }: StockApp) => {
    await other.query(`ALTER DATABASE ${other.database} SET default_transaction_isolation = 'repeatable read'`)
    await app.database.sequelize.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {}) // the next one has the new default
  }
  assert.equal(await levelOf(poolOfOne, newDefault), 'transaction')
})

@Table({ tableName: 'clock', timestamps: false })
class Clock extends Base<Clock> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.DOUBLE) declare time: number
}

test(
  'reads of views, and of tables with policies or children, are sent in a transaction',
  { skip: skipIfShared },
  async (t) => {
    @Controller('/')
    class Clocks {
      @Get() async times(session: Session) {
        const times: (number | undefined)[] = []
        for (const _ of [1, 2]) times.push((await session.get(Clock, 1))?.time)
        return times
      }
    }
    const NOW = 'extract(epoch FROM now())::double precision'
    const create = {
      view: [`CREATE VIEW clock AS SELECT 1 AS id, ${NOW} AS time`],
      policy: [
        `CREATE TABLE clock AS SELECT 1 AS id, 1::double precision AS time`,
        'ALTER TABLE clock ENABLE ROW LEVEL SECURITY',
      ],
      children: [
        'CREATE TABLE clock (id integer, time double precision)',
        'CREATE TABLE child () INHERITS (clock)',
        'INSERT INTO child VALUES (1, 1)',
      ],
      plain: ['CREATE TABLE clock AS SELECT 1 AS id, 1::double precision AS time'],
    }
    for (const [name, definitions] of Object.entries(create)) {
      const url = await postgres.url()
      const client = new Client({ connectionString: url })
      await client.connect()
      for (const definition of definitions) await client.query(definition)
      await client.end()
      const kind = { name, url: () => Promise.resolve(url) }
      const app = await databaseApp(t, kind, [Clock], [Clocks], { lifespan: { fastPath: true, sync: false } })
      const times = (await (await app.fetch('/')).json()) as readonly number[]
      assert.equal(times[0], times[1], name)
      assert.equal(statements(app.log).includes('START TRANSACTION'), name !== 'plain', name)
      await app.close()
    }
  },
)

@Table({ tableName: 'hidden', timestamps: false })
class Hidden extends Base<Hidden> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}

test(
  'after a failed read, those that were sent with it fail too, and the later ones',
  { skip: skipIfShared },
  async (t) => {
    const Stock = stockModel()
    const outcomes: string[] = []
    const see = async (reads: readonly Promise<unknown>[]) => {
      for (const outcome of await Promise.allSettled(reads))
        outcomes.push(outcome.status === 'rejected' ? (outcome.reason as Error).message : 'read')
    }
    @Controller('/')
    class Reads {
      @Get() async read(session: Session) {
        await see([session.get(Stock, 1), session.get(Hidden, 1), session.get(Stock, 1)])
        await see([session.get(Stock, 2)])
      }
    }
    const seen: unknown[] = []
    for (const fastPath of [true, false]) {
      const app = await databaseApp(t, postgres, [Stock, Hidden], [Reads], { lifespan: { fastPath } })
      const client = await clientOf(t, app)
      await client.query('ALTER TABLE hidden RENAME id TO other')
      for (const _ of [1, 2]) outcomes.push(String((await app.fetch('/')).status))
      assert.equal(statements(app.log).includes('START TRANSACTION'), !fastPath)
      seen.push(outcomes.splice(0))
      await app.close()
    }
    assert.deepEqual(seen[0], seen[1])
  },
)

test('other handlers than those of GET, and those with a declared isolation level, have their transaction', async (t) => {
  const Stock = stockModel()
  @Controller('/')
  class Reads {
    @Post() read(session: Session) {
      return session.get(Stock, 1)
    }
    @Transactional({ isolation: 'read committed' })
    @Get()
    declared(session: Session) {
      return session.get(Stock, 1)
    }
  }
  const { fetch, log } = await databaseApp(t, postgres, [Stock], [Reads], { lifespan: { fastPath: true } })
  await fetch('/', { method: 'POST' })
  await fetch('/')
  const begins = statements(log).filter((statement) => statement.startsWith('START'))
  assert.deepEqual(begins, ['START TRANSACTION', 'START TRANSACTION ISOLATION LEVEL READ COMMITTED'])
})

test(
  'a read whose connection was lost, or whose table was altered, is sent again',
  { skip: skipIfShared },
  async (t) => {
    const Stock = stockModel()
    let between = async () => {}
    @Controller('/')
    class Reads {
      @Get() async read(session: Session) {
        await session.get(Stock, 1)
        await between()
        await session.get(Stock, 1)
        return session.count(select(Stock))
      }
    }
    const app = await databaseApp(t, postgres, [Stock], [Reads], { lifespan: { fastPath: true, poolSize: 1 } })
    const client = await clientOf(t, app)
    const end =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()'
    between = async () => void (await client.query(end))
    assert.equal((await app.fetch('/')).status, 200)
    // In a transaction it would have waited for the end of the handler.
    between = async () => {
      between = async () => {} // the handler is run again
      await client.query('ALTER TABLE stock ALTER amount TYPE bigint')
    }
    assert.equal((await app.fetch('/')).status, 200)
  },
)

test('a response waits for a read that only making it has begun', { skip: skipIfShared }, async (t) => {
  const Stock = stockModel()
  @Controller('/')
  class Getters {
    @Get() async made(session: Session) {
      await session.count(select(Hidden)) // the session has its connection
      return {
        get data() {
          void session.count(select(Stock))
          return 'made'
        },
      }
    }
  }
  const app = await databaseApp(t, postgres, [Stock, Hidden], [Getters], { lifespan: { fastPath: true, poolSize: 1 } })
  const client = await clientOf(t, app)
  await client.query('BEGIN; LOCK TABLE stock')
  let hasAnswered = false
  const answer = app.fetch('/').then((response) => {
    hasAnswered = true
    return response
  })
  const WAITING = "SELECT FROM pg_locks JOIN pg_class ON oid = relation WHERE relname = 'stock' AND NOT granted"
  await until('the read waits', async () => (await client.query(WAITING)).rowCount === 1)
  assert.equal(hasAnswered, false)
  await client.query('COMMIT')
  assert.deepEqual(await (await answer).json(), { data: 'made' })
})
