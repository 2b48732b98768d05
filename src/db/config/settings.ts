import type { ClientTokenPlace } from '../../core/client-token.js'
import { variable } from '../../core/environment.js'
import { fromEnvironment } from './environment.js'
import type { LifespanOptions } from './lifespan-options.js'
import { DatabaseStartError } from '../errors.js'
import { type DatabaseConfig, parseDatabaseUrl } from './url.js'
import { defined } from '../../core/records.js'
import { type ServerOptions, type SqliteOptions } from './url-options.js'

/** The configuration of a database. Precedence: code, URL, environment. */
export interface Settings {
  readonly config: DatabaseConfig
  readonly replicas: {
    readonly configs: readonly DatabaseConfig[]
    /** Whether the database itself serves read-only handlers while no replica is available. */
    readonly fallsBack: boolean
  }
  readonly echo: boolean
  readonly sync: boolean
  /** Milliseconds. */
  readonly startTimeout: number
}

export const DEFAULT_START_TIMEOUT = 10_000

/** @throws DatabaseStartError if there is no URL, DatabaseUrlError for a wrong URL. */
export function readSettings(url: string | undefined, options: LifespanOptions): Settings {
  const config = url === undefined ? defaultConfig(options.defaultUrl) : parseDatabaseUrl(url, 'newLifespan')
  const replicas = options.replicas ?? splitUrls(variable('toolkit_replicas') ?? '')
  return {
    config: withOptions(config, options),
    replicas: {
      configs: replicas.map((url) => parseDatabaseUrl(url, options.replicas ? 'replicas' : 'toolkit_replicas')),
      fallsBack: options.replicaFallback ?? fromEnvironment('toolkit_replica_fallback') ?? false,
    },
    echo: options.echo ?? config.options.echo ?? fromEnvironment('toolkit_echo') ?? false,
    sync: options.sync ?? fromEnvironment('toolkit_sync') ?? false,
    startTimeout: readStartTimeout(options),
  }
}

// A comma also separates the hosts of one URL.
function splitUrls(list: string): string[] {
  return list.split(/[\s,]+(?=[\w+]+:\/\/)|\s+|,+$/).filter(Boolean)
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
    poolSize: options.poolSize ?? given.poolSize ?? fromEnvironment('toolkit_pool_size'),
    poolTimeout: options.poolTimeout ?? given.poolTimeout ?? fromEnvironment('toolkit_pool_timeout'),
    connectTimeout: options.connectTimeout ?? given.connectTimeout ?? fromEnvironment('toolkit_connect_timeout'),
    statementTimeout:
      options.statementTimeout ?? given.statementTimeout ?? fromEnvironment('toolkit_statement_timeout'),
    lockTimeout: options.lockTimeout ?? given.lockTimeout ?? fromEnvironment('toolkit_lock_timeout'),
    idleInTransactionTimeout:
      options.idleInTransactionTimeout ??
      given.idleInTransactionTimeout ??
      fromEnvironment('toolkit_idle_in_transaction_timeout'),
    preparedStatements: options.preparedStatements ?? given.preparedStatements,
    fileMode: options.fileMode ?? given.fileMode ?? fromEnvironment('toolkit_file_mode'),
  }
  // SQLite has no options of servers, nor servers those of SQLite: each reads only its own.
  return { ...config, options: { ...config.options, ...defined(merged) } } as DatabaseConfig
}

/** Milliseconds that the start of an app waits for the database. */
export function readStartTimeout({ startTimeout }: LifespanOptions): number {
  return startTimeout ?? fromEnvironment('toolkit_start_timeout') ?? DEFAULT_START_TIMEOUT
}

/** Whether statements may be sent past Sequelize's own query path. */
export function readFastPath({ fastPath }: LifespanOptions): boolean {
  return fastPath ?? fromEnvironment('toolkit_fast_path') ?? true
}

/** Where clients keep the position of their last commit. */
export function readTokenPlace({ readYourWrites }: LifespanOptions): ClientTokenPlace | undefined {
  return readYourWrites ?? fromEnvironment('toolkit_read_your_writes')
}

/** How many processes run the app. */
export function readProcesses({ processes }: LifespanOptions): number {
  return processes ?? fromEnvironment('toolkit_processes') ?? 1
}
