/** What a peer's program may run on. */
export type DatabaseKind = 'postgres' | 'sqlite' | 'mariadb'

/** A database with the table `hero`, which has 10,000 rows. */
export interface Database {
  readonly kind: DatabaseKind
  /** Of SQLite, the path of its file. */
  readonly url: string
}

/**
 * A program that is compared: the default export of a file of `bench/peers`.
 *
 * | request | response |
 * | --- | --- |
 * | `GET /hello` | 200 `{"hello":"world"}` |
 * | `GET /heros?offset=0&limit=10`, by id | 200 `{"data":[hero],"meta":{"offset","total_items","total_pages","page_number"}}` |
 * | `GET /heros/1` | 200 `{"data":hero}`, 404 |
 * | `POST /heros` with `name`, `secret_identity`, `age` | 201 `{"data":hero}`, 409 if the name exists |
 *
 * A hero is `{"name","secret_identity","age","id"}`. Wrong parameters and bodies are a 422, and the body of an error is its own affair.
 * Each request for heroes runs in one transaction, which is committed before the response, on at most ten connections.
 */
export interface Peer {
  /** For tables and charts. */
  readonly title: string
  /** Those that it runs on. */
  readonly databases: readonly DatabaseKind[]
  /** What it needs, and this machine does not have. */
  missing?(): string | undefined
  /** Listens on a free port of 127.0.0.1, and returns the port. Without a database, only `/hello` is asked for. */
  start(database: Database | undefined): Promise<number | Listening>
}

/** A peer that listens in another process. */
export interface Listening {
  readonly port: number
  readonly pid: number
}

/** The most connections to a database. */
export const POOL_SIZE = 10

/** The `meta` of a page. */
export function pageMeta(offset: number, limit: number, total: number) {
  return {
    offset,
    total_items: total,
    total_pages: Math.ceil(total / limit),
    page_number: Math.floor(offset / limit) + 1,
  }
}
