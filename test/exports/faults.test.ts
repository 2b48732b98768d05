import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import cors from 'cors'
import { Controller, Field, Get, Session, sql, Transactional } from 'sequitur'
import { Rows, rows, type RowsOptions } from 'sequitur/exports'
import { type DatabaseApp, databaseApp, databases, mysqls, postgres, type TestDatabase } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { SlowClient } from '../support/slow-client.js'
import { gate, until } from '../support/waiting.js'

class Line {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
}

const DIGIT = Array.from({ length: 10 }, (_, at) => `SELECT ${at}${at === 0 ? ' AS d' : ''}`).join(' UNION ALL ')

/** Thirty thousand rows; `text` is the SQL of their second column, `n` the number of the row. */
function lines(text: string) {
  const number = 'a.d * 10000 + b.d * 1000 + c.d * 100 + e.d * 10 + f.d'
  const all = `WITH digit AS (${DIGIT}), numbers AS (SELECT ${number} AS n FROM digit a, digit b, digit c, digit e, digit f)`
  return {
    kind: 'sql',
    texts: [`${all} SELECT n AS number, ${text} AS text FROM numbers WHERE n < 30000 ORDER BY n`],
    values: [],
  } as const
}

/** What a handler that holds a connection waits for, once it has it. */
let holds = gate()
let released = gate()

const PADDING = `'${'x'.repeat(1_000)}'`

function exporting(options: RowsOptions = {}) {
  @Controller('/')
  class Exports {
    @Get('/all', Rows.of(Line, options)) all() {
      return rows(lines(PADDING) as ReturnType<typeof sql<Line>>)
    }
    @Get('/wrong', Rows.of(Line, options)) wrong() {
      return rows(lines(`CASE WHEN n < 20000 THEN ${PADDING} END`) as ReturnType<typeof sql<Line>>)
    }
    @Get('/short', Rows.of(Line, options)) short() {
      return rows(sql<Line>`SELECT 1 AS number, 'one' AS text`)
    }
    @Get('/outside', Rows.of(Line)) @Transactional(false) outside() {
      return rows(sql<Line>`SELECT 1 AS number, 'one' AS text`)
    }
    @Get('/count') async count() {
      return { count: await Hero.count() }
    }
    @Get('/hold') async hold(session: Session) {
      await session.execute(sql`SELECT 1`)
      holds.open()
      await released.opened
    }
  }
  return Exports
}

function start(
  t: TestContext,
  kind: TestDatabase,
  { lifespan = {}, options = {}, ...more }: Record<string, object> = {},
) {
  return databaseApp(t, kind, [Team, Hero], [exporting(options)], { lifespan: { echo: false, ...lifespan }, ...more })
}

async function assertUsable({ fetch }: DatabaseApp): Promise<void> {
  assert.deepEqual(await (await fetch('/count')).json(), { count: 0 })
}

for (const kind of databases) {
  test(`a row in the middle that does not fit its declaration breaks the response, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { lifespan: { poolSize: 1 } })
    const client = new SlowClient(t, app.url, '/wrong')
    await until('it is cut', () => client.isClosed, 20, 60_000)
    assert.ok(!client.isWhole)
    const last = client.text.trimEnd().split('\n').at(-1) ?? ''
    assert.match(
      last,
      /^\{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"Not all rows could be sent\.","instance":"urn:request:/,
    )
    assert.ok(app.log.some((line) => line.includes('is null, declared string')))
    await assertUsable(app)
  })

  test(`an export is not cut by the time limits of handlers and transactions, on ${kind.name}`, async (t) => {
    const lifespan = kind.name.startsWith('SQLite') ? {} : { statementTimeout: 2_500, idleInTransactionTimeout: 2_500 }
    const app = await start(t, kind, { lifespan, timeouts: { handler: 2_000 } })
    const client = new SlowClient(t, app.url, '/all')
    await client.head()
    await wait(3_500)
    client.readOn()
    await until('all is sent', () => client.isClosed, 20, 60_000)
    assert.ok(client.isWhole)
    assert.equal(client.text.match(/"number":/g)?.length, 30_000)
    assert.deepEqual(app.log, [])
    await assertUsable(app)
  })

  test(`the app closes when an export has ended, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { timeouts: { drain: 20_000 } })
    const client = new SlowClient(t, app.url, '/all')
    await client.head()
    const closing = app.app.close()
    client.readOn()
    await closing
    await until('all is read', () => client.isClosed)
    assert.ok(client.isWhole)
  })

  test(`an export that takes longer than the drain is cut, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { timeouts: { drain: 100 } })
    const client = new SlowClient(t, app.url, '/all')
    await client.head()
    await app.app.close()
    client.readOn()
    await until('it is cut', () => client.isClosed)
    assert.ok(!client.isWhole)
  })

  test(`without a session rows() says so, on ${kind.name}`, async (t) => {
    const app = await start(t, kind)
    assert.equal((await app.fetch('/outside')).status, 500)
    assert.ok(app.log.some((line) => line.includes('rows() was called outside of a session of its database')))
  })
}

for (const kind of [...databases.filter((one) => one === postgres), ...(databases.includes(postgres) ? mysqls : [])]) {
  test(`while the pool is exhausted, an export is a 503, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { lifespan: { poolSize: 1, poolTimeout: 150 } })
    holds = gate()
    released = gate()
    const holding = app.fetch('/hold')
    await holds.opened
    const refused = await app.fetch('/short')
    released.open()
    assert.equal(refused.status, 503)
    assert.equal((await holding).status, 204)
    assert.equal((await app.fetch('/short')).status, 200)
  })

  test(`a first row that takes too long is a 504, on ${kind.name}`, async (t) => {
    const slow = kind === postgres ? 'pg_sleep(30)::text' : 'SLEEP(30)'
    @Controller('/')
    class Slow {
      @Get('/slow', Rows.of(Line)) slow() {
        return rows({ kind: 'sql', texts: [`SELECT 1 AS number, ${slow} AS text`], values: [] } as ReturnType<
          typeof sql<Line>
        >)
      }
    }
    const app = await databaseApp(t, kind, [Team, Hero], [Slow, exporting()], {
      lifespan: { echo: false, statementTimeout: 1_500, poolSize: 1 },
    })
    assert.equal((await app.fetch('/slow')).status, 504)
    await assertUsable(app)
  })

  test(`a client that leaves before the first row frees the connection, on ${kind.name}`, async (t) => {
    const slow = kind === postgres ? 'pg_sleep(30)::text' : 'SLEEP(30)'
    @Controller('/')
    class Slow {
      @Get('/slow', Rows.of(Line)) slow() {
        return rows({ kind: 'sql', texts: [`SELECT 1 AS number, ${slow} AS text`], values: [] } as ReturnType<
          typeof sql<Line>
        >)
      }
    }
    const app = await databaseApp(t, kind, [Team, Hero], [Slow, exporting()], {
      lifespan: { echo: false, poolSize: 1 },
    })
    const client = new SlowClient(t, app.url, '/slow')
    await wait(200)
    client.leave()
    await assertUsable(app)
    assert.deepEqual(app.log, [])
  })
}

test('Vary has what middleware has set, too', async (t) => {
  const [kind] = databases
  assert.ok(kind)
  const app = await start(t, kind, { middleware: [cors({ origin: ['http://a.example'] })] })
  const { headers } = await app.fetch('/short', { headers: { origin: 'http://a.example' } })
  assert.equal(headers.get('vary'), 'Origin, Accept')
})
