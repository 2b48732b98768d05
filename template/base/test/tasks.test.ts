import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from './api.js'

test('a created task is found', async (t) => {
  const api = await startApi(t)
  const created = await api.fetch('/tasks', { method: 'POST', json: { title: 'Write a test' } })
  assert.equal(created.status, 201)
  const found = await api.fetch('/tasks/1')
  assert.deepEqual(await found.json(), { data: { id: 1, title: 'Write a test', done: false } })
})

test('a task without a title is a 422', async (t) => {
  const api = await startApi(t)
  assert.equal((await api.fetch('/tasks', { method: 'POST', json: {} })).status, 422)
})
