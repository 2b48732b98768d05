import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import sqlite3 from 'sqlite3'
import { startPostgres } from '../support/postgres-server.js'
import { Network } from './network.js'

/** Something that happens to the database, and is over when the promise resolves. */
export interface Fault {
  readonly name: string
  /** Milliseconds that it takes at least. */
  readonly lasts: number
  readonly run: () => Promise<unknown>
}

/** Of the connections of the app. */
export interface Connections {
  readonly all: number
  readonly inTransaction: number
}

/** A database of the soak's own. */
export interface SoakDatabase {
  /** For the app: through the network that can fail. */
  readonly url: string
  /** For the comparison of the rows. */
  readonly directUrl: string
  readonly faults: readonly Fault[]
  /** The most connections that the app may have. */
  readonly poolSize: number
  /** Undefined where the database has no connections. */
  connections(): Promise<Connections | undefined>
  stop(): Promise<void>
}

const POOL_SIZE = 8

/** What a network does to a database. */
function networkFaults(network: Network): Fault[] {
  return [
    { name: 'connections cut', lasts: 0, run: async () => network.cut() },
    { name: 'nothing delivered for 2 s', lasts: 2_000, run: () => frozen(network, 2_000) },
    { name: 'nothing delivered for 8 s', lasts: 8_000, run: () => frozen(network, 8_000) },
  ]
}

async function frozen(network: Network, milliseconds: number): Promise<void> {
  network.freeze()
  await wait(milliseconds)
  network.thaw()
}

async function postgres(): Promise<SoakDatabase> {
  const server = await startPostgres({ lasting: true })
  const ask = async <Row extends object>(text: string): Promise<Row[]> => {
    const client = new Client({ connectionString: server.url })
    client.on('error', () => {}) // of a client that is not used any more
    await client.connect()
    return client.query<Row>(text).then(({ rows }) => rows).finally(() => client.end()) // prettier-ignore
  }
  const network = new Network(new URL(server.url), 5432)
  const others = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  return {
    url: `${await network.through(new URL(server.url))}?pool_size=${POOL_SIZE}`,
    directUrl: server.url,
    poolSize: POOL_SIZE,
    faults: [
      { name: 'one backend ended', lasts: 0, run: () => ask(`SELECT pg_terminate_backend(pid) ${others} LIMIT 1`) },
      { name: 'all backends ended', lasts: 0, run: () => ask(`SELECT pg_terminate_backend(pid) ${others}`) },
      { name: 'statements cancelled', lasts: 0, run: () => ask(`SELECT pg_cancel_backend(pid) ${others}`) },
      { name: 'counters locked for 1 s', lasts: 1_000, run: () => ask('BEGIN; SELECT * FROM counter FOR UPDATE; SELECT pg_sleep(1); COMMIT') }, // prettier-ignore
      { name: 'counters locked for 4 s', lasts: 4_000, run: () => ask('BEGIN; SELECT * FROM counter FOR UPDATE; SELECT pg_sleep(4); COMMIT') }, // prettier-ignore
      { name: 'server killed, away for 2 s', lasts: 2_000, run: () => server.kill().then(() => wait(2_000)).then(server.restart) }, // prettier-ignore
      ...networkFaults(network),
    ],
    async connections() {
      const rows = await ask<{ open: boolean }>(`SELECT state LIKE 'idle in transaction%' AS open ${others}`)
      return { all: rows.length, inTransaction: rows.filter(({ open }) => open).length }
    },
    async stop() {
      network.close()
      await server.stop()
    },
  }
}

async function mariadb(): Promise<SoakDatabase> {
  const given = process.env['TEST_MARIADB_URL']
  if (!given)
    throw new Error('Set TEST_MARIADB_URL to the URL of a MariaDB server, with a user who may create databases')
  const name = `sequitur_soak_${randomBytes(6).toString('hex')}`
  const direct = Object.assign(new URL(given), { pathname: `/${name}` })
  const ask = async (text: string, database = true): Promise<readonly Record<string, unknown>[]> => {
    const { hostname, port, username, password } = direct
    const account = {
      host: hostname,
      port: Number(port || 3306),
      user: username,
      password: decodeURIComponent(password),
    }
    const connection = await createConnection({
      ...account,
      multipleStatements: true,
      ...(database && { database: name }),
    })
    try {
      const [rows] = await connection.query(text)
      return rows as Record<string, unknown>[] // of SELECT
    } finally {
      await connection.end()
    }
  }
  await ask(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`, false)
  const network = new Network(direct, 3306)
  const threads = () =>
    ask(`SELECT id, trx_id IS NOT NULL AS open FROM information_schema.processlist
      LEFT JOIN information_schema.innodb_trx ON id = trx_mysql_thread_id WHERE db = '${name}' AND id <> connection_id()`)
  const end = async (what: 'CONNECTION' | 'QUERY', most = Infinity) => {
    // A thread that has ended since cannot be killed.
    for (const { id } of (await threads()).slice(0, most)) await ask(`KILL ${what} ${String(id)}`).catch(() => {})
  }
  return {
    url: `${await network.through(direct)}?pool_size=${POOL_SIZE}`,
    directUrl: direct.href,
    poolSize: POOL_SIZE,
    faults: [
      { name: 'one connection killed', lasts: 0, run: () => end('CONNECTION', 1) },
      { name: 'all connections killed', lasts: 0, run: () => end('CONNECTION') },
      { name: 'statements killed', lasts: 0, run: () => end('QUERY') },
      {
        name: 'counters locked for 1 s',
        lasts: 1_000,
        run: () => ask('BEGIN; SELECT * FROM counter FOR UPDATE; DO sleep(1); COMMIT'),
      },
      {
        name: 'counters locked for 4 s',
        lasts: 4_000,
        run: () => ask('BEGIN; SELECT * FROM counter FOR UPDATE; DO sleep(4); COMMIT'),
      },
      ...networkFaults(network),
    ],
    async connections() {
      const rows = await threads()
      return { all: rows.length, inTransaction: rows.filter(({ open }) => Number(open) === 1).length }
    },
    async stop() {
      network.close()
      await ask(`DROP DATABASE ${name}`, false)
    },
  }
}

/** @param folder for its file */
async function sqlite(folder: string): Promise<SoakDatabase> {
  const file = join(folder, 'soak.sqlite')
  const url = `sqlite+sqlite3:///${file}`
  const locked = (milliseconds: number) =>
    new Promise<void>((resolve, reject) => {
      const other = new sqlite3.Database(file)
      other.configure('busyTimeout', 5_000)
      other.exec('BEGIN IMMEDIATE', (error) => {
        if (error) return other.close(() => reject(error))
        setTimeout(() => other.exec('COMMIT', () => other.close(() => resolve())), milliseconds)
      })
    })
  return {
    url,
    directUrl: url,
    poolSize: 0,
    faults: [
      { name: 'file locked for 500 ms', lasts: 500, run: () => locked(500) },
      { name: 'file locked for 3 s', lasts: 3_000, run: () => locked(3_000) },
      { name: 'file locked for 12 s', lasts: 12_000, run: () => locked(12_000) },
    ],
    connections: async () => undefined,
    stop: async () => {},
  }
}

const KINDS = { sqlite, postgres, mariadb }
export type Kind = keyof typeof KINDS

export function isKind(name: string): name is Kind {
  return Object.hasOwn(KINDS, name)
}

export function startDatabase(kind: Kind, folder: string): Promise<SoakDatabase> {
  return KINDS[kind](folder)
}
