import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { assert as holds, asyncProperty, constant, integer, oneof, string } from 'fast-check'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { runs } from '../support/fuzz.js'
import { models, Payment, PaymentController } from './app.js'

interface Answer {
  readonly status: number
  readonly replayed: boolean
}

/** Sends a payment with these headers as they are; fetch() would refuse some of them. */
function pay(url: string, keys: string | readonly string[]): Promise<Answer> {
  const body = JSON.stringify({ account: 'Ann', amount: 1 })
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': keys as string | string[] }
    const sent = request(`${url}/payments`, { method: 'POST', headers }, (response) => {
      const replayed = response.headers['idempotency-replayed'] === 'true'
      response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, replayed }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function paymentApp(t: TestContext) {
  const app = await testApp({ controllers: [PaymentController], models, lifespan: memoryDatabase() })
  t.after(app.close)
  return app
}

test('a key is the same with and without quotes, in which \\ stands before \\ and "', async (t) => {
  const { url } = await paymentApp(t)
  assert.deepEqual(await pay(url, 'order-17:a/b+c='), { status: 201, replayed: false })
  assert.deepEqual(await pay(url, '"order-17:a/b+c="'), { status: 201, replayed: true })
  assert.deepEqual(await pay(url, String.raw`"a \"b\" \\ c"`), { status: 201, replayed: false })
  assert.deepEqual(await pay(url, String.raw`"a \"b\" \\ c"`), { status: 201, replayed: true })
  assert.deepEqual(await pay(url, 'A'.repeat(255)), { status: 201, replayed: false })
  assert.deepEqual(await pay(url, `"${'A'.repeat(255)}"`), { status: 201, replayed: true })
  assert.deepEqual(await pay(url, 'a'.repeat(255)), { status: 201, replayed: false })
})

const NO_KEYS = [
  '',
  '""',
  '"',
  '"a',
  'a"',
  '"a"b',
  '"a";b=1',
  'a b',
  'a,b',
  'a;b',
  String.raw`a\b`,
  String.raw`"\a"`,
  '"a\tb"',
  'ä',
  '"ä"',
  'a'.repeat(256),
  `"${'a'.repeat(256)}"`,
  `"${String.raw`\\`.repeat(256)}"`,
  'a'.repeat(8_000),
]

test('a header that is no key is a 400, and so are two of them', async (t) => {
  const { url } = await paymentApp(t)
  for (const header of [...NO_KEYS, ['a', 'b'], ['"a"', '"a"']])
    assert.deepEqual(await pay(url, header), { status: 400, replayed: false }, JSON.stringify(header))
  assert.equal(await Payment.count(), 0)
})

test('any string of visible ASCII characters is a key of its own in quotes; any other header is a 400', async (t) => {
  const { url } = await paymentApp(t)
  const sent = new Set<string>()
  const visible = string({ unit: integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
  const law = asyncProperty(visible, async (key) => {
    const status = key.length > 0 && key.length <= 255 ? 201 : 400
    const header = `"${key.replaceAll(/[\\"]/g, String.raw`\$&`)}"`
    assert.deepEqual(await pay(url, header), { status, replayed: status === 201 && sent.has(key) })
    sent.add(key)
  })
  await holds(law, { numRuns: runs(200) })
  // What a header may have at all.
  const byte = oneof(constant(0x09), integer({ min: 0x20, max: 0x7e }), integer({ min: 0x80, max: 0xff }))
  const header = string({ unit: byte.map((code) => String.fromCharCode(code)), maxLength: 600 })
  const anything = asyncProperty(header, async (text) => {
    const { status } = await pay(url, text)
    assert.ok(status === 201 || status === 400, `${status} for ${JSON.stringify(text)}`)
  })
  await holds(anything, { numRuns: runs(300) })
})
