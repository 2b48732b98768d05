import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { withSession } from 'sequitur'
import { database } from '../../example/database.js'
import { Hero } from '../../example/hero.js'
import { app } from '../../example/recipes/app.js'
import { audit, Entry } from '../../example/recipes/audit.js'
import { run, serve, temporaryFolder } from '../support/processes.js'

const folder = temporaryFolder()
const said: string[] = []
let url = ''

before(async () => {
  process.env['toolkit_url'] = `sqlite+sqlite3:///${join(folder, 'heroes.sqlite')}`
  process.env['toolkit_sync'] = 'true'
  console.log = (text: string) => void said.push(text)
  url = (await app.listen(0)).url
  await withSession(database, async (session) => {
    session.add(Hero.build({ name: 'Robin', secret_identity: 'Tim Drake', age: 17 }))
  })
})

after(() => app.close())

/** The status, and the body as JSON where it is JSON. */
async function ask(method: string, path: string, json?: object) {
  const headers = { 'content-type': 'application/json' }
  const body = json && { headers, body: JSON.stringify(json) }
  const response = await fetch(url + path, { method, redirect: 'manual', ...body })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

test('PUT creates with 201 and the place of what was created, and changes with 200', async () => {
  const details = { secret_identity: 'Barbara Gordon', age: 22 }
  const made = await ask('PUT', '/heroes-by-name/Batgirl', details)
  assert.deepEqual([made.status, made.headers.get('location')], [201, `/heroes/${made.body.data.id}`])
  const changed = await ask('PUT', '/heroes-by-name/Batgirl', { ...details, age: 23 })
  assert.deepEqual([changed.status, changed.body], [200, { data: { ...made.body.data, age: 23 } }])
})

test('a redirect leads to the hero, a name that nobody has to 404', async () => {
  const found = await ask('GET', '/heroes-by-name/Robin')
  assert.deepEqual([found.status, found.headers.get('location')], [303, '/heroes/1'])
  assert.equal((await ask('GET', '/heroes-by-name/Joker')).status, 404)
})

test('a file is sent under its name', async () => {
  const { headers, body } = await ask('GET', '/heroes-by-name')
  assert.match(headers.get('content-disposition') ?? '', /heroes\.csv/)
  assert.match(body, /^Robin,17$/m)
})

test('a story is sent from its folder, and nothing from elsewhere', async () => {
  const { headers, body } = await ask('GET', '/heroes-by-name/Robin/story')
  assert.match(body, /^Tim Drake/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  for (const name of ['Joker', '..%2f..%2fheroes', '%2fetc%2fpasswd', '..%5cRobin'])
    assert.equal((await ask('GET', `/heroes-by-name/${name}/story`)).status, 404)
})

test('one of several classes arrives as that class', async () => {
  const compare = async (strongest: object) => (await ask('POST', '/powers/compare', { strongest })).body
  assert.equal(await compare({ kind: 'flight', speed: 900 }), '900 km/h')
  assert.equal(await compare({ kind: 'strength', load: 5 }), '5 t')
  assert.equal((await compare({ kind: 'strength', speed: 5 })).status, 422)
})

test('a search finds names that begin with what was typed, wildcards as they are', async () => {
  const found = async (name: string) =>
    (await ask('GET', `/search?name=${encodeURIComponent(name)}`)).body.meta.total_items
  assert.deepEqual([await found('Rob'), await found('%'), await found('R_b')], [1, 0, 0])
})

test('pages have sizes of their own, and rows of their own', async () => {
  assert.equal((await ask('GET', '/sizes/big?limit=500')).status, 200)
  assert.equal((await ask('GET', '/sizes/big?limit=501')).status, 422)
  assert.deepEqual((await ask('GET', '/sizes/badges?limit=1')).body.data, [{ text: 'Robin (17)' }])
})

test('a birthday is told once it is committed', async () => {
  assert.equal((await ask('POST', '/ages/1/birthday')).body.data.age, 18)
  assert.deepEqual(said, ['Robin is 18 now'])
  assert.equal((await ask('GET', '/ages/oldest')).body.age, 23)
  assert.equal((await ask('GET', '/ages/limits')).status, 200)
  assert.equal((await ask('GET', '/ages')).body.length, 2)
})

test('what happens to heroes stands in another database', async () => {
  const input = { name: 'Nightwing', secret_identity: 'Dick Grayson', age: 28 }
  assert.equal((await ask('POST', '/audited-heroes', input)).status, 201)
  assert.equal((await ask('POST', '/audited-heroes', input)).status, 409)
  const entries = await withSession(audit, async () => Entry.findAll())
  assert.deepEqual(
    entries.map(({ text }) => text),
    ['new hero: Nightwing'],
  )
})

test('middleware sets its headers, and what is too large is refused', async () => {
  const { headers } = await ask('GET', '/ages')
  assert.equal(headers.get('x-frame-options'), 'SAMEORIGIN')
  assert.equal(headers.get('access-control-allow-origin'), 'https://heroes.example')
  assert.equal((await ask('POST', '/audited-heroes', { name: 'x'.repeat(70_000) })).status, 413)
})

test('a client reads all heroes, page after page', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(folder, 'example.sqlite')}`
  const { url: origin, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const { code, output } = await run(['example/recipes/all-heroes.ts', origin], {})
  await stop()
  assert.equal(code, 0, output)
  assert.equal(output.trim().split('\n').length, 12)
})
