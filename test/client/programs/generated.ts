// Compiled and run with the client that `sequitur client` has generated of example/recipes/notes.ts.
import assert from 'node:assert/strict'
import { ApiError, client, configure } from './api.js'
import { etagOf, ifMatch, retryOn, seen } from './api.sequitur.js'

const [serverUrl = '', ofEvents = '', ofCreations = ''] = process.argv.slice(2)
configure({ serverUrl, idempotencyKey: true, retry: { retries: 3, retryDelay: 10, retryOn }, ...seen() })

for (let number = 1; number <= 25; number++) {
  const { data } = await client.noteCreate({ body: { text: `note ${number}` } })
  assert.equal(data.id satisfies number, number)
}

// By cursor, by offset, and in an envelope of the program's own: each row once, in its order.
const all = Array.from({ length: 25 }, (_, index) => `note ${index + 1}`)
const texts: string[] = []
for await (const note of client.noteList.items({ query: { limit: 10 } })) texts.push(note.text)
assert.deepEqual(texts, all)
texts.length = 0
for await (const { data } of client.notePages.pages({ query: { limit: 10 } }))
  texts.push(...data.map(({ text }) => text))
assert.deepEqual(texts, all)
texts.length = 0
for await (const title of client.noteTitles.items({ query: { limit: 10 } })) texts.push(title)
assert.deepEqual(texts, all)

// A key of the program: the second call has no effect of its own.
const call = () => client.noteCreate({ body: { text: 'once' } }, { idempotencyKey: 'key-1' })
assert.equal((await call()).data.id, (await call()).data.id)

// The key is the same in each attempt: a creation whose response is lost is one.
configure({ serverUrl: ofCreations })
const { data: survivor } = await client.noteCreate({ body: { text: 'twice' } })
configure({ serverUrl })
const survivors: unknown[] = []
for await (const note of client.noteList.items({ query: { limit: 100 } }))
  if (note.text === 'twice') survivors.push(note)
assert.deepEqual(survivors, [survivor])

// Events continue after the last one when the connection is lost.
const numbers: number[] = []
configure({ serverUrl: ofEvents })
for await (const { data } of client.noteTicks({}, { reconnectDelay: 5 })) {
  numbers.push(data.number)
  if (numbers.length === 7) break
}
assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7])
configure({ serverUrl })

// A response that is the same is kept; a change that somebody else has made is read again.
const read = () => client.noteGet({ path: { note_id: 1 } })
const first = await read()
assert.equal(etagOf(first), etagOf(await read()))
assert.equal(typeof etagOf(first), 'string')
let others = 0
const changed = await ifMatch(read, async ({ data }, headers) => {
  if (others++ === 0) await ifMatch(read, (_, tag) => change(`${data.text}, by somebody else`, tag))
  const { text } = (await read()).data
  return change(`${others === 1 ? data.text : text}, by me`, headers)
})
assert.equal(changed.data.text, 'note 1, by somebody else, by me')
assert.equal(others, 2)
assert.equal((await read()).data.text, changed.data.text)

function change(text: string, headers: { 'if-match': string }) {
  return client.noteChange({ path: { note_id: 1 }, body: { text }, headers })
}

await assert.rejects(
  client.noteGet({ path: { note_id: 99 } }),
  (error) => error instanceof ApiError && error.status === 404,
)
console.log('done')
