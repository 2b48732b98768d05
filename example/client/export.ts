// The client is generated: npx sequitur client example/recipes/notes.ts --out api.ts
import { client, configure } from './api.js'

configure({ serverUrl: process.argv[2] ?? 'http://127.0.0.1:8000' })
const stream = { parseAs: 'stream', headers: { accept: 'application/x-ndjson' } } as const

for await (const note of rowsOf(client.noteExport({}, stream))) console.log(note.text)

/** The rows of an export, one after the other. Throws if it was broken off: its last line may be a problem, and is not yielded. */
async function* rowsOf<T>(exported: Promise<readonly T[]>): AsyncGenerator<T> {
  const body: unknown = await exported // with parseAs: 'stream'
  if (!(body instanceof ReadableStream)) throw new TypeError('This is no stream.')
  let last = ''
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (last) yield JSON.parse(last) as T
      last = line
    }
  }
  if (rest) throw new Error('The export was broken off.')
  if (last) yield JSON.parse(last) as T
}
