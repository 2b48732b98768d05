import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Controller, type Database, Events, events, Field, file, Get, sql, Transactional } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { api } from '../support/api.js'
import { databaseApp, postgres } from '../support/databases.js'
import { temporaryFolder } from '../support/processes.js'
import { skipWithout } from '../support/skip-without.js'
import { until } from '../support/waiting.js'

/*
 * An app behind nginx, as docs/deployment.md configures it, and with a plain `proxy_pass`, which speaks HTTP/1.0.
 */

const skip = skipWithout('nginx', ['nginx'])

class Tick {
  @Field({ type: 'integer' }) number!: number
}

async function* parts(fails: boolean) {
  for (let number = 0; number < 2_000; number++) yield `${number} ${'x'.repeat(100)}\n`
  if (fails) throw new Error('The source is broken.')
}

@Controller('/')
class Streams {
  @Get('/whole', { produces: 'text/plain' }) whole() {
    return file(Readable.from(parts(false)), { type: 'text/plain' })
  }
  @Get('/broken', { produces: 'text/plain' }) broken() {
    return file(Readable.from(parts(true)), { type: 'text/plain' })
  }
  @Get('/ticks', Events.of(Tick)) ticks() {
    return events(
      (async function* () {
        yield { data: { number: 1 } }
        await new Promise(() => {})
      })(),
    )
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

const [, documented = ''] = /```nginx\n(.*?)```/s.exec(readFileSync('docs/deployment.md', 'utf8')) ?? []
const plain = 'server { listen 8080; location / { proxy_pass http://127.0.0.1:8000; } }'

async function behind(t: TestContext, configured: string): Promise<string> {
  const { url } = await api(t, [Streams])
  return inFrontOf(t, configured, url, '/whole')
}

/** Starts nginx before an app, and waits until the path is answered. @returns its URL. */
async function inFrontOf(t: TestContext, configured: string, url: string, path: string): Promise<string> {
  const folder = temporaryFolder()
  const port = await freePort()
  const http = configured
    .replaceAll('127.0.0.1:8000', new URL(url).host)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const lines = [
    'daemon off;',
    `pid ${folder}/pid;`,
    'events {}',
    `http { access_log off; ${paths.join(' ')}`,
    http,
    '}',
  ]
  writeFileSync(join(folder, 'nginx.conf'), lines.join('\n'))
  const PATH = `${process.env['PATH']}:/usr/sbin`
  const args = ['-e', join(folder, 'error.log'), '-p', folder, '-c', join(folder, 'nginx.conf')]
  const nginx = spawn('nginx', args, { env: { ...process.env, PATH }, stdio: 'inherit' })
  t.after(async () => {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
  })
  const address = `http://127.0.0.1:${port}`
  await until('nginx listens', () =>
    fetch(address + path).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return address
}

const CONFIGURATIONS = [
  ['the documented configuration', documented],
  ['a plain proxy_pass', plain],
] as const

for (const [name, configured] of CONFIGURATIONS)
  test(`behind nginx with ${name}, a broken response is not whole`, { skip }, async (t) => {
    const url = await behind(t, configured)
    const whole = await (await fetch(`${url}/whole`)).text()
    assert.equal(whole.split('\n').length, 2_001)
    const broken = await fetch(`${url}/broken`)
    assert.equal(broken.status, 200)
    await assert.rejects(broken.text())
  })

class Line {
  @Field({ type: 'integer' }) number!: number
  @Field() text!: string
}

const LINES = sql<Line>`SELECT n AS number, repeat('x', 1000) AS text FROM generate_series(1, 40000) AS n`

for (const [name, configured] of CONFIGURATIONS)
  test(
    `behind nginx with ${name}, an export whose connection to PostgreSQL is killed is not whole`,
    { skip },
    async (t) => {
      let database: Database
      @Controller('/')
      class Exports {
        @Get('/lines', Rows.of(Line)) lines() {
          return rows(LINES)
        }
        @Get('/kill') @Transactional(false) async kill() {
          const [, result] = await database.sequelize.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`)
          return { killed: (result as { rowCount: number }).rowCount }
        }
        @Get('/ready') ready() {
          return 'ready'
        }
      }
      const app = await databaseApp(t, postgres, [], [Exports], { lifespan: { echo: false } })
      ;({ database } = app)
      const url = await inFrontOf(t, configured, app.url, '/ready')
      const response = await fetch(`${url}/lines`)
      assert.equal(response.status, 200)
      assert.deepEqual(await (await app.fetch('/kill')).json(), { killed: 1 })
      await assert.rejects(response.text())
    },
  )

test('behind nginx with the documented configuration, an event arrives at once', { skip }, async (t) => {
  const url = await behind(t, documented)
  const response = await fetch(`${url}/ticks`)
  const reader = response.body?.getReader()
  const first = await reader?.read()
  assert.equal(Buffer.from(first?.value ?? []).toString(), 'data: {"number":1}\n\n')
  await reader?.cancel()
})
