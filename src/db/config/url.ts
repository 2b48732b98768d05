import { isIPv6 } from 'node:net'
import { isAbsolute, relative, resolve } from 'node:path'
import { DatabaseUrlError } from '../errors.js'
import {
  defined,
  listed,
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
} from './url-options.js'

export interface SqliteConfig {
  readonly dialect: 'sqlite'
  /** An absolute path, or `:memory:`. */
  readonly storage: string
  readonly mode: SqliteMode
  readonly options: SqliteOptions
}

interface ServerConfig {
  /** A name, an address (IPv6 without brackets), or for PostgreSQL the absolute directory of a unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username?: string
  readonly password?: string
  readonly ssl: SslMode
  readonly options: ServerOptions
}

export interface PostgresConfig extends ServerConfig {
  readonly dialect: 'postgres'
  readonly applicationName?: string
}

export interface MysqlConfig extends ServerConfig {
  readonly dialect: 'mysql' | 'mariadb'
  readonly charset?: MysqlCharset
}

/** A database URL, read and checked: no key is there with the value `undefined`. */
export type DatabaseConfig = SqliteConfig | PostgresConfig | MysqlConfig

/**
 * Reads `<dialect>[+<driver>]://...` as SQLAlchemy writes it. `where` names the URL's origin in error messages.
 * @example
 * parseDatabaseUrl('sqlite+sqlite3:///./heroes.sqlite?check_same_thread=false', 'toolkit_url')
 * parseDatabaseUrl('postgres+pg://hero:p%40ss@localhost:5432/heroes?sslmode=verify-full&pool_size=10')
 */
export function parseDatabaseUrl(url: string, where = 'the database URL'): DatabaseConfig {
  const parts = split(url, where)
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

/** The database in a log line, without its password: `sqlite ./heroes.sqlite`, `postgres hero@localhost:5432/heroes`. */
export function describeDatabase(config: DatabaseConfig): string {
  if (config.dialect === 'sqlite') return `sqlite ${fromHere(config.storage)}`
  const user = config.username === undefined ? '' : `${config.username}@`
  const host = isIPv6(config.host) ? `[${config.host}]` : config.host
  return `${config.dialect} ${user}${host}:${config.port}/${config.database}`
}

function fromHere(storage: string): string {
  if (storage === memory) return storage
  const path = relative(process.cwd(), storage)
  return path.startsWith('..') || isAbsolute(path) ? storage : `./${path}`
}

type Dialect = DatabaseConfig['dialect']

interface DialectNames {
  readonly names: readonly string[]
  readonly drivers: readonly [ours: string, ...others: readonly string[]]
}

// The drivers after the first are SQLAlchemy's for the same database, so that the URL of a Python program works here.
const dialects: Readonly<Record<Dialect, DialectNames>> = {
  sqlite: { names: ['sqlite', 'sqlite3'], drivers: ['sqlite3', 'aiosqlite', 'pysqlite'] },
  postgres: { names: ['postgres', 'postgresql', 'pg'], drivers: ['pg', 'asyncpg', 'psycopg', 'psycopg_async'] },
  mysql: { names: ['mysql', 'mysql2'], drivers: ['mysql2', 'aiomysql', 'asyncmy', 'pymysql'] },
  mariadb: { names: ['mariadb'], drivers: ['mariadb', 'aiomysql', 'asyncmy', 'pymysql'] },
}

// Object.keys forgets that the keys of a constant are known.
const dialectNames = Object.keys(dialects) as Dialect[]

function dialectOf(name: string, where: string): Dialect {
  const found = dialectNames.find((dialect) => dialects[dialect].names.includes(name))
  if (found) return found
  throw new DatabaseUrlError(
    where,
    `unknown dialect "${name}". Write ${listed(dialectNames, 'or')}, as in ${examples}.`,
  )
}

function checkDriver(dialect: Dialect, driver: string, where: string): void {
  const { drivers } = dialects[dialect]
  if (drivers.includes(driver)) return
  const owners = dialectNames.filter((owner) => dialects[owner].drivers.includes(driver))
  const problem = owners.length
    ? `"${driver}" is a driver of ${listed(owners)}, not of ${dialect}`
    : `${dialect} has no driver "${driver}"; there are ${listed(drivers)}`
  throw new DatabaseUrlError(where, `${problem}. Write ${dialect}+${drivers[0]}:// or just ${dialect}://.`)
}

interface Parts {
  readonly where: string
  readonly dialect: Dialect
  /** What stands between `//` and the next `/` or `?`. */
  readonly authority: string
  /** What follows the slash after the authority. */
  readonly path: string
  readonly query: string
}

const memory = ':memory:'
const examples = 'sqlite:///./heroes.sqlite or postgres://hero:...@localhost:5432/heroes'
const shape = /^(?<dialect>\w+)(?:\+(?<driver>\w+))?:\/\/(?<authority>[^/?]*)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/s
const memoryShorthand = /^(sqlite3?(?:\+\w+)?):(?:\/\/)?:memory:/i

// WHATWG's URL is not used: it has no idea of four slashes, rewrites hosts and paths, and quotes the URL when it fails.
function split(url: string, where: string): Parts {
  const groups = shape.exec(url.trim().replace(memoryShorthand, `$1:///${memory}`))?.groups
  if (!groups)
    throw new DatabaseUrlError(where, `this is not <dialect>[+<driver>]://... Write for example ${examples}.`)
  const { dialect: name = '', driver, authority = '', path = '', query = '' } = groups
  const dialect = dialectOf(name.toLowerCase(), where)
  if (driver !== undefined) checkDriver(dialect, driver.toLowerCase(), where)
  return { where, dialect, authority, path, query }
}

function decode(text: string, what: string, where: string): string {
  const decoded = decodeOrNothing(text)
  if (decoded === undefined) {
    throw new DatabaseUrlError(
      where,
      `${what} is not percent-encoded UTF-8. Write % as %25, and other signs by their UTF-8 bytes.`,
    )
  }
  if (decoded.includes('\0')) throw new DatabaseUrlError(where, `${what} has a NUL (%00) in it. Leave it out.`)
  return decoded
}

function decodeOrNothing(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function sqliteConfig(parts: Parts): SqliteConfig {
  const storage = storageOf(parts)
  const values = readOptions(parts, ['mode', 'timeout', 'file_mode', 'check_same_thread', ...poolOptionNames])
  return {
    dialect: 'sqlite',
    storage,
    mode: values.mode ?? 'rwc',
    options: { ...poolOptions(values), ...defined({ busyTimeout: values.timeout, fileMode: values.file_mode }) },
  }
}

function storageOf({ authority, path, where }: Parts): string {
  if (authority !== '') {
    throw new DatabaseUrlError(
      where,
      'SQLite has no host, and after two slashes a host is meant. Write three slashes for a path from the working ' +
        'directory (sqlite:///./heroes.sqlite), four for an absolute one (sqlite:////var/lib/heroes.sqlite).',
    )
  }
  const file = decode(path, 'the path', where)
  if (file === '' || file === memory) return memory
  if (/^file:/i.test(file)) {
    throw new DatabaseUrlError(
      where,
      'file: names are not supported. Write the path itself, and its mode as an option: sqlite:///./heroes.sqlite?mode=ro.',
    )
  }
  return resolve(file)
}

type ServerDialect = Exclude<Dialect, 'sqlite'>

const defaultPort: Readonly<Record<ServerDialect, number>> = { postgres: 5432, mysql: 3306, mariadb: 3306 }

function postgresConfig(parts: Parts): PostgresConfig {
  const { host: named, ...server } = readServer(parts, 'postgres')
  const values = readOptions(parts, ['host', 'sslmode', 'application_name', ...serverOptionNames])
  const host = onlyHost(named, values.host, parts.where)
  const ssl = values.sslmode ?? 'disable'
  if (host.startsWith('/') && ssl !== 'disable') {
    throw new DatabaseUrlError(
      parts.where,
      `a unix socket has no TLS, but sslmode=${ssl} asks for it. Leave sslmode out.`,
    )
  }
  const applicationName = defined({ applicationName: values.application_name })
  return { dialect: 'postgres', ...server, host, ssl, ...applicationName, options: serverOptions(values) }
}

function mysqlConfig(parts: Parts, dialect: MysqlConfig['dialect']): MysqlConfig {
  const server = readServer(parts, dialect)
  const values = readOptions(parts, ['sslmode', 'charset', ...serverOptionNames])
  return {
    dialect,
    ...server,
    host: server.host || 'localhost',
    ssl: values.sslmode ?? 'disable',
    ...defined({ charset: values.charset }),
    options: serverOptions(values),
  }
}

function onlyHost(named: string, socketDirectory: string | undefined, where: string): string {
  if (named === '' || socketDirectory === undefined) return socketDirectory ?? (named || 'localhost')
  throw new DatabaseUrlError(
    where,
    'two hosts, one before the database and one as the option host. Write one of them: user@host/database, or for a ' +
      'unix socket its directory alone (postgres://user@/database?host=/var/run/postgresql).',
  )
}

type Server = Pick<ServerConfig, 'host' | 'port' | 'database' | 'username' | 'password'>

/** The host is empty when the URL names none. */
function readServer(parts: Parts, dialect: ServerDialect): Server {
  refuseStrayAt(parts)
  const { authority, where } = parts
  // The last @, so that one which should have been %40 stays part of the password.
  const at = authority.lastIndexOf('@')
  const [, username, password] = /^([^:]*):?(.*)$/s.exec(authority.slice(0, Math.max(at, 0))) ?? []
  return {
    ...readAddress(authority.slice(at + 1), dialect, where),
    database: databaseOf(parts),
    ...defined({
      username: username ? decode(username, 'the user name', where) : undefined,
      password: password ? decode(password, 'the password', where) : undefined,
    }),
  }
}

const encoding = 'percent-encode / ? # @ : % in the user name and the password (/ is %2F, ? is %3F, @ is %40)'

// postgres://hero:a/b@host/heroes: the @ tells that the password did not end where its author meant it to.
function refuseStrayAt({ path, query, where }: Parts): void {
  if (!path.includes('@') && !query.includes('@')) return
  throw new DatabaseUrlError(where, `there is an @ behind the host. Write @ as %40 there, and ${encoding}.`)
}

const address = /^(?:\[(?<ipv6>[^[\]]*)\]|(?<name>[^[\]:,]*))(?::(?<port>\d*))?$/

function readAddress(text: string, dialect: ServerDialect, where: string): Pick<Server, 'host' | 'port'> {
  const { ipv6, name, port: digits } = address.exec(text)?.groups ?? {}
  const host = decode(ipv6 ?? name ?? '', 'the host', where)
  const port = digits ? Number(digits) : defaultPort[dialect]
  const known = ipv6 === undefined ? name !== undefined : isIPv6(host)
  if (known && port >= 1 && port <= 65_535) return { host, port }
  throw new DatabaseUrlError(
    where,
    `before the database there is not one host with a port of 1 to 65535. Write user@host:port or user@[::1]:port, and ${encoding}.`,
  )
}

function databaseOf({ path, where, dialect }: Parts): string {
  if (path !== '' && !path.includes('/')) return decode(path, 'the name of the database', where)
  const problem = path === '' ? 'no database is named' : 'there is more than a database behind the host'
  throw new DatabaseUrlError(where, `${problem}. Write ${dialect}://user@host/database (a slash in the name is %2F).`)
}
