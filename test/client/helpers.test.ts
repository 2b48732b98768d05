import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etagOf, ifMatch, retryOn, seen } from '../../template/client/api.sequitur.js'

/*
 * What is copied next to a client, with made responses: in an order, and with faults, that a server gives only by chance.
 */

const URL = 'http://127.0.0.1/notes/1'

function answer(name: string, status = 200): Response {
  const headers = { etag: `"${name}"`, ...(status === 304 ? {} : { 'content-type': 'application/json' }) }
  return new Response(status === 304 ? null : JSON.stringify({ name }), { status, headers })
}

/** A `fetch` with `seen()`, whose requests are answered by hand. */
function answering() {
  const requests: { readonly headers: object; readonly answer: (response: Response) => void }[] = []
  const { fetch } = seen(
    (_, init) =>
      new Promise((resolve) => {
        requests.push({ headers: Object.fromEntries(new Headers(init?.headers)), answer: resolve })
      }),
  )
  const read = (headers = {}, url = URL) => fetch(url, { method: 'GET', headers })
  const last = () => requests.at(-1) ?? assert.fail('nothing was requested')
  return { fetch, read, last }
}

/** Requests, answers, and returns the response. */
async function exchange(request: Promise<Response>, { last }: ReturnType<typeof answering>, response: Response) {
  last().answer(response)
  return request
}

test('a 304 is answered with what its request has asked for, not with what another one has brought since', async () => {
  const made = answering()
  await exchange(made.read(), made, answer('first'))
  const slow = made.read()
  const request = made.last()
  assert.deepEqual(request.headers, { 'if-none-match': '"first"' })
  await exchange(made.read(), made, answer('second'))
  request.answer(answer('first', 304))
  const response = await slow
  const value = (await response.json()) as object
  assert.deepEqual([response.status, value, etagOf(value)], [200, { name: 'first' }, '"first"'])
})

test('a tag of the caller is sent alone, and its 304 is left to the caller', async () => {
  const made = answering()
  await exchange(made.read(), made, answer('first'))
  const own = made.read({ 'If-None-Match': '"mine"' })
  assert.deepEqual(made.last().headers, { 'if-none-match': '"mine"' })
  assert.equal((await exchange(own, made, answer('mine', 304))).status, 304)
})

test('only reads send what is known, and a change forgets what was read', async () => {
  const made = answering()
  await exchange(made.read(), made, answer('first'))
  const change = made.fetch(URL, { method: 'PATCH' })
  assert.deepEqual(made.last().headers, {})
  const value = (await (await exchange(change, made, answer('second'))).json()) as object
  assert.equal(etagOf(value), '"second"')
  void made.read()
  assert.deepEqual(made.last().headers, {})
})

test('at most 1,000 responses are kept: the oldest is forgotten', async () => {
  const made = answering()
  for (let number = 0; number <= 1_000; number++)
    await exchange(made.read({}, `${URL}/${number}`), made, answer(`${number}`))
  void made.read({}, `${URL}/0`)
  assert.deepEqual(made.last().headers, {})
  void made.read({}, `${URL}/1000`)
  assert.deepEqual(made.last().headers, { 'if-none-match': '"1000"' })
})

test('an error has its status, its text and its body, and no tag; what is no JSON is passed on as it comes', async () => {
  const made = answering()
  const problem = new Response('{"title":"Gone"}', {
    status: 410,
    statusText: 'Gone',
    headers: { 'content-type': 'application/problem+json', etag: '"error"' },
  })
  const { status, statusText, headers, json } = await exchange(made.read(), made, problem)
  const value = (await json()) as object
  assert.deepEqual([status, statusText, value, etagOf(value)], [410, 'Gone', { title: 'Gone' }, undefined])
  assert.equal(headers.get('content-type'), 'application/problem+json')
  for (const type of ['application/x-ndjson', 'text/plain']) {
    const stream = new Response('{}\n', { headers: { 'content-type': type, etag: '"stream"' } })
    assert.equal(await exchange(made.read(), made, stream), stream)
    assert.deepEqual(made.last().headers, {})
  }
})

test('a stream of events that ends is cut, so that a client opens it again', async () => {
  const made = answering()
  const stream = new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  const { status, body } = await exchange(made.read(), made, stream)
  const reader = body?.getReader()
  assert.equal(status, 200)
  assert.equal(new TextDecoder().decode((await reader?.read())?.value), 'data: 1\n\n')
  await assert.rejects(reader?.read() ?? Promise.resolve(), /^TypeError: The stream has ended\.$/)
  const refused = made.read({ accept: 'text/event-stream' })
  await assert.rejects(
    exchange(refused, made, new Response('', { status: 503 })),
    /^TypeError: The stream has ended\.$/,
  )
  const none = new Response(null, { status: 204, headers: { 'content-type': 'text/event-stream' } })
  assert.equal((await exchange(made.read(), made, none)).status, 204)
})

test('JSON that is cut is an error of the request, which a client repeats', async () => {
  const made = answering()
  const cut = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"name":'))
      controller.error(new TypeError('terminated'))
    },
  })
  const response = new Response(cut, { headers: { 'content-type': 'application/json; charset=utf-8' } })
  await assert.rejects(exchange(made.read(), made, response), /^TypeError: terminated$/)
})

const key = { 'Idempotency-Key': '1' }
const retryAfter = { 'retry-after': '1' }

for (const [method, headers, response, expected] of [
  ['GET', {}, undefined, true],
  ['PUT', {}, undefined, true],
  ['POST', {}, undefined, false],
  ['patch', {}, undefined, false],
  ['POST', key, undefined, true],
  ['POST', key, new Response('', { status: 503 }), true],
  ['POST', {}, new Response('', { status: 503, headers: retryAfter }), false],
  ['POST', key, new Response('', { status: 409, headers: retryAfter }), true],
  ['POST', key, new Response('', { status: 409 }), false],
  ['POST', key, new Response('', { status: 422 }), false],
  ['GET', {}, new Response('{}', { status: 500 }), true],
  ['PUT', {}, new Response('{"type":"urn:sequitur:partial-commit"}', { status: 500 }), false],
  ['GET', {}, new Response('', { status: 404 }), false],
] as const) {
  const answered = response ? `${response.status}${response.headers.has('retry-after') ? ' with Retry-After' : ''}` : ''
  const name = `${method}${headers === key ? ' with a key' : ''} that ${answered ? `is answered ${answered}` : 'is cut'}`
  test(`${name} is ${expected ? '' : 'not '}sent again`, async () => {
    const request = { method, headers }
    assert.equal(await retryOn(response ? { request, response } : { request }), expected)
    assert.equal(response?.bodyUsed ?? false, false)
  })
}

test('ifMatch() gives up after ten refusals, and at once after another error', async () => {
  for (const [status, expected] of [
    [412, 10],
    [422, 1],
  ]) {
    const made = answering()
    let changes = 0
    const changing = ifMatch(
      async () => (await (await exchange(made.read(), made, answer('first'))).json()) as object,
      () => {
        changes++
        throw Object.assign(new Error('refused'), { status })
      },
    )
    await assert.rejects(changing, /refused/)
    assert.equal(changes, expected)
  }
})

test('ifMatch() of what has no ETag says what to write', async () => {
  const changing = ifMatch(
    async () => ({}),
    () => assert.fail('changed'),
  )
  await assert.rejects(changing, /^Error: It has no ETag\. Call configure\(\{ \.\.\.seen\(\) \}\), and declare/)
})
