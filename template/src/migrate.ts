import { newLifespan, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'
import { defaultUrl } from './database.js'
import * as createTask from './migrations/0001-create-task.js'

/** In the order in which they run. Never change one that has run in production: add another. */
const migrations = [{ name: '0001-create-task', ...createTask }]

// This lifespan has no models, because their tables may not exist yet.
const done = await withSession(newLifespan(undefined, { defaultUrl }), ({ sequelize }) => {
  const context = sequelize.getQueryInterface()
  return new Umzug({ migrations, context, storage: new SequelizeStorage({ sequelize }), logger: undefined }).up()
})
console.log(done.length === 0 ? 'No migration is pending.' : `Migrated: ${done.map(({ name }) => name).join(', ')}`)
