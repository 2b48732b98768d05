import type { Socket } from 'node:net'
import * as pg from 'pg'

type Callback = (error: Error | null, result?: unknown) => void

/** As many statements as a connection keeps prepared; what a program binds more of is sent as text. */
const MOST_PREPARED = 200

/** Milliseconds for the server to take a request to cancel. */
const CANCEL_TIMEOUT = 5_000

/** A connection as the library sees it. */
interface Connection {
  readonly stream: Socket
  on(event: string, listener: () => void): void
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: unknown): void
}

/** The parts of the library's client that its types leave out. */
interface Inside {
  readonly connection: Connection
  readonly processID: number | null
  readonly secretKey: unknown
  readonly ssl: unknown
  readonly host: string
  readonly port: number
  readonly _sentQueryQueue: readonly unknown[]
  readonly _queryQueue: readonly unknown[]
  _getActiveQuery(): unknown
}

export interface ClientOptions {
  /** Prepare statements with values on the connection; off behind PgBouncer, which hands connections around between transactions. */
  readonly prepared: boolean
}

// pg's class takes any of five forms of query(); Sequelize uses two: (text, callback) and (text, values, callback).
interface PlainClient {
  query(config: string | { name: string; text: string; values: unknown[] }, callback: Callback): void
}

/**
 * A client that sends what is asked in one turn of the loop in one write, without waiting for answers in between,
 * and BEGIN together with the first statement.
 */
class PipelinedClient extends (pg.Client as unknown as new (config: object) => pg.Client) {
  static options: ClientOptions = { prepared: true }
  readonly #names = new Map<string, string>()
  #prepared = 0
  #corked = false
  #begin: string | undefined
  #failedBegin: Error | undefined

  constructor(config: object) {
    super({ ...config, pipeline: true })
    // Sequelize listens only once the connection is set up. An error before that, as of a server that shuts down, has no listener,
    // and would end the process; whoever waits for the connection or for a query is told in any case.
    this.on('error', () => {})
  }

  /** Sends a transaction's beginning with the next query. Should it fail, that query fails with its error, and so do all after it. */
  beginWithNext(text: string): void {
    this.#begin = text
  }

  /** False when a statement of the program's own has ended the transaction behind our back. */
  get isInTransaction(): boolean {
    return this.#begin !== undefined || this.getTransactionStatus() !== 'I'
  }

  /**
   * Closes the connection without a word, and asks the server to end what it still does for it: it would notice only when that has
   * ended by itself, and hold its locks until then. Source: PostgreSQL, "Canceling Requests in Progress".
   */
  drop(): void {
    const { connection, processID, secretKey, ssl, host, port } = this.#inside
    const isBusy = this.#isBusy
    connection.stream.destroy()
    if (!isBusy || processID === null) return
    const other = new (pg as unknown as { Connection: new (config: object) => Connection }).Connection({ ssl })
    const cancel = () => other.cancel(processID, secretKey)
    other.on('connect', () => (ssl ? other.requestSsl() : cancel()))
    other.on('sslconnect', cancel)
    other.on('error', () => {}) // the statement ends by its own limit then
    if (host.startsWith('/')) other.connect(`${host}/.s.PGSQL.${port}`)
    else other.connect(port, host)
    other.stream.setTimeout(CANCEL_TIMEOUT, () => other.stream.destroy())
  }

  get #inside(): Inside {
    return this as unknown as Inside
  }

  get #isBusy(): boolean {
    const inside = this.#inside
    return Boolean(inside._getActiveQuery()) || inside._sentQueryQueue.length > 0 || inside._queryQueue.length > 0
  }

  // @ts-expect-error The forms that Sequelize uses, of the many that the library declares.
  override query(text: string, values: unknown[] | Callback, callback?: Callback): void {
    const answer = typeof values === 'function' ? values : callback
    if (typeof text !== 'string' || answer === undefined) return this.#pass(text, values, callback)
    this.#cork()
    this.#sendBegin()
    const guarded: Callback = (error, result) => {
      if (error && isOutdatedPlan(error)) this.#names.delete(text)
      answer(this.#failedBegin ?? error, result)
    }
    this.#plain.query(Array.isArray(values) ? this.#bound(text, values) : text, guarded)
  }

  // What the library itself asks for, such as a query object with its own callbacks.
  #pass(...args: unknown[]): void {
    return (super.query as (...all: unknown[]) => void).apply(this, args)
  }

  get #plain(): PlainClient {
    return { query: (config, callback) => this.#pass(config, callback) }
  }

  #sendBegin(): void {
    if (this.#begin === undefined) return
    const text = this.#begin
    this.#begin = undefined
    this.#plain.query(text, (error) => {
      if (error) this.#failedBegin = error
    })
  }

  #bound(text: string, values: unknown[]): { name: string; text: string; values: unknown[] } {
    const known = this.#names.get(text)
    if (known !== undefined) return { name: known, text, values }
    const full = !(this.constructor as typeof PipelinedClient).options.prepared || this.#names.size >= MOST_PREPARED
    const name = full ? '' : `sequitur_${++this.#prepared}`
    if (!full) this.#names.set(text, name)
    return { name, text, values }
  }

  #cork(): void {
    if (this.#corked) return
    const { stream } = (this as unknown as { connection: { stream: { cork(): void; uncork(): void } } }).connection
    this.#corked = true
    stream.cork()
    process.nextTick(() => {
      this.#corked = false
      stream.uncork()
    })
  }
}

/** Whether a prepared statement is of no use any more: a table that it reads was altered, or another connection answers. */
export function isOutdatedPlan(error: Error & { readonly code?: string }): boolean {
  return error.code === '26000' || (error.code === '0A000' && /cached plan/.test(error.message))
}

/** pg with that client, to be given to Sequelize as `dialectModule`. */
export function pipelinedPg(options: ClientOptions): object {
  class Client extends PipelinedClient {
    static override options = options
  }
  return { ...pg, Client, types: { ...pg.types, getTypeParser: utcTypeParser } }
}

/** A column that knows no time zone: `timestamp`. */
const ZONELESS = pg.types.builtins.TIMESTAMP

// Sequelize writes moments in UTC. The library reads them as the process's local time where the column has no time zone.
const utcTypeParser: typeof pg.types.getTypeParser = (oid, format) => {
  if (oid !== ZONELESS || format === 'binary') return pg.types.getTypeParser(oid, format)
  const parse = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown
  return (text: string) => parse(text.replace(/^\d[^ ]* [^ ]+/, '$&+00'))
}

/** Whether a connection can send BEGIN with the next query. */
export function isPipelined(connection: unknown): connection is PipelinedClient {
  return connection instanceof PipelinedClient
}
