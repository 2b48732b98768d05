import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from './api.js'
import { logIn, robin } from './logged-in.js'

test('a person who is logged in is known until the logout', async (t) => {
  const api = await startApi(t)
  const headers = await logIn(api)
  const profile = await api.fetch('/account', { headers })
  assert.deepEqual(await profile.json(), { id: 1, name: 'Robin' })
  assert.equal((await api.fetch('/account/login', { method: 'DELETE', headers })).status, 204)
  assert.equal((await api.fetch('/account', { headers })).status, 401)
})

test('nobody logs in with a wrong password, or as a person who does not exist', async (t) => {
  const api = await startApi(t)
  await logIn(api)
  for (const wrong of [{ password: 'joker smile' }, { name: 'Joker' }]) {
    const json = { ...robin, ...wrong }
    assert.equal((await api.fetch('/account/login', { method: 'POST', json })).status, 401)
  }
})

test('a name is taken once', async (t) => {
  const api = await startApi(t)
  await logIn(api)
  assert.equal((await api.fetch('/account', { method: 'POST', json: robin })).status, 409)
})
