import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { newLifespan } from 'sequitur'
import { linkPackages, start, workspace } from '../support/new-project.js'
import { jsonOf, root } from '../support/processes.js'
import { freePort } from '../support/postgres-server.js'
import { postgresUrl } from '../support/postgres.js'

const widget = {
  id: 1,
  name: 'Widget',
  category: 'tools',
  price: 30,
  quantity: 5,
  active: true,
  tags: ['new'],
  rating: { score: 42, count: 127 },
}

/** The table of the benchmark, with one row. */
async function fill(url: string): Promise<void> {
  const database = newLifespan(url)
  await database.start()
  try {
    await database.sequelize
      .query(`CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL,
      price INTEGER NOT NULL, quantity INTEGER NOT NULL, active BOOLEAN NOT NULL, tags JSONB NOT NULL,
      rating_score INTEGER NOT NULL, rating_count INTEGER NOT NULL)`)
    await database.sequelize.query(`INSERT INTO items VALUES (1, 'Widget', 'tools', 30, 5, true, '["new"]', 42, 127)`)
  } finally {
    await database.stop()
  }
}

/** The status and the body of a response. */
async function overHttp2(port: number, path: string): Promise<[status: number | undefined, body: string]> {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    const stream = session.request({ ':path': path })
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & IncomingHttpStatusHeader]
    return [headers[':status'], await text(stream)]
  } finally {
    session.close()
  }
}

test('bench/http-arena compiles as it is submitted, and answers as the benchmark requires', async () => {
  const folder = workspace()
  cpSync(join(root, 'bench/http-arena'), folder, { recursive: true })
  linkPackages(folder)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler], { cwd: folder, encoding: 'utf8' })
  assert.equal(stdout, '')
  writeFileSync(join(folder, 'dataset.json'), JSON.stringify(Array.from({ length: 10 }, () => widget)))
  const url = await postgresUrl()
  await fill(url)
  const h2c = await freePort()
  const served = await start(folder, ['dist/main.js'], {
    DATASET: join(folder, 'dataset.json'),
    STATIC: join(folder, 'src'),
    CERTIFICATES: join(folder, 'no-certificates'),
    DATABASE_URL: url,
    DATABASE_MAX_CONN: '20',
    PORT: '0',
    H2C_PORT: String(h2c),
  })
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(served.url + path, init)
    return [await response.text(), response.headers.get('content-type')]
  }
  const post = (body: string | Buffer) => ({ method: 'POST', body, headers: { 'content-type': 'text/plain' } })
  assert.deepEqual(await ask('/pipeline'), ['ok', 'text/plain'])
  assert.deepEqual(await ask('/baseline11?a=13&b=42'), ['55', 'text/plain'])
  assert.deepEqual(await ask('/baseline11?a=13&b=42', post('20')), ['75', 'text/plain'])
  assert.deepEqual(await ask('/upload', post(Buffer.alloc(20 * 2 ** 20))), [String(20 * 2 ** 20), 'text/plain'])
  assert.deepEqual(await jsonOf(fetch(`${served.url}/json/2?m=3`)), {
    items: Array.from({ length: 2 }, () => ({ ...widget, total: 450 })),
    count: 2,
  })
  assert.deepEqual(await jsonOf(fetch(`${served.url}/async-db?min=10&max=50&limit=20`)), { items: [widget], count: 1 })
  assert.deepEqual(await jsonOf(fetch(`${served.url}/async-db?min=1&max=2`)), { items: [], count: 0 })
  const compressed = await fetch(`${served.url}/json/10?m=3`, { headers: { 'accept-encoding': 'gzip, br' } })
  assert.equal(compressed.headers.get('content-encoding'), 'br')
  writeFileSync(join(folder, 'src/app.js'), 'export {}')
  assert.deepEqual(await ask('/static/app.js'), ['export {}', 'text/javascript'])
  assert.equal((await fetch(`${served.url}/static/none.txt`)).status, 404)
  assert.deepEqual(await overHttp2(h2c, '/baseline2?a=13&b=42'), [200, '55'])
  await served.stop('SIGTERM')
})
