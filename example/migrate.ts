import { fileURLToPath } from 'node:url'
import { newLifespan, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'
import { defaultUrl } from './database.js'

/** Runs the pending migrations. Its lifespan has no models, because their tables may not exist yet. */
export async function migrate(): Promise<void> {
  await withSession(newLifespan(undefined, { defaultUrl }), async ({ sequelize }) => {
    const umzug = new Umzug({
      migrations: { glob: ['migrations/*.ts', { cwd: fileURLToPath(new URL('.', import.meta.url)) }] },
      context: sequelize.getQueryInterface(),
      storage: new SequelizeStorage({ sequelize }),
      logger: undefined,
    })
    await umzug.up()
  })
}
