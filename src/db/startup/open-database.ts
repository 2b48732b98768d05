import type { DatabaseFacts } from '../../core/events/channels.js'
import { adviseKeys, generatedKeys } from '../generated-keys.js'
import { existsSync } from 'node:fs'
import { BaseError, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { refuseSecondCopies } from '../../core/package-copies.js'
import type { Constructor } from '../../di/token.js'
import type { LifespanOptions } from '../config/lifespan-options.js'
import { checkEnvironment } from '../config/environment.js'
import { rememberConstraints } from '../models/table-constraints.js'
import type { DatabaseConfig } from '../config/url.js'
import { MEMORY } from '../config/url-parts.js'
import { DEFAULT_START_TIMEOUT, readFastPath, readProcesses, readSettings } from '../config/settings.js'
import type { Dialect } from '../dialect.js'
import { other } from '../dialects/other.js'
import { DatabaseStartError } from '../errors.js'
import { factsOf } from '../events/session-observer.js'
import { adviseUsedColumns } from '../indexes/index-advice.js'
import { readGeneratedColumns } from '../models/database-generated-columns.js'
import { nameIndexColumns, refuseLostIndexes, unknownIndexColumns } from '../models/index-columns.js'
import '../models/model-shape.js'
import { disableFastPath, hasFastPath } from '../sequelize/query.js'
import { requireSupported } from '../supported-version.js'
import { waitWhileFull } from '../servers/full-server.js'
import { knowTypeTexts, renewTypeTexts } from '../sequelize/type-texts.js'
import { escapeEveryValue } from '../sequelize/value-literals.js'
import {
  joinCurrentTransaction,
  markBulkCreated,
  nestFindCreateFind,
  refusalInSession,
} from '../session/join-current-transaction.js'
import { parenthesizeLiterals } from '../statements/parenthesize-literals.js'
import { refuseImpossibleValues } from '../values/impossible-values.js'
import { refuseImpossibleIncrements } from '../values/increments.js'
import { rememberStoredForms } from '../values/stored-forms.js'
import { compileModelMethods } from './compile-model-methods.js'
import { warnOfStandby, warnOfTablesWithoutTransactions, warnOfTooManyConnections } from './server-warnings.js'
import { connect, type Connection, connectionOf } from './connect.js'
import { requireRetry } from './distributed.js'
import { mapModels, type ModelOwner } from './map-models.js'
import { checkTables, refuseCorruptedColumns, refuseCostlyPatterns, refuseShadowedColumns } from './schema-check.js'
import { tableColumn } from './table-columns.js'
import { mayAnswerLater, whenDatabaseAnswers } from './wait-for-database.js'
import { rememberPlainTables } from '../fast-path/fast-path.js'

export interface DatabaseToOpen {
  /** The owner of the models from now on. */
  readonly owner: ModelOwner
  /** A URL, or an instance of the program; undefined for the URL in the environment. */
  readonly source: string | Sequelize | undefined
  readonly options: LifespanOptions
  readonly models: Iterable<Constructor>
  /** What handlers do that conflicts on distributed databases, by the names of those that are not run again. */
  readonly withoutRetry: ReadonlyMap<string, string>
  /** Whether `sync` creates missing tables. Without it they may be missing. */
  readonly createTables: boolean
  /** False for a command that compares them itself: they may differ. */
  readonly comparesTables?: boolean
  readonly log: (line: string) => void
  /** Undefined for a script or a command, which opens few connections. */
  readonly warn?: ((line: string) => void) | undefined
  /** Ends the wait for the database. */
  readonly signal?: AbortSignal | undefined
}

export interface OpenDatabase extends Connection {
  /** How events describe it. */
  readonly facts: DatabaseFacts
}

/**
 * Connects, maps the models, and compares them with the tables.
 *
 * @throws DatabaseUrlError, DatabaseStartError for a database or an environment variable that cannot be used, or BootError for models that
 * cannot work.
 */
export async function openDatabase(database: DatabaseToOpen): Promise<OpenDatabase> {
  refuseSecondCopies({ hasDatabase: true })
  checkEnvironment()
  const { connection, sync, startTimeout } = await newConnection(database)
  const { sequelize, dialect, name } = connection
  if (!readFastPath(database.options)) disableFastPath(sequelize)
  try {
    requireSupported('sequelize', Sequelize)
    const { boundary } = database.options
    await adaptInstance(connection, boundary)
    const models = mapModels(sequelize, database.models, database.owner)
    adaptModels(models)
    boundary?.prepare(sequelize, models)
    const { log, signal } = database
    const once = onceEach(database)
    const { comparesTables = true } = database
    await whenDatabaseAnswers({ sequelize, dialect, name, timeout: startTimeout, log, signal }, () =>
      comparesTables ? check(connection, models, sync, once) : answer(sequelize),
    )
    if (comparesTables) for (const model of models) adaptToTable(dialect, model)
    if (database.createTables) boundary?.enforce(sequelize)
    return { ...connection, facts: factsOf(sequelize, name) }
  } catch (error) {
    await sequelize.close()
    throw error
  }
}

async function adaptInstance(connection: Connection, boundary: LifespanOptions['boundary']): Promise<void> {
  const { sequelize, dialect, name } = connection
  connection.useServers?.()
  await dialect.prepare(sequelize)
  knowTypeTexts(sequelize)
  waitWhileFull(sequelize)
  escapeEveryValue(sequelize)
  parenthesizeLiterals(sequelize)
  // The literals of other databases, such as N'...' of mssql, are not known.
  if (dialect !== other) {
    const onRefusal = (error: unknown) => refusalInSession(sequelize, error)
    refuseImpossibleValues(sequelize, onRefusal)
    refuseImpossibleIncrements(sequelize, onRefusal)
  }
  factsOf(sequelize, name) // queries outside of sessions, such as those of the start, do not know the name
  joinCurrentTransaction(sequelize, dialect, boundary)
  readGeneratedColumns(sequelize)
}

/** @throws BootError for models that cannot work. */
function adaptModels(models: readonly ModelStatic<Model>[]): void {
  renewTypeTexts(models)
  refuseLostIndexes(models)
  nameIndexColumns(models)
  nestFindCreateFind(models)
  markBulkCreated(models)
  compileModelMethods(models)
  refuseShadowedColumns(models)
  refuseCorruptedColumns(models)
  refuseCostlyPatterns(models)
}

/** Compares the models with the database. May run again, if a connection is lost. */
async function check(
  connection: Connection,
  models: readonly ModelStatic<Model>[],
  sync: boolean,
  { options, withoutRetry, createTables, log, warn }: DatabaseToOpen,
): Promise<void> {
  const { sequelize, dialect, name } = connection
  await requireRetry(sequelize, withoutRetry)
  const rivals = dialect.rivals?.(sequelize)
  if (rivals !== undefined) (warn ?? log)(`The database (${name}): ${rivals}`)
  if (warn) await warnOfStandby(connection, warn)
  if (warn) await warnOfTooManyConnections(connection, readProcesses(options), warn)
  if (sync && createTables) await createMissingTables(connection, models)
  const catalog = await checkTables(sequelize, models, { mayBeMissing: sync && !createTables })
  await rememberConstraints(sequelize, models, catalog)
  if (warn) await warnOfTablesWithoutTransactions(connection, models, warn)
  if (warn)
    for (const advice of adviseKeys(await generatedKeys(sequelize, dialect, models)))
      warn(`The database (${name}): ${advice}`)
  for (const advice of warn ? adviseUsedColumns(catalog, models, options.boundary?.columns) : [])
    warn?.(`The database (${name}): ${advice}`)
  const { findPlainTables } = dialect
  if (findPlainTables && hasFastPath(sequelize)) await rememberPlainTables(sequelize, models, findPlainTables)
  await options.boundary?.check(sequelize, warn && ((line) => warn(`The database (${name}): ${line}`)))
}

async function answer(sequelize: Sequelize): Promise<void> {
  await sequelize.query('SELECT 1')
}

/** Warns of each thing once, also if the checks run again. */
function onceEach(database: DatabaseToOpen): DatabaseToOpen {
  const { warn } = database
  const known = new Set<string>()
  const warnOnce = (line: string) => {
    if (!known.has(line)) warn?.(line)
    known.add(line)
  }
  return { ...database, warn: warn && warnOnce }
}

function adaptToTable(dialect: Dialect, model: ModelStatic<Model>): void {
  const typeOf = (field: string) => tableColumn(model, field)?.type
  dialect.adaptToTable?.(model, typeOf)
  rememberStoredForms(model, (type, field) => {
    const columnType = typeOf(field)
    return columnType === undefined ? undefined : dialect.storedForm?.(type, columnType)
  })
}

async function createMissingTables(
  { sequelize, dialect, name }: Connection,
  models: readonly ModelStatic<Model>[],
): Promise<void> {
  try {
    await sequelize.sync()
  } catch (cause) {
    if (!(cause instanceof BaseError) || mayAnswerLater(cause, dialect)) throw cause
    const causes = unknownIndexColumns(models)
    throw new DatabaseStartError(
      [`Cannot create the missing tables (${name}): ${cause.message}`, ...causes].join('\n'),
      { cause },
    )
  }
}

interface NewConnection {
  readonly connection: Connection
  readonly sync: boolean
  /** Milliseconds. */
  readonly startTimeout: number
}

async function newConnection({
  source,
  options,
  createTables,
  comparesTables = true,
  log,
}: DatabaseToOpen): Promise<NewConnection> {
  if (typeof source === 'object') return connectionOfProgram(source, options)
  const { config, replicas, echo, sync, startTimeout } = readSettings(source, options)
  const logging = echo ? (sql: string) => log(sql) : false
  return {
    connection: await connect(createTables ? config : existing(config, sync || !comparesTables), replicas, { logging }),
    sync,
    startTimeout,
  }
}

/** The database without creating the file of SQLite. With `sync` a missing one is the same as an empty database. */
function existing(config: DatabaseConfig, sync: boolean): DatabaseConfig {
  if (config.dialect !== 'sqlite' || config.storage === MEMORY || existsSync(config.storage)) return config
  if (sync) return { ...config, storage: MEMORY }
  throw new DatabaseStartError(`There is no file ${config.storage} yet. Run your migrations, or correct the URL.`)
}

/** Instances of the program. Their members are replaced once. */
const used = new WeakSet<Sequelize>()

async function connectionOfProgram(sequelize: Sequelize, options: LifespanOptions): Promise<NewConnection> {
  if (used.has(sequelize))
    throw new BootError(
      'This Sequelize instance is in use by another app, or was closed with its app and cannot be opened again. Make a new one for each app.',
    )
  used.add(sequelize) // before the first await: of two apps that start at once, one has to fail
  const { sync = false, startTimeout = DEFAULT_START_TIMEOUT } = options
  return { connection: await connectionOf(sequelize), sync, startTimeout }
}
