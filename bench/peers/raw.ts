import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPool, type PoolConnection, type UpsertResult } from 'mariadb'
import { Pool, type PoolClient } from 'pg'
import sqlite3 from 'sqlite3'
import { type Database, pageMeta, type Peer, POOL_SIZE } from './support/peer.js'

/*
 * node:http and SQL by hand, without a framework and an ORM: what the others are compared with.
 */

interface HeroInput {
  readonly name: string
  readonly secret_identity: string
  readonly age: number
}
interface Hero extends HeroInput {
  readonly id: number
}

/** Each method is one transaction. */
interface Heroes {
  list(offset: number, limit: number): Promise<{ readonly rows: readonly Hero[]; readonly total: number }>
  get(id: number): Promise<Hero | undefined>
  /** Undefined if the name exists. */
  create(input: HeroInput): Promise<Hero | undefined>
}

const COUNT = 'SELECT count(*) AS n FROM hero'
const LIST = 'SELECT name, secret_identity, age, id FROM hero ORDER BY id'
const GET = 'SELECT name, secret_identity, age, id FROM hero WHERE id ='
const INSERT = 'INSERT INTO hero (name, secret_identity, age) VALUES'

function onPostgres(url: string): Heroes {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE })
  const transaction = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const result = await work(client)
      await client.query('COMMIT')
      client.release()
      return result
    } catch (error) {
      await client.query('ROLLBACK').then(
        () => client.release(),
        (broken: Error) => client.release(broken),
      )
      throw error
    }
  }
  return {
    list: (offset, limit) =>
      transaction(async (client) => {
        const count = await client.query<{ n: string }>({ name: 'count', text: COUNT })
        const text = `${LIST} LIMIT $1 OFFSET $2`
        const { rows } = await client.query<Hero>({ name: 'list', text, values: [limit, offset] })
        return { rows, total: Number(count.rows[0]?.n) }
      }),
    get: (id) =>
      transaction(async (client) => {
        const { rows } = await client.query<Hero>({ name: 'get', text: `${GET} $1`, values: [id] })
        return rows[0]
      }),
    create: ({ name, secret_identity, age }) =>
      transaction(async (client) => {
        const text = `${INSERT} ($1, $2, $3) RETURNING name, secret_identity, age, id`
        const { rows } = await client.query<Hero>({ name: 'create', text, values: [name, secret_identity, age] })
        return rows[0]
      }).catch(undefinedIf((error) => error.code === '23505')),
  }
}

function onMariaDb(url: string): Heroes {
  const { hostname, port, username, password, pathname } = new URL(url)
  const pool = createPool({
    host: hostname,
    port: Number(port || 3306),
    user: username,
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    connectionLimit: POOL_SIZE,
    insertIdAsNumber: true,
  })
  const transaction = async <T>(work: (connection: PoolConnection) => Promise<T>): Promise<T> => {
    const connection = await pool.getConnection()
    try {
      await connection.beginTransaction()
      const result = await work(connection)
      await connection.commit()
      return result
    } catch (error) {
      await connection.rollback()
      throw error
    } finally {
      await connection.release()
    }
  }
  return {
    list: (offset, limit) =>
      transaction(async (connection) => {
        const [count] = await connection.execute<{ n: bigint }[]>(COUNT)
        const rows = await connection.execute<Hero[]>(`${LIST} LIMIT ? OFFSET ?`, [limit, offset])
        return { rows, total: Number(count?.n) }
      }),
    get: (id) => transaction(async (connection) => (await connection.execute<Hero[]>(`${GET} ?`, [id]))[0]),
    create: (input) =>
      transaction(async (connection) => {
        const values = [input.name, input.secret_identity, input.age]
        const { insertId } = await connection.execute<UpsertResult>(`${INSERT} (?, ?, ?)`, values)
        return { ...pick(input), id: Number(insertId) }
      }).catch(undefinedIf((error) => error.code === 'ER_DUP_ENTRY')),
  }
}

/** One of several connections to a file, with its statements. */
class SqliteConnection {
  readonly #database: sqlite3.Database
  readonly #statements = new Map<string, sqlite3.Statement>()

  constructor(file: string) {
    this.#database = new sqlite3.Database(file).exec('PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000')
  }

  async all<T>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    let statement = this.#statements.get(sql)
    if (!statement) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    const prepared = statement
    return new Promise((resolve, reject) => {
      prepared.all<T>(values, (error, rows) => (error ? reject(error) : resolve(rows)))
    })
  }

  async transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => Promise<T>): Promise<T> {
    await this.all(begin)
    try {
      const result = await work()
      await this.all('COMMIT')
      return result
    } catch (error) {
      await this.all('ROLLBACK')
      throw error
    }
  }
}

/** Connections, each used by one transaction at a time. */
class SqlitePool {
  readonly #idle: SqliteConnection[]
  readonly #waiting: ((connection: SqliteConnection) => void)[] = []

  constructor(file: string, size: number) {
    this.#idle = Array.from({ length: size }, () => new SqliteConnection(file))
  }

  async use<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    const connection =
      this.#idle.pop() ?? (await new Promise<SqliteConnection>((resolve) => this.#waiting.push(resolve)))
    try {
      return await work(connection)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(connection)
      else this.#idle.push(connection)
    }
  }
}

function onSqlite(file: string): Heroes {
  const readers = new SqlitePool(file, 3)
  const writers = new SqlitePool(file, 1)
  return {
    list: (offset, limit) =>
      readers.use((connection) =>
        connection.transaction('BEGIN', async () => {
          const [count] = await connection.all<{ n: number }>(COUNT)
          const rows = await connection.all<Hero>(`${LIST} LIMIT ? OFFSET ?`, [limit, offset])
          return { rows, total: count?.n ?? 0 }
        }),
      ),
    get: (id) =>
      readers.use((connection) =>
        connection.transaction('BEGIN', async () => (await connection.all<Hero>(`${GET} ?`, [id]))[0]),
      ),
    create: ({ name, secret_identity, age }) =>
      writers
        .use((connection) =>
          connection.transaction('BEGIN IMMEDIATE', async () => {
            const sql = `${INSERT} (?, ?, ?) RETURNING name, secret_identity, age, id`
            return (await connection.all<Hero>(sql, [name, secret_identity, age]))[0]
          }),
        )
        .catch(undefinedIf((error) => error.code === 'SQLITE_CONSTRAINT')),
  }
}

function undefinedIf(matches: (error: Error & { readonly code?: unknown }) => boolean): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && matches(error)) return undefined
    throw error
  }
}

function pick({ name, secret_identity, age }: HeroInput): HeroInput {
  return { name, secret_identity, age }
}

function isHeroInput(value: unknown): value is HeroInput {
  if (typeof value !== 'object' || value === null) return false
  const { name, secret_identity, age } = value as Record<string, unknown> // every property is checked
  return typeof name === 'string' && typeof secret_identity === 'string' && Number.isSafeInteger(age)
}

/** A number of digits from `least` on; undefined for anything else. */
function integer(text: string, least: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
  return value >= least && value <= most ? value : undefined
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return undefined
  }
}

function send(response: ServerResponse, status: number, content: unknown): void {
  const body = Buffer.from(JSON.stringify(content))
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
}

const open = { postgres: onPostgres, sqlite: onSqlite, mariadb: onMariaDb } satisfies Record<
  Database['kind'],
  (url: string) => Heroes
>

async function answer(heroes: Heroes | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request
  const queryAt = url.indexOf('?')
  const path = queryAt === -1 ? url : url.slice(0, queryAt)
  if (method === 'GET' && path === '/hello') return send(response, 200, { hello: 'world' })
  if (!heroes) return send(response, 404, { error: 'Not found' })
  if (method === 'GET' && path === '/heros') {
    const query = new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt + 1))
    const offset = integer(query.get('offset') ?? '0', 0)
    const limit = integer(query.get('limit') ?? '10', 1, 100)
    if (offset === undefined || limit === undefined) return send(response, 422, { error: 'No such page' })
    const { rows, total } = await heroes.list(offset, limit)
    return send(response, 200, { data: rows, meta: pageMeta(offset, limit, total) })
  }
  if (method === 'GET' && path.startsWith('/heros/')) {
    const id = integer(path.slice('/heros/'.length), 0)
    if (id === undefined) return send(response, 422, { error: 'The id is not an integer' })
    const hero = await heroes.get(id)
    return hero ? send(response, 200, { data: hero }) : send(response, 404, { error: 'Hero not found' })
  }
  if (method === 'POST' && path === '/heros') {
    const input = await bodyOf(request)
    if (!isHeroInput(input)) return send(response, 422, { error: 'Not a hero' })
    const hero = await heroes.create(input)
    return hero ? send(response, 201, { data: hero }) : send(response, 409, { error: 'Duplicate hero name' })
  }
  return send(response, 404, { error: 'Not found' })
}

export default {
  title: 'node:http + SQL by hand',
  databases: ['postgres', 'sqlite', 'mariadb'],
  async start(database) {
    const heroes = database && open[database.kind](database.url)
    const server = createServer((request, response) => {
      answer(heroes, request, response).catch((error: unknown) => {
        console.error(error)
        send(response, 500, { error: 'Internal server error' })
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port // a TCP server that listens
  },
} satisfies Peer
