import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from './api.js'
import { logIn } from './logged-in.js'

test('the page of another site cannot use the cookie', async (t) => {
  const api = await startApi(t)
  const headers = { ...(await logIn(api)), 'sec-fetch-site': 'cross-site' }
  assert.equal((await api.fetch('/tasks', { method: 'POST', headers, json: { title: 'Buy shares' } })).status, 403)
  assert.equal((await api.fetch('/account', { headers })).status, 200)
})
