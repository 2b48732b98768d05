// The client is generated: npx sequitur client example/recipes/notes.ts --out api.ts
import { client, configure } from './api.js'
import { ifMatch, retryOn, seen } from './api.sequitur.js'

const serverUrl = process.argv[2] ?? 'http://127.0.0.1:8000'
configure({ serverUrl, idempotencyKey: true, retry: { retries: 3, retryOn }, ...seen() })

const { data } = await client.noteCreate({ body: { text: 'Warm the pot' } }) // once, however often it is sent
for await (const note of client.noteList.items({ query: { limit: 50 } })) console.log(note.text)

const changed = await ifMatch(
  () => client.noteGet({ path: { note_id: data.id } }),
  (note, headers) => client.noteChange({ path: { note_id: data.id }, body: { text: `${note.data.text}!` }, headers }),
)
console.log(changed.data.text)

for await (const { data: tick } of client.noteTicks({})) {
  console.log(tick.number)
  if (tick.number === 5) break // it reconnects by itself
}
