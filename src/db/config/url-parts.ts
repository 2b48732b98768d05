import { DatabaseUrlError } from '../errors.js'
import { listed } from './url-options.js'

export type DialectName = 'sqlite' | 'postgres' | 'mysql' | 'mariadb'

/** A database URL, split but not decoded. */
export interface UrlParts {
  /** Where the URL comes from, for error messages. */
  readonly where: string
  readonly dialect: DialectName
  /** From `//` to the next `/` or `?`. */
  readonly authority: string
  /** After the slash that follows the authority. */
  readonly path: string
  readonly query: string
}

interface DialectSpelling {
  readonly names: readonly string[]
  readonly drivers: readonly [used: string, ...others: readonly string[]]
}

// The first driver is the one that is used. The others are SQLAlchemy's for the same database, so that the URL of a Python program works here.
const dialects: Readonly<Record<DialectName, DialectSpelling>> = {
  sqlite: { names: ['sqlite', 'sqlite3'], drivers: ['sqlite3', 'aiosqlite', 'pysqlite'] },
  postgres: {
    names: ['postgres', 'postgresql', 'pg'],
    drivers: ['pg', 'asyncpg', 'psycopg', 'psycopg_async', 'psycopg2'],
  },
  mysql: { names: ['mysql', 'mysql2'], drivers: ['mysql2', 'aiomysql', 'asyncmy', 'pymysql'] },
  mariadb: { names: ['mariadb'], drivers: ['mariadb', 'aiomysql', 'asyncmy', 'pymysql'] },
}

// Object.keys() has the type string[], even for a constant.
const dialectNames = Object.keys(dialects) as DialectName[]

export const MEMORY = ':memory:'
const EXAMPLES = 'sqlite:///./heroes.sqlite or postgres://hero:...@localhost:5432/heroes'
const URL_FORM =
  /^(?<dialect>\w+)(?:\+(?<driver>\w+))?:\/\/(?<authority>[^/?]*)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/s
const MEMORY_SHORTHAND = /^(sqlite3?(?:\+\w+)?):(?:\/\/)?:memory:/i

/**
 * Splits `<dialect>[+<driver>]://<authority>/<path>?<query>`. WHATWG's URL is not used: it does not keep four slashes, rewrites hosts and paths,
 * and has the URL, with its password, in its error messages.
 *
 * @throws DatabaseUrlError for another form, an unknown dialect, and a driver of another dialect.
 */
export function splitUrl(url: string, where: string): UrlParts {
  const groups = URL_FORM.exec(url.trim().replace(MEMORY_SHORTHAND, `$1:///${MEMORY}`))?.groups
  if (!groups)
    throw new DatabaseUrlError(where, `this is not <dialect>[+<driver>]://... Write for example ${EXAMPLES}.`)
  const { dialect: name = '', driver, authority = '', path = '', query = '' } = groups
  const dialect = dialectOf(name.toLowerCase(), where)
  if (driver !== undefined) checkDriver(dialect, driver.toLowerCase(), where)
  return { where, dialect, authority, path, query }
}

function dialectOf(name: string, where: string): DialectName {
  const found = dialectNames.find((dialect) => dialects[dialect].names.includes(name))
  if (found) return found
  throw new DatabaseUrlError(
    where,
    `unknown dialect "${name}". Write ${listed(dialectNames, 'or')}, as in ${EXAMPLES}. For another database of Sequelize, give an instance: newLifespan(new Sequelize(...)).`,
  )
}

function checkDriver(dialect: DialectName, driver: string, where: string): void {
  const { drivers } = dialects[dialect]
  if (drivers.includes(driver)) return
  const others = dialectNames.filter((name) => dialects[name].drivers.includes(driver))
  const problem = others.length
    ? `"${driver}" is a driver of ${listed(others)}, not of ${dialect}`
    : `${dialect} has no driver "${driver}". Its drivers are ${listed(drivers)}`
  throw new DatabaseUrlError(where, `${problem}. Write ${dialect}+${drivers[0]}:// or only ${dialect}://.`)
}

/** Decodes a part of the URL; `what` names it in error messages. */
export function decodePart(part: string, what: string, where: string): string {
  const decoded = decodeOrUndefined(part)
  if (decoded === undefined) {
    throw new DatabaseUrlError(
      where,
      `${what} is not percent-encoded UTF-8. Write % as %25, and other special characters as their UTF-8 bytes.`,
    )
  }
  if (decoded.includes('\0')) throw new DatabaseUrlError(where, `${what} contains a NUL (%00). Remove it.`)
  return decoded
}

function decodeOrUndefined(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
