import { app } from './app.js'
import { fill } from './fill.js'
import { migrate } from './migrate.js'

await migrate()
await app.start()
await fill()
await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
