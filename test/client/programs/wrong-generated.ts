// Each line with "// wrong" must not compile.
import { client, configure } from './api.js'
import { etagOf, ifMatch, seen } from './api.sequitur.js'

await client.noteCreate({ body: {} }) // wrong
await client.noteCreate({ body: { text: 1 } }) // wrong
await client.noteCreate({ body: { text: 'a', id: 1 } }) // wrong
await client.noteCreate({ body: null }) // wrong
await client.noteCreate({}) // wrong
await client.noteCreate() // wrong
await client.noteCreate({ body: { text: 'a' }, path: { note_id: 1 } }) // wrong
await client.noteCreate({ body: { text: 'a' }, query: {} }) // wrong
await client.noteCreate({ body: { text: 'a' } }, { idempotencyKey: 1 }) // wrong
await client.noteGet({ path: {} }) // wrong
await client.noteGet({ path: { note_id: '1' } }) // wrong
await client.noteGet({ path: { id: 1 } }) // wrong
await client.noteGet({ path: { note_id: null } }) // wrong
await client.noteGet({}) // wrong
await client.noteGet(1) // wrong
await client.noteGet({ path: { note_id: 1 }, headers: { 'if-none-match': 1 } }) // wrong
await client.noteChange({ path: { note_id: 1 } }) // wrong
await client.noteChange({ body: { text: 'a' } }) // wrong
await client.noteChange({ path: { note_id: 1 }, body: { text: null } }) // wrong
await client.noteChange({ path: { note_id: 1 }, body: { text: 'a' }, headers: { 'if-match': 1 } }) // wrong
await client.noteChange({ path: { note_id: 1 }, body: { text: 'a' } }) // wrong
await client.noteList({ query: { limit: '10' } }) // wrong
await client.noteList({ query: { offset: 1 } }) // wrong
await client.noteList({ query: { next_cursor: 1 } }) // wrong
await client.noteList({ body: {} }) // wrong
await client.notePages({ query: { next_cursor: 'a' } }) // wrong
await client.notePages({ query: { offset: null } }) // wrong
await client.noteDelete({ path: { note_id: 1 } }) // wrong
await client.noteGet.items({ path: { note_id: 1 } }) // wrong
await client.noteTicks.items() // wrong
export const ids: string[] = (await client.noteList()).data.map(({ id }) => id) // wrong
export const missing = (await client.noteList()).data[0]?.name // wrong
export const meta: string = (await client.noteList()).meta.next_cursor // wrong
export const total = (await client.noteList()).meta.total_items // wrong
export const pageTotal: string = (await client.notePages()).meta.total_items // wrong
for await (const note of client.noteList.items()) void note.title // wrong
for await (const title of client.noteTitles.items()) void title.text // wrong
for await (const { data } of client.noteTicks({})) void data.id // wrong
for await (const tick of client.noteTicks({})) void tick.number // wrong
configure({ serverUrl: 1 }) // wrong
configure({ idempotencyKey: 1, ...seen() }) // wrong
etagOf('note') // wrong
const read = () => client.noteGet({ path: { note_id: 1 } })
await ifMatch(read, async ({ data }) => data.title) // wrong
await ifMatch(read, async () => 1, '2') // wrong
for (const note of await client.noteExport({})) void note.title // wrong
seen(1) // wrong
configure({ retry: { retries: 3, retryOn: 503 } }) // wrong
