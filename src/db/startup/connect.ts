import type { Options, Sequelize } from 'sequelize'
import { Sequelize as TypescriptSequelize } from 'sequelize-typescript'
import { DEFAULTS, type Dialect } from '../dialect.js'
import { mysql, mysqlOptions } from '../dialects/mysql/mysql.js'
import { other } from '../dialects/other.js'
import { postgres, postgresOptions } from '../dialects/postgres/postgres.js'
import { sqliteDialect, sqliteOptions } from '../dialects/sqlite/sqlite.js'
import { DatabaseStartError } from '../errors.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { type DatabaseConfig, describeDatabase, type SqliteConfig } from '../config/url.js'
import { MEMORY } from '../config/url-parts.js'
import type { SqliteMode, SslMode } from '../config/url-options.js'

/** A Sequelize instance with the dialect of its database. */
export interface Connection {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  /** For messages: the URL without its password. */
  readonly name: string
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
  const name = describeDatabase(config)
  return { sequelize: newSequelize(config, options), dialect, name, endTimeout: statementTimeout }
}

/** The connection of a Sequelize instance that the program has created. */
export function connectionOf(sequelize: Sequelize): Connection {
  const isSqlite = sequelize.getDialect() === 'sqlite'
  const database = isSqlite ? fileOf(sequelize).storage : sequelize.getDatabaseName()
  return {
    sequelize,
    dialect: dialectOfInstance(sequelize),
    name: `${sequelize.getDialect()} ${database}`,
    endTimeout: isSqlite ? 0 : DEFAULTS.statement,
  }
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
      return sqliteDialect({ dialect: 'sqlite', ...fileOf(sequelize), options: {} })
    case 'postgres':
      return postgres
    case 'mysql':
    case 'mariadb':
      return mysql
    default:
      return other
  }
}

// Without a file, Sequelize has an empty host: new Sequelize('sqlite::memory:').
function fileOf(sequelize: Sequelize): Pick<SqliteConfig, 'storage' | 'mode'> {
  const { storage, host, dialectOptions } = sequelizeInternals(sequelize).options
  return { storage: storage || host || MEMORY, mode: modeOf(dialectOptions?.mode) }
}

/** The mode of sqlite3's flags: OPEN_READONLY is 1, OPEN_READWRITE 2, OPEN_CREATE 4. */
function modeOf(flags: unknown): SqliteMode {
  if (typeof flags !== 'number' || (flags & 4) !== 0) return 'rwc'
  return (flags & 2) === 0 ? 'ro' : 'rw'
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
    const problem = cause instanceof Error ? driverProblem(dialect, cause) : undefined
    throw problem === undefined ? cause : new DatabaseStartError(problem, { cause })
  }
}

function driverProblem(dialect: DatabaseConfig['dialect'], { message }: Error): string | undefined {
  const name = PACKAGES[dialect]
  if (message.includes('Please install')) return `The driver for ${dialect} is not installed. Run: npm install ${name}`
  if (message.includes('bindings file'))
    return (
      `The driver ${name} is installed without its compiled part: npm did not run its install script. ` +
      `Run: npm pkg set allowScripts.${name}=true --json && npm rebuild ${name}`
    )
  // As after a change of Node, or in a folder that was copied from another system.
  if (/NODE_MODULE_VERSION|invalid ELF header|\.node\b/.test(message))
    return `The driver ${name} was compiled for another Node or another system: ${message.split('\n', 1)[0]} Run: npm rebuild ${name}`
  return undefined
}
