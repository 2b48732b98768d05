import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import { createApp, type LifespanOptions, newLifespan, withSession } from 'sequitur'
import { mysqls, postgres, sqliteFile } from '../support/databases.js'

/** The warnings of an app that starts on this database. */
async function warnings(url: string, options: LifespanOptions): Promise<string[]> {
  const lines: string[] = []
  const warn = (line: string) => void lines.push(line)
  const app = createApp({
    controllers: [],
    lifespan: newLifespan(url, options),
    logger: { info() {}, warn, error: assert.fail },
  })
  await app.start()
  await app.close()
  return lines
}

const MOST: Readonly<Record<string, string>> = {
  postgres: `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`,
  mysql: 'SELECT @@max_connections AS most',
}

/** How many connections the server accepts of accounts without privileges. */
async function mostConnections(url: string): Promise<number> {
  const database = newLifespan(url)
  return withSession(database, async () => {
    const sql = MOST[database.sequelize.getDialect() === 'postgres' ? 'postgres' : 'mysql'] ?? ''
    const [row] = await database.sequelize.query<{ most: number }>(sql, { type: QueryTypes.SELECT })
    return Number(row?.most)
  })
}

const servers = process.env['TEST_QUICK'] ? [] : [postgres, ...mysqls]

for (const kind of servers) {
  test(`${kind.name}: a pool that is larger than the server's limit is one warning, with the arithmetic`, async () => {
    const url = await kind.url()
    const most = await mostConnections(url)
    assert.deepEqual(await warnings(url, { poolSize: most }), [])
    const [line = '', ...others] = await warnings(url, { poolSize: most + 1 })
    assert.deepEqual(others, [])
    const expected = `accepts ${most} connections \\(max_connections \\d+( - \\d+ reserved)?\\), and this app may open ${most + 1} \\(pool_size ${most + 1} x 1 process\\)\\. Set pool_size to ${most} or less,`
    assert.match(line, new RegExp(expected))
    assert.doesNotMatch(line, new RegExp(new URL(url).password || '^$'))
  })

  test(`${kind.name}: the pools of all processes are counted`, async (t) => {
    const url = await kind.url()
    const most = await mostConnections(url)
    const processes = Math.floor(most / 10) + 1
    const expected = new RegExp(`may open ${processes * 10} \\(pool_size 10 x ${processes} processes\\)`)
    assert.match(String(await warnings(url, { processes })), expected)
    process.env['toolkit_processes'] = String(processes)
    t.after(() => Reflect.deleteProperty(process.env, 'toolkit_processes'))
    assert.match(String(await warnings(url, {})), expected)
    assert.deepEqual(await warnings(url, { processes: 1 }), [], 'code has precedence')
  })
}

/** The message that gives a connection its number: type, length, number, key. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12])

/** The URL of the server through a proxy that gives connections numbers of its own, as PgBouncer does. */
async function renumbered(t: TestContext, url: string): Promise<string> {
  const server = new URL(url)
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname)
    client.pipe(upstream)
    upstream.on('data', (bytes) => {
      const at = bytes.indexOf(KEY_DATA)
      if (at >= 0) bytes.writeUInt32BE(0x7fffffff, at + KEY_DATA.length)
      client.write(bytes)
    })
    for (const end of [client, upstream])
      end
        .on('error', () => {})
        .on('close', () => {
          client.destroy()
          upstream.destroy()
        })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => proxy.close())
  const { port } = proxy.address() as { port: number }
  return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href
}

test(
  'behind a pooler of PostgreSQL there is no warning: its limit is another one',
  { skip: servers.length === 0 },
  async (t) => {
    const url = await postgres.url()
    assert.equal((await warnings(url, { poolSize: 9_999 })).length, 1)
    assert.deepEqual(await warnings(await renumbered(t, url), { poolSize: 9_999 }), [])
  },
)

test('SQLite has no limit', async () => {
  assert.deepEqual(await warnings(await sqliteFile.url(), { poolSize: 9_999, processes: 99 }), [])
})

test('processes is a whole number', () => {
  for (const processes of [0, 1.5, '2', null])
    assert.throws(
      () => newLifespan('sqlite://', { processes: processes as 1 }),
      /processes is .*\. Write a whole number/,
    )
})
