import { fileURLToPath } from 'node:url'
import { newLifespan, type Session, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'
import { defaultUrl } from './database.js'

/** Runs the pending migrations, each in a transaction of its own, which also has the note that it has run. */
export async function migrate(): Promise<void> {
  // Without models, because their tables may not exist yet.
  const lifespan = newLifespan(undefined, { defaultUrl })
  const done: string[] = []
  for (let name; (name = await withSession(lifespan, runNext)) !== undefined;) {
    if (done.includes(name)) throw new Error(`${name} is pending again. Migrate a database in a file, or on a server.`)
    done.push(name)
  }
}

/** Runs the first pending migration. @returns its name. */
async function runNext({ sequelize }: Session): Promise<string | undefined> {
  const umzug = new Umzug({
    migrations: { glob: ['migrations/*.ts', { cwd: fileURLToPath(new URL('.', import.meta.url)) }] },
    context: sequelize.getQueryInterface(),
    storage: new SequelizeStorage({ sequelize }),
    logger: undefined,
  })
  const [done] = await umzug.up({ step: 1 })
  return done?.name
}
