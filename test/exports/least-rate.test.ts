// Needs a process of its own: it measures the rates of clients.
import assert from 'node:assert/strict'
import { connect, Socket } from 'node:net'
import { mock, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Controller, Field, Get, sql, type Sql } from 'sequitur'
import { Rows, rows, type RowsOptions } from 'sequitur/exports'
import { LeastRate } from '../../src/exports/least-rate.js'
import { databaseApp, databases, postgres, sqliteMemory } from '../support/databases.js'
import { runs } from '../support/fuzz.js'
import { SlowClient } from '../support/slow-client.js'
import { until } from '../support/waiting.js'

/** Time passes, in milliseconds: while the client is waited for, or not. At the end of the former it takes so many bytes. */
interface Turn {
  readonly pause: number
  readonly wait: number
  readonly bytes: number
}

/** In which turn the client was cut; undefined if it was not. */
function cutIn(turns: readonly Turn[], window: number, bytesPerSecond: number): number | undefined {
  const { timers } = mock
  timers.enable({ apis: ['setTimeout', 'Date'], now: 0 })
  try {
    let isCut = false
    const rate = new LeastRate(window, bytesPerSecond, () => (isCut = true), Date.now)
    for (const [at, { pause, wait, bytes }] of turns.entries()) {
      timers.tick(pause)
      rate.waits()
      timers.tick(wait)
      if (isCut) return at
      rate.took(bytes)
    }
    timers.tick(2 * window)
    return isCut ? turns.length : undefined
  } finally {
    timers.reset()
  }
}

const turns = (bytes: fc.Arbitrary<number>, wait: fc.Arbitrary<number>) =>
  fc.array(fc.record({ pause: fc.nat(100_000), wait, bytes }), { minLength: 1, maxLength: 50 })

test('a client that takes more than the least rate in each of its waits is not cut, however long nothing waits for it', () => {
  fc.assert(
    fc.property(turns(fc.integer({ min: 1_001, max: 100_000 }), fc.integer({ min: 0, max: 999 })), (all) => {
      assert.equal(cutIn(all, 1_000, 1_000), undefined)
    }),
    { numRuns: runs(200) },
  )
})

test('a client is cut at the end of the first window in which it takes less, and not before', () => {
  fc.assert(
    fc.property(turns(fc.nat(2_000), fc.integer({ min: 1, max: 700 })), (all) => {
      let [left, missing] = [1_000, 1_000]
      const expected = all.findIndex(({ wait, bytes }) => {
        left -= wait
        if (left <= 0) return true
        missing -= bytes
        if (missing <= 0) [left, missing] = [1_000, 1_000]
        return false
      })
      assert.equal(cutIn(all, 1_000, 1_000) ?? -1, expected)
    }),
    { numRuns: runs(500) },
  )
})

class Line {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
}

/** 100,000 rows of 20 kB: a database makes them faster than a slow client takes them. */
function many(): Sql<Line> {
  const names = Array.from({ length: 5 }, (_, at) => `digit d${at}`)
  const number = names.map((_, at) => `d${at}.d * ${10 ** at}`).join(' + ')
  const digit = Array.from({ length: 10 }, (_, at) => `SELECT ${at}${at === 0 ? ' AS d' : ''}`).join(' UNION ALL ')
  const text = `WITH digit AS (${digit}) SELECT ${number} AS number, '${'x'.repeat(20_000)}' AS text FROM ${names.join(', ')}`
  return { kind: 'sql', texts: [text], values: [] } as const as Sql<Line>
}

async function start(t: TestContext, kind: (typeof databases)[number], options: RowsOptions) {
  @Controller('/')
  class Exports {
    @Get('/many', Rows.of(Line, options)) many() {
      return rows(many())
    }
    /** A row takes as long as 100 of the first batch. */
    @Get('/late', Rows.of(Line, options)) late() {
      return rows(
        sql<Line>`SELECT n AS number, CASE WHEN n > 100 THEN pg_sleep(1.5)::text ELSE '' END AS text FROM generate_series(1, 102) n`,
      )
    }
    @Get('/first', Rows.of(Line, options)) first() {
      return rows(sql<Line>`SELECT 1 AS number, pg_sleep(1)::text AS text`)
    }
    @Get('/wide', Rows.of(Line, options)) wide() {
      return rows(sql<Line>`SELECT n AS number, repeat('x', 20000) AS text FROM generate_series(1, 150) n`)
    }
    @Get('/few', Rows.of(Line, options)) few() {
      return rows(sql<Line>`SELECT 1 AS number, '' AS text`)
    }
  }
  return databaseApp(t, kind, [], [Exports], { lifespan: { echo: false } })
}

/** Without the refusals of exports while others run. */
function ofMany(log: readonly string[]): readonly string[] {
  return log.filter((line) => line.startsWith('GET /many'))
}

for (const kind of databases) {
  test(`a client that reads all the time, but too slowly, is reset, and its place is free, on ${kind.name}`, async (t) => {
    const app = await start(t, kind, { atOnce: 1, clientTimeout: 1_000, leastRate: 100_000_000_000 })
    const { port, hostname } = new URL(app.url)
    const socket = connect({ port: Number(port), host: hostname })
    t.after(() => socket.destroy())
    const resets = t.mock.method(Socket.prototype, 'resetAndDestroy').mock
    let isClosed = false
    socket.on('data', () => {
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    })
    socket.on('error', () => {})
    socket.on('close', () => (isClosed = true))
    socket.write('GET /many HTTP/1.1\r\nHost: a\r\nX-Request-Id: r1\r\n\r\n')
    await until('it is cut', () => isClosed)
    assert.equal(resets.callCount(), 1)
    await until('another may run', async () => (await app.fetch('/few')).status === 200)
    assert.deepEqual(ofMany(app.log), [
      'GET /many [r1] The client has taken less than 100000000000 bytes per second for 1000 ms: the export was ended.',
    ])
  })
}

test('a client that stalls is reset and logged, also without a least rate', async (t) => {
  const app = await start(t, sqliteMemory, { atOnce: 1, clientTimeout: 200, leastRate: 0 })
  const client = new SlowClient(t, app.url, '/many')
  await client.head()
  await until('another may run', async () => (await app.fetch('/few')).status === 200)
  await until('it is logged', () => ofMany(app.log).length > 0)
  assert.match(ofMany(app.log).join(), /^GET \/many \[[^\]]*\] The client has taken nothing for 200 ms/)
})

test('a database that takes longer than the client may is not the fault of the client', async (t) => {
  const app = await start(t, postgres, { clientTimeout: 1_000, leastRate: 1_000_000, timeout: 60_000 })
  const response = await app.fetch('/late')
  assert.equal((await response.text()).trimEnd().split('\n').length, 102)
})

test('the time of a whole export begins with its head: a first row that comes late ends neither the export nor the process', async (t) => {
  const app = await start(t, postgres, { timeout: 800 })
  const response = await app.fetch('/first')
  assert.deepEqual([response.status, await response.text()], [200, '{"number":1,"text":""}\n'])
})

test('long rows are sent in pieces, so that a client that takes some of a batch is not one that takes nothing', async (t) => {
  const app = await start(t, postgres, {})
  const client = new SlowClient(t, app.url, '/wide')
  await until('all is sent', () => client.isClosed)
  assert.ok(client.isWhole)
  const chunks = client.text.match(/^[\da-f]{1,8}(?=\r$)/gm) ?? []
  const sizes = chunks.map((chunk) => Number.parseInt(chunk, 16))
  assert.ok(sizes.length > 20, String(sizes))
  assert.ok(Math.max(...sizes.slice(0, 20)) <= 2 * 64 * 1024, String(sizes))
})
