// Imports heroes from a JSON file, all or none:  npm run import-heroes -- heroes.json
import { readFile } from 'node:fs/promises'
import { SingleBar } from 'cli-progress'
import { withSession } from 'sequitur'
import { UniqueConstraintError } from 'sequelize'
import { database } from '../database.js'
import { Hero } from '../hero.js'
import { migrate } from '../migrate.js'

async function importHeroes(file: string): Promise<number> {
  const heroes: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (!Array.isArray(heroes)) throw new TypeError('the file must hold a JSON array of heroes')
  const bar = new SingleBar({ format: 'Importing [{bar}] {value}/{total}', noTTYOutput: false })
  bar.start(heroes.length, 0)
  try {
    await migrate()
    await withSession(database, async (session) => {
      for (const hero of heroes) {
        session.add(Hero.build(hero))
        await session.flush()
        bar.increment()
      }
    })
  } finally {
    bar.stop()
  }
  return heroes.length
}

function reason(error: unknown): string {
  if (error instanceof UniqueConstraintError) {
    const [issue] = error.errors
    return `a hero named '${issue?.value}' exists already`
  }
  return error instanceof Error ? error.message : String(error)
}

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: npm run import-heroes -- <file.json>')
  process.exitCode = 1
} else {
  try {
    console.log(`Imported ${await importHeroes(file)} heroes from ${file}.`)
  } catch (error) {
    console.error(`Imported nothing from ${file}: ${reason(error)}.`)
    process.exitCode = 1
  }
}
