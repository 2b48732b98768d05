import { variable } from './environment.js'
import type { LifespanOptions } from './lifespan-options.js'
import { DatabaseStartError } from '../errors.js'
import { type DatabaseConfig, parseDatabaseUrl } from './url.js'
import { FILE_MODES, readFileMode, type ServerOptions, type SqliteOptions } from './url-options.js'

/** Everything that is known of a database before it is opened: code says more than the URL, the URL more than the environment. */
export interface Settings {
  readonly config: DatabaseConfig
  readonly replicas: readonly DatabaseConfig[]
  readonly echo: boolean
  readonly sync: boolean
  /** Milliseconds. */
  readonly startTimeout: number
}

export const DEFAULT_START_TIMEOUT = 10_000

/** @throws DatabaseStartError when nothing names the database or a variable is no number, DatabaseUrlError for a URL that cannot be read. */
export function readSettings(url: string | undefined, options: LifespanOptions): Settings {
  const config = url === undefined ? fromEnvironmentUrl(options.defaultUrl) : parseDatabaseUrl(url, 'newLifespan')
  const replicas =
    options.replicas ??
    variable('toolkit_replicas')
      ?.split(/[\s,]+/)
      .filter(Boolean) ??
    []
  return {
    config: withLimits(config, options),
    replicas: replicas.map((replica) => parseDatabaseUrl(replica, 'replicas')),
    echo: options.echo ?? config.options.echo ?? isTrue(variable('toolkit_echo')),
    sync: options.sync ?? isTrue(variable('toolkit_sync')),
    startTimeout: options.startTimeout ?? seconds('toolkit_start_timeout') ?? DEFAULT_START_TIMEOUT,
  }
}

function fromEnvironmentUrl(defaultUrl: string | undefined): DatabaseConfig {
  for (const name of ['toolkit_url', 'DATABASE_URL']) {
    const url = variable(name)
    if (url) return parseDatabaseUrl(url, name)
  }
  if (defaultUrl !== undefined) return parseDatabaseUrl(defaultUrl, 'newLifespan, defaultUrl')
  throw new DatabaseStartError(
    `No database is named. Set toolkit_url (or DATABASE_URL) in the environment, for example\n` +
      `  toolkit_url=sqlite+sqlite3:///./app.sqlite\n  toolkit_url=postgres+pg://user:password@localhost/app\n` +
      `or name it in code: newLifespan('sqlite+sqlite3:///./app.sqlite').`,
  )
}

function withLimits(config: DatabaseConfig, options: LifespanOptions): DatabaseConfig {
  const given: ServerOptions & SqliteOptions = config.options
  const limits = {
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
  const known = Object.entries(limits).filter(([, value]) => value !== undefined)
  // A dialect that has no such limit does not read it.
  return { ...config, options: { ...config.options, ...Object.fromEntries(known) } } as DatabaseConfig
}

function number(name: string): number | undefined {
  const text = variable(name)
  if (text === undefined || text === '') return undefined
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text)
  throw new DatabaseStartError(`${name} must be a number above 0, got '${text}'.`)
}

function seconds(name: string): number | undefined {
  const value = number(name)
  return value === undefined ? undefined : value * 1000
}

/** Whether statements may go past Sequelize's own query path. */
export function readFastPath({ fastPath }: LifespanOptions): boolean {
  return fastPath ?? !isFalse(variable('toolkit_fast_path'))
}

function isFalse(text: string | undefined): boolean {
  return text !== undefined && ['0', 'false', 'no', 'off'].includes(text.toLowerCase())
}

function fileMode(name: string): number | undefined {
  const text = variable(name)
  if (text === undefined || text === '') return undefined
  const mode = readFileMode(text)
  if (mode !== undefined) return mode
  throw new DatabaseStartError(`${name} must be ${FILE_MODES}, got '${text}'.`)
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && ['1', 'true', 'yes', 'on'].includes(text.toLowerCase())
}
