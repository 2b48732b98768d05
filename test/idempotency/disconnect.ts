import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'

/** What closes all connections to a database from the side of its server; undefined for one without a server. */
export function disconnectAll(url: string): (() => Promise<void>) | undefined {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const database = pathname.slice(1)
  if (protocol.startsWith('sqlite')) return undefined
  const account = {
    host: hostname,
    port: Number(port),
    user: username,
    password: decodeURIComponent(password),
    database,
  }
  return protocol.startsWith('postgres') ? () => disconnectPostgres(account) : () => disconnectMariadb(account)
}

interface Account {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

async function disconnectPostgres(account: Account): Promise<void> {
  const client = new Client(account)
  await client.connect()
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await client.end()
}

async function disconnectMariadb(account: Account): Promise<void> {
  const connection = await createConnection(account)
  const [rows] = await connection.query(
    'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()',
  )
  for (const { id } of rows as { id: number }[]) await connection.query(`KILL ${id}`).catch(() => {}) // it may have ended
  await connection.end()
}
