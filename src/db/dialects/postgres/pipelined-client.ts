import * as pg from 'pg'
import { clientInternals, type ClientInternals, newConnection, type QueryCallback as Callback } from './driver.js'
import { statementName } from './statement-names.js'

/** As many statements as a connection keeps prepared; the least recently used is given back for another one. */
const MOST_PREPARED = 200

/** Milliseconds for the server to take a request to cancel. */
const CANCEL_TIMEOUT = 5_000

export interface ClientOptions {
  /** Prepare statements with values on the connection; off behind PgBouncer, which hands connections around between transactions. */
  readonly prepared: boolean
}

/** A statement that is prepared on the connection, or will be with its first answer. */
interface PreparedStatement {
  readonly name: string
  /** How many answers are awaited. */
  pending: number
  /** Counts up with each use. */
  lastUse: number
}

type ServerError = Error & { readonly code?: string; readonly severity?: string }

// pg's class takes any of five forms of query(); Sequelize uses two: (text, callback) and (text, values, callback).
interface PlainClient {
  query(config: string | { name: string; text: string; values: readonly unknown[] }, callback: Callback): void
}

/**
 * A client that sends what is asked in one turn of the loop in one write, without waiting for answers in between,
 * and BEGIN together with the first statement.
 */
class PipelinedClient extends pg.Client {
  readonly #options: ClientOptions
  readonly #statements = new Map<string, PreparedStatement>()
  /** Names that are of no use any more; closed with the next statement that has values. */
  readonly #closing: string[] = []
  #uses = 0
  #renewals = 0
  /** Whether the server's connection serves others, too, so that nothing can be prepared on it. */
  #isShared = false
  #corked = false
  #begin: string | undefined
  #failedBegin: Error | undefined

  constructor(config: object, options: ClientOptions) {
    super({ ...config, pipeline: true })
    this.#options = options
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
    const { ssl, host, port } = this
    const { connection, processID, secretKey } = this.#internals
    const isBusy = this.#isBusy
    connection.stream.destroy()
    if (!isBusy || processID === null) return
    const other = newConnection(ssl)
    const cancel = () => other.cancel(processID, secretKey)
    other.on('connect', () => (ssl ? other.requestSsl() : cancel()))
    other.on('sslconnect', cancel)
    other.on('error', () => {}) // the statement ends by its own limit then
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

  // @ts-expect-error The forms that Sequelize uses, of the many that the library declares.
  override query(text: string, values: unknown[] | Callback, callback?: Callback): void {
    const answer = typeof values === 'function' ? values : callback
    if (typeof text !== 'string' || answer === undefined) return this.#pass(text, values, callback)
    this.#send(text, Array.isArray(values) ? values : undefined, answer, false)
  }

  /** Like query(), for a text that is the program's own: what literals it has are the same each time. */
  queryConstant(text: string, values: readonly unknown[], answer: Callback): void {
    this.#send(text, values, answer, true)
  }

  #send(text: string, values: readonly unknown[] | undefined, answer: Callback, isConstant: boolean): void {
    this.#cork()
    this.#sendBegin()
    if (values === undefined)
      return this.#plain.query(text, (error, result) => answer(this.#failedBegin ?? error, result))
    const statement = this.#statementOf(text, isConstant)
    this.#closeUseless()
    if (statement) statement.pending++
    this.#plain.query({ name: statement?.name ?? '', text, values }, (error, result) => {
      if (statement) statement.pending--
      if (error && statement) this.#doubt(text, statement, error)
      answer(this.#failedBegin ?? error, result)
    })
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

  #statementOf(text: string, isConstant: boolean): PreparedStatement | undefined {
    if (this.#isShared || !this.#options.prepared) return undefined
    const known = this.#statements.get(text)
    if (known) {
      known.lastUse = ++this.#uses
      return known
    }
    const name = statementName(text, isConstant)
    if (name === undefined) return undefined
    if (this.#statements.size >= MOST_PREPARED) this.#giveBack()
    return this.#remember(text, name)
  }

  #remember(text: string, name: string): PreparedStatement {
    const made = { name, pending: 0, lastUse: ++this.#uses }
    this.#statements.set(text, made)
    return made
  }

  // Not one that is awaited: the library takes it for prepared when the answer comes.
  #giveBack(): void {
    const idle = [...this.#statements].filter(([, { pending }]) => pending === 0)
    const [first, ...rest] = idle
    if (first === undefined) return
    const [text, { name }] = rest.reduce((least, other) => (other[1].lastUse < least[1].lastUse ? other : least), first)
    this.#statements.delete(text)
    this.#closing.push(name)
  }

  // A message of the protocol, no statement: it works in a failed transaction, too.
  #closeUseless(): void {
    if (this.#closing.length === 0) return
    const { connection } = this.#internals
    for (const name of this.#closing.splice(0)) {
      connection.close({ type: 'S', name })
      delete connection.parsedStatements[name]
    }
  }

  #doubt(text: string, { name }: PreparedStatement, error: ServerError): void {
    if (this.#isOfOthers(name, error)) {
      this.#isShared = true
      error.message += `. ${SHARED}`
    } else if (isReplanned(error) || error.severity === undefined) {
      if (this.#statements.get(text)?.name !== name) return
      // By another name: what was sent with this one is still to be answered.
      this.#closing.push(name)
      this.#remember(text, `${name.slice(0, LENGTH_OF_NAME)}_${++this.#renewals}`)
    }
  }

  // A statement that failed while it was prepared does not exist for those of the same text that were sent behind it.
  #isOfOthers(name: string, { code }: ServerError): boolean {
    return code === '42P05' || (code === '26000' && this.#internals.connection.parsedStatements[name] !== undefined)
  }

  #cork(): void {
    if (this.#corked) return
    const { stream } = this.connection
    this.#corked = true
    stream.cork()
    process.nextTick(() => {
      this.#corked = false
      stream.uncork()
    })
  }
}

const SHARED =
  'Several clients share this connection, as behind PgBouncer in transaction mode: add prepared_statements=false to the URL of the database'

const LENGTH_OF_NAME = 'sequitur_'.length + 43

/** Whether a prepared statement is of no use any more: a table that it reads was altered, or the connection is shared with other clients. */
export function isOutdatedPlan(error: ServerError): boolean {
  return error.code === '26000' || error.code === '42P05' || isReplanned(error)
}

function isReplanned({ code, message }: ServerError): boolean {
  return code === '0A000' && /cached plan/.test(message)
}

/** pg with that client, to be given to Sequelize as `dialectModule`. */
export function pipelinedPg(options: ClientOptions): object {
  class Client extends PipelinedClient {
    constructor(config: object) {
      super(config, options)
    }
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

/** Whether the connections of this library send BEGIN with the next query. */
export function isPipelinedLibrary(library: unknown): boolean {
  const { Client } = library as { readonly Client?: unknown }
  return typeof Client === 'function' && Client.prototype instanceof PipelinedClient
}

/** Whether a connection can send BEGIN with the next query. */
export function isPipelined(connection: unknown): connection is PipelinedClient {
  return connection instanceof PipelinedClient
}
