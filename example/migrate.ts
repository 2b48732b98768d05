import { fileURLToPath } from 'node:url'
import { newLifespan, type Session, withSession } from 'sequitur'
import { SequelizeStorage, Umzug } from 'umzug'
import { defaultUrl } from './database.js'

/** Runs the pending migrations, each in a transaction of its own, which also has the note that it has run. */
export async function migrate(): Promise<void> {
  // Without models, because their tables may not exist yet.
  const lifespan = newLifespan(undefined, { defaultUrl })
  while (await withSession(lifespan, runNext));
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
