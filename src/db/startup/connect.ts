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

/** A Sequelize instance with the dialect of its database. */
export interface Connection {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  /** Milliseconds to wait for the answer to COMMIT or ROLLBACK; 0 for no limit, as on SQLite, which waits for no network. */
  readonly endTimeout: number
}

/**
 * A new Sequelize instance for a database; nothing is sent to the database yet. `replicas` serve read-only sessions.
 *
 * @throws DatabaseStartError if the driver is not installed, or if a replica is a database of another kind.
 */
export function connect(
  config: DatabaseConfig,
  replicas: readonly DatabaseConfig[],
  sequelizeOptions: Options,
): Connection {
  const dialect = dialectOf(config)
  const options = { ...optionsOf(config), ...sequelizeOptions, ...replication(config, replicas) }
  const { statementTimeout = DEFAULTS.statement } =
    config.dialect === 'sqlite' ? { statementTimeout: 0 } : config.options
  return { sequelize: newSequelize(config, options), dialect, endTimeout: statementTimeout }
}

/** The connection of a Sequelize instance that the program has created. */
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
    throw new DatabaseStartError(
      `Replicas must be servers of the same kind as the database. Write URLs that begin with ${config.dialect}://.`,
    )
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
    dialectOptions: { ...dialectOptions },
  }
}

type ServerDatabase = Exclude<DatabaseConfig, { readonly dialect: 'sqlite' }>

const SSL_MODES: readonly SslMode[] = ['disable', 'require', 'verify-ca', 'verify-full']

// The URL of a replica may require more than that of the database. If it has no sslmode, that of the database applies.
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
