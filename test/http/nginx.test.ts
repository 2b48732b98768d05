import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Controller, type Database, Events, events, Field, file, Get, sql, Transactional } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { api } from '../support/api.js'
import { codeBlock } from '../support/code-block.js'
import { databaseApp, postgres } from '../support/databases.js'
import { startNginx } from '../support/nginx.js'
import { skipWithout } from '../support/skip-without.js'

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

const documented = codeBlock('docs/deployment.md', 'nginx')
const plain = 'server { listen 8080; location / { proxy_pass http://127.0.0.1:8000; } }'

async function behind(t: TestContext, configured: string): Promise<string> {
  const { url } = await api(t, [Streams])
  return (await startNginx(t, configured, [url], '/whole')).url
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

// The last row does not come: nginx reads ahead of its client, and the export would have ended before its connection is killed.
const LINES = sql<Line>`SELECT n AS number, repeat('x', 1000) AS text FROM generate_series(1, 40000) AS n
  WHERE n < 40000 OR pg_sleep(600) IS NULL`

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
      const { url } = await startNginx(t, configured, [app.url], '/ready')
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
