import type { Options, Sequelize } from 'sequelize'
import { Sequelize as TypescriptSequelize } from 'sequelize-typescript'
import { packageManager } from '../../core/package-manager.js'
import { DEFAULTS, type Dialect } from '../dialect.js'
import { other } from '../dialects/other.js'
import { DatabaseStartError } from '../errors.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { ReplicatedPool } from '../servers/replicated-pool.js'
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
  /** Prepares Sequelize for several servers, before the first connection is opened; undefined if there is one. */
  readonly useServers?: () => void
}

/** The replicas of a database, which serve read-only sessions. */
export interface Replicas {
  readonly configs: readonly DatabaseConfig[]
  /** Whether the primary serves them while no replica is available. */
  readonly fallsBack: boolean
}

/**
 * A new Sequelize instance for a database; nothing is sent to the database yet.
 *
 * @throws DatabaseStartError if the driver is not installed, or if a replica is a database of another kind.
 */
export async function connect(
  given: DatabaseConfig,
  replicas: Replicas,
  sequelizeOptions: Options,
): Promise<Connection> {
  refusePreferredStandby(given)
  const config = withConnectTimeout(given, replicas)
  const dialect = await dialectOf(config)
  const options = {
    ...(await optionsOf(config)),
    ...sequelizeOptions,
    ...(await replication(config, replicas.configs)),
  }
  const { statementTimeout = DEFAULTS.statement } =
    config.dialect === 'sqlite' ? { statementTimeout: 0 } : config.options
  const name = describeDatabase(config)
  const sequelize = newSequelize(config, options)
  const useServers = () => useReplicas(sequelize, replicas)
  return { sequelize, dialect, name, endTimeout: statementTimeout, useServers }
}

/** The connection of a Sequelize instance that the program has created. */
export async function connectionOf(sequelize: Sequelize): Promise<Connection> {
  const isSqlite = sequelize.getDialect() === 'sqlite'
  const database = isSqlite ? fileOf(sequelize).storage : sequelize.getDatabaseName()
  return {
    sequelize,
    dialect: await dialectOfInstance(sequelize),
    name: `${sequelize.getDialect()} ${database}`,
    endTimeout: isSqlite ? 0 : DEFAULTS.statement,
  }
}

// Each dialect loads its driver. Those of other databases are not loaded: pg alone is 5 MB, and a twentieth of the start.
const importSqlite = () => import('../dialects/sqlite/sqlite.js')
const importPostgres = () => import('../dialects/postgres/postgres.js')
const importMysql = () => import('../dialects/mysql/mysql.js')

async function dialectOf(config: DatabaseConfig): Promise<Dialect> {
  switch (config.dialect) {
    case 'sqlite':
      return (await importSqlite()).sqliteDialect(config)
    case 'postgres':
      return (await importPostgres()).postgresDialect(config)
    case 'mysql':
    case 'mariadb':
      return (await importMysql()).mysqlDialect(config)
  }
}

async function optionsOf(config: DatabaseConfig): Promise<Options> {
  switch (config.dialect) {
    case 'sqlite':
      return (await importSqlite()).sqliteOptions(config)
    case 'postgres':
      return (await importPostgres()).postgresOptions(config)
    case 'mysql':
    case 'mariadb':
      return (await importMysql()).mysqlOptions(config)
  }
}

async function dialectOfInstance(sequelize: Sequelize): Promise<Dialect> {
  switch (sequelize.getDialect()) {
    case 'sqlite':
      return (await importSqlite()).sqliteDialect({ dialect: 'sqlite', ...fileOf(sequelize), options: {} })
    case 'postgres':
      return (await importPostgres()).postgres
    case 'mysql':
    case 'mariadb':
      return (await importMysql()).mysql
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

// So short, where another server can be tried, that a session that waits for a connection gets one to the other server.
function withConnectTimeout(config: DatabaseConfig, { configs }: Replicas): DatabaseConfig {
  if (config.dialect === 'sqlite' || (config.hosts.length === 1 && configs.length === 0)) return config
  const { poolTimeout = DEFAULTS.pool, connectTimeout = shareOf(poolTimeout, config, configs) } = config.options
  return { ...config, options: { ...config.options, connectTimeout } }
}

const SHORTEST_SHARE = 500

function shareOf(poolTimeout: number, config: ServerDatabase, replicas: readonly DatabaseConfig[]): number {
  const readers = replicas.reduce((sum, replica) => sum + (replica.dialect === 'sqlite' ? 0 : replica.hosts.length), 0)
  const share = Math.ceil(poolTimeout / Math.max(config.hosts.length, readers, 2))
  return Math.min(Math.max(share, SHORTEST_SHARE), DEFAULTS.connect)
}

async function replication(config: DatabaseConfig, replicas: readonly DatabaseConfig[]): Promise<Options> {
  if (replicas.length === 0) return {}
  if (config.dialect === 'sqlite' || replicas.some(({ dialect }) => dialect !== config.dialect)) {
    throw new DatabaseStartError(
      `Replicas must be servers of the same kind as the database. Write URLs that begin with ${config.dialect}://.`,
    )
  }
  const read = replicas.flatMap((replica) =>
    replica.dialect === 'sqlite' ? [] : replica.hosts.map((host) => readFrom(config, { ...replica, hosts: [host] })),
  )
  return { replication: { write: {}, read: await Promise.all(read) } }
}

async function readFrom(config: ServerDatabase, replica: ServerDatabase) {
  const { host = '', port, database, username, password } = await optionsOf(replica)
  const { dialectOptions } = await optionsOf({ ...config, ssl: stricter(config, replica) })
  return {
    host,
    ...(port === undefined ? {} : { port: String(port) }),
    ...(database === undefined ? {} : { database }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    dialectOptions: {
      ...dialectOptions,
      ...(replica.dialect === 'postgres' ? { target: replica.target ?? 'any' } : {}),
    },
  }
}

type ServerDatabase = Exclude<DatabaseConfig, { readonly dialect: 'sqlite' }>

const SSL_MODES: readonly SslMode[] = ['disable', 'require', 'verify-ca', 'verify-full']

// The URL of a replica may require more than that of the database. If it has no sslmode, that of the database applies.
function stricter({ ssl }: ServerDatabase, { ssl: other }: ServerDatabase): SslMode {
  return SSL_MODES.indexOf(other) > SSL_MODES.indexOf(ssl) ? other : ssl
}

function useReplicas(sequelize: Sequelize, replicas: Replicas): void {
  const fallsBack = replicas.fallsBack || replicas.configs.some(prefersStandby)
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const { replication } = manager.config
  const { write } = manager.pool
  if (replication && write) manager.pool = new ReplicatedPool(manager, replication.read, write, { fallsBack })
}

function refusePreferredStandby(config: DatabaseConfig): void {
  if (!prefersStandby(config)) return
  throw new DatabaseStartError(
    'target_session_attrs=prefer-standby is for the URLs of replicas. Leave it out: of several hosts, the one that accepts writes is used.',
  )
}

function prefersStandby(config: DatabaseConfig): boolean {
  return config.dialect === 'postgres' && config.target === 'prefer-standby'
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
  if (message.includes('Please install'))
    return `The driver for ${dialect} is not installed. Run: ${packageManager().add(name)}`
  if (message.includes('bindings file'))
    return (
      `The driver ${name} is installed without its compiled part: ${packageManager().name} did not run its install script. ` +
      packageManager().compile(name)
    )
  // A prebuilt binary, which "rebuild" alone would download again.
  if (/GLIBC(?:XX)?_[\d.]+' not found/.test(message))
    return `The driver ${name} was built for a newer system: ${message.split('\n', 1)[0]} Compile it here: npm_config_build_from_source=true ${packageManager().name} rebuild ${name}`
  // As after a change of Node, or in a folder that was copied from another system.
  if (/NODE_MODULE_VERSION|invalid ELF header|\.node\b/.test(message))
    return `The driver ${name} was compiled for another Node or another system: ${message.split('\n', 1)[0]} Run: ${packageManager().name} rebuild ${name}`
  return undefined
}
