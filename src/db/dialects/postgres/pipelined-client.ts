import * as pg from 'pg'
import type { StatementForm } from '../../dialect.js'
import { cancelStatement } from './cancel.js'
import { clientInternals, type ClientInternals, namedQuery, type QueryCallback, startupParameters } from './driver.js'
import { DirectQuery, type DirectStatement } from './direct-query.js'
import { generateRows } from './generated-rows.js'
import { PostgresStatements } from './prepared-statements.js'
import type { PreparableForm } from './statement-names.js'
import { inTransaction, leavesState, type ServerSettings, STARTUP } from './server-settings.js'

export interface ClientOptions {
  /** Whether statements with values are prepared on the connection. Undefined: where that is possible, see server-connection.ts. */
  readonly prepared: boolean | undefined
  readonly settings: ServerSettings
}

/** What was found out about a pooler. */
export interface SharedConnection {
  readonly isPrepared: boolean
  /** A hash of the columns of all tables: statements that were prepared before a table was altered are no longer found then. */
  readonly schemaHash?: string
}

/**
 * A client that writes all statements of one turn of the event loop to the socket at once, without waiting for results in between,
 * and sends BEGIN together with the first statement.
 */
export class PipelinedClient extends pg.Client {
  readonly #options: ClientOptions
  readonly #statements = new PostgresStatements(() => this.#internals.connection)
  #isCorked = false
  #begin: string | undefined
  #beginSettings = ''
  #beginsApart = false
  #beginError: Error | undefined
  #hasBegun = false
  #isReadCommitted = false
  #hasState = false
  #isPrepared = false
  #generatesRows = false
  /** What is sent with each BEGIN; undefined if the server connection has its settings. */
  #transactionSettings: string | undefined
  #isReadOnlyLease = false
  /** What the server has reported, and reports again after each change. */
  readonly #parameters = new Map<string, string>()

  constructor(config: object, options: ClientOptions) {
    super({ ...config, pipeline: true })
    this.#options = options
    // Sequelize adds its error listener after the connection is set up. Without this one, an earlier 'error' event (for example when the
    // server shuts down) would end the process. The error also rejects the pending connect() or query().
    this.on('error', () => {})
    this.#internals.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) =>
      this.#parameters.set(parameterName, parameterValue),
    )
    this.#internals.connection.on('parameterDescription', ({ dataTypeIDs }: ParameterDescription) => {
      const query = this.#internals._getActiveQuery()
      if (query instanceof DirectQuery) query.handleParameterDescription(dataTypeIDs)
    })
  }

  /** Called by pg. */
  getStartupConf(): Readonly<Record<string, string>> {
    return { ...startupParameters(this), ...STARTUP }
  }

  get options(): ClientOptions {
    return this.#options
  }

  /** The number of the server process, as it was reported when the connection was opened. Poolers report a number of their own. */
  get processId(): number | null {
    return this.#internals.processID
  }

  /** Called when the connection was opened, on the fast path: rows are built by generated code from now on, and {@link queryDirectly} is short. */
  generateRows(): void {
    this.#generatesRows = true
  }

  /** Called when the client was taken from the pool. */
  startLease(isReadOnly: boolean): void {
    this.#begin = undefined
    this.#hasBegun = false
    this.#isReadOnlyLease = isReadOnly
  }

  /** Whether its server is a standby at present; undefined if the server does not report it. */
  get isStandby(): boolean | undefined {
    const value = this.#parameters.get('in_hot_standby')
    return value === undefined ? undefined : value === 'on'
  }

  /** Whether its server refuses writes, as standbys do; undefined if the server does not report it. */
  get isReadOnly(): boolean | undefined {
    return this.isStandby === false ? this.#parameters.get('default_transaction_read_only') === 'on' : this.isStandby
  }

  /** Whether a write that was refused may mean that its server is no primary any more: not if the transaction itself was read-only. */
  get mayHaveLostPrimary(): boolean {
    return !this.#isReadOnlyLease && this.isReadOnly !== false
  }

  /**
   * Sends the statement that begins a transaction together with the next query, and in the same message `settings`, each behind a semicolon. If it fails, that query and all later
   * ones fail with its error.
   *
   * @param isApart whether it is always a message of its own, so that {@link hasBegun} is exact.
   */
  beginWithNextQuery(begin: string, settings: string, isApart: boolean): void {
    this.#begin = begin
    this.#beginSettings = settings
    this.#beginsApart = isApart
  }

  /** Called when the server connection was found to be the client's own. */
  own(defaultIsolation: unknown): void {
    this.#hasState = false // its own settings
    this.#isPrepared = true
    this.#isReadCommitted = defaultIsolation === 'read committed'
  }

  /** Called when a pooler was found, which may take another server connection for each transaction: settings are sent with each BEGIN. */
  share({ isPrepared, schemaHash = '' }: SharedConnection): void {
    this.#isPrepared = isPrepared
    if (schemaHash !== '') this.#statements.mark(schemaHash)
    this.#transactionSettings = inTransaction(this.#options.settings)
  }

  /**
   * Whether a statement outside of a transaction reads what it would read in one: each has a snapshot of its own then. Not behind a pooler, where
   * other clients may change the defaults of the server connection.
   */
  get isReadCommitted(): boolean {
    return this.#isReadCommitted && !this.#statements.isShared
  }

  /** Whether the last BEGIN is known to be executed: see Lease#hasBegun(). */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** False if a raw statement of the program has ended the transaction. */
  get isInTransaction(): boolean {
    return this.#begin !== undefined || this.getTransactionStatus() !== 'I'
  }

  /**
   * Closes the socket. If a statement is still running, it is cancelled first: otherwise the server would notice the closed socket only when that
   * statement ends, and would hold its locks until then. Undefined if nothing has to be waited for.
   */
  terminate(): Promise<void> | undefined {
    const { stream } = this.connection
    if (!this.isBusy) return void stream.destroy()
    return cancelStatement(this, this.#internals).then(() => void stream.destroy())
  }

  /** Whether a statement of the program may have left something on the connection, such as a setting: it cannot serve another request. */
  get hasState(): boolean {
    return this.#hasState
  }

  get #internals(): ClientInternals {
    return clientInternals(this)
  }

  /** Whether it waits for an answer. */
  get isBusy(): boolean {
    const client = this.#internals
    return Boolean(client._getActiveQuery()) || client._sentQueryQueue.length > 0 || client._queryQueue.length > 0
  }

  /** Prepares a statement under this name, executes it, and closes it again. */
  queryOnce(name: string, sql: string, values: readonly unknown[], callback: QueryCallback): void {
    const { connection } = this.#internals
    this.#superQuery(
      namedQuery(name, sql, values, (error, result) => {
        delete connection.parsedStatements[name]
        callback(error, result)
      }),
    )
    connection.close({ type: 'S', name })
  }

  // @ts-expect-error Only the two overloads that Sequelize uses, of the seven that pg declares.
  override query(sql: string, values: readonly unknown[] | QueryCallback, callback?: QueryCallback): void {
    const done = typeof values === 'function' ? values : callback
    if (typeof sql !== 'string' || done === undefined) {
      this.#isReadCommitted = false // a query of the program, of any kind
      return this.#superQuery(sql, values, callback)
    }
    this.#send({ sql, values: Array.isArray(values) ? values : undefined }, done)
  }

  /**
   * Like query(), with a result of which only what {@link DirectResult} has can be used.
   *
   * @param values undefined for SQL that may be several statements, which cannot be prepared.
   */
  queryDirectly(
    sql: string,
    values: readonly unknown[] | undefined,
    callback: QueryCallback,
    form: StatementForm | undefined,
  ): void {
    // Other SQL without values is not prepared: that saves little, and after a change of its columns it would fail once.
    const isExtended = values !== undefined && (values.length > 0 || form === 'count')
    const begin = this.#begin
    if (begin !== undefined && form === 'slice' && !isExtended && this.#mayBeginWithRead)
      return this.#sendWithBegin(begin, sql, callback)
    const isDirect = this.#generatesRows
    this.#send(
      { sql, values: isExtended ? values : undefined, form: preparableForm(form, isDirect), isDirect },
      callback,
    )
  }

  get #mayBeginWithRead(): boolean {
    const hasSettings = this.#beginSettings !== '' || this.#transactionSettings !== undefined
    return this.#generatesRows && !hasSettings && !this.#beginsApart
  }

  /**
   * Sends BEGIN and a read in one message, so that the server answers both at once. Only for SQL that the server can parse: otherwise it would execute
   * nothing of the message, and statements that were sent behind it would be committed one by one.
   */
  #sendWithBegin(begin: string, sql: string, callback: QueryCallback): void {
    this.#corkUntilNextTick()
    this.#begin = undefined
    const before = `${begin}; `
    const onFirst = () => void (this.#hasBegun = true)
    const done: QueryCallback = (error, result) => {
      if (error && !this.#hasBegun) this.#beginError = error
      callback(error && withPositionBehind(before, error), result)
    }
    const statement = { name: '', text: before + sql, values: undefined, prepared: undefined, onFirst }
    this.#superQuery(new DirectQuery(statement, this, done))
  }

  #send({ sql, values, form, isDirect = false }: Statement, callback: QueryCallback): void {
    this.#corkUntilNextTick()
    this.#sendBegin()
    if (this.#isReadCommitted && sql !== 'COMMIT' && !this.#statements.has(sql) && CHANGES_DEFAULTS.test(sql))
      this.#isReadCommitted = false
    if ((form === undefined || form === 'constant') && leavesState(sql)) this.#hasState = true
    const cancelTimer = this.#transactionSettings === undefined ? undefined : this.#cancelLater()
    if (values === undefined) {
      const answered: QueryCallback = (error, result) => {
        clearTimeout(cancelTimer)
        callback(this.#beginError ?? error, result)
      }
      return this.#sendQuery(
        { name: '', text: this.#withSettings(sql), values, prepared: undefined },
        answered,
        isDirect,
      )
    }
    const statement = this.#isPrepared ? this.#statements.take(sql, form) : undefined
    const done: QueryCallback = (error, result) => {
      clearTimeout(cancelTimer)
      if (statement) this.#statements.giveBack(sql, statement, error)
      callback(this.#beginError ?? error, result)
    }
    const { name, text } = statement ?? { name: '', text: sql }
    const prepared = this.#keepsColumns ? statement : undefined
    this.#sendQuery({ name, text, values, prepared }, done, isDirect)
  }

  #sendQuery(statement: DirectStatement, done: QueryCallback, isDirect: boolean): void {
    if (isDirect) return this.#superQuery(new DirectQuery(statement, this, done))
    const { name, text, values } = statement
    const query = namedQuery(name, text, values, done)
    this.#superQuery(this.#generatesRows ? generateRows(query) : query)
  }

  /** Limits a statement outside of transactions, where no setting of the server can. */
  #cancelLater(): NodeJS.Timeout | undefined {
    const { statement_timeout } = this.#options.settings
    if (statement_timeout === 0 || this.getTransactionStatus() !== 'I') return undefined
    return setTimeout(() => void cancelStatement(this, this.#internals), statement_timeout)
  }

  /**
   * Whether a prepared statement has the same columns, or fails. A pooler may prepare it again with others. CockroachDB compares only the families of their
   * types; of the servers with this protocol, PostgreSQL from 14 on reports `in_hot_standby`. Source: ResultColumns.TypesEqual() of CockroachDB.
   */
  get #keepsColumns(): boolean {
    const isPostgres = this.isStandby !== undefined && !this.#parameters.has('crdb_version')
    return isPostgres && this.#transactionSettings === undefined
  }

  #withSettings(sql: string): string {
    const settings = this.#transactionSettings
    const [, begin] = (settings !== undefined && BEGINS.exec(sql)) || []
    return begin === undefined ? sql : `${begin}${settings}`
  }

  #superQuery(...args: unknown[]): void {
    const query = super.query as (...all: unknown[]) => void // for all overloads at once, also pg's own query objects
    return query.apply(this, args)
  }

  #sendBegin(): void {
    if (this.#begin === undefined) return
    const text = `${this.#withSettings(this.#begin)}${this.#beginSettings}`
    this.#begin = undefined
    const begun: QueryCallback = (error) => {
      if (error) this.#beginError = error
      else this.#hasBegun = true
    }
    this.#sendQuery({ name: '', text, values: undefined, prepared: undefined }, begun, this.#generatesRows)
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

/** The server counts the position of an error from the beginning of the message. */
function withPositionBehind(before: string, error: Error & { position?: string | undefined }): Error {
  if (error.position !== undefined) error.position = String(Number(error.position) - before.length)
  return error
}

// Only a direct query asks for the types of a statement before its values are read.
function preparableForm(form: StatementForm | undefined, isDirect: boolean): PreparableForm | undefined {
  if (form === 'varying') return undefined
  const isCovered = form === 'covered' || form === 'slice'
  return form === 'count' || (isCovered && !isDirect) ? 'constant' : form
}

interface Statement {
  readonly sql: string
  /** Undefined for the simple protocol. */
  readonly values: readonly unknown[] | undefined
  readonly form?: PreparableForm | undefined
  readonly isDirect?: boolean
}

/** The statements that begin a transaction, here and in Sequelize. */
const BEGINS = /^(START TRANSACTION\b[^;]*)(?:;\s*)?$/

interface ParameterDescription {
  readonly dataTypeIDs: readonly number[]
}

interface ParameterStatus {
  readonly parameterName: string
  readonly parameterValue: string
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
