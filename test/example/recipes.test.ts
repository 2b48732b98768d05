import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type AppOptions, newLifespan, provide, withSession } from 'sequitur'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { database } from '../../example/database.js'
import { Hero } from '../../example/hero.js'
import { AgeController } from '../../example/recipes/birthday.js'
import { Article, ArticleController } from '../../example/recipes/conditional.js'
import { MemberController } from '../../example/recipes/errors.js'
import { ExportController } from '../../example/recipes/exports.js'
import { FileController } from '../../example/recipes/files.js'
import { Member, MemberListController, Squad } from '../../example/recipes/lists.js'
import { LoginAttempt, LoginController } from '../../example/recipes/logins.js'
import { type Mailer, mailer } from '../../example/recipes/mailer.js'
import { NamedTypesController } from '../../example/recipes/named-types.js'
import { down, up } from '../../example/recipes/create-idempotency-table.js'
import { Payment, PaymentController } from '../../example/recipes/payments.js'
import { PowerController } from '../../example/recipes/one-of.js'
import { BothWaysController } from '../../example/recipes/both-ways.js'
import { SizeController } from '../../example/recipes/page-sizes.js'
import { ParameterController } from '../../example/recipes/parameters.js'
import { TickController } from '../../example/recipes/events.js'
import { Photo, PhotoController } from '../../example/recipes/photos.js'
import { RedirectController } from '../../example/recipes/redirect.js'
import { ImportController } from '../../example/recipes/savepoint.js'
import { SearchController } from '../../example/recipes/search.js'
import { TeamController } from '../../example/recipes/standard-schema.js'
import { audit, AuditedController, Entry } from '../../example/recipes/two-databases.js'
import { UpsertController } from '../../example/recipes/upsert.js'
import { Account, AccountController } from '../../example/recipes/welcome.js'
import { jsonOf, run, serve, temporaryFolder } from '../support/processes.js'
import { gate, until } from '../support/waiting.js'

const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }
const thor = { name: 'Thor', secret_identity: 'Donald Blake', age: 1500 }
const batgirl = { name: 'Batgirl', secret_identity: 'Barbara Gordon', age: 22 }

interface Answer {
  readonly status: number
  readonly headers: Headers
  // any: what a test expects of it, its assertions say.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** An app with one controller, and with Robin as its first hero. Sends requests to it. */
async function serveRecipe(
  t: TestContext,
  controller: AppOptions['controllers'][number],
  more: Pick<AppOptions, 'lifespan' | 'models' | 'providers'> = {},
) {
  const main = memoryDatabase()
  const lifespan = more.lifespan ? [main, more.lifespan].flat() : main
  const api = await testApp({
    controllers: [controller],
    models: [Hero, ...(more.models ?? [])],
    providers: more.providers ?? [],
    lifespan,
  })
  t.after(api.close)
  await withSession(main, async (session) => void session.add(Hero.build(robin)))
  return async (method: string, path: string, json?: unknown): Promise<Answer> => {
    const response = await api.fetch(path, { method, redirect: 'manual', ...(json === undefined ? {} : { json }) })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
}

/** Environment variables for one test. */
function setEnvironment(t: TestContext, variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name)
  })
}

test('parameters.ts: each parameter has the value that its type and its decorator declare', async (t) => {
  const send = await serveRecipe(t, ParameterController)
  const { body } = await send('GET', '/parameters/7?tag=a&tag=b&order=desc&team=Titans&limit=20')
  const filter = { team: 'Titans', min_age: 0 }
  const { accept_language, ...rest } = body
  assert.equal(typeof accept_language, 'string')
  const request = { method: 'GET', path: '/parameters/7', late: false }
  assert.deepEqual(rest, { hero_id: 7, tag: ['a', 'b'], order: 'desc', filter, theme: 'light', limit: 20, ...request })
  assert.equal((await send('GET', '/parameters/7')).body.limit, 10)
  assert.equal((await send('GET', '/parameters/seven')).status, 422)
  assert.deepEqual((await send('POST', '/parameters', batgirl)).body, { name: 'Batgirl' })
})

test('named-types.ts: handlers whose types are named in params', async (t) => {
  const send = await serveRecipe(t, NamedTypesController)
  assert.equal((await send('GET', '/heros')).body.meta.total_items, 1)
  assert.equal((await send('GET', '/heros/1')).body.data.name, 'Robin')
})

test('upsert.ts: PUT creates with 201 and a Location, and updates with 200', async (t) => {
  const send = await serveRecipe(t, UpsertController)
  const { name, ...details } = batgirl
  const created = await send('PUT', `/heroes-by-name/${name}`, details)
  assert.deepEqual([created.status, created.headers.get('location')], [201, `/heroes/${created.body.data.id}`])
  const updated = await send('PUT', `/heroes-by-name/${name}`, { ...details, age: 23 })
  assert.deepEqual([updated.status, updated.body], [200, { data: { ...created.body.data, age: 23 } }])
})

test('events.ts: a client reads the ticks that follow its last one', async (t) => {
  const { fetch, close } = await testApp({ controllers: [TickController] })
  t.after(close)
  const response = await fetch('/ticks', { headers: { 'last-event-id': '7' } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.equal((await reader?.read())?.value, 'id: 8\ndata: {"number":8}\n\n')
  await reader?.cancel()
})

test('redirect.ts: 303 to the hero, 404 for an unknown name, 307 to another site', async (t) => {
  const send = await serveRecipe(t, RedirectController)
  const found = await send('GET', '/heroes-by-name/Robin')
  assert.deepEqual([found.status, found.headers.get('location')], [303, '/heroes/1'])
  assert.equal((await send('GET', '/heroes-by-name/Joker')).status, 404)
  const wiki = await send('GET', '/heroes-by-name/Robin/wiki')
  assert.deepEqual([wiki.status, wiki.headers.get('location')], [307, 'https://en.wikipedia.org/wiki/Robin'])
})

test('files.ts: a stream is saved under its name', async (t) => {
  const send = await serveRecipe(t, FileController)
  const { headers, body } = await send('GET', '/files/heroes')
  assert.match(headers.get('content-disposition') ?? '', /heroes\.csv/)
  assert.equal(body, 'Robin,17\n')
})

test('files.ts: a story is sent from its folder, and nothing from elsewhere', async (t) => {
  const send = await serveRecipe(t, FileController)
  const { headers, body } = await send('GET', '/files/stories/Robin')
  assert.match(body, /^Tim Drake/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  for (const name of ['Joker', '..%2f..%2fheroes', '%2fetc%2fpasswd', '..%5cRobin'])
    assert.equal((await send('GET', `/files/stories/${name}`)).status, 404)
})

test('one-of.ts: the body arrives as an instance of the class that its discriminator names', async (t) => {
  const send = await serveRecipe(t, PowerController)
  const compare = async (strongest: object) => (await send('POST', '/powers/compare', { strongest })).body
  assert.equal(await compare({ kind: 'flight', speed: 900 }), '900 km/h')
  assert.equal(await compare({ kind: 'strength', load: 5 }), '5 t')
  assert.equal((await compare({ kind: 'strength', speed: 5 })).status, 422)
})

test('standard-schema.ts: zod validates the body and the response', async (t) => {
  const send = await serveRecipe(t, TeamController)
  assert.deepEqual((await send('POST', '/teams', { name: 'Titans' })).body, { name: 'Titans', size: 0 })
  const refused = await send('POST', '/teams', { name: 'T', email: 'none' })
  assert.deepEqual([refused.status, refused.body.errors.length], [422, 2])
})

test('search.ts: finds names by their prefix; wildcards match only themselves', async (t) => {
  const send = await serveRecipe(t, SearchController)
  const found = async (name: string) =>
    (await send('GET', `/search?name=${encodeURIComponent(name)}`)).body.meta.total_items
  assert.deepEqual([await found('Rob'), await found('%'), await found('R_b')], [1, 0, 0])
})

test('lists.ts: filters, sorts and includes as declared', async (t) => {
  const send = await serveRecipe(t, MemberListController, { models: [Member, Squad] })
  const { id } = await Squad.create({ city: 'Oslo' })
  const names = async (path: string) => (await send('GET', path)).body.data.map(({ name }: { name: string }) => name)
  await Member.bulkCreate([
    { name: 'Ada', age: 17, squad_id: id },
    { name: 'Bo', age: 30, squad_id: id },
    { name: 'Cy', age: 30, squad_id: null },
  ])
  assert.deepEqual(await names('/members?filter[age][gte]=18&sort=-age,name'), ['Bo', 'Cy'])
  assert.deepEqual(await names('/members?filter[squad.city][eq]=Oslo'), ['Ada', 'Bo'])
  assert.deepEqual(await names('/members/adults?filter[name][contains]=y'), ['Cy'])
  assert.equal((await send('GET', '/members?include=squad')).body.data[0].squad.city, 'Oslo')
  assert.equal((await send('GET', '/members?filter[squad_id][eq]=1')).status, 422)
})

test('page-sizes.ts: a larger maximum, pages without a total, and mapped rows', async (t) => {
  const send = await serveRecipe(t, SizeController)
  assert.equal((await send('GET', '/sizes/big?limit=500')).status, 200)
  assert.equal((await send('GET', '/sizes/big?limit=501')).status, 422)
  assert.deepEqual((await send('GET', '/sizes/badges?limit=1')).body.data, [{ text: 'Robin (17)' }])
  assert.deepEqual((await send('GET', '/sizes/uncounted?limit=100')).body.meta, { offset: 0, has_next: false })
  assert.match((await send('GET', '/sizes/ranking?limit=1')).body.data[0].text, /^Robin: 17 of \d+$/)
})

test('both-ways.ts: the page after a page, and back', async (t) => {
  const send = await serveRecipe(t, BothWaysController)
  await Hero.create({ ...robin, name: 'Zatanna' })
  const first = (await send('GET', '/both-ways?limit=1')).body
  const second = (await send('GET', `/both-ways?limit=1&next_cursor=${first.meta.next_cursor}`)).body
  assert.equal(first.meta.prev_cursor, null)
  assert.deepEqual((await send('GET', `/both-ways?limit=1&prev_cursor=${second.meta.prev_cursor}`)).body, first)
})

test('birthday.ts: afterCommit runs after COMMIT', async (t) => {
  const log = t.mock.method(console, 'log', () => {})
  const send = await serveRecipe(t, AgeController)
  assert.equal((await send('POST', '/ages/1/birthday')).body.data.age, 18)
  assert.deepEqual(
    log.mock.calls.map(({ arguments: [line] }) => line),
    ['Robin is 18 now'],
  )
  assert.equal((await send('GET', '/ages/oldest')).body.age, 18)
  assert.equal((await send('GET', '/ages/limits')).status, 200)
})

test('logins.ts: an attempt is kept, also if it is refused', async (t) => {
  const send = await serveRecipe(t, LoginController, { models: [LoginAttempt] })
  assert.equal((await send('POST', '/logins', { account: 'Robin', password: 'a guess' })).status, 401)
  assert.equal((await send('POST', '/logins', { account: 'Robin', password: 'bat signal' })).status, 204)
  assert.equal(await withSession(async () => LoginAttempt.count()), 2)
})

test('welcome.ts: the mail is sent after the response', async (t) => {
  const free = gate()
  const sent: string[] = []
  const mail: Mailer = { send: async (to) => (await free.opened, void sent.push(to)) }
  const send = await serveRecipe(t, AccountController, {
    models: [Account],
    providers: [provide(mailer, { value: mail })],
  })
  assert.equal((await send('POST', '/accounts', { email: 'robin@titans.example' })).status, 202)
  assert.deepEqual(sent, [])
  free.open()
  const isWelcomed = () => withSession(async () => (await Account.findOne())?.welcomed === true)
  await until('the account is welcomed', isWelcomed)
  assert.deepEqual(sent, ['robin@titans.example'])
})

test('savepoint.ts: a duplicate is skipped, the other heroes are kept', async (t) => {
  const send = await serveRecipe(t, ImportController)
  const { body } = await send('POST', '/imports', [batgirl, robin, thor])
  assert.deepEqual(body, { created: 2, skipped: ['Robin'] })
  assert.equal(await withSession(async () => Hero.count()), 3)
})

test('errors.ts: 422 with its issue, 402, 404 and 204', async (t) => {
  const send = await serveRecipe(t, MemberController)
  await withSession(async (session) => void session.addAll(Hero.bulkBuild([thor, batgirl])))
  const young = await send('POST', '/members/1')
  assert.deepEqual([young.status, young.body.errors[0].path], [422, '/hero_id'])
  const ended = await send('POST', '/members/2')
  assert.deepEqual([ended.status, ended.body.detail], [402, 'The trial has ended'])
  assert.equal((await send('POST', '/members/4')).status, 404)
  assert.equal((await send('POST', '/members/3')).status, 204)
})

test('two-databases.ts: the audit entry is in the second database, and both or none are written', async (t) => {
  const send = await serveRecipe(t, AuditedController, { lifespan: audit })
  assert.equal((await send('POST', '/audited-heroes', batgirl)).status, 201)
  assert.equal((await send('POST', '/audited-heroes', batgirl)).status, 409)
  const entries = await withSession(audit, async () => Entry.findAll())
  assert.deepEqual(
    entries.map(({ text }) => text),
    ['new hero: Batgirl'],
  )
})

test('production.ts: middleware sets its headers, and too large a body is refused', async (t) => {
  setEnvironment(t, { toolkit_url: 'sqlite+sqlite3:///:memory:', toolkit_sync: 'true' })
  t.mock.method(console, 'info', () => {})
  const { app } = await import('../../example/recipes/production.js')
  const { url } = await app.listen(0)
  t.after(() => app.close())
  const { headers } = await fetch(`${url}/heros`)
  assert.equal(headers.get('x-frame-options'), 'SAMEORIGIN')
  assert.equal(headers.get('access-control-allow-origin'), 'https://heroes.example')
  const body = JSON.stringify({ ...robin, name: 'x'.repeat(70_000) })
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  assert.equal((await fetch(`${url}/heros`, json)).status, 413)
})

test('mounted.ts: the app answers below /api, /docs included', async (t) => {
  setEnvironment(t, {
    toolkit_url: 'sqlite+sqlite3:///:memory:',
    toolkit_sync: 'true',
    toolkit_cursor_secret: 'a secret of a test',
    PORT: '0',
  })
  const { server } = await import('../../example/recipes/mounted.js')
  const { app } = await import('../../example/app.js')
  t.after(() => server.close(() => app.close()))
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  assert.deepEqual([await status('/api/heros'), await status('/api/docs'), await status('/heros')], [200, 200, 404])
  assert.equal(database.isRunning, true)
})

test('all-heroes.ts: a client reads a list page by page', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'example.sqlite')}`
  const { url, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const { code, output } = await run(['example/recipes/all-heroes.ts', url], {})
  assert.equal((await jsonOf(fetch(`${url}/heros`))).meta.total_items, 12)
  await stop()
  assert.equal(code, 0, output)
  assert.equal(output.trim().split('\n').length, 12)
})

test('a photo is uploaded, stored under a name of its own, and sent', async (t) => {
  const api = await testApp({ controllers: [PhotoController], models: [Photo], lifespan: memoryDatabase() })
  t.after(api.close)
  const form = new FormData()
  form.set('title', 'Robin')
  form.set('photo', new Blob(['png'], { type: 'image/png' }), '../../robin.png')
  const response = await api.fetch('/photos', { method: 'POST', body: form })
  assert.equal(response.status, 201)
  const { data } = await jsonOf(response)
  const sent = await api.fetch(`/photos/${data.id}/content`)
  assert.deepEqual([await sent.text(), sent.headers.get('content-type')], ['png', 'application/octet-stream'])
  assert.match(sent.headers.get('content-disposition') ?? '', /^attachment/)
  form.set('photo', new Blob(['<html>'], { type: 'text/html' }), 'page.html')
  assert.equal((await api.fetch('/photos', { method: 'POST', body: form })).status, 422)
})

test('payments.ts: a payment that is sent twice is made once; create-idempotency-table.ts makes its table', async (t) => {
  const folder = temporaryFolder()
  const main = newLifespan(`sqlite:///${join(folder, 'payments.sqlite')}`)
  await withSession(main, async ({ sequelize }) => {
    const context = sequelize.getQueryInterface()
    await up({ context })
    await down({ context })
    await up({ context })
    await sequelize.query(
      'CREATE TABLE payment (id INTEGER PRIMARY KEY, account TEXT NOT NULL, cents INTEGER NOT NULL)',
    )
  })
  const models = [Payment, IdempotencyRecord]
  const api = await testApp({ controllers: [PaymentController], models, lifespan: main })
  t.after(api.close)
  const pay = async (cents: number) => {
    const headers = { 'idempotency-key': '"8e03978e"' }
    const answer = await api.fetch('/payments', { method: 'POST', headers, json: { account: 'Ann', cents } })
    await answer.text()
    return [answer.status, answer.headers.get('idempotency-replayed')]
  }
  assert.deepEqual(
    [await pay(500), await pay(500), await pay(900)],
    [
      [201, null],
      [201, 'true'],
      [422, null],
    ],
  )
  assert.equal(await Payment.count(), 1)
})

test('conditional.ts: of two changes of the same article, the second is a 412; an unchanged article is a 304', async (t) => {
  const main = memoryDatabase()
  const api = await testApp({ controllers: [ArticleController], models: [Article], lifespan: main })
  t.after(api.close)
  const send = async (method: string, path: string, headers: Record<string, string>, json?: unknown) => {
    const response = await api.fetch(path, { method, headers, ...(json === undefined ? {} : { json }) })
    await response.text()
    return [response.status, response.headers.get('etag')]
  }
  const [created, first = ''] = await send('POST', '/articles', {}, { title: 'A', text: '' })
  assert.match(`${created} ${first}`, /^201 "0-/)
  assert.deepEqual(await send('GET', '/articles/1', { 'if-none-match': String(first) }), [304, first])
  const [changed, second] = await send('PATCH', '/articles/1', { 'if-match': String(first) }, { title: 'B' })
  assert.match(`${changed} ${second}`, /^200 "1-/)
  const [refused, present] = await send('PATCH', '/articles/1', { 'if-match': String(first) }, { title: 'C' })
  assert.match(`${refused} ${present}`, /^412 "1-/)
  assert.deepEqual(await send('PATCH', '/articles/1', {}, { title: 'C' }), [428, null])
  const [status, page] = await send('GET', '/articles', {})
  assert.equal(status, 200)
  assert.deepEqual(await send('GET', '/articles', { 'if-none-match': String(page) }), [304, page])
  assert.deepEqual(await send('DELETE', '/articles/1', { 'if-match': String(second) }), [204, null])
})

test('exports.ts: heroes as NDJSON, CSV or JSON, and how many there are of each age', async (t) => {
  const main = memoryDatabase()
  const api = await testApp({ controllers: [ExportController], models: [Hero], lifespan: main })
  t.after(api.close)
  await withSession(main, async (session) => void session.addAll([robin, thor].map((hero) => Hero.build(hero))))
  const send = async (path: string, accept: string) => {
    const response = await api.fetch(path, { headers: { accept } })
    return [response.headers.get('content-disposition')?.split(';')[1], await response.text()]
  }
  const robinRow = '{"id":1,"name":"Robin","age":17}'
  const thorRow = '{"id":2,"name":"Thor","age":1500}'
  assert.deepEqual(await send('/exports/heroes', '*/*'), [' filename="heroes.ndjson"', `${robinRow}\n${thorRow}\n`])
  assert.deepEqual(await send('/exports/heroes?min_age=18', 'application/json'), [
    ' filename="heroes.json"',
    `[${thorRow}]`,
  ])
  assert.deepEqual(await send('/exports/heroes', 'text/csv'), [
    ' filename="heroes.csv"',
    'id,name,age\r\n1,Robin,17\r\n2,Thor,1500\r\n',
  ])
  assert.deepEqual(await send('/exports/ages', 'text/csv'), [undefined, 'age,heroes\r\n17,1\r\n1500,1\r\n'])
})
