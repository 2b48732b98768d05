import { readFile } from 'node:fs/promises'
import { select, withSession } from 'sequitur'
import { app } from './app.js'
import { database } from './database.js'
import { Hero } from './hero.js'
import { migrate } from './migrate.js'

await migrate()
await app.start()

// The first start fills the empty table.
await withSession(database, async (session) => {
  if ((await session.count(select(Hero))) > 0) return
  const heroes = JSON.parse(await readFile(new URL('./heroes.json', import.meta.url), 'utf8'))
  session.addAll(Hero.bulkBuild(heroes))
})

await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
