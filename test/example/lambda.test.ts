// The same on both query paths: it is the adapter that is tested.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hero } from '../../example/hero.js'
import { app, handler } from '../../example/recipes/lambda.js'

/** An event of an API Gateway with the payload format 2.0. */
function eventOf(method: string, path: string, body?: string, isBase64Encoded = false) {
  const [rawPath = '', rawQueryString = ''] = path.split('?')
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers: { host: 'api.example', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    requestContext: { http: { method, path: rawPath, sourceIp: '192.0.2.1', protocol: 'HTTP/1.1' } },
    ...(body === undefined ? {} : { body: isBase64Encoded ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded,
  }
}

interface Answer {
  readonly statusCode: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

test('lambda.ts: the app answers events of an API Gateway, and starts once for a container', async (t) => {
  process.env['toolkit_sync'] = 'true'
  t.after(() => Reflect.deleteProperty(process.env, 'toolkit_sync'))
  t.after(() => app.close())
  const send = async (...parameters: Parameters<typeof eventOf>) => {
    const { statusCode, body, headers } = (await handler(eventOf(...parameters), {})) as Answer
    return { statusCode, json: JSON.parse(body || 'null'), headers }
  }
  const hero = (name: string) => JSON.stringify({ name, secret_identity: 'Tim Drake – é', age: 17 })
  const created = await send('POST', '/heros', hero('Robin'))
  assert.deepEqual([created.statusCode, created.json.data.id], [201, 1])
  assert.equal((await send('POST', '/heros', hero('Batgirl'), true)).json.data.secret_identity, 'Tim Drake – é')
  const page = await send('GET', '/heros?offset=1&limit=1')
  assert.deepEqual([page.json.meta.total_items, page.json.data.length], [2, 1])
  assert.equal((await send('GET', '/heros/9')).statusCode, 404)
  assert.equal((await send('POST', '/heros', '{"name":7}')).statusCode, 422)
  assert.equal((await send('POST', '/heros', '{')).statusCode, 400)
  assert.equal(await Hero.count(), 2)
  const both = await Promise.all([send('GET', '/heros/1'), send('GET', '/heros/2')])
  assert.deepEqual(
    both.map(({ statusCode }) => statusCode),
    [200, 200],
  )
})
