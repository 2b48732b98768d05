import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { AppOptions } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { WikiController, WikiPage } from '../../example/guides/conditional-requests.js'
import { GreeterController } from '../../example/guides/injection.js'
import { HeroListController } from '../../example/guides/lists.js'
import { LiveHeroController } from '../../example/guides/live-lists.js'
import { RankingController } from '../../example/guides/pages.js'
import { GreetingController } from '../../example/guides/parameters.js'
import { VisitController } from '../../example/guides/responses.js'
import { TripController } from '../../example/guides/schemas.js'
import { database as ofTenants, TaskController } from '../../example/guides/tenancy.js'
import { SidekickController } from '../../example/guides/transactions.js'
import { AttachmentController } from '../../example/guides/uploads.js'
import { Hero } from '../../example/hero.js'
import { HeroController } from '../../example/heros.js'
import { openEvents } from '../feeds/open-events.js'

/* The program with which each page of docs/ begins. */

const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }
const alfred = { name: 'Alfred', secret_identity: 'Alfred Pennyworth', age: 60 }

async function start(t: TestContext, options: AppOptions) {
  const api = await testApp({ models: [Hero], lifespan: memoryDatabase(), logger: false, ...options })
  t.after(api.close)
  /** The status, and the JSON. */
  const ask = async (method: string, path: string, json?: object, headers: Record<string, string> = {}) => {
    const response = await api.fetch(path, { method, headers, redirect: 'manual', ...(json ? { json } : {}) })
    const text = await response.text()
    return [response.status, text === '' ? undefined : JSON.parse(text), response.headers] as const
  }
  return { ...api, ask }
}

/** With two heroes. */
async function startWithHeroes(t: TestContext, controller: NonNullable<AppOptions['controllers']>[number]) {
  const api = await start(t, { controllers: [HeroController, controller] })
  for (const hero of [robin, alfred]) assert.equal((await api.ask('POST', '/heros', hero))[0], 201)
  return api
}

test('parameters.md: a path, a query, a header and a body', async (t) => {
  const { ask } = await start(t, { controllers: [GreetingController] })
  const headers = { 'user-agent': 'test' }
  const [, hi] = await ask('GET', '/greetings/Robin?word=hi', undefined, headers)
  assert.deepEqual(hi, { text: 'hi, Robin!', user_agent: 'test' })
  assert.equal((await ask('GET', '/greetings/Robin?word=bye', undefined, headers))[0], 422)
  assert.deepEqual((await ask('POST', '/greetings', robin)).slice(0, 2), [201, { name: 'Robin' }])
})

test('responses.md: a row, a status with a header, a file and a redirect', async (t) => {
  const { ask, fetch } = await startWithHeroes(t, VisitController)
  assert.deepEqual((await ask('GET', '/visits/1'))[1], { data: { id: 1, ...robin } })
  const [status, accepted, headers] = await ask('POST', '/visits/1')
  assert.deepEqual([status, accepted, headers.get('location')], [202, { accepted: true }, '/visits/1'])
  const card = await fetch('/visits/latest/card')
  assert.deepEqual([card.redirected, await card.text()], [true, 'Hero 1'])
})

test('schemas.md: what is valid, and what is not', async (t) => {
  const { ask } = await start(t, { controllers: [TripController] })
  const trip = { email: 'robin@example.com', stops: [{ city: 'Oslo' }, { city: 'Bergen', nights: 2 }] }
  assert.deepEqual((await ask('POST', '/trips', trip)).slice(0, 2), [201, { nights: 3 }])
  const [status, { errors }] = await ask('POST', '/trips', { email: 'robin', stops: [{ city: '', nights: 0 }] })
  assert.deepEqual(
    [status, errors.map(({ path }: { path: string }) => path)],
    [422, ['/email', '/stops/0/city', '/stops/0/nights']],
  )
})

test('transactions.md: both are written, or neither', async (t) => {
  const { ask } = await startWithHeroes(t, SidekickController)
  assert.equal((await ask('POST', '/sidekicks/2', robin))[0], 409)
  assert.equal((await ask('GET', '/heros/2'))[1].data.age, 60)
  assert.equal((await ask('POST', '/sidekicks/2', { ...robin, name: 'Batgirl' }))[0], 201)
  assert.equal((await ask('GET', '/heros/2'))[1].data.age, 61)
})

test('pages.md: a page by offset, and one by cursor', async (t) => {
  const { ask } = await startWithHeroes(t, RankingController)
  const [, page] = await ask('GET', '/rankings?limit=1&offset=1')
  assert.deepEqual([page.data[0].name, page.meta.total_items], ['Robin', 2])
  const [, first] = await ask('GET', '/rankings/endless?limit=1')
  const [, second] = await ask('GET', `/rankings/endless?limit=1&next_cursor=${first.meta.next_cursor}`)
  assert.deepEqual([first.data[0].name, second.data[0].name], ['Alfred', 'Robin'])
})

test('lists.md: a filter and a sort', async (t) => {
  const { ask } = await startWithHeroes(t, HeroListController)
  const namesOf = async (query: string) =>
    (await ask('GET', `/hero-list?${query}`))[1].data.map(({ name }: { name: string }) => name)
  assert.deepEqual(await namesOf('filter[age][gte]=18'), ['Alfred'])
  assert.deepEqual(await namesOf('sort=-name'), ['Robin', 'Alfred'])
})

test('live-lists.md: the list is stale at once, and after a change', async (t) => {
  const { ask, url } = await startWithHeroes(t, LiveHeroController)
  const page = await (await fetch(`${url}/live-heroes/page`)).text()
  assert.match(page, /new EventSource\('\/live-heroes'\)/)
  const client = await openEvents(t, `${url}/live-heroes`)
  await client.count(1)
  assert.equal((await ask('POST', '/heros', { ...robin, name: 'Batgirl' }))[0], 201)
  await client.count(2)
  assert.equal((await ask('GET', '/live-heroes'))[1].meta.total_items, 3)
})

test('conditional-requests.md: who has read an old version is refused', async (t) => {
  const { ask } = await start(t, { controllers: [WikiController], models: [WikiPage] })
  await WikiPage.create({ text: 'one' })
  const tag = (await ask('GET', '/wiki/1'))[2].get('etag') ?? ''
  assert.equal((await ask('GET', '/wiki/1', undefined, { 'if-none-match': tag }))[0], 304)
  assert.equal((await ask('PATCH', '/wiki/1', { text: 'two' }, { 'if-match': tag }))[0], 200)
  assert.equal((await ask('PATCH', '/wiki/1', { text: 'three' }, { 'if-match': tag }))[0], 412)
})

test('uploads.md: a form with a file', async (t) => {
  const { fetch } = await start(t, { controllers: [AttachmentController] })
  const form = new FormData()
  form.set('title', 'Robin')
  form.set('photo', new Blob(['12345'], { type: 'image/png' }), 'robin.png')
  const response = await fetch('/attachments', { method: 'POST', body: form })
  assert.deepEqual(await response.json(), { title: 'Robin', bytes: 5 })
})

test('tenancy.md: each tenant has its own rows', async (t) => {
  const { ask } = await start(t, { controllers: [TaskController], models: [], lifespan: ofTenants })
  const [ann, bob] = [{ 'x-api-key': 'key of Ann' }, { 'x-api-key': 'key of Bob' }]
  assert.equal((await ask('POST', '/tasks', { title: 'Tea' }, ann))[0], 204)
  const totals = [await ask('GET', '/tasks', undefined, ann), await ask('GET', '/tasks', undefined, bob)]
  assert.deepEqual(
    totals.map(([, { meta }]) => meta.total_items),
    [1, 0],
  )
  assert.equal((await ask('GET', '/tasks'))[0], 403)
})

test('injection.md: a service with the session of the request', async (t) => {
  const { ask } = await startWithHeroes(t, GreeterController)
  assert.deepEqual((await ask('GET', '/greeter/1'))[1], { text: 'Hello, Robin!' })
  assert.equal((await ask('GET', '/greeter/9'))[0], 404)
})
