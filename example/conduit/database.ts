import { fileURLToPath } from 'node:url'
import { type Database, newLifespan, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'

/** Used unless `toolkit_url` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./conduit.sqlite'

/** Runs the pending migrations. The database has no models, because their tables may not exist yet. */
export async function migrate(database: Database = newLifespan(undefined, { defaultUrl })): Promise<void> {
  await withSession(database, async ({ sequelize }) => {
    const umzug = new Umzug({
      migrations: { glob: ['migrations/*.ts', { cwd: fileURLToPath(new URL('.', import.meta.url)) }] },
      context: sequelize.getQueryInterface(),
      storage: new SequelizeStorage({ sequelize }),
      logger: undefined,
    })
    await umzug.up()
  })
}
