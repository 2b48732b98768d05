import { isAbsolute, relative, resolve } from 'node:path'
import { defined } from '../../core/records.js'
import { DatabaseUrlError } from '../errors.js'
import { readServerAddress, type ServerAddress, showHost } from './server-address.js'
import {
  type MysqlCharset,
  poolOptionNames,
  poolOptions,
  readOptions,
  serverOptionNames,
  type ServerOptions,
  serverOptions,
  type SqliteMode,
  type SqliteOptions,
  type SslMode,
  type TargetServer,
} from './url-options.js'
import { decodePart, MEMORY, splitUrl, type UrlParts } from './url-parts.js'

export interface SqliteConfig {
  readonly dialect: 'sqlite'
  /** An absolute path, or `:memory:`. */
  readonly storage: string
  readonly mode: SqliteMode
  readonly options: SqliteOptions
}

interface ServerConfig extends ServerAddress {
  readonly ssl: SslMode
  readonly options: ServerOptions
}

export interface PostgresConfig extends ServerConfig {
  readonly dialect: 'postgres'
  readonly applicationName?: string
  /** Which servers are used. Default: of several hosts those that accept writes; any otherwise. */
  readonly target?: TargetServer
}

export interface MysqlConfig extends ServerConfig {
  readonly dialect: 'mysql' | 'mariadb'
  readonly charset?: MysqlCharset
}

/** A database URL, read and checked. Missing parts have no key, rather than the value `undefined`. */
export type DatabaseConfig = SqliteConfig | PostgresConfig | MysqlConfig

/**
 * Reads a URL `<dialect>[+<driver>]://...`, in the form of SQLAlchemy. `where` names the origin of the URL in error messages.
 *
 * @throws DatabaseUrlError
 * @example
 * parseDatabaseUrl('sqlite+sqlite3:///./heroes.sqlite?check_same_thread=false', 'toolkit_url')
 * parseDatabaseUrl('postgres+pg://hero:p%40ss@localhost:5432/heroes?sslmode=verify-full&pool_size=10')
 */
export function parseDatabaseUrl(url: string, where = 'the database URL'): DatabaseConfig {
  const parts = splitUrl(url, where)
  switch (parts.dialect) {
    case 'sqlite':
      return sqliteConfig(parts)
    case 'postgres':
      return postgresConfig(parts)
    case 'mysql':
    case 'mariadb':
      return mysqlConfig(parts, parts.dialect)
  }
}

/** The database for a log entry, without its password: `sqlite ./heroes.sqlite`, `postgres hero@localhost:5432/heroes`, `mariadb a:3306,b:3306/heroes`. */
export function describeDatabase(config: DatabaseConfig): string {
  if (config.dialect === 'sqlite') return `sqlite ${relativePath(config.storage)}`
  const user = config.username === undefined ? '' : `${config.username}@`
  return `${config.dialect} ${user}${config.hosts.map(showHost).join(',')}/${config.database}`
}

function relativePath(storage: string): string {
  if (storage === MEMORY) return storage
  const path = relative(process.cwd(), storage)
  return path.startsWith('..') || isAbsolute(path) ? storage : `./${path}`
}

function sqliteConfig(parts: UrlParts): SqliteConfig {
  const storage = storageOf(parts)
  const values = readOptions(parts, ['mode', 'timeout', 'file_mode', 'check_same_thread', ...poolOptionNames])
  return {
    dialect: 'sqlite',
    storage,
    mode: values.mode ?? 'rwc',
    options: { ...poolOptions(values), ...defined({ busyTimeout: values.timeout, fileMode: values.file_mode }) },
  }
}

function storageOf({ authority, path, where }: UrlParts): string {
  if (authority !== '') {
    throw new DatabaseUrlError(
      where,
      'what follows two slashes is a host, and SQLite has none. Write three slashes for a path relative to the working ' +
        'directory (sqlite:///./heroes.sqlite), four for an absolute one (sqlite:////var/lib/heroes.sqlite).',
    )
  }
  const file = decodePart(path, 'the path', where)
  if (file === '' || file === MEMORY) return MEMORY
  if (/^file:/i.test(file)) {
    throw new DatabaseUrlError(
      where,
      'file: names are not supported. Write the path, and its mode as an option: sqlite:///./heroes.sqlite?mode=ro.',
    )
  }
  return resolve(file)
}

function postgresConfig(parts: UrlParts): PostgresConfig {
  const server = readServerAddress(parts, 'postgres')
  const values = readOptions(parts, [
    'host',
    'sslmode',
    'target_session_attrs',
    'application_name',
    ...serverOptionNames,
  ])
  const hosts = namedHosts(server, values.host, parts.where)
  const ssl = values.sslmode ?? 'disable'
  if (hosts.some(({ host }) => host.startsWith('/')) && ssl !== 'disable') {
    throw new DatabaseUrlError(
      parts.where,
      `a unix socket has no TLS, but sslmode=${ssl} requires it. Leave sslmode out.`,
    )
  }
  const named = defined({ applicationName: values.application_name, target: values.target_session_attrs })
  return { dialect: 'postgres', ...server, hosts, ssl, ...named, options: serverOptions(values) }
}

type Hosts = ServerAddress['hosts']

function namedHosts({ hosts }: ServerAddress, socketDirectory: string | undefined, where: string): Hosts {
  const [{ host, port }] = hosts
  if (host === '') return [{ host: socketDirectory ?? 'localhost', port }]
  if (socketDirectory === undefined) return hosts
  throw new DatabaseUrlError(
    where,
    'there are two hosts, one before the database and one as the option host. Write one of them: user@host/database, or for a ' +
      'unix socket only its directory (postgres://user@/database?host=/var/run/postgresql).',
  )
}

function mysqlConfig(parts: UrlParts, dialect: MysqlConfig['dialect']): MysqlConfig {
  const server = readServerAddress(parts, dialect)
  const values = readOptions(parts, ['sslmode', 'charset', ...serverOptionNames])
  return {
    dialect,
    ...server,
    hosts: namedHosts(server, undefined, parts.where),
    ssl: values.sslmode ?? 'disable',
    ...defined({ charset: values.charset }),
    options: serverOptions(values),
  }
}
