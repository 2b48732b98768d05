import { isIPv6 } from 'node:net'
import { DatabaseUrlError } from '../errors.js'
import { defined } from '../../core/records.js'
import { decodePart, type DialectName, type UrlParts } from './url-parts.js'

export interface Host {
  /** A name, an address (IPv6 without brackets), or for PostgreSQL the absolute directory of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** A database on a server, or on each of several, and the account that uses it. */
export interface ServerAddress {
  /** In the order of the URL: the first that is available is used. */
  readonly hosts: readonly [Host, ...Host[]]
  readonly database: string
  readonly username?: string
  readonly password?: string
}

export type ServerDialect = Exclude<DialectName, 'sqlite'>

const DEFAULT_PORTS: Readonly<Record<ServerDialect, number>> = { postgres: 5432, mysql: 3306, mariadb: 3306 }

/**
 * Reads `user:password@host:port,host:port/database`. If the URL names no host, there is one, whose name is empty.
 *
 * @throws DatabaseUrlError
 */
export function readServerAddress(parts: UrlParts, dialect: ServerDialect): ServerAddress {
  refuseAtAfterHost(parts)
  const { authority, where } = parts
  // The last @ separates, so that one which should have been %40 belongs to the password.
  const at = authority.lastIndexOf('@')
  const [username, ...rest] = authority.slice(0, Math.max(at, 0)).split(':')
  const password = rest.join(':')
  return {
    hosts: readHosts(authority.slice(at + 1), dialect, where),
    database: readDatabase(parts),
    ...defined({
      username: username ? decodePart(username, 'the user name', where) : undefined,
      password: password ? decodePart(password, 'the password', where) : undefined,
    }),
  }
}

const HOW_TO_ENCODE = 'percent-encode / ? # @ : % in the user name and the password (/ is %2F, ? is %3F, @ is %40)'

// In postgres://hero:a/b@host/heroes the slash of the password ends the authority: without this check, "hero" would be the host.
function refuseAtAfterHost({ path, query, where }: UrlParts): void {
  if (!path.includes('@') && !query.includes('@')) return
  throw new DatabaseUrlError(where, `there is an @ after the host. Write @ as %40 there, and ${HOW_TO_ENCODE}.`)
}

const HOST = /^(?:\[(?<ipv6>[^[\]]*)\]|(?<name>[^[\]:]*))(?::(?<port>\d*))?$/

function readHosts(text: string, dialect: ServerDialect, where: string): ServerAddress['hosts'] {
  const [first = '', ...others] = text.split(',')
  const hosts: ServerAddress['hosts'] = [
    readHost(first, dialect, where),
    ...others.map((other) => readHost(other, dialect, where)),
  ]
  if (others.length > 0) refuseEmptyOrEqual(hosts, where)
  return hosts
}

function readHost(text: string, dialect: ServerDialect, where: string): Host {
  const { ipv6, name, port: digits } = HOST.exec(text)?.groups ?? {}
  const host = decodePart(ipv6 ?? name ?? '', 'the host', where)
  const port = digits ? Number(digits) : DEFAULT_PORTS[dialect]
  const isHost = ipv6 === undefined ? name !== undefined : isIPv6(host)
  if (isHost && port >= 1 && port <= 65_535) return { host, port }
  throw new DatabaseUrlError(
    where,
    'before the database there must be a host, or several with commas between them, each with a port of 1 to 65535 or none. ' +
      `Write user@host:port, user@[::1]:port or user@host:port,host:port, and ${HOW_TO_ENCODE}.`,
  )
}

function refuseEmptyOrEqual(hosts: ServerAddress['hosts'], where: string): void {
  const names = hosts.map(showHost)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (hosts.some(({ host }) => host === ''))
    throw new DatabaseUrlError(
      where,
      'one of the hosts has no name. Write each host between the commas, as in user@a:port,b:port.',
    )
  if (twice !== undefined) throw new DatabaseUrlError(where, `the host ${twice} appears twice. Write each host once.`)
}

/** `localhost:5432`, `[::1]:5432` */
export function showHost({ host, port }: Host): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

function readDatabase({ path, where, dialect }: UrlParts): string {
  if (path !== '' && !path.includes('/')) return decodePart(path, 'the name of the database', where)
  const problem = path === '' ? 'the name of the database is missing' : 'there is a second slash after the host'
  throw new DatabaseUrlError(where, `${problem}. Write ${dialect}://user@host/database (a slash in the name is %2F).`)
}
