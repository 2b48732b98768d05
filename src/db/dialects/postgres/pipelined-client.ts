import * as pg from 'pg'
import { clientInternals, type ClientInternals, namedQuery, newConnection, type QueryCallback } from './driver.js'
import { PostgresStatements } from './prepared-statements.js'

/** Milliseconds to wait for the server to accept a cancel request. */
const CANCEL_TIMEOUT = 5_000

export interface ClientOptions {
  /** Whether statements with values are prepared on the connection. Off behind PgBouncer, where several clients share a connection. */
  readonly prepared: boolean
}

/**
 * A client that writes all statements of one turn of the event loop to the socket at once, without waiting for results in between,
 * and sends BEGIN together with the first statement.
 */
class PipelinedClient extends pg.Client {
  readonly #options: ClientOptions
  readonly #statements = new PostgresStatements(() => this.#internals.connection)
  #isCorked = false
  #begin: string | undefined
  #beginError: Error | undefined
  #hasBegun = false
  #isReadCommitted = false

  constructor(config: object, options: ClientOptions) {
    super({ ...config, pipeline: true })
    this.#options = options
    // Sequelize adds its error listener after the connection is set up. Without this one, an earlier 'error' event (for example when the
    // server shuts down) would end the process. The error also rejects the pending connect() or query().
    this.on('error', () => {})
  }

  /** Called when the client was taken from the pool. */
  startLease(): void {
    this.#begin = undefined
    this.#hasBegun = false
  }

  /** Sends the statement that begins a transaction together with the next query. If it fails, that query and all later ones fail with its error. */
  beginWithNextQuery(begin: string): void {
    this.#begin = begin
  }

  /** Called when the server has reported its default isolation level. */
  setDefaultIsolation(level: unknown): void {
    this.#isReadCommitted = level === 'read committed'
  }

  /** Whether its server connection is its own, so that statements are prepared on it. */
  get isPrepared(): boolean {
    return this.#options.prepared
  }

  /** Whether a statement outside of a transaction reads what it would read in one: each has a snapshot of its own then. */
  get isReadCommitted(): boolean {
    return this.#isReadCommitted && !this.#statements.isShared
  }

  /** Whether the last BEGIN was executed. Until then no statement of its transaction was. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** False if a raw statement of the program has ended the transaction. */
  get isInTransaction(): boolean {
    return this.#begin !== undefined || this.getTransactionStatus() !== 'I'
  }

  /**
   * Closes the socket, and sends a cancel request if a statement is still running: otherwise the server would notice the closed
   * socket only when that statement ends, and would hold its locks until then.
   * Source: PostgreSQL manual, "Canceling Requests in Progress".
   */
  terminate(): void {
    const { ssl, host, port } = this
    const { connection, processID, secretKey } = this.#internals
    const isBusy = this.#isBusy
    connection.stream.destroy()
    if (!isBusy || processID === null) return
    const other = newConnection(ssl)
    const cancel = () => other.cancel(processID, secretKey)
    other.on('connect', () => (ssl ? other.requestSsl() : cancel()))
    other.on('sslconnect', cancel)
    other.on('error', () => {}) // the statement then ends by statement_timeout
    if (host.startsWith('/')) other.connect(`${host}/.s.PGSQL.${port}`)
    else other.connect(port, host)
    other.stream.setTimeout(CANCEL_TIMEOUT, () => other.stream.destroy())
  }

  get #internals(): ClientInternals {
    return clientInternals(this)
  }

  get #isBusy(): boolean {
    const client = this.#internals
    return Boolean(client._getActiveQuery()) || client._sentQueryQueue.length > 0 || client._queryQueue.length > 0
  }

  // @ts-expect-error Only the two overloads that Sequelize uses, of the seven that pg declares.
  override query(sql: string, values: unknown[] | QueryCallback, callback?: QueryCallback): void {
    const done = typeof values === 'function' ? values : callback
    if (typeof sql !== 'string' || done === undefined) {
      this.#isReadCommitted = false // a query of the program, of any kind
      return this.#superQuery(sql, values, callback)
    }
    this.#send(sql, Array.isArray(values) ? values : undefined, done, false)
  }

  /** Like query(), for SQL whose literals are the same at every execution, so that it can be prepared. */
  queryConstant(sql: string, values: readonly unknown[], callback: QueryCallback): void {
    this.#send(sql, values, callback, true)
  }

  #send(sql: string, values: readonly unknown[] | undefined, callback: QueryCallback, isConstant: boolean): void {
    this.#corkUntilNextTick()
    this.#sendBegin()
    if (this.#isReadCommitted && !this.#statements.has(sql) && CHANGES_DEFAULTS.test(sql)) this.#isReadCommitted = false
    if (values === undefined)
      return this.#plainQuery(sql, (error, result) => callback(this.#beginError ?? error, result))
    const statement = this.#options.prepared ? this.#statements.take(sql, isConstant) : undefined
    const done: QueryCallback = (error, result) => {
      if (statement) this.#statements.giveBack(sql, statement, error)
      callback(this.#beginError ?? error, result)
    }
    this.#superQuery(namedQuery(statement?.name ?? '', sql, values, done))
  }

  #plainQuery(sql: string, callback: QueryCallback): void {
    this.#superQuery(sql, callback)
  }

  #superQuery(...args: unknown[]): void {
    const query = super.query as (...all: unknown[]) => void // for all overloads at once, also pg's own query objects
    return query.apply(this, args)
  }

  #sendBegin(): void {
    if (this.#begin === undefined) return
    const begin = this.#begin
    this.#begin = undefined
    this.#plainQuery(begin, (error) => {
      if (error) this.#beginError = error
      else this.#hasBegun = true
    })
  }

  #corkUntilNextTick(): void {
    if (this.#isCorked) return
    const { stream } = this.connection
    this.#isCorked = true
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }
}

/** SQL that may change the default isolation level of its connection. */
const CHANGES_DEFAULTS = /default_transaction|characteristics|set_config|pg_settings|\breset\b|\bdiscard\b/i

/** The pg library with pipelined clients, for Sequelize's option `dialectModule`. */
export function pipelinedPg(options: ClientOptions): object {
  class Client extends PipelinedClient {
    constructor(config: object) {
      super(config, options)
    }
  }
  return { ...pg, Client, types: { ...pg.types, getTypeParser: utcTypeParser } }
}

const TIMESTAMP_WITHOUT_TIME_ZONE = pg.types.builtins.TIMESTAMP

// Sequelize writes times in UTC, also to a column without a time zone. pg would read such a column in the time zone of the process.
const utcTypeParser: typeof pg.types.getTypeParser = (oid, format) => {
  if (oid !== TIMESTAMP_WITHOUT_TIME_ZONE || format === 'binary') return pg.types.getTypeParser(oid, format)
  const parse: (text: string) => unknown = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)
  return (text: string) => parse(text.replace(/^\d[^ ]* [^ ]+/, '$&+00'))
}

/** Whether the connections of this library are pipelined clients. */
export function isPipelinedLibrary(library: unknown): boolean {
  const Client = typeof library === 'object' && library !== null && 'Client' in library ? library.Client : undefined
  return typeof Client === 'function' && Client.prototype instanceof PipelinedClient
}

export function isPipelined(connection: unknown): connection is PipelinedClient {
  return connection instanceof PipelinedClient
}
