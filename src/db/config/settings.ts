import { variable } from './environment.js'
import type { LifespanOptions } from './lifespan-options.js'
import { DatabaseStartError } from '../errors.js'
import { type DatabaseConfig, parseDatabaseUrl } from './url.js'
import { defined, FILE_MODES, readFileMode, type ServerOptions, type SqliteOptions } from './url-options.js'

/** The configuration of a database. Precedence: code, URL, environment. */
export interface Settings {
  readonly config: DatabaseConfig
  readonly replicas: readonly DatabaseConfig[]
  readonly echo: boolean
  readonly sync: boolean
  /** Milliseconds. */
  readonly startTimeout: number
}

export const DEFAULT_START_TIMEOUT = 10_000

/** @throws DatabaseStartError if there is no URL or an environment variable has a wrong value, DatabaseUrlError for a wrong URL. */
export function readSettings(url: string | undefined, options: LifespanOptions): Settings {
  const config = url === undefined ? defaultConfig(options.defaultUrl) : parseDatabaseUrl(url, 'newLifespan')
  const replicas = options.replicas ?? (variable('toolkit_replicas') ?? '').split(/[\s,]+/).filter(Boolean)
  return {
    config: withOptions(config, options),
    replicas: replicas.map((replica) => parseDatabaseUrl(replica, 'replicas')),
    echo: options.echo ?? config.options.echo ?? isTrue(variable('toolkit_echo')),
    sync: options.sync ?? isTrue(variable('toolkit_sync')),
    startTimeout: options.startTimeout ?? seconds('toolkit_start_timeout') ?? DEFAULT_START_TIMEOUT,
  }
}

function defaultConfig(defaultUrl: string | undefined): DatabaseConfig {
  for (const name of ['toolkit_url', 'DATABASE_URL']) {
    const url = variable(name)
    if (url) return parseDatabaseUrl(url, name)
  }
  if (defaultUrl !== undefined) return parseDatabaseUrl(defaultUrl, 'newLifespan, defaultUrl')
  throw new DatabaseStartError(
    `There is no database URL. Set toolkit_url (or DATABASE_URL) in the environment, for example\n` +
      `  toolkit_url=sqlite+sqlite3:///./app.sqlite\n  toolkit_url=postgres+pg://user:password@localhost/app\n` +
      `or write the URL in code: newLifespan('sqlite+sqlite3:///./app.sqlite').`,
  )
}

function withOptions(config: DatabaseConfig, options: LifespanOptions): DatabaseConfig {
  const given: ServerOptions & SqliteOptions = config.options
  const merged = {
    poolSize: options.poolSize ?? given.poolSize ?? number('toolkit_pool_size'),
    poolTimeout: options.poolTimeout ?? given.poolTimeout ?? seconds('toolkit_pool_timeout'),
    statementTimeout: options.statementTimeout ?? given.statementTimeout ?? seconds('toolkit_statement_timeout'),
    lockTimeout: options.lockTimeout ?? given.lockTimeout ?? seconds('toolkit_lock_timeout'),
    idleInTransactionTimeout:
      options.idleInTransactionTimeout ??
      given.idleInTransactionTimeout ??
      seconds('toolkit_idle_in_transaction_timeout'),
    preparedStatements: options.preparedStatements ?? given.preparedStatements,
    fileMode: options.fileMode ?? given.fileMode ?? fileMode('toolkit_file_mode'),
  }
  // SQLite has no options of servers, nor servers those of SQLite: each reads only its own.
  return { ...config, options: { ...config.options, ...defined(merged) } } as DatabaseConfig
}

function number(name: string): number | undefined {
  const value = variable(name)
  if (value === undefined || value === '') return undefined
  if (/^\d+(\.\d+)?$/.test(value) && Number(value) > 0) return Number(value)
  throw new DatabaseStartError(`${name} must be a number above 0, got '${value}'.`)
}

function seconds(name: string): number | undefined {
  const value = number(name)
  return value === undefined ? undefined : value * 1000
}

/** Whether statements may be sent past Sequelize's own query path. */
export function readFastPath({ fastPath }: LifespanOptions): boolean {
  return fastPath ?? !isFalse(variable('toolkit_fast_path'))
}

function isFalse(value: string | undefined): boolean {
  return value !== undefined && ['0', 'false', 'no', 'off'].includes(value.toLowerCase())
}

function fileMode(name: string): number | undefined {
  const value = variable(name)
  if (value === undefined || value === '') return undefined
  const mode = readFileMode(value)
  if (mode !== undefined) return mode
  throw new DatabaseStartError(`${name} must be ${FILE_MODES}, got '${value}'.`)
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && ['1', 'true', 'yes', 'on'].includes(value.toLowerCase())
}
