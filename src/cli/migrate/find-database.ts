import type { Database } from '../../db/database.js'
import { CommandError } from '../command.js'
import { loadApp } from '../load-app.js'

/**
 * The database of the app that a module creates.
 *
 * @param number which of several databases, from 1.
 * @throws CommandError if there is none of that number.
 */
export async function findDatabase(module: string, number = '1'): Promise<Database> {
  const databases = (await loadApp(module)).lifespans.filter(isDatabase)
  const database = /^\d{1,3}$/.test(number) ? databases[Number(number) - 1] : undefined
  if (database) return database
  if (databases.length === 0)
    throw new CommandError(`The app of ${module} has no database. Write createApp({ lifespan: newLifespan() }).`)
  throw new CommandError(
    `--database is '${number}'. Write a number from 1 to ${databases.length}: their order in lifespan.`,
  )
}

// The app may have another copy of this package.
function isDatabase(lifespan: object): lifespan is Database {
  return 'withoutModels' in lifespan
}
