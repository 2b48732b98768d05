import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { withSession } from 'sequitur'
import { memoryDatabase, testApp, withRollback } from 'sequitur/testing'
import { Hero } from '../hero.js'
import { HeroController } from '../heros.js'

const api = await testApp({ controllers: [HeroController], models: [Hero], lifespan: memoryDatabase() })
after(api.close)

const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }

test(
  'a name is used once',
  withRollback(api, async () => {
    assert.equal((await api.fetch('/heros', { method: 'POST', json: robin })).status, 201)
    assert.equal((await api.fetch('/heros', { method: 'POST', json: robin })).status, 409)
    assert.equal(await Hero.count(), 1)
  }),
)

test(
  'the next test finds the table as it was',
  withRollback(api, async () => {
    assert.equal(await Hero.count(), 0)
    const { id } = await withSession(() => Hero.create(robin))
    assert.equal((await api.fetch(`/heros/${id}`)).status, 200)
  }),
)
