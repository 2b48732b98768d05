import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import type { Database } from 'sequitur'
import { atEndOfFile, endFile } from './end-of-file.js'
import { type Pgbouncer, startPgbouncer } from './pgbouncer.js'
import { startPostgres } from './postgres-server.js'

/**
 * The URL of a new, empty PostgreSQL database, which is dropped when the test file is done. It is on the server of
 * `TEST_POSTGRES_URL`, as under `npm test`, else on one that this process starts for itself. Where `TEST_PGBOUNCER` names the program, the URL leads
 * through PgBouncer in transaction mode.
 */
export async function postgresUrl(): Promise<string> {
  const url = await serverUrl()
  const program = process.env['TEST_PGBOUNCER']
  if (!program) return url
  return (await (pooler ??= findPooler(program, url))).through(url)
}

/** The URL of a new, empty PostgreSQL database that leads to the server itself, also where others lead through PgBouncer. */
export async function serverUrl(): Promise<string> {
  const admin = await (adminUrl ??= findServer())
  const name = `sequitur_${randomBytes(6).toString('hex')}`
  // Of template0, because nobody can be connected to it, and so several can be created at once.
  // To copy its files takes two thirds of what to log its pages takes, and makes the DROP cheaper, too.
  await execute(admin, `CREATE DATABASE ${name} TEMPLATE template0 STRATEGY FILE_COPY`)
  atEndOfFile(() => execute(admin, `DROP DATABASE ${name} WITH (FORCE)`))
  address = new URL(admin)
  return Object.assign(new URL(admin), { pathname: `/${name}` }).href
}

let address: URL | undefined

/** The host and the port of the server itself, once a URL was asked for. */
export function serverAddress(): { readonly host: string; readonly port: number } {
  if (!address) throw new Error('no database was asked for yet')
  return { host: address.hostname, port: Number(address.port || 5432) }
}

/** Lets an account that a test has created connect by the URLs of this file. PgBouncer knows only those that it is told. */
export async function allowAccount(name: string, password: string): Promise<void> {
  await (await pooler)?.allow(name, password)
}

let pooler: Promise<Pgbouncer> | undefined

async function findPooler(program: string, admin: string): Promise<Pgbouncer> {
  const started = await startPgbouncer(program, admin)
  atEnd(started.stop)
  return started
}

let adminUrl: Promise<string> | undefined

async function findServer(): Promise<string> {
  const given = process.env['TEST_POSTGRES_URL']
  if (given) return given
  const server = await startPostgres()
  atEnd(server.stop)
  return server.url
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

const ends: (() => Promise<void>)[] = []

/** Calls back when this process is done. */
function atEnd(end: () => Promise<void>): void {
  if (ends.length === 0) process.once('beforeExit', endAll)
  ends.unshift(end)
}

async function endAll(): Promise<void> {
  await endFile()
  for (const end of ends) await end()
}

/** A connection of its own to the database of an app. */
export async function clientOf(t: TestContext, { database }: { readonly database: Database }): Promise<Client> {
  const { username, password, host, port, database: name } = database.sequelize.config
  const client = new Client({ user: username, password: password ?? '', host, port: Number(port), database: name })
  await client.connect()
  t.after(() => client.end())
  return client
}
