import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Note } from './note.js'
import { NoteController } from './notes.js'

test('a note is listed until it is deleted', async (t) => {
  const api = await testApp({ controllers: [NoteController], models: [Note], lifespan: memoryDatabase() })
  t.after(api.close)

  assert.equal((await api.fetch('/notes', { method: 'POST', json: { text: 'Buy milk' } })).status, 201)
  const { data } = (await (await api.fetch('/notes')).json()) as { data: unknown }
  assert.deepEqual(data, [{ id: 1, text: 'Buy milk' }])

  assert.equal((await api.fetch('/notes/1', { method: 'DELETE' })).status, 204)
  assert.equal((await api.fetch('/notes/1', { method: 'DELETE' })).status, 404)
})
