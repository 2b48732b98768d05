import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import {
  type AppOptions,
  Controller,
  createApp,
  Get,
  type LifespanOptions,
  newLifespan,
  Path,
  Post,
  reply,
  Session,
  sql,
  Transactional,
  withSession,
} from 'sequitur'
import { testApp } from 'sequitur/testing'
import { databases, postgres, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { ownPostgres } from '../support/faults.js'
import { runs } from '../support/fuzz.js'
import { Hero, Team } from '../support/hero.js'

const models = [Team, Hero]
const post = { method: 'POST' }

@Controller('/')
class Heroes {
  @Transactional({ readOnly: true })
  @Get('/server')
  async server() {
    return (await Team.findOne({ rejectOnEmpty: true })).name
  }
  @Get('/count') count() {
    return Hero.count()
  }
  @Get('/visit') async visit() {
    await Team.create({ name: `visited ${Math.random()}` })
  }
  @Post('/twice') async twice() {
    await Hero.bulkCreate([{ name: 'Robin' }, { name: 'Robin' }])
  }
  @Post('/nothing') nothing() {}
  @Post('/cookies') async cookies() {
    await Hero.create({ name: 'Alfred' })
    return reply(null, { headers: { 'set-cookie': ['theme=dark', 'size=large'] } })
  }
  @Post('/:name') async create(@Path() name: string) {
    await Hero.create({ name })
  }
}

/** A database with the tables, and one team that tells which it is. */
async function seeded(kind: TestDatabase, name: string): Promise<string> {
  const url = await kind.url()
  await withSession(newLifespan(url, { models, sync: true }), () => Team.create({ name }))
  return url
}

/** An app whose replica is another database, so that it never has what is written. */
async function openApp(
  t: TestContext,
  kind: TestDatabase,
  lifespan: LifespanOptions = { readYourWrites: 'cookie' },
  options: Partial<AppOptions> = {},
) {
  const [primary, replica] = [await seeded(kind, 'primary'), await seeded(kind, 'replica')]
  const database = newLifespan(primary, { replicas: [replica], ...lifespan })
  const given = { controllers: [Heroes], models, logger: false, cursorSecret: 'the same in all processes' } as const
  const app = await testApp({ ...given, lifespan: database, ...options })
  t.after(app.close)
  const server = async (headers: Record<string, string> = {}) => {
    const response = await app.fetch('/server', { headers })
    return response.status === 200 ? response.json() : response.status
  }
  return { ...app, server, primary, replica }
}

/** The token of a response, as a client sends it back. */
function tokenOf({ headers }: Response): Record<string, string> {
  const cookie = headers.getSetCookie().find((one) => one.startsWith('sequitur-position='))
  if (cookie !== undefined) return { cookie: cookie.split(';', 1)[0] as string }
  const header = headers.get('sequitur-position')
  return header === null ? {} : { 'sequitur-position': header }
}

const servers = databases.filter(({ name }) => !name.startsWith('SQLite'))
// With --quick there is none: then these tests have nothing to run on.
const skip = servers.length === 0 ? 'needs a server' : false

for (const kind of servers)
  for (const readYourWrites of ['cookie', 'header'] as const)
    test(`${kind.name}: a ${readYourWrites} sends the reads of a client that has written to a server that has it`, async (t) => {
      const app = await openApp(t, kind, { readYourWrites })
      const written = await app.fetch('/Robin', post)
      assert.equal(written.status, 204)
      assert.equal(await app.server(), 'replica')
      assert.equal(await app.server(tokenOf(written)), 'primary')
      assert.equal(await app.server({ cookie: 'theme=dark' }), 'replica')
    })

test('a token expires', { skip }, async (t) => {
  const app = await openApp(t, postgres, { readYourWrites: 'header' })
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const token = tokenOf(await app.fetch('/Robin', post))
  t.mock.timers.tick(29_000)
  assert.equal(await app.server(token), 'primary')
  t.mock.timers.tick(3_000)
  assert.equal(await app.server(token), 'replica')
})

test('only what may have been written and was committed has a token', { skip }, async (t) => {
  const app = await openApp(t, postgres)
  for (const path of ['/count', '/server']) assert.deepEqual(tokenOf(await app.fetch(path)), {}, path)
  for (const path of ['/nothing', '/twice']) assert.deepEqual(tokenOf(await app.fetch(path, post)), {}, path)
  assert.equal((await app.fetch('/twice', post)).status, 409)
  assert.equal(await app.server(tokenOf(await app.fetch('/visit'))), 'primary')
})

test('without the option, and without replicas, there is no token', { skip }, async (t) => {
  const off = await openApp(t, postgres, {})
  assert.deepEqual(tokenOf(await off.fetch('/Robin', post)), {})
  await off.close()
  const alone = await openApp(t, postgres, { readYourWrites: 'cookie', replicas: [] })
  assert.deepEqual(tokenOf(await alone.fetch('/Robin', post)), {})
  assert.equal(await alone.server({ cookie: 'sequitur-position=a' }), 'primary')
})

test('toolkit_read_your_writes sets the option', { skip }, async (t) => {
  process.env['toolkit_read_your_writes'] = 'header'
  t.after(() => delete process.env['toolkit_read_your_writes'])
  const app = await openApp(t, postgres, {})
  assert.equal(await app.server(tokenOf(await app.fetch('/Robin', post))), 'primary')
  await app.close()
  process.env['toolkit_read_your_writes'] = 'body'
  await assert.rejects(
    createApp({
      controllers: [Heroes],
      models,
      lifespan: newLifespan(await sqliteMemory.url()),
      logger: false,
    }).start(),
    /toolkit_read_your_writes is 'body'\. Write cookie or header\./,
  )
})

test('the cookie is for this site and not for scripts, and Secure where the client uses https', { skip }, async (t) => {
  const app = await openApp(t, postgres)
  const attributes = async (name: string, headers: Record<string, string>) => {
    const [cookie = ''] = (await app.fetch(`/${name}`, { ...post, headers })).headers.getSetCookie()
    return cookie.replace(/=[\w-]{40,100};/, '=...;')
  }
  const usual = 'sequitur-position=...; Path=/; Max-Age=30; HttpOnly; SameSite=Lax'
  assert.equal(await attributes('Robin', {}), usual)
  assert.equal(await attributes('Barbara', { 'x-forwarded-proto': 'https' }), `${usual}; Secure`)
})

test('cookies of handlers and middleware are kept beside it', { skip }, async (t) => {
  const app = await openApp(t, postgres, undefined, {
    middleware: [(_request, response, next) => (response.setHeader('x-other', '1'), next())],
  })
  const { headers } = await app.fetch('/cookies', post)
  assert.deepEqual(
    headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0]),
    ['theme', 'size', 'sequitur-position'],
  )
})

test('a process with another secret cannot read a token, and its primary answers', { skip }, async (t) => {
  const app = await openApp(t, postgres)
  const token = tokenOf(await app.fetch('/Robin', post))
  await app.close()
  const other = await openApp(t, postgres, undefined, { cursorSecret: 'another secret, of another app' })
  assert.equal(await other.server(token), 'primary')
})

test('tokens of one position differ, and disclose nothing of it', { skip }, async (t) => {
  const app = await openApp(t, postgres, { readYourWrites: 'header' })
  const write = async (name: string) => String(tokenOf(await app.fetch(`/${name}`, post))['sequitur-position'])
  const [first, second] = [await write('Robin'), await write('Barbara')]
  assert.equal(first.length, second.length)
  const same = [...first].filter((character, at) => character === second[at])
  assert.ok(same.length < first.length / 4, `${first} ${second}`)
})

test('whatever a client sends as a token, its reads are answered by the primary', { skip }, async (t) => {
  const app = await openApp(t, postgres, { readYourWrites: 'header' })
  const token = String(tokenOf(await app.fetch('/Robin', post))['sequitur-position'])
  const changed = fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_=+/ %'))
    .map(([at, character]) => token.slice(0, at) + character + token.slice(at + 1))
  const text = fc.oneof(
    changed,
    fc.string({ minLength: 1, maxLength: 400 }).map((one) => encodeURIComponent(one.toWellFormed())),
    fc.base64String({ minLength: 1, maxLength: 400 }),
    fc.constantFrom('0', 'ffffffffffffffff', 'FFFFFFFF/FFFFFFFF', 'A'.repeat(8_000)),
  )
  await fc.assert(
    fc.asyncProperty(text, async (sent) => {
      assert.equal(await app.server({ 'sequitur-position': sent }), 'primary')
    }),
    { numRuns: runs(200) },
  )
})

test('a random key is used without a secret, with a warning', { skip }, async (t) => {
  const warnings: string[] = []
  const logger = { info() {}, warn: (line: unknown) => void warnings.push(String(line)), error() {} }
  const app = await openApp(t, postgres, undefined, { cursorSecret: undefined as never, logger })
  assert.match(warnings.join('\n'), /No secret for the tokens of readYourWrites is set: .* toolkit_cursor_secret/)
  assert.equal(await app.server(tokenOf(await app.fetch('/Robin', post))), 'primary')
})

test('each of two databases has a token of its own', { skip }, async (t) => {
  const { primary, replica, close } = await openApp(t, postgres)
  await close()
  const options = { replicas: [replica], readYourWrites: 'header' } as const
  const [first, second] = [newLifespan(primary, { ...options, models }), newLifespan(primary, options)]
  @Controller('/')
  class Both {
    @Post('/first') async first(session: Session) {
      await session.execute(sql`INSERT INTO hero (name, age) VALUES ('Robin', 1)`)
    }
    @Post('/second') async second() {
      await second.sequelize.query(`INSERT INTO hero (name, age) VALUES ('Barbara', 1)`)
    }
  }
  const app = await testApp({ controllers: [Both], lifespan: [first, second], logger: false })
  t.after(app.close)
  const names = async (path: string) =>
    [...(await app.fetch(path, post)).headers.keys()].filter((name) => name.startsWith('sequitur-position'))
  assert.deepEqual(await names('/first'), ['sequitur-position'])
  assert.deepEqual(await names('/second'), ['sequitur-position-2'])
})

test(
  'a commit whose position cannot be read is acknowledged, and its client reads from the primary',
  { skip },
  async (t) => {
    const server = await ownPostgres(t)
    const kind = { name: 'own', url: async () => server.url }
    await seeded(kind, 'primary')
    const owner = newLifespan(server.url)
    await withSession(owner, async (session) => {
      await session.execute(sql`CREATE ROLE app LOGIN PASSWORD 'app'`)
      await session.execute(sql`GRANT ALL ON ALL TABLES IN SCHEMA public TO app`)
      await session.execute(sql`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app`)
      await session.execute(sql`REVOKE EXECUTE ON FUNCTION pg_current_wal_insert_lsn() FROM PUBLIC`)
    })
    const url = Object.assign(new URL(server.url), { username: 'app', password: 'app' }).href
    const replicas = [await seeded(postgres, 'replica')]
    const app = await testApp({
      controllers: [Heroes],
      models,
      logger: false,
      lifespan: newLifespan(url, { replicas, readYourWrites: 'header' }),
    })
    t.after(app.close)
    for (const name of ['Robin', 'Barbara', 'Alfred']) {
      const written = await app.fetch(`/${name}`, post)
      assert.equal(written.status, 204)
      const read = await app.fetch('/server', { headers: tokenOf(written) })
      assert.equal(await read.json(), 'primary')
    }
    assert.equal(await (await app.fetch('/count')).json(), 3)
  },
)
