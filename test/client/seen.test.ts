import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etagOf, seen } from '../../template/client/api.sequitur.js'

/*
 * The hooks that the generated client calls, with made responses: their order is that of two calls at the same time.
 */

const call = (method = 'GET', headers: Record<string, string> = {}) => ({ url: '/notes/1', method, headers })

const answer = (name: string, status = 200) =>
  new Response(status === 304 ? null : JSON.stringify({ name }), {
    status,
    headers: { etag: `"${name}"`, ...(status === 304 ? {} : { 'content-type': 'application/json' }) },
  })

test('a 304 is answered with what its request has asked for, not with what another one has brought since', async () => {
  const { onRequest, onResponse } = seen()
  await onResponse(answer('first'), call())
  const slow = call()
  onRequest(slow)
  assert.deepEqual(slow.headers, { 'if-none-match': '"first"' })
  await onResponse(answer('second'), call())
  const response = await onResponse(answer('first', 304), slow)
  const value = (await response?.json()) as object
  assert.deepEqual([response?.status, value, etagOf(value)], [200, { name: 'first' }, '"first"'])
})

test('a tag of the caller is sent alone, and its 304 is left to the caller', async () => {
  const { onRequest, onResponse } = seen()
  await onResponse(answer('first'), call())
  const own = call('GET', { 'If-None-Match': '"mine"' })
  onRequest(own)
  assert.deepEqual(own.headers, { 'If-None-Match': '"mine"' })
  assert.equal(await onResponse(answer('mine', 304), own), undefined)
})

test('only reads send what is known, and a change forgets what was read', async () => {
  const { onRequest, onResponse } = seen()
  await onResponse(answer('first'), call())
  const change = call('PATCH')
  onRequest(change)
  assert.deepEqual(change.headers, {})
  const value = (await (await onResponse(answer('second'), change))?.json()) as object
  assert.equal(etagOf(value), '"second"')
  const next = call()
  onRequest(next)
  assert.deepEqual(next.headers, {})
})

test('at most 1,000 responses are kept: the oldest is forgotten', async () => {
  const { onRequest, onResponse } = seen()
  const page = (number: number) => ({ ...call(), url: `/notes/${number}`, headers: {} as Record<string, string> })
  for (let number = 0; number <= 1_000; number++) await onResponse(answer(`${number}`), page(number))
  const [oldest, newest] = [page(0), page(1_000)]
  onRequest(oldest)
  onRequest(newest)
  assert.deepEqual([oldest.headers, newest.headers], [{}, { 'if-none-match': '"1000"' }])
})
