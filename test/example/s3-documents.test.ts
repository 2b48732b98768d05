import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { withSession } from 'sequitur'
import { readSettings, settings } from 'sequitur/settings'
import { memoryDatabase, testApp } from 'sequitur/testing'
import {
  Bucket,
  BucketSettings,
  Document,
  DocumentController,
  removeAbandoned,
} from '../../example/recipes/s3-documents.js'
import { objectStore } from '../support/object-store.js'
import { until } from '../support/waiting.js'

async function start(t: TestContext) {
  const store = await objectStore(t)
  const api = await testApp({
    controllers: [DocumentController],
    models: [Document],
    lifespan: memoryDatabase(),
    providers: [settings(BucketSettings, { env: store.env })],
    logger: false,
  })
  t.after(api.close)
  const begin = async () => {
    const response = await api.fetch('/documents', { method: 'POST', json: { name: 'Minutes' } })
    assert.equal(response.status, 201)
    return (await response.json()) as { id: number; url: string }
  }
  const statusOf = async (method: string, path: string) =>
    (await api.fetch(path, { method, redirect: 'manual' })).status
  return { ...api, store, begin, statusOf }
}

test('s3-documents.ts: a client sends the bytes to the store, and reads them from there', async (t) => {
  const { fetch: ask, store, begin, statusOf } = await start(t)
  const { id, url } = await begin()
  assert.deepEqual(
    [await statusOf('POST', `/documents/${id}/stored`), await statusOf('GET', `/documents/${id}`)],
    [409, 404],
  )
  assert.equal((await fetch(url.replace(/Signature=.{4}/, 'Signature=0000'), { method: 'PUT', body: 'x' })).status, 403)
  assert.equal((await fetch(url, { method: 'PUT', body: 'Nothing was decided.' })).status, 200)
  assert.equal(await statusOf('POST', `/documents/${id}/stored`), 204)
  assert.equal(await (await ask(`/documents/${id}`)).text(), 'Nothing was decided.')

  assert.equal(await statusOf('DELETE', `/documents/${id}`), 204)
  await until('the object is removed', () => store.objects.size === 0)
  assert.equal(await statusOf('GET', `/documents/${id}`), 404)
})

for (const how of ['refuses', 'breaks off'] as const) {
  test(`s3-documents.ts: while the store ${how}, nothing is confirmed, and a document that is removed is gone`, async (t) => {
    const { store, begin, statusOf } = await start(t)
    const { id, url } = await begin()
    await fetch(url, { method: 'PUT', body: 'x' })
    store.behave(how)
    assert.equal(await statusOf('POST', `/documents/${id}/stored`), 503)
    assert.equal(await withSession(() => Document.count({ where: { stored: true } })), 0)
    store.behave('well')
    assert.equal(await statusOf('POST', `/documents/${id}/stored`), 204)
    store.behave(how)
    assert.equal(await statusOf('DELETE', `/documents/${id}`), 204)
    assert.equal(await statusOf('GET', `/documents/${id}`), 404)
  })
}

test('s3-documents.ts: the job removes what was never confirmed, object and row, and nothing else', async (t) => {
  const { store, begin, statusOf } = await start(t)
  const [kept, abandoned] = [await begin(), await begin()]
  await fetch(kept.url, { method: 'PUT', body: 'kept' })
  await fetch(abandoned.url, { method: 'PUT', body: 'abandoned' })
  assert.equal(await statusOf('POST', `/documents/${kept.id}/stored`), 204)
  const bucket = new Bucket(readSettings(BucketSettings, { env: store.env }))
  assert.equal(await removeAbandoned(bucket, new Date(Date.now() - 60_000)), 0)

  const later = new Date(Date.now() + 60_000)
  store.behave('refuses')
  await assert.rejects(removeAbandoned(bucket, later), { status: 503 })
  assert.equal(await withSession(() => Document.count()), 2)
  store.behave('well')
  assert.deepEqual([await removeAbandoned(bucket, later), await removeAbandoned(bucket, later)], [1, 0])
  assert.deepEqual([...store.objects.values()].map(String), ['kept'])
  assert.equal(await statusOf('GET', `/documents/${kept.id}`), 302)
})
