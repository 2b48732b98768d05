import { readFile } from 'node:fs/promises'
import { select, withSession } from 'sequitur'
import { database } from './database.js'
import { Hero } from './hero.js'

/** Inserts the example's heroes, if the table is empty. */
export async function fill(): Promise<void> {
  await withSession(database, async (session) => {
    if ((await session.count(select(Hero))) > 0) return
    const heroes = JSON.parse(await readFile(new URL('./heroes.json', import.meta.url), 'utf8'))
    session.addAll(Hero.bulkBuild(heroes))
  })
}
