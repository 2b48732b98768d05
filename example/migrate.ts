import { newLifespan } from 'sequitur'
import { migrate as migrateBy } from 'sequitur/migrations'
import { defaultUrl } from './database.js'

/** Runs the pending migrations of the folder. */
export async function migrate(): Promise<void> {
  await migrateBy(newLifespan(undefined, { defaultUrl }), { directory: new URL('./migrations', import.meta.url) })
}
