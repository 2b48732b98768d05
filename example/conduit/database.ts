import { type Database, newLifespan } from 'sequitur'
import { migrate as migrateBy } from 'sequitur/migrations'

/** Used unless `toolkit_url` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./conduit.sqlite'

/** Runs the pending migrations of the folder. */
export async function migrate(database: Database = newLifespan(undefined, { defaultUrl })): Promise<void> {
  await migrateBy(database, { directory: new URL('./migrations', import.meta.url) })
}
