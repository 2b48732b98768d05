import type { LifespanOptions } from '../../db/config/lifespan-options.js'
import type { Database } from '../../db/database.js'
import { newLifespan } from '../../db/lifespan.js'
import { LOCK_TIMEOUT } from './lock-retries.js'

/** Statements of migrations may take long; what waits for a lock of a table has all later ones wait too. */
const TIMEOUTS: LifespanOptions = {
  statementTimeout: 0,
  idleInTransactionTimeout: 0,
  lockTimeout: LOCK_TIMEOUT * 1_000,
}

/** The same database for migrations, without models. @throws BootError for a Sequelize instance. */
export function databaseForMigrations(database: Database): Database {
  const { source, options } = database.withoutModels()
  return newLifespan(source, { ...options, ...TIMEOUTS })
}
