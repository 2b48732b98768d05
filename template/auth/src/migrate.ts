import { newLifespan, type Session, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'
import { defaultUrl } from './database.js'
import * as createTask from './migrations/0001-create-task.js'
import * as createPerson from './migrations/0002-create-person.js'

/** In the order in which they run. Never change one that has run in production: add another. */
const migrations = [
  { name: '0001-create-task', ...createTask },
  { name: '0002-create-person', ...createPerson },
]

/** Runs the first pending migration, in a transaction that also has the note that it has run. @returns its name. */
async function runNext({ sequelize }: Session): Promise<string | undefined> {
  const context = sequelize.getQueryInterface()
  const umzug = new Umzug({ migrations, context, storage: new SequelizeStorage({ sequelize }), logger: undefined })
  const [done] = await umzug.up({ step: 1 })
  return done?.name
}

// This lifespan has no models, because their tables may not exist yet.
const lifespan = newLifespan(undefined, { defaultUrl })
const done: string[] = []
for (let name; (name = await withSession(lifespan, runNext)) !== undefined;) {
  if (done.includes(name)) throw new Error(`${name} is pending again. Migrate a database in a file, or on a server.`)
  done.push(name)
}
console.log(done.length === 0 ? 'No migration is pending.' : `Migrated: ${done.join(', ')}`)
