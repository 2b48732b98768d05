import assert from 'node:assert/strict'
import { request as send } from 'node:http'
import { test } from 'node:test'
import { Controller, Get, Post, Session } from 'sequitur'
import { api } from '../support/api.js'
import { databaseApp, databases, sqliteFile, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { type Point, telemetry } from '../support/telemetry.js'
import { gate } from '../support/waiting.js'

let waiting = gate()
let arrived = gate()

@Controller('/heros')
class Heros {
  @Get('/:hero_id') get(hero_id: number) {
    return { hero_id }
  }
  @Get('/fails') fails() {
    throw new TypeError('S3CRET')
  }
  @Get('/waits') async waits() {
    arrived.open()
    await waiting.opened
  }
}

@Controller('/stored')
class Stored {
  @Post('/') async create(session: Session) {
    session.add(Hero.build({ name: 'Robin' }))
    await session.flush()
  }
}

@Controller('/held')
class Held {
  #count = 0

  @Post('/') async hold(session: Session) {
    session.add(Hero.build({ name: `hero ${++this.#count}` }))
    await session.flush()
    arrived.open()
    await waiting.opened
  }
}

function attributesOf(points: readonly Point[]): readonly unknown[] {
  return points.map(({ attributes }) => ({ ...attributes }))
}

function histogramOf(point: Point | undefined) {
  assert.ok(typeof point?.value === 'object' && 'buckets' in point.value)
  return point.value
}

test('the duration of requests is a histogram by the conventions', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans, points } = telemetry(t)
  await fetch('/heros/1')
  await fetch('/heros/2')
  await fetch('/heros/fails')
  await fetch('/villains/S3CRET')
  await spans(4)
  const found = await points('http.server.request.duration')
  const common = { 'http.request.method': 'GET', 'url.scheme': 'http', 'network.protocol.version': '1.1' }
  assert.deepEqual(attributesOf(found), [
    { ...common, 'http.route': '/heros/:hero_id', 'http.response.status_code': 200 },
    { ...common, 'http.route': '/heros/fails', 'http.response.status_code': 500, 'error.type': 'TypeError' },
    { ...common, 'http.response.status_code': 404 },
  ])
  const { count, sum, buckets } = histogramOf(found[0])
  assert.equal(count, 2)
  assert.ok(sum !== undefined && sum > 0 && sum < 10, 'in seconds')
  assert.deepEqual(buckets.boundaries, [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10])
})

test('active requests are counted while they run', async (t) => {
  ;[waiting, arrived] = [gate(), gate()]
  const { fetch } = await api(t, [Heros])
  const { spans, points } = telemetry(t)
  const active = async () => (await points('http.server.active_requests')).map(({ value }) => value)
  const running = fetch('/heros/waits')
  await arrived.opened
  assert.deepEqual(await active(), [1])
  waiting.open()
  await running
  await spans()
  assert.deepEqual(await active(), [0])
})

test('ten thousand invented paths, methods and hosts leave a handful of series', async (t) => {
  const { url } = await api(t, [Heros])
  const { spans, points } = telemetry(t)
  const methods = ['GET', 'PROPFIND', 'MKCOL', 'SEARCH', 'PURGE', 'POST']
  const { port } = new URL(url)
  let sent = 0
  const client = async () => {
    while (sent < 10_000) {
      const number = sent++
      const method = methods[number % methods.length]
      const path = number % 3 === 0 ? `/heros/${number}` : `/random-${number}`
      await new Promise<void>((resolve, reject) => {
        const headers = { host: `h${number}.example`, 'user-agent': `agent ${number}`, connection: 'close' }
        const request = send({ port, host: '127.0.0.1', method, path, headers }, (response) =>
          response.resume().on('end', resolve),
        )
        request.on('error', reject).end()
      })
    }
  }
  await Promise.all(Array.from({ length: 16 }, client))
  await spans(10_000)
  assert.ok((await points('http.server.request.duration')).length < 20)
  assert.ok((await points('http.server.active_requests')).length < 10)
})

for (const kind of databases)
  test(`statements and waits for connections are histograms: ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Stored])
    const { spans, points } = telemetry(t)
    await fetch('/stored', { method: 'POST' })
    await fetch('/stored', { method: 'POST' })
    await spans(2)
    const found = await points('db.client.operation.duration')
    const byName = (name: string) =>
      found.filter(({ attributes }) => String(attributes['db.query.summary']).replaceAll(/["`]/g, '') === name)
    const [done, failed, ...others] = byName('INSERT hero')
    assert.deepEqual(others, [])
    assert.equal(histogramOf(done).count, 1)
    assert.deepEqual(histogramOf(done).buckets.boundaries, [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10])
    assert.notEqual(failed?.attributes['db.response.status_code'], undefined)
    assert.equal(byName('COMMIT').length, 1)
    const [wait] = await points('db.client.connection.wait_time')
    assert.equal(histogramOf(wait).count, 2)
    assert.match(String(wait?.attributes['db.client.connection.pool.name']), /^(?:sqlite|postgres|mysql|mariadb)\b/)
  })

for (const kind of databases)
  test(`connections are counted by their state: ${kind.name}`, async (t) => {
    ;[waiting, arrived] = [gate(), gate()]
    const { fetch } = await databaseApp(t, kind, [Team, Hero], [Held])
    const { spans, points, stop } = telemetry(t)
    const ofMain = async (name: string) =>
      (await points(name))
        .filter(({ attributes }) => !String(attributes['db.client.connection.pool.name']).endsWith(' readers'))
        .map(({ value, attributes }) => [attributes['db.client.connection.state'], value])
    const answer = fetch('/held', { method: 'POST' })
    await arrived.opened
    const [used] = await ofMain('db.client.connection.count')
    assert.deepEqual(used, ['used', 1])
    assert.deepEqual(await ofMain('db.client.connection.pending_requests'), [[undefined, 0]])
    assert.deepEqual(await ofMain('db.client.connection.max'), [[undefined, kind.name.startsWith('SQLite') ? 1 : 10]])
    const [named] = await points('db.client.connection.count')
    const [wait] = await points('db.client.connection.wait_time')
    assert.deepEqual(
      named?.attributes['db.client.connection.pool.name'],
      wait?.attributes['db.client.connection.pool.name'],
    )
    waiting.open()
    assert.equal((await answer).status, 204)
    await spans()
    const [unused, idle] = await ofMain('db.client.connection.count')
    assert.deepEqual([unused, idle?.[0]], [['used', 0], 'idle'])
    stop()
    ;[waiting, arrived] = [gate(), gate()]
    const unseen = fetch('/held', { method: 'POST' })
    await arrived.opened
    const [last] = await ofMain('db.client.connection.count') // the SDK keeps the last number
    assert.deepEqual(last, ['used', 0])
    waiting.open()
    await unseen
  })

test("waits for SQLite's writer are a histogram", async (t) => {
  const { fetch } = await databaseApp(t, sqliteFile, [Team, Hero], [Stored])
  const { spans, points } = telemetry(t)
  await fetch('/stored', { method: 'POST' })
  await spans()
  assert.equal(histogramOf((await points('sequitur.sqlite.writer.wait_time'))[0]).count, 1)
})

test('a program that invents names of tables in SQL leaves a bounded number of series', async (t) => {
  const { database } = await databaseApp(t, sqliteMemory, [Team, Hero], [Stored])
  const { points } = telemetry(t)
  for (let number = 0; number < 700; number++)
    await database.sequelize.query(`WITH t${number} AS (SELECT 1) SELECT * FROM t${number}`)
  const found = await points('db.client.operation.duration')
  assert.equal(found.length, 501)
  assert.equal(histogramOf(found.at(-1)).count, 200)
})
