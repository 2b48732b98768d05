import assert from 'node:assert/strict'
import { hasSubscribers } from 'node:diagnostics_channel'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Counter, Gauge, Registry } from 'prom-client'
import { Budget, Controller, createApp, Get, Post, Session } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { type Metrics, metrics, type MetricsOptions } from 'sequitur/metrics'
import { api } from '../support/api.js'
import { databaseApp, databases, sqliteFile } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { endedRequests } from '../support/observed.js'
import { gate } from '../support/waiting.js'

let waiting = gate()
let arrived = gate()

@Controller('/heros')
class Heros {
  @Get('/:hero_id') get(hero_id: number) {
    return { hero_id }
  }
  @Get('/fails') fails() {
    throw new Error('S3CRET')
  }
  @Get('/waits') async waits() {
    arrived.open()
    await waiting.opened
  }
}

@Controller('/stored')
class Stored {
  @Post('/:name') async create(name: string, session: Session) {
    session.add(Hero.build({ name }))
    await session.flush()
  }
  @Post('/waits') async waits(session: Session) {
    session.add(Hero.build({ name: 'Robin' }))
    await session.flush()
    arrived.open()
    await waiting.opened
  }
  @Budget({ statements: 1 })
  @Get('/limited')
  async limited(session: Session) {
    await session.get(Hero, 1)
    return { count: await Hero.count() }
  }
}

function prometheus(t: TestContext, options: MetricsOptions = {}): Metrics {
  const made = metrics({ register: new Registry(), ...options })
  t.after(() => made.stop())
  return made
}

/** The series of a metric with their values: `{method="GET",...}`. */
async function seriesOf({ register }: Metrics, name: string): Promise<Readonly<Record<string, number>>> {
  const lines = (await register.metrics()).split('\n')
  const series = lines.flatMap((line) => {
    const [, own, labels = '', value] = /^(\w+)(\{.*\})? (\S+)$/.exec(line) ?? []
    return own === name ? [[labels, Number(value)] as const] : []
  })
  return Object.fromEntries(series)
}

test('requests are measured by method, route and status', async (t) => {
  const { fetch } = await api(t, [Heros])
  const made = prometheus(t)
  const ended = endedRequests(t)
  for (const path of ['/heros/1', '/heros/2', '/heros/fails', '/villains/S3CRET?a=S3CRET']) {
    await fetch(path)
    await ended.next()
  }
  assert.deepEqual(await seriesOf(made, 'http_request_duration_seconds_count'), {
    '{method="GET",route="/heros/:hero_id",status_code="200"}': 2,
    '{method="GET",route="/heros/fails",status_code="500"}': 1,
    '{method="GET",route="none",status_code="404"}': 1,
  })
  const sums = Object.values(await seriesOf(made, 'http_request_duration_seconds_sum'))
  assert.ok(
    sums.every((sum) => sum > 0 && sum < 10),
    'in seconds',
  )
  assert.doesNotMatch(await made.register.metrics(), /S3CRET/)
})

test('requests in flight are counted', async (t) => {
  ;[waiting, arrived] = [gate(), gate()]
  const { fetch } = await api(t, [Heros])
  const made = prometheus(t)
  const ended = endedRequests(t)
  const running = fetch('/heros/waits')
  await arrived.opened
  assert.deepEqual(await seriesOf(made, 'http_requests_in_flight'), { '': 1 })
  waiting.open()
  await running
  await ended.next()
  assert.deepEqual(await seriesOf(made, 'http_requests_in_flight'), { '': 0 })
})

test('ten thousand invented paths and methods leave a handful of series', async (t) => {
  const { url } = await api(t, [Heros])
  const made = prometheus(t)
  const ended = endedRequests(t)
  const methods = ['GET', 'PROPFIND', 'MKCOL', 'SEARCH', 'PURGE', 'POST']
  const { port } = new URL(url)
  let sent = 0
  const client = async () => {
    while (sent < 10_000) {
      const number = sent++
      const path = number % 3 === 0 ? `/heros/${number}` : `/random-${number}`
      await new Promise<void>((resolve, reject) => {
        const request = send({ port, host: '127.0.0.1', method: methods[number % methods.length], path }, (response) =>
          response.resume().on('end', resolve),
        )
        request.on('error', reject).end()
      })
    }
  }
  await Promise.all(Array.from({ length: 16 }, client))
  for (let count = 0; count < 10_000; count++) await ended.next()
  const series = await seriesOf(made, 'http_request_duration_seconds_count')
  assert.ok(Object.keys(series).length < 20)
  assert.equal(
    Object.values(series).reduce((sum, count) => sum + count),
    10_000,
  )
})

for (const kind of databases)
  test(`statements, transactions and waits are measured by database: ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Stored])
    const made = prometheus(t)
    const ended = endedRequests(t)
    for (const name of ['Robin', 'Thor', 'Robin']) {
      await fetch(`/stored/${name}`, { method: 'POST' })
      await ended.next()
    }
    const counts = async (name: string) =>
      Object.entries(await seriesOf(made, `${name}_count`)).map(([labels, count]) => [
        /outcome="(\w+)"/.exec(labels)?.[1],
        count,
      ])
    assert.deepEqual(await counts('db_statement_duration_seconds'), [
      ['success', 2],
      ['error', 1],
    ])
    assert.deepEqual(await counts('db_transaction_duration_seconds'), [
      ['commit', 2],
      ['rollback', 1],
    ])
    assert.deepEqual(await counts('db_connection_wait_seconds'), [[undefined, 3]])
    assert.match(await made.register.metrics(), /\{database="(?:sqlite|postgres|mysql|mariadb) /)
    assert.doesNotMatch(await made.register.metrics(), /Robin/)
  })

for (const kind of databases)
  test(`connections are counted by pool: ${kind.name}`, async (t) => {
    ;[waiting, arrived] = [gate(), gate()]
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Stored])
    const made = prometheus(t)
    const ended = endedRequests(t)
    const numbers = async (name: string) => {
      const series = Object.entries(await seriesOf(made, name))
      const isOfWrites = ([labels]: readonly [string, number]) => /pool="(?:primary|writer)"/.test(labels)
      return series.filter(isOfWrites).map(([labels, number]) => [/state="(\w+)"/.exec(labels)?.[1], number])
    }
    const running = fetch('/stored/waits', { method: 'POST' })
    await arrived.opened
    const [used] = await numbers('db_pool_connections')
    assert.deepEqual(used, ['used', 1])
    assert.deepEqual(await numbers('db_pool_waiting'), [[undefined, 0]])
    assert.deepEqual(await numbers('db_pool_max_connections'), [[undefined, kind.name.startsWith('SQLite') ? 1 : 10]])
    waiting.open()
    await running
    await ended.next()
    const [unused, idle] = await numbers('db_pool_connections')
    assert.deepEqual(unused, ['used', 0])
    assert.ok(Number(idle?.[1]) >= 1)
  })

test("waits for SQLite's writer are measured", async (t) => {
  const { fetch } = await databaseApp(t, sqliteFile, [Team, Hero], [Stored])
  const made = prometheus(t)
  const ended = endedRequests(t)
  await fetch('/stored/Robin', { method: 'POST' })
  await ended.next()
  assert.deepEqual(Object.values(await seriesOf(made, 'sqlite_writer_wait_seconds_count')), [1])
})

test('budgets of statements that are exceeded are counted', async (t) => {
  const options = { models: [Team, Hero], lifespan: memoryDatabase(), logger: false } as const
  const app = createApp({ controllers: [Stored], ...options })
  t.after(() => app.close())
  const made = prometheus(t)
  const ended = endedRequests(t)
  assert.equal((await app.inject('/stored/limited')).statusCode, 200)
  await ended.next()
  assert.deepEqual(await seriesOf(made, 'query_budget_exceeded_total'), {
    '{route="/stored/limited",kind="statements"}': 1,
  })
})

test('the middleware answers /metrics, and no other path', async (t) => {
  const made = prometheus(t)
  const { fetch, app } = await api(t, [Heros], { middleware: [made.middleware] })
  const response = await fetch('/metrics?a=1')
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.match(await response.text(), /^# HELP http_request_duration_seconds /)
  assert.equal((await fetch('/heros/7')).status, 200)
  assert.equal((await fetch('/metrics/more')).status, 404)
  assert.equal((await fetch('/metricsmore')).status, 404)
  assert.equal((await fetch('/metrics', { method: 'HEAD' })).status, 200)
  const post = await fetch('/metrics', { method: 'POST' })
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
  assert.doesNotMatch(JSON.stringify(app.openapi()), /metrics/)
})

test('the path of the middleware can be chosen', async (t) => {
  const made = prometheus(t, { path: '/internal/metrics' })
  const { fetch } = await api(t, [Heros], { middleware: [made.middleware] })
  assert.equal((await fetch('/internal/metrics')).status, 200)
  assert.equal((await fetch('/metrics')).status, 404)
})

test('the format is the one that the client prefers, and counters keep their names', async (t) => {
  const made = prometheus(t)
  new Counter({ name: 'orders_total', help: 'Orders.', registers: [made.register] }).inc()
  const { fetch } = await api(t, [], { middleware: [made.middleware] })
  const get = async (accept: string) => {
    const response = await fetch('/metrics', { headers: { accept } })
    return [response.headers.get('content-type')?.split(';')[0], await response.text()] as const
  }
  const preferred = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1'
  for (let round = 0; round < 2; round++) {
    const [open, openText] = await get(preferred)
    assert.equal(open, 'application/openmetrics-text')
    assert.match(openText, /^# TYPE orders counter\norders_total 1$/m)
    assert.match(openText, /# EOF\n$/)
    const [plain, plainText] = await get('*/*')
    assert.equal(plain, 'text/plain')
    assert.match(plainText, /^# TYPE orders_total counter\norders_total 1$/m)
  }
  assert.equal((await get('application/openmetrics-text;q=0.1,text/plain;q=0.9'))[0], 'text/plain')
  const versions = ['version=1.0.0;q=0.9', 'version=0.0.1;q=0.2'].map(
    (version) => `application/openmetrics-text;${version}`,
  )
  assert.equal((await get(`${versions.join(',')},text/plain;q=0.5`))[0], 'application/openmetrics-text')
  assert.equal((await get('application/openmetrics-text;q=0'))[0], 'text/plain')
})

test('a metric of the program that cannot be read is a 500 of the scrape, and is logged', async (t) => {
  const made = prometheus(t)
  const collect = () => {
    throw new Error('broken gauge')
  }
  made.register.registerMetric(new Gauge({ name: 'broken', help: 'Broken.', registers: [], collect }))
  const { fetch, log } = await api(t, [], { middleware: [made.middleware] })
  assert.equal((await fetch('/metrics')).status, 500)
  assert.match(log.join('\n'), /broken gauge/)
})

test('the handler serves the metrics on a port of their own', async (t) => {
  const made = prometheus(t)
  const server = createServer(made.handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo // of a listening server
  const response = await fetch(`http://127.0.0.1:${port}/`)
  assert.match(await response.text(), /http_requests_in_flight 0/)
})

test('a prefix precedes the names, and metrics() refuses names that are taken', (t) => {
  const register = new Registry()
  prometheus(t, { register, prefix: 'shop_' })
  assert.ok(register.getSingleMetric('shop_http_request_duration_seconds'))
  assert.throws(() => metrics({ register, prefix: 'shop_' }), {
    name: 'BootError',
    message: /^metrics\(\): the register has a metric shop_http_request_duration_seconds already\./,
  })
})

test('wrong options are refused', () => {
  assert.throws(() => metrics({ prefix: 'shop-' }), /^BootError: metrics\(\): prefix is 'shop-'/)
  assert.throws(() => metrics({ path: 'metrics' }), /^BootError: metrics\(\): path is 'metrics'/)
  assert.throws(() => metrics({ path: '/:tenant/metrics' }), /without variables/)
  assert.throws(() => metrics({ register: {} as Registry }), /Write new Registry\(\), of prom-client/)
})

test('after stop() nothing is collected, and the register is empty', async (t) => {
  const { fetch } = await api(t, [Heros])
  const made = prometheus(t)
  await fetch('/heros/7')
  made.stop()
  await fetch('/heros/7')
  assert.equal((await made.register.metrics()).trim(), '')
  assert.equal(hasSubscribers('sequitur.request.start') || hasSubscribers('sequitur.statement'), false)
  const again = prometheus(t, { register: made.register })
  assert.deepEqual(await seriesOf(again, 'http_request_duration_seconds_count'), {})
})
