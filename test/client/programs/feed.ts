// Compiled and run with the client that `sequitur client` has generated of test/support/programs/feed.ts, through a proxy that cuts connections.
import assert from 'node:assert/strict'
import { client, configure } from './api.js'
import { seen } from './api.sequitur.js'

const [direct = '', cut = '', events = '0'] = process.argv.slice(2)
const TOPICS = ['one', 'two']
const AT_ONCE = 20
const count = Number(events)
configure({ serverUrl: cut, ...seen() })

async function publish(range: { first: number; count: number; topic: string }): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { status } = await fetch(`${direct}/numbers`, { method: 'POST', headers, body: JSON.stringify(range) })
  assert.equal(status, 204)
}

const numbers = new Map(TOPICS.map((topic) => [topic, 0]))
let writing: Promise<void> | undefined
const writeAll = async () => {
  for (let first = 1; first <= count; first += AT_ONCE)
    for (const topic of TOPICS) await publish({ first, count: AT_ONCE, topic })
}
// Until one has come: before it, the client has no id to go on with.
const beginning = setInterval(() => {
  if (!writing) void publish({ first: 0, count: 1, topic: 'one' })
}, 50)
for await (const { event, data } of client.numberFollow({ query: { topic: TOPICS } })) {
  if (event === undefined) continue // only an id, to go on with
  assert.equal(event, 'numbered')
  if (data.number === 0) {
    writing ??= writeAll()
    continue
  }
  const before = Number(numbers.get(data.topic))
  assert.equal(data.number, before + 1, data.topic)
  numbers.set(data.topic, data.number)
  if ([...numbers.values()].every((number) => number >= count)) break
}
clearInterval(beginning)
await writing
console.log(JSON.stringify({ received: [...numbers.values()].reduce((sum, number) => sum + number, 0) }))
