import type { Sequelize } from 'sequelize'
import { fitting } from '../core/option-checks.js'
import { isRecord } from '../core/records.js'
import type { LifespanOptions } from './config/lifespan-options.js'
import { Database } from './database.js'

const urlOrInstance = fitting(
  (value) => typeof value === 'string' || (isRecord(value) && 'getDialect' in value),
  'a URL, a Sequelize instance, or undefined for the URL in the environment; options are the second argument',
)

/**
 * A database for an app that needs other options than {@link lifespan}, or several databases. `source` is a URL, or a Sequelize instance, which is
 * used with all of its models, including those of `Model.init()`, and closed when the app stops. Without a source, the URL in the environment is used.
 *
 * @throws BootError for options that are wrong.
 * @example
 * const audit = newLifespan('postgres+pg://localhost/audit', { models: [Entry] })
 * createApp({ controllers, models: [Hero], lifespan: [lifespan, audit] })
 */
export function newLifespan(source?: string | Sequelize, options: LifespanOptions = {}): Database {
  if (source !== undefined) urlOrInstance(source, 'newLifespan(): the first argument')
  return new Database(source, options)
}

/** The database named by `toolkit_url`, else `DATABASE_URL`, in the environment (any letter case), read when the app starts. */
export const lifespan: Database = newLifespan()
