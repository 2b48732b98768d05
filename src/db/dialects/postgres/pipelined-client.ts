import * as pg from 'pg'
import { isCachedPlanError } from '../../error-codes.js'
import { clientInternals, type ClientInternals, namedQuery, newConnection, type QueryCallback } from './driver.js'
import { LENGTH_OF_NAME, statementName } from './statement-names.js'

/** How many statements one connection keeps prepared. Beyond it, the least recently used one is closed. */
const MAX_PREPARED = 200

/** Milliseconds to wait for the server to accept a cancel request. */
const CANCEL_TIMEOUT = 5_000

export interface ClientOptions {
  /** Whether statements with values are prepared on the connection. Off behind PgBouncer, where several clients share a connection. */
  readonly prepared: boolean
}

/** A statement that is prepared on the connection, or will be when its first result arrives. */
interface PreparedStatement {
  readonly name: string
  /** How many of its executions have no result yet. */
  pending: number
  /** The value of the client's use counter at the last use. */
  lastUse: number
}

type ServerError = Error & { readonly code?: string; readonly severity?: string }

/**
 * A client that writes all statements of one turn of the event loop to the socket at once, without waiting for results in between,
 * and sends BEGIN together with the first statement.
 */
class PipelinedClient extends pg.Client {
  readonly #options: ClientOptions
  readonly #statements = new Map<string, PreparedStatement>()
  /** Names of prepared statements that are no longer used. They are closed before the next statement that has values. */
  readonly #obsoleteNames: string[] = []
  #useCount = 0
  #renameCount = 0
  /** Whether other clients use the same server connection, so that nothing can be prepared on it. */
  #isShared = false
  #isCorked = false
  #begin: string | undefined
  #beginError: Error | undefined
  #hasBegun = false

  constructor(config: object, options: ClientOptions) {
    super({ ...config, pipeline: true })
    this.#options = options
    // Sequelize adds its error listener after the connection is set up. Without this one, an earlier 'error' event (for example when the
    // server shuts down) would end the process. The error also rejects the pending connect() or query().
    this.on('error', () => {})
  }

  /** Sends the statement that begins a transaction together with the next query. If it fails, that query and all later ones fail with its error. */
  beginWithNextQuery(begin: string): void {
    this.#begin = begin
    this.#hasBegun = false
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
    if (typeof sql !== 'string' || done === undefined) return this.#superQuery(sql, values, callback)
    this.#send(sql, Array.isArray(values) ? values : undefined, done, false)
  }

  /** Like query(), for SQL whose literals are the same at every execution, so that it can be prepared. */
  queryConstant(sql: string, values: readonly unknown[], callback: QueryCallback): void {
    this.#send(sql, values, callback, true)
  }

  #send(sql: string, values: readonly unknown[] | undefined, callback: QueryCallback, isConstant: boolean): void {
    this.#corkUntilNextTick()
    this.#sendBegin()
    if (values === undefined)
      return this.#plainQuery(sql, (error, result) => callback(this.#beginError ?? error, result))
    const statement = this.#statementOf(sql, isConstant)
    this.#closeObsolete()
    if (statement) statement.pending++
    const done: QueryCallback = (error, result) => {
      if (statement) statement.pending--
      if (error && statement) this.#handlePreparedError(sql, statement, error)
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

  #statementOf(sql: string, isConstant: boolean): PreparedStatement | undefined {
    if (this.#isShared || !this.#options.prepared) return undefined
    const known = this.#statements.get(sql)
    if (known) {
      known.lastUse = ++this.#useCount
      return known
    }
    const name = statementName(sql, isConstant)
    if (name === undefined) return undefined
    if (this.#statements.size >= MAX_PREPARED) this.#evictLeastRecentlyUsed()
    return this.#register(sql, name)
  }

  #register(sql: string, name: string): PreparedStatement {
    const statement = { name, pending: 0, lastUse: ++this.#useCount }
    this.#statements.set(sql, statement)
    return statement
  }

  // A pending statement must stay: pg records it as prepared when its result arrives.
  #evictLeastRecentlyUsed(): void {
    const idle = [...this.#statements].filter(([, { pending }]) => pending === 0)
    const [first, ...rest] = idle
    if (first === undefined) return
    const [sql, { name }] = rest.reduce((least, other) => (other[1].lastUse < least[1].lastUse ? other : least), first)
    this.#statements.delete(sql)
    this.#obsoleteNames.push(name)
  }

  // Close is a message of the protocol, not a statement: unlike DEALLOCATE it also works in a failed transaction.
  #closeObsolete(): void {
    if (this.#obsoleteNames.length === 0) return
    const { connection } = this.#internals
    for (const name of this.#obsoleteNames.splice(0)) {
      connection.close({ type: 'S', name })
      delete connection.parsedStatements[name]
    }
  }

  #handlePreparedError(sql: string, { name }: PreparedStatement, error: ServerError): void {
    if (this.#isSharedConnectionError(name, error)) {
      this.#isShared = true
      error.message += `. ${SHARED_CONNECTION_HINT}`
    } else if (isCachedPlanError(error) || error.severity === undefined) {
      if (this.#statements.get(sql)?.name !== name) return
      // Prepared again under another name: executions that were already sent still use this one.
      this.#obsoleteNames.push(name)
      this.#register(sql, `${name.slice(0, LENGTH_OF_NAME)}_${++this.#renameCount}`)
    }
  }

  // 26000 (no such statement) also follows if preparing failed, for executions of the same SQL that were already sent. pg has then not
  // recorded the statement as prepared.
  #isSharedConnectionError(name: string, { code }: ServerError): boolean {
    return code === '42P05' || (code === '26000' && this.#internals.connection.parsedStatements[name] !== undefined)
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

const SHARED_CONNECTION_HINT =
  'Several clients share this connection, as behind PgBouncer in transaction mode: add prepared_statements=false to the URL of the database'

/** Whether a prepared statement can no longer be executed: a table that it reads was altered, or other clients share the connection. */
export function isOutdatedStatement(error: ServerError): boolean {
  return error.code === '26000' || error.code === '42P05' || isCachedPlanError(error)
}

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
