import { createApp } from 'sequitur'
import { appOptions } from './app.js'
import { migrate } from './database.js'
import { seed } from './seed.js'

await migrate()
const app = createApp(appOptions())
await app.start()
await seed()
await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
