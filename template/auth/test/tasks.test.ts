import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from './api.js'
import { logIn } from './logged-in.js'

test('a created task is found', async (t) => {
  const api = await startApi(t)
  const headers = await logIn(api)
  const created = await api.fetch('/tasks', { method: 'POST', headers, json: { title: 'Write a test' } })
  assert.equal(created.status, 201)
  const found = await api.fetch('/tasks/1')
  assert.deepEqual(await found.json(), { data: { id: 1, title: 'Write a test', done: false } })
})

test('nobody creates a task who is not logged in', async (t) => {
  const api = await startApi(t)
  assert.equal((await api.fetch('/tasks', { method: 'POST', json: { title: 'Write a test' } })).status, 401)
})

test('a task without a title is a 422', async (t) => {
  const api = await startApi(t)
  const headers = await logIn(api)
  assert.equal((await api.fetch('/tasks', { method: 'POST', headers, json: {} })).status, 422)
})
