import * as pg from 'pg'
import { BeginningQuery, isExtendable, LastBegin } from './beginning-query.js'
import { cancelStatement } from './cancel.js'
import {
  clientInternals,
  type ClientInternals,
  namedQuery,
  type QueryCallback,
  queryInternals,
  type SentQuery,
  startupParameters,
} from '../../drivers/pg.js'
import { PostgresStatements } from './prepared-statements.js'
import type { PreparableForm } from './statement-names.js'
import { reportWithEnd, unknownCompletion } from './unknown-completion.js'
import {
  ChangedSettings,
  closesStatements,
  inTransaction,
  leavesState,
  type ServerSettings,
  STARTUP,
} from './server-settings.js'
import type { DirectResult, StatementForm } from '../../direct-statement.js'
import { DirectQuery, type DirectStatement, generateRows } from '../../fast-path/pg.js'

export interface ClientOptions {
  /** Whether statements with values are prepared on the connection. Undefined: where that is possible, see server-connection.ts. */
  readonly prepared: boolean | undefined
  readonly settings: ServerSettings
}

/** The findings about a pooler. */
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
  /** BEGIN and its settings. The next query is the first statement of the transaction. */
  #nextBegin: NextBegin | undefined
  /** How many statements it has sent. */
  sentCount = 0
  /** The last BEGIN that was sent. */
  readonly lastBegin = new LastBegin()
  /** Set while the statement is answered whose changes no standby has confirmed. */
  #unconfirmed: Notice | undefined
  /** Why the server has ended the connection while no statement was executed. */
  #endedBy: string | undefined
  #isReadCommitted = false
  #hasState = false
  #isPrepared = false
  #generatesRows = false
  /** The settings that are sent with each BEGIN; undefined if the server connection has its settings. */
  #transactionSettings: string | undefined
  /**
   * Whether a prepared statement has the same columns, or fails. A pooler may prepare it again with others. CockroachDB compares only the families of their
   * types; of the servers with this protocol, PostgreSQL 14 and newer report `in_hot_standby`. Source: ResultColumns.TypesEqual() of CockroachDB.
   */
  #keepsColumns = false
  #isReadOnlyLease = false
  /** The parameters that the server has reported, and reports again after each change. */
  readonly #parameters = new Map<string, string>()
  /** Undefined until the connection is set up, and behind a pooler. */
  #changed: ChangedSettings | undefined

  constructor(config: object, options: ClientOptions) {
    super({ ...config, pipeline: true })
    this.#options = options
    // Sequelize adds its error listener after the connection is set up. Without this one, an earlier 'error' event (for example when the
    // server shuts down) would end the process. The error also rejects the pending connect() or query().
    this.on('error', (error: Error) => {
      if ('severity' in error) this.#endedBy ??= error.message
    })
    this.on('notice', (notice: Notice) => {
      if (notice.routine === WAIT_FOR_STANDBY) this.#unconfirmed = notice
    })
    this.#internals.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      this.#parameters.set(parameterName, parameterValue)
      this.#changed?.note(parameterName, parameterValue)
    })
    this.#internals.connection.on('parameterDescription', ({ dataTypeIDs }: ParameterDescription) => {
      const query = this.#internals._getActiveQuery()
      if (query instanceof DirectQuery || query instanceof BeginningQuery) query.handleParameterDescription(dataTypeIDs)
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
    this.#nextBegin = undefined
    this.lastBegin.isBegun = false
    this.#unconfirmed = undefined
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
   * Sends the statement that begins a transaction together with the next query, and with it `settings`, each after a semicolon. Later queries, except reads
   * that pass, are sent once it has succeeded. If it fails, none of them is executed: all fail with its error.
   *
   * @param isApart whether it is always a message of its own, so that `lastBegin.isBegun` is exact.
   */
  beginWithNextQuery(begin: string, settings: string, isApart: boolean): void {
    const more = `${this.#transactionSettings ?? ''}${settings}`
    this.lastBegin.isBare = settings === '' && !isApart
    this.#nextBegin = { text: begin, settings: more, mayTakeRead: this.#generatesRows && more === '' && !isApart }
  }

  /** Called when the server connection was found to be the client's own. */
  own(defaultIsolation: unknown): void {
    this.#hasState = false // its own settings
    this.#changed = new ChangedSettings(this.#parameters)
    this.#isPrepared = true
    this.#isReadCommitted = defaultIsolation === 'read committed'
    this.#keepsColumns = this.isStandby !== undefined && !this.#parameters.has('crdb_version')
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

  /** False if a raw statement of the program has ended the transaction. */
  get isInTransaction(): boolean {
    return this.#nextBegin !== undefined || this.getTransactionStatus() !== 'I'
  }

  /**
   * Closes the socket. If a statement is still running, it is cancelled first: otherwise the server would notice the closed socket only when that
   * statement ends, and would hold its locks until then. Undefined if nothing must be awaited.
   */
  terminate(): Promise<void> | undefined {
    const { stream } = this.connection
    if (!this.isBusy) return void stream.destroy()
    return cancelStatement(this, this.#internals).then(() => void stream.destroy())
  }

  /** Whether a statement of the program may have left something on the connection, such as a setting: it cannot serve another request. */
  get hasState(): boolean {
    return this.#hasState || this.#changed?.isEmpty === false
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
    this.#submit(
      namedQuery(name, sql, values, (error, result) => {
        delete connection.parsedStatements[name]
        callback(error, result)
      }),
    )
    connection.close({ type: 'S', name })
  }

  // @ts-expect-error Only the two overloads that Sequelize uses, of the seven that pg declares.
  override query(sql: string, values: readonly unknown[] | QueryCallback, callback?: QueryCallback): unknown {
    const done = typeof values === 'function' ? values : callback
    if (typeof sql !== 'string' || done === undefined) {
      this.#isReadCommitted = false // a query of the program, of any kind
      return this.#queryOfProgram([sql, values, callback])
    }
    this.#send({ sql, values: Array.isArray(values) ? values : undefined }, done)
  }

  /**
   * Like query(), but only the members of {@link DirectResult} can be used of the result.
   *
   * @param values undefined for SQL that may be several statements, which cannot be prepared.
   * @param readsAlone whether it reads plain tables, and changes nothing.
   */
  queryDirectly(
    sql: string,
    values: readonly unknown[] | undefined,
    callback: QueryCallback,
    form: StatementForm | undefined,
    readsAlone: boolean,
  ): void {
    // Other SQL without values is not prepared: that saves little, and after a change of its columns it would fail once.
    const isExtended = values !== undefined && (values.length > 0 || form === 'count')
    const begin = this.#nextBegin
    if (begin?.mayTakeRead && form === 'slice' && !isExtended) return this.#sendInOneMessage(begin.text, sql, callback)
    const isDirect = this.#generatesRows
    // Only a direct query asks for the types of a statement before its values are read.
    const isConstant = form === 'count' || (!isDirect && (form === 'covered' || form === 'slice'))
    const preparable = isConstant ? 'constant' : form === 'varying' ? undefined : form
    this.#send({ sql, values: isExtended ? values : undefined, form: preparable, isDirect, readsAlone }, callback)
  }

  /** Sends BEGIN and a read in one message, so that the server answers both at once. After an error it executes nothing of the rest of a message. */
  #sendInOneMessage(begin: string, sql: string, callback: QueryCallback): void {
    if (!this.#isCorked) this.#corkUntilNextTick()
    this.#nextBegin = undefined
    this.lastBegin.isHolding = true
    const before = `${begin}; `
    const onFirst = () => this.lastBegin.begun()
    const done: QueryCallback = (error, result) => {
      const isOfBegin = error !== null && !this.lastBegin.isBegun
      try {
        callback(error && withPositionBehind(before, error), result)
      } finally {
        if (isOfBegin) this.lastBegin.failed(error)
      }
    }
    const statement = { name: '', text: before + sql, values: undefined, prepared: undefined, onFirst }
    this.#submit(new DirectQuery(statement, this, done))
  }

  #send(given: Statement, callback: QueryCallback): void {
    const { sql, values, form, isDirect = false, readsAlone = false } = given
    if (!this.#isCorked) this.#corkUntilNextTick()
    if (this.#nextBegin !== undefined && values === undefined && !isExtendable(sql)) this.#sendBeginApart()
    const passes = readsAlone && this.lastBegin.isHolding && this.lastBegin.letsReadsPass
    if (this.lastBegin.isHolding && !passes) {
      const fail = (error: Error) => callback(error, NOTHING)
      return this.lastBegin.hold(() => this.#send(given, callback), fail)
    }
    if (passes) callback = this.lastBegin.passing(callback)
    if ((form === undefined || form === 'constant') && sql !== 'COMMIT') this.#noteChanges(sql)
    const cancelTimer = this.#transactionSettings === undefined ? undefined : this.#cancelLater()
    if (values === undefined) {
      const answered: QueryCallback = (raised, result) => {
        clearTimeout(cancelTimer)
        const error = raised ? this.#withReason(raised) : this.#unconfirmed && this.#takeUnconfirmed(this.#unconfirmed)
        if (raised && error && sql === 'COMMIT') reportWithEnd(this.#internals.connection, error, callback)
        else callback(error ?? null, result)
      }
      const text = this.#transactionSettings === undefined ? sql : withSettings(sql, this.#transactionSettings)
      return this.#sendQuery({ name: '', text, values, prepared: undefined }, answered, isDirect)
    }
    const statement = this.#isPrepared ? this.#statements.take(sql, form) : undefined
    const done: QueryCallback = (error, result) => {
      clearTimeout(cancelTimer)
      if (statement) this.#statements.giveBack(sql, statement, error)
      if (error) callback(this.#withReason(error), result)
      else callback(this.#unconfirmed ? this.#takeUnconfirmed(this.#unconfirmed) : null, result)
    }
    const { name, text } = statement ?? { name: '', text: sql }
    const prepared = this.#keepsColumns ? statement : undefined
    this.#sendQuery({ name, text, values, prepared }, done, isDirect)
  }

  /** Remembers what SQL of the program may change for later statements of the connection. */
  #noteChanges(sql: string): void {
    if (this.#statements.has(sql)) return // it was noted before
    if (CHANGES_DEFAULTS.test(sql)) this.#isReadCommitted = false
    if (!leavesState(sql)) return
    this.#hasState = true
    if (closesStatements(sql)) this.#statements.forget()
  }

  /** Adds to pg's own error why the server has ended the connection, as of a transaction that did nothing for too long. */
  #withReason(error: Error): Error {
    if (this.#endedBy !== undefined && error.message.endsWith('not queryable')) error.message += `: ${this.#endedBy}`
    return error
  }

  /** The error of a statement that has committed while its wait for a standby was cancelled: as if it was not answered. */
  #takeUnconfirmed({ message }: Notice): Error {
    this.#unconfirmed = undefined
    return unknownCompletion(message)
  }

  #sendQuery(statement: DirectStatement, done: QueryCallback, isDirect: boolean): void {
    const begin = this.#nextBegin
    const given = begin ? { ...statement, values: statement.values ?? [] } : statement
    const query = isDirect ? new DirectQuery(given, this, done) : this.#newQuery(given, done)
    if (!begin) return this.#submit(query)
    this.#nextBegin = undefined
    this.lastBegin.isHolding = true
    const texts = [begin.text, ...begin.settings.split(BEFORE_SETTING).filter(Boolean)]
    this.#submit(new BeginningQuery(texts, isDirect ? query : asExtended(query), this.lastBegin))
  }

  #newQuery({ name, text, values }: DirectStatement, done: QueryCallback): SentQuery {
    const query = namedQuery(name, text, values, done)
    return this.#generatesRows ? generateRows(query) : query
  }

  /** Limits a statement outside of transactions, where no setting of the server can. */
  #cancelLater(): NodeJS.Timeout | undefined {
    const { statement_timeout } = this.#options.settings
    if (statement_timeout === 0 || this.getTransactionStatus() !== 'I') return undefined
    return setTimeout(() => void cancelStatement(this, this.#internals), statement_timeout)
  }

  #submit(query: SentQuery): void {
    this.sentCount++
    const submit = super.query as (query: SentQuery) => void // its types leave out pg's own query objects
    submit.call(this, query)
  }

  #superQuery(...args: unknown[]): unknown {
    const query = super.query as (...all: unknown[]) => unknown // for all overloads at once
    return query.apply(this, args)
  }

  /** Sends BEGIN as a message of its own; what follows waits for its answer. */
  #sendBeginApart(): void {
    const { text, settings } = this.#nextBegin ?? { text: '', settings: '' }
    this.#nextBegin = undefined
    const answered: QueryCallback = (error) => (error ? this.lastBegin.failed(error) : this.lastBegin.begun())
    const statement = { name: '', text: text + settings, values: undefined, prepared: undefined }
    this.#sendQuery(statement, answered, this.#generatesRows)
    this.lastBegin.isHolding = true
  }

  /** A query of the program on this client: with a promise, or an object of pg. */
  #queryOfProgram(args: readonly unknown[]): unknown {
    if (this.#nextBegin !== undefined) this.#sendBeginApart()
    if (!this.lastBegin.isHolding) return this.#superQuery(...args)
    const [query] = args
    const callback = args.find((arg) => typeof arg === 'function')
    const send = () => this.#superQuery(...args)
    if (query instanceof pg.Query) {
      this.lastBegin.hold(send, (error) => queryInternals(query).handleError(error))
      return query
    }
    if (callback) return void this.lastBegin.hold(send, (error) => callback(error))
    return new Promise((resolve, reject) => this.lastBegin.hold(() => resolve(send()), reject))
  }

  #corkUntilNextTick(): void {
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

interface Notice {
  readonly message?: string | undefined
  readonly routine?: string | undefined
}

/** The function of the server that warns of a cancelled wait for a synchronous standby. Its message may be in another language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN'

/** Between BEGIN and each of its settings. */
const BEFORE_SETTING = /; (?=SET LOCAL )/

const NOTHING: DirectResult = { rows: [] }

function asExtended(query: SentQuery): SentQuery {
  return Object.assign(query, { queryMode: 'extended' })
}

/** A BEGIN that is not sent yet. */
interface NextBegin {
  readonly text: string
  /** Each after a semicolon. */
  readonly settings: string
  /** Whether a read may be sent with it in one message of the simple protocol. */
  readonly mayTakeRead: boolean
}

interface Statement {
  readonly sql: string
  /** Undefined for the simple protocol. */
  readonly values: readonly unknown[] | undefined
  readonly form?: PreparableForm | undefined
  readonly isDirect?: boolean
  /** As of a {@link CompiledStatement}: it may pass a BEGIN that is not answered. */
  readonly readsAlone?: boolean
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

function withSettings(sql: string, settings: string): string {
  const [, begin] = BEGINS.exec(sql) ?? []
  return begin === undefined ? sql : `${begin}${settings}`
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
