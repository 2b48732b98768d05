import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { shown } from '../core/options.js'
import type { LifespanOptions } from './config/lifespan-options.js'
import { Database } from './database.js'

/**
 * A database for an app that needs other options than {@link lifespan}, or several databases. `source` is a URL, or a Sequelize instance, which is
 * used with all of its models, also those of `Model.init()`, and closed when the app stops. Without a source, the URL in the environment is used.
 *
 * @throws BootError for options that are wrong.
 * @example
 * const audit = newLifespan('postgres+pg://localhost/audit', { models: [Entry] })
 * createApp({ controllers, models: [Hero], lifespan: [lifespan, audit] })
 */
export function newLifespan(source?: string | Sequelize, options: LifespanOptions = {}): Database {
  requireSource(source)
  return new Database(source, options)
}

function requireSource(source: unknown): void {
  if (source === undefined || typeof source === 'string') return
  if (typeof source === 'object' && source !== null && 'getDialect' in source) return
  throw new BootError(
    `newLifespan(): the first argument is ${shown(source)}. Write a URL, a Sequelize instance, or undefined for the URL in the environment; options are the second argument.`,
  )
}

/** The database named by `toolkit_url`, else `DATABASE_URL`, in the environment (any letter case), read when the app starts. */
export const lifespan: Database = newLifespan()
