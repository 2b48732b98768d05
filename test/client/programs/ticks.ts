// Follows the events of example/recipes/notes.ts, whose server is started again meanwhile.
import { client, configure } from './api.js'
import { seen } from './api.sequitur.js'

configure({ serverUrl: process.argv[2] ?? '', ...seen() })
for await (const { data } of client.noteTicks({}, { reconnectDelay: 50 })) {
  console.log(data.number)
  if (data.number === 30) break
}
