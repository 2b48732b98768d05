import { fileURLToPath } from 'node:url'
import { type Database, newLifespan, type Session, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'

/** Used unless `toolkit_url` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./conduit.sqlite'

/** Runs the pending migrations, each in a transaction of its own. The database has no models, because their tables may not exist yet. */
export async function migrate(database: Database = newLifespan(undefined, { defaultUrl })): Promise<void> {
  const done: string[] = []
  for (let name; (name = await withSession(database, runNext)) !== undefined;) {
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
