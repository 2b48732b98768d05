import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { withSession } from 'sequitur'
import { Hero } from '../../example/hero.js'
import { HeroChangeController } from '../../example/recipes/from-express.js'
import { BirthdayController } from '../../example/recipes/from-nestjs.js'
import { jsonOf, serve } from '../support/processes.js'
// The test that docs/first-steps.md shows runs as one of the tests.
import '../../example/recipes/first-steps/notes.test.js'

const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }

test('deployed.ts: is alive and ready, and ends with SIGTERM', async () => {
  const url = 'sqlite+sqlite3:///:memory:'
  const { url: origin, stop } = await serve(['example/recipes/deployed.ts'], {
    PORT: '0',
    toolkit_url: url,
    toolkit_sync: 'true',
  })
  assert.deepEqual(await jsonOf(fetch(`${origin}/livez`)), { status: 'ok' })
  assert.deepEqual(await jsonOf(fetch(`${origin}/readyz`)), { status: 'ok', checks: { 'sqlite :memory:': 'ok' } })
  assert.equal(await stop('SIGTERM'), 0)
})

test('from-nestjs.ts: validates, refuses and updates in one transaction', async (t) => {
  const database = memoryDatabase()
  const api = await testApp({ controllers: [BirthdayController], models: [Hero], lifespan: database })
  t.after(api.close)
  await withSession(database, async (session) => void session.add(Hero.build(robin)))
  const celebrate = (id: number, json: unknown) => api.fetch(`/heroes/${id}/birthday`, { method: 'POST', json })
  assert.equal((await jsonOf(celebrate(1, { years: 2 }))).data.age, 19)
  assert.equal((await jsonOf(celebrate(1, {}))).data.age, 20)
  assert.equal((await celebrate(1, { years: 11 })).status, 422)
  assert.equal((await celebrate(2, {})).status, 404)
  await withSession(database, async () => void (await Hero.update({ age: 1999 }, { where: { id: 1 } })))
  assert.equal((await celebrate(1, { years: 2 })).status, 409)
})

test('from-express.ts: replaces a hero, with 404, 409 and 422', async (t) => {
  const database = memoryDatabase()
  const api = await testApp({ controllers: [HeroChangeController], models: [Hero], lifespan: database })
  t.after(api.close)
  const thor = { ...robin, name: 'Thor' }
  await withSession(database, async (session) => void session.addAll([Hero.build(robin), Hero.build(thor)]))
  const put = (id: number, json: unknown) => api.fetch(`/heroes/${id}`, { method: 'PUT', json })
  assert.deepEqual(await jsonOf(put(1, { ...robin, age: 18 })), { data: { ...robin, age: 18, id: 1 } })
  assert.equal((await put(1, thor)).status, 409)
  assert.equal((await put(3, robin)).status, 404)
  assert.equal((await put(1, { name: 'Robin' })).status, 422)
})
