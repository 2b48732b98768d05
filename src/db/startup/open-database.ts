import type { Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import type { Constructor } from '../../di/token.js'
import type { LifespanOptions } from '../config/lifespan-options.js'
import { DEFAULT_START_TIMEOUT, readFastPath, readSettings } from '../config/settings.js'
import { describeDatabase } from '../config/url.js'
import { readGeneratedColumns } from '../models/database-generated-columns.js'
import '../models/model-shape.js'
import { checkInternals } from '../sequelize/check-internals.js'
import { disableFastPath } from '../sequelize/fast-path.js'
import { escapeEveryValue } from '../sequelize/value-literals.js'
import { joinCurrentTransaction, joinsCurrentTransaction } from '../session/join-current-transaction.js'
import { connect, type Connection, connectionOf } from './connect.js'
import { mapModels, type ModelOwner } from './map-models.js'
import { checkTables, refuseCorruptedColumns, refuseCostlyPatterns, refuseShadowedColumns } from './schema-check.js'
import { waitForDatabase } from './wait-for-database.js'

export interface DatabaseToOpen {
  /** What the models belong to from now on. */
  readonly owner: ModelOwner
  /** A URL, or an instance of the program; undefined for the URL in the environment. */
  readonly source: string | Sequelize | undefined
  readonly options: LifespanOptions
  readonly models: Iterable<Constructor>
  readonly log: (line: string) => void
}

/**
 * Connects, maps the models, and compares them with the tables.
 *
 * @throws DatabaseUrlError, DatabaseStartError, or BootError for models that cannot work.
 */
export async function openDatabase(database: DatabaseToOpen): Promise<Connection> {
  const { connection, name, sync, startTimeout } = newConnection(database)
  const { sequelize, dialect } = connection
  if (!readFastPath(database.options)) disableFastPath(sequelize)
  try {
    await checkInternals(sequelize)
    await dialect.prepare(sequelize)
    escapeEveryValue(sequelize)
    joinCurrentTransaction(sequelize)
    readGeneratedColumns(sequelize)
    const models = mapModels(sequelize, database.models, database.owner)
    refuseShadowedColumns(models)
    refuseCorruptedColumns(models)
    refuseCostlyPatterns(models)
    await waitForDatabase(sequelize, name, startTimeout, database.log)
    if (sync) await sequelize.sync()
    await checkTables(sequelize, models)
    return connection
  } catch (error) {
    await sequelize.close()
    throw error
  }
}

interface NewConnection {
  readonly connection: Connection
  /** For messages: the URL without its password. */
  readonly name: string
  readonly sync: boolean
  /** Milliseconds. */
  readonly startTimeout: number
}

function newConnection({ source, options, log }: DatabaseToOpen): NewConnection {
  if (typeof source === 'object') return connectionOfProgram(source, options)
  const { config, replicas, echo, sync, startTimeout } = readSettings(source, options)
  const logging = echo ? (sql: string) => log(sql) : false
  return { connection: connect(config, replicas, { logging }), name: describeDatabase(config), sync, startTimeout }
}

function connectionOfProgram(sequelize: Sequelize, options: LifespanOptions): NewConnection {
  if (joinsCurrentTransaction(sequelize))
    throw new BootError(
      'This Sequelize instance was closed with its app and cannot be opened again. Make a new one for each app.',
    )
  const { sync = false, startTimeout = DEFAULT_START_TIMEOUT } = options
  return { connection: connectionOf(sequelize), name: sequelize.getDialect(), sync, startTimeout }
}
