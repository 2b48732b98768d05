// Compiled and run with the client that `sequitur client` has generated of test/support/programs/ledger.ts, through a proxy that cuts connections.
import assert from 'node:assert/strict'
import { client, configure } from './api.js'
import { retryOn, seen } from './api.sequitur.js'

const [direct = '', cut = '', ...counts] = process.argv.slice(2)
const [payments = 0, walks = 0, rows = 0] = counts.map(Number)
const CLIENTS = 8
let repeated = 0
configure({
  serverUrl: cut,
  idempotencyKey: true,
  retry: {
    retries: 200, // a key that is in use is a 409 as long as its first request runs
    retryDelay: 5,
    retryStrategy: 'fixed',
    retryOn: async (attempt) => {
      const isRepeated = await retryOn(attempt)
      if (isRepeated) repeated++
      return isRepeated
    },
  },
  ...seen(),
})

/** Does a work many times, a few at a time. */
async function many(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: CLIENTS }, worker))
}

await many(payments, async (number) => {
  const { data } = await client.paymentCreate({ body: { reference: `payment ${number}` } })
  assert.equal(data.reference, `payment ${number}`)
})
const made = (await client.paymentList()).map(({ reference }) => reference)
assert.equal(made.length, payments)
assert.deepEqual(new Set(made), new Set(Array.from({ length: payments }, (_, number) => `payment ${number}`)))

const post = (path: string, count: number) => {
  const headers = { 'content-type': 'application/json' }
  return fetch(direct + path, { method: 'POST', headers, body: JSON.stringify({ count }) })
}
assert.equal((await post('/ranked', rows)).status, 204)
const walked = new AbortController()
let changes = 0
const writing = (async () => {
  while (!walked.signal.aborted) if ((await post('/ranked/changes', rows)).ok) changes++
})()
await many(walks, async () => {
  let expected = 0
  for await (const { rank } of client.rankedList.items({ query: { limit: 500 } }))
    if (rank % 2 === 0) {
      assert.equal(rank, 2 * expected)
      expected++
    }
  assert.equal(expected, rows)
})
walked.abort()
await writing
console.log(JSON.stringify({ repeated, changes }))
