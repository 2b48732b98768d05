import type { Options, Sequelize } from 'sequelize'
import { Sequelize as TypescriptSequelize } from 'sequelize-typescript'
import { DEFAULTS, type Dialect } from '../dialect.js'
import { mysql, mysqlOptions } from '../dialects/mysql/mysql.js'
import { other } from '../dialects/other.js'
import { postgres, postgresOptions } from '../dialects/postgres/postgres.js'
import { sqliteDialect, sqliteOptions } from '../dialects/sqlite/sqlite.js'
import { DatabaseStartError } from '../errors.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import type { DatabaseConfig } from '../config/url.js'
import type { SslMode } from '../config/url-options.js'

/** A Sequelize instance, and what its database needs beyond it. */
export interface Connection {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  /** Milliseconds to wait for the answer to COMMIT or ROLLBACK; a SQLite file gives its own. */
  readonly endTimeout: number
}

/**
 * A Sequelize instance for a database; nothing is sent to it yet. `replicas` serve what is declared read-only.
 *
 * @throws DatabaseStartError when the driver is not installed.
 */
export function connect(config: DatabaseConfig, replicas: readonly DatabaseConfig[], common: Options): Connection {
  const dialect = dialectOf(config)
  const options = { ...optionsOf(config), ...common, ...replication(config, replicas) }
  const { statementTimeout = DEFAULTS.statement } =
    config.dialect === 'sqlite' ? { statementTimeout: 0 } : config.options
  return { sequelize: newSequelize(config, options), dialect, endTimeout: statementTimeout }
}

/** A Sequelize instance that the program made itself. */
export function connectionOf(sequelize: Sequelize): Connection {
  const endTimeout = sequelize.getDialect() === 'sqlite' ? 0 : DEFAULTS.statement
  return { sequelize, dialect: dialectOfInstance(sequelize), endTimeout }
}

function dialectOf(config: DatabaseConfig): Dialect {
  switch (config.dialect) {
    case 'sqlite':
      return sqliteDialect(config)
    case 'postgres':
      return postgres
    case 'mysql':
    case 'mariadb':
      return mysql
  }
}

function optionsOf(config: DatabaseConfig): Options {
  switch (config.dialect) {
    case 'sqlite':
      return sqliteOptions(config)
    case 'postgres':
      return postgresOptions(config)
    case 'mysql':
    case 'mariadb':
      return mysqlOptions(config)
  }
}

function dialectOfInstance(sequelize: Sequelize): Dialect {
  switch (sequelize.getDialect()) {
    case 'sqlite':
      return sqliteDialect({ dialect: 'sqlite', storage: storageOf(sequelize), mode: 'rwc', options: {} })
    case 'postgres':
      return postgres
    case 'mysql':
    case 'mariadb':
      return mysql
    default:
      return other
  }
}

function storageOf(sequelize: Sequelize): string {
  const { storage, host } = sequelizeInternals(sequelize).options
  return storage ?? host ?? ':memory:'
}

function replication(config: DatabaseConfig, replicas: readonly DatabaseConfig[]): Options {
  if (replicas.length === 0) return {}
  if (config.dialect === 'sqlite' || replicas.some(({ dialect }) => dialect !== config.dialect)) {
    throw new DatabaseStartError(`Replicas must be servers of the same kind as the database itself, ${config.dialect}.`)
  }
  return { replication: { write: {}, read: replicas.map((replica) => readFrom(config, replica)) } }
}

function readFrom(config: ServerDatabase, replica: DatabaseConfig) {
  const { host = '', port, database, username, password } = optionsOf(replica)
  const { dialectOptions } = optionsOf({ ...config, ssl: stricter(config, replica) })
  return {
    host,
    ...(port === undefined ? {} : { port: String(port) }),
    ...(database === undefined ? {} : { database }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    dialectOptions: dialectOptions as object,
  }
}

type ServerDatabase = Exclude<DatabaseConfig, { readonly dialect: 'sqlite' }>

const SSL_MODES: readonly SslMode[] = ['disable', 'require', 'verify-ca', 'verify-full']

// A replica's URL may ask for more than that of the database, and what it leaves out is not less.
function stricter({ ssl }: ServerDatabase, replica: DatabaseConfig): SslMode {
  const other = replica.dialect === 'sqlite' ? 'disable' : replica.ssl
  return SSL_MODES.indexOf(other) > SSL_MODES.indexOf(ssl) ? other : ssl
}

const PACKAGES = { sqlite: 'sqlite3', postgres: 'pg', mysql: 'mysql2', mariadb: 'mariadb' } as const

function newSequelize({ dialect }: DatabaseConfig, options: Options): Sequelize {
  try {
    return new TypescriptSequelize(options)
  } catch (cause) {
    if (!(cause instanceof Error && /Please install/.test(cause.message))) throw cause
    throw new DatabaseStartError(`The driver for ${dialect} is not installed. Run: npm install ${PACKAGES[dialect]}`, {
      cause,
    })
  }
}
