import { isIPv6 } from 'node:net'
import { DatabaseUrlError } from '../errors.js'
import { defined } from './url-options.js'
import { decodePart, type DialectName, type UrlParts } from './url-parts.js'

/** A database on a server, and the account that uses it. */
export interface ServerAddress {
  /** A name, an address (IPv6 without brackets), or for PostgreSQL the absolute directory of a unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username?: string
  readonly password?: string
}

export type ServerDialect = Exclude<DialectName, 'sqlite'>

const DEFAULT_PORTS: Readonly<Record<ServerDialect, number>> = { postgres: 5432, mysql: 3306, mariadb: 3306 }

/**
 * Reads `user:password@host:port/database`. The host is empty if the URL names none.
 *
 * @throws DatabaseUrlError
 */
export function readServerAddress(parts: UrlParts, dialect: ServerDialect): ServerAddress {
  refuseAtAfterHost(parts)
  const { authority, where } = parts
  // The last @ separates, so that one which should have been %40 belongs to the password.
  const at = authority.lastIndexOf('@')
  const [, username, password] = /^([^:]*):?(.*)$/s.exec(authority.slice(0, Math.max(at, 0))) ?? []
  return {
    ...readHost(authority.slice(at + 1), dialect, where),
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

const HOST = /^(?:\[(?<ipv6>[^[\]]*)\]|(?<name>[^[\]:,]*))(?::(?<port>\d*))?$/

function readHost(text: string, dialect: ServerDialect, where: string): Pick<ServerAddress, 'host' | 'port'> {
  const { ipv6, name, port: digits } = HOST.exec(text)?.groups ?? {}
  const host = decodePart(ipv6 ?? name ?? '', 'the host', where)
  const port = digits ? Number(digits) : DEFAULT_PORTS[dialect]
  const isHost = ipv6 === undefined ? name !== undefined : isIPv6(host)
  if (isHost && port >= 1 && port <= 65_535) return { host, port }
  throw new DatabaseUrlError(
    where,
    `before the database there must be one host, with a port of 1 to 65535. Write user@host:port or user@[::1]:port, and ${HOW_TO_ENCODE}.`,
  )
}

function readDatabase({ path, where, dialect }: UrlParts): string {
  if (path !== '' && !path.includes('/')) return decodePart(path, 'the name of the database', where)
  const problem = path === '' ? 'the name of the database is missing' : 'there is a second slash after the host'
  throw new DatabaseUrlError(where, `${problem}. Write ${dialect}://user@host/database (a slash in the name is %2F).`)
}
