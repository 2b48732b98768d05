import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provide } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Hero } from '../hero.js'
import { HeroController } from '../heros.js'
import { InvitationController, mailer } from './mailer.js'

const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }

test('an invitation is sent once the transaction is committed', async (t) => {
  const sent: string[] = []
  const api = await testApp({
    controllers: [HeroController, InvitationController],
    models: [Hero],
    lifespan: memoryDatabase(),
    providers: [provide(mailer, { value: { send: async (to) => void sent.push(to) } })],
  })
  t.after(api.close)

  assert.equal((await api.fetch('/heros', { method: 'POST', json: robin })).status, 201)
  assert.equal((await api.fetch('/invitations/2', { method: 'POST' })).status, 404)
  assert.equal((await api.fetch('/invitations/1', { method: 'POST' })).status, 201)
  assert.deepEqual(sent, ['Robin'])
})
