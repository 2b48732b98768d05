import { fileURLToPath } from 'node:url'
import { type Database, newLifespan, type Session, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'

/** Used unless `toolkit_url` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./conduit.sqlite'

/** Runs the pending migrations, each in a transaction of its own. The database has no models, because their tables may not exist yet. */
export async function migrate(database: Database = newLifespan(undefined, { defaultUrl })): Promise<void> {
  while (await withSession(database, runNext));
}

/** @returns whether there was one. */
async function runNext({ sequelize }: Session): Promise<boolean> {
  const umzug = new Umzug({
    migrations: { glob: ['migrations/*.ts', { cwd: fileURLToPath(new URL('.', import.meta.url)) }] },
    context: sequelize.getQueryInterface(),
    storage: new SequelizeStorage({ sequelize }),
    logger: undefined,
  })
  const done = await umzug.up({ step: 1 })
  return done.length > 0
}
