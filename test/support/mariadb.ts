import { randomBytes } from 'node:crypto'
import { type Connection, createConnection } from 'mysql2/promise'
import { atEndOfFile } from './end-of-file.js'

/** The URL of a new, empty database on the server of `TEST_MARIADB_URL`, dropped when the test file is done. */
export async function mariadbUrl(scheme: 'mariadb+mariadb' | 'mysql+mysql2'): Promise<string> {
  const admin = new URL(process.env['TEST_MARIADB_URL'] ?? '')
  const name = `sequitur_${randomBytes(6).toString('hex')}`
  atEndOfFile(() => execute(admin, [`DROP DATABASE IF EXISTS ${name}`]))
  await execute(admin, [`CREATE DATABASE ${name} CHARACTER SET utf8mb4`])
  return `${scheme}://${admin.username}${admin.password ? `:${admin.password}` : ''}@${admin.host}/${name}`
}

/** The options of an own Sequelize instance for a URL of a database here. */
export function mariadbOptions(url: string) {
  const { hostname: host, port, username, password, pathname, protocol } = new URL(url)
  return {
    dialect: protocol.startsWith('mariadb') ? ('mariadb' as const) : ('mysql' as const),
    host,
    port: Number(port || 3306),
    username,
    password,
    database: pathname.slice(1),
    logging: false as const,
  }
}

/** A connection of its own to a database on the server of `TEST_MARIADB_URL`. */
export function connectToMariadb(database: string): Promise<Connection> {
  return connect(new URL(process.env['TEST_MARIADB_URL'] ?? ''), database)
}

function connect(admin: URL, database?: string): Promise<Connection> {
  return createConnection({
    host: admin.hostname,
    port: Number(admin.port || 3306),
    user: admin.username,
    password: decodeURIComponent(admin.password),
    ...(database === undefined ? {} : { database }),
  })
}

async function execute(admin: URL, statements: readonly string[]): Promise<void> {
  const connection = await connect(admin)
  for (const statement of statements) await connection.query(statement)
  await connection.end()
}
