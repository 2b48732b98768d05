import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { shown } from '../core/options.js'
import type { LifespanOptions } from './config/lifespan-options.js'
import { Database } from './database.js'

/**
 * A database that the program names, for an app with another database than that of the environment, or with several. Without a URL it is the one
 * that the environment names. An app also uses the models of a Sequelize instance that is given here, such as those of `Model.init()`, and closes
 * the instance when it stops.
 *
 * @throws BootError for options that are wrong.
 * @example
 * const audit = newLifespan('postgres+pg://localhost/audit', { models: [Entry] })
 * createApp({ controllers, models: [Hero], lifespan: [lifespan, audit] })
 */
export function newLifespan(source?: string | Sequelize, options: LifespanOptions = {}): Database {
  refuseOtherThanSource(source)
  return new Database(source, options)
}

function refuseOtherThanSource(source: unknown): void {
  if (source === undefined || typeof source === 'string') return
  if (typeof source === 'object' && source !== null && 'getDialect' in source) return
  throw new BootError(
    `newLifespan(): the first argument is ${shown(source)}. Write a URL, a Sequelize instance, or undefined for the URL in the environment; options are the second argument.`,
  )
}

/** The database named by `toolkit_url`, else `DATABASE_URL`, in the environment (any letter case), read when the app starts. */
export const lifespan: Database = newLifespan()
