import { app } from './app.js'

await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
