import { migrate } from 'sequitur/migrations'
import { database } from './database.js'

// Those of ./migrations, in the order of their names. Never change one that has run in production: add another.
const directory = new URL('./migrations', import.meta.url)
const { applied } = await migrate(database, { directory, log: console.log })
console.log(applied.length === 0 ? 'No migration is pending.' : `Migrated: ${applied.join(', ')}`)
