import { readFile } from 'node:fs/promises'
import { newLifespan } from 'sequitur'
import { Sequelize } from 'sequelize-typescript'
import { Hero } from '../hero.js'

/** A database whose password expires: whoever renews it writes it to a file, which is read for each new connection. */
export function databaseWithPasswordFile(url: string, file: string) {
  const sequelize = new Sequelize(url, {
    logging: false,
    pool: { max: 10, acquire: 2_000 }, // milliseconds
    // The parameters of Sequitur's URLs, and its defaults, do not apply to an instance of your own.
    dialectOptions: { statement_timeout: 30_000, lock_timeout: 10_000, idle_in_transaction_session_timeout: 60_000 },
  })
  sequelize.addHook('beforeConnect', async (config) => {
    config.password = (await readFile(file, 'utf8')).trim()
  })
  return newLifespan(sequelize, { models: [Hero] })
}
