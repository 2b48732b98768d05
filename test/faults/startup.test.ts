import assert from 'node:assert/strict'
import Module from 'node:module'
import { test, type TestContext } from 'node:test'
import { Controller, createApp, type Database, Get, newLifespan } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { databases } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'
import { Hero, Team } from '../support/hero.js'
import { freePort, startPostgres } from '../support/postgres-server.js'

@Controller('/')
class Heroes {
  @Get() count() {
    return Hero.count()
  }
}

test('an app that starts before its database waits for it, and serves', async (t) => {
  const port = await freePort()
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const database = newLifespan(`postgres://postgres:secret@127.0.0.1:${port}/postgres`, { sync: true })
  const starting = testApp({
    controllers: [Heroes],
    models: [Team, Hero],
    lifespan: database,
    logger: { info: write, warn: write, error: write },
  })
  await until('it has tried', () => log.some((line) => /does not answer yet: .*ECONNREFUSED.* Trying again/.test(line)))
  const server = await startPostgres({ port, password: 'secret' })
  const { fetch, close } = await starting
  t.after(async () => {
    await close()
    await server.stop()
  })
  assert.equal(await (await fetch('/')).json(), 0)
  assert.doesNotMatch(log.join('\n'), /secret/)
})

test('an app that is closed while it waits for its database starts no more', async () => {
  const url = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = createApp({
    controllers: [Heroes],
    models: [Team, Hero],
    lifespan: newLifespan(url, { startTimeout: 3_600_000 }),
    logger: { info: write, warn: write, error: write },
  })
  const refused = assert.rejects(app.start(), { message: 'This app was closed while it started.' })
  await until('it has tried', () => log.some((line) => /does not answer yet/.test(line)))
  await app.close()
  await refused
})

/** A network that breaks the connection at the message of this number, before or after the server has it. */
async function breakingNetwork(t: TestContext, url: string, at: number, reachesServer: boolean) {
  let messages = 0
  const broken = await watchedNetwork(t, url, (bytes, client, upstream) => {
    if (++messages !== at) return void upstream.write(bytes)
    if (reachesServer) upstream.end(bytes)
    client.destroy()
  })
  return { url: broken, messages: () => messages }
}

async function startAndStop(database: Database): Promise<void> {
  await database.start(
    () => {},
    undefined,
    () => {},
  )
  await database.stop()
}

/** Where the SQL of a message of PostgreSQL or MySQL is; undefined if it has none, or no room for another statement. */
function placeOfSql(bytes: Buffer): readonly [start: number, end: number] | undefined {
  const isParse = bytes[0] === 0x50
  const start = isParse ? bytes.indexOf(0, 5) + 1 : 5
  const end = bytes[4] === 0x03 ? bytes.readUIntLE(0, 3) + 4 : bytes.indexOf(0, start)
  const isQuery = isParse || bytes[0] === 0x51 || bytes[4] === 0x03
  return isQuery && end - start > 80 ? [start, end] : undefined
}

/** Replaces a statement by one that the server cancels. */
function cancel(bytes: Buffer, [start, end]: readonly [start: number, end: number]): void {
  const ofPostgres = `SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)${bytes[0] === 0x50 ? ', $1::text' : ''}`
  bytes.fill(' ', start, end)
  bytes.write(bytes[4] === 0x03 ? 'KILL QUERY CONNECTION_ID()' : ofPostgres, start)
}

const servers = databases.filter(({ name }) => !name.startsWith('SQLite'))

for (const kind of servers) {
  test(`${kind.name}: a start that loses its connection, at whichever message, is tried again`, async (t) => {
    const direct = await kind.url()
    const options = { models: [Team, Hero], sync: true }
    const whole = await breakingNetwork(t, direct, 0, true)
    await startAndStop(newLifespan(whole.url, options))
    for (let at = 1; at <= whole.messages(); at += 2) {
      const { url } = await breakingNetwork(t, direct, at, at % 4 === 1)
      await startAndStop(newLifespan(url, options))
    }
  })

  test(`${kind.name}: a start of which a statement is cancelled, whichever, is tried again`, async (t) => {
    const direct = await kind.url()
    let queries = 0
    let at = Infinity
    const url = await watchedNetwork(t, direct, (bytes, _, upstream) => {
      const place = placeOfSql(bytes)
      if (place && ++queries === at) cancel(bytes, place)
      upstream.write(bytes)
    })
    const start = async () => {
      queries = 0
      const log: string[] = []
      const database = newLifespan(url, { models: [Team, Hero], sync: true, poolSize: 1 })
      await database.start((line) => log.push(line))
      await database.stop()
      return log.join('\n')
    }
    await start() // creates the tables
    await start()
    const whole = queries
    assert.ok(whole > 5)
    for (at = 1; at <= whole; at++) assert.match(await start(), / Trying again\.$/, `after query ${at}`)
  })

  test(`${kind.name}: a server that ends each connection stops the start after its timeout`, async (t) => {
    const url = await watchedNetwork(t, await kind.url(), (bytes, client, upstream) =>
      /tables|pg_class/i.test(bytes.toString('latin1')) ? void client.destroy() : void upstream.write(bytes),
    )
    const log: string[] = []
    const database = newLifespan(url, { models: [Team, Hero], startTimeout: 2_000 })
    await assert.rejects(
      database.start((line) => log.push(line)),
      /^DatabaseStartError: Cannot reach the database \(/,
    )
    assert.match(log.join('\n'), /does not answer any more: .* Trying again/)
  })
}

for (const kind of servers) {
  const refusals: readonly (readonly [what: string, spoil: (url: URL) => unknown, says: RegExp])[] = [
    [
      'a wrong password',
      (url) => Object.assign(url, { username: url.username, password: 'wrong' }),
      /password authentication failed|Access denied/,
    ],
    ['a database that does not exist', (url) => (url.pathname = '/nowhere'), /nowhere/],
  ]
  for (const [what, spoil, says] of refusals) {
    test(`${kind.name}: ${what} stops the start at once, and the message says so`, async () => {
      const url = new URL(await kind.url())
      spoil(url)
      const log: string[] = []
      await assert.rejects(
        newLifespan(url.href, { startTimeout: 60_000 }).start((line) => log.push(line)),
        (error: Error) => {
          assert.match(error.message, /^Cannot reach the database \(/)
          assert.match(error.message, says)
          return true
        },
      )
      assert.deepEqual(log, [])
    })
  }
}

/** Node's own way to a package; what is given cannot be found as long as the test runs. */
function uninstall(t: TestContext, name: string): void {
  const loader = Module as unknown as { _load(request: string, ...rest: unknown[]): unknown }
  const load = loader._load
  t.after(() => void (loader._load = load))
  loader._load = (request, ...rest) => {
    if (request === name) throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
    return load.call(loader, request, ...rest)
  }
}

for (const [url, driver] of [
  ['mysql://root@127.0.0.1/test', 'mysql2'],
  ['mariadb://root@127.0.0.1/test', 'mariadb'],
] as const) {
  test(`a driver that is not installed stops the start and says: npm install ${driver}`, async (t) => {
    uninstall(t, driver)
    await assert.rejects(newLifespan(url).start(), new RegExp(`is not installed. Run: npm install ${driver}$`))
  })
}
