import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import type { ClientToken } from '../../../core/client-token.js'
import { endsWithin } from '../../../core/promises.js'
import type { UnitBoundary } from '../../boundary.js'
import type { NextStatement, TransactionConnection, TransactionEnd } from '../../connection.js'
import {
  type Cursor,
  type CursorStatement,
  type Dialect,
  isLostConnection,
  type SendDirect,
  type TransactionNeeds,
} from '../../dialect.js'
import {
  CommitFailedError,
  SecondConnectionError,
  StatementRefusedError,
  TransactionControlError,
  type TransactionEndedError,
} from '../../errors.js'
import type { SessionObserver } from '../../events/session-observer.js'
import { asTransaction } from '../../sequelize/internals.js'
import {
  directSender,
  plainQuery,
  type QueryOptions,
  sendDirectly,
  sendThen,
  type Settle,
  writeQuery,
} from '../../sequelize/query.js'
import { TransactionBase } from '../../sequelize/transaction-base.js'
import type { CompiledStatement } from '../../statements/compiled/compiled-select.js'
import { type Sql, toBound, toPlaceholders } from '../../statements/statement.js'
import { PendingCounter } from '../pending-counter.js'
import { markQueryError } from '../unhandled-queries.js'
import { endTransaction, releaseConnection } from './end-transaction.js'

/** A unit of work whose session only reads, in one snapshot. */
export interface ReaderUnit {
  /** Runs the work in the session. @throws the error of the work. */
  run<R>(work: () => Promise<R>, report: (error: unknown) => void): Promise<R>
  /** Rolls back at once: the connection of a statement that is running is closed. */
  abandon(): void
}

/** The unit of work of a transaction. */
export interface TransactionOwner {
  /** For the log: the route of the handler; undefined outside of requests. */
  readonly route?: string | undefined
  /** Undefined if no one listens. */
  readonly observer?: SessionObserver | undefined
  /** The same for all sessions that were opened for one: its callbacks, and what reads on after it. */
  readonly family: object
  /** When the session began, by {@link now}. */
  readonly begunAt: number
  /** The transaction of the session inside which this one was opened. */
  readonly outer?: SessionTransaction | undefined
  /** Resolves when a connection may be taken; undefined for at once. */
  readonly ready?: (() => Promise<void>) | undefined
  /** The transaction of the session that the calling code runs in. */
  current(): SessionTransaction | undefined
  /** Called with the error of each failed query; returns the error to throw. */
  onError(error: unknown): unknown
  /** A unit for what reads on after the session has ended. */
  newReader(): ReaderUnit
}

interface Failure {
  readonly error: unknown
  /** Whether the database has reported it. */
  readonly isOfDatabase?: boolean
}

let time = 0

/** Counts the beginnings and the ends of sessions: which of two sessions began first, or ended. */
export function now(): number {
  return ++time
}

/** Milliseconds that a rollback waits for running statements before their connection is closed. */
const GRACE = 1_000

/**
 * The transaction of one session: what failed, what still runs, how it ended, and its connection, which it takes with its first statement. To Sequelize
 * it is a transaction: that awaits `transaction.connection` before each statement. A transaction without queries costs nothing.
 */
export class SessionTransaction extends TransactionBase {
  readonly dialect: Dialect
  readonly owner: TransactionOwner
  /** Undefined if no one listens. */
  readonly observer: SessionObserver | undefined
  /** Sends statements to the driver; undefined if they have to take Sequelize's query path. */
  readonly direct: SendDirect | undefined
  declare readonly sequelize: Sequelize
  #needs: TransactionNeeds
  #acquiring: Promise<TransactionConnection> | undefined
  /** Once BEGIN was answered, if that is sent before the first statement. */
  #connection: TransactionConnection | undefined
  /** While BEGIN is not answered. */
  #beginning: TransactionConnection | undefined
  /** A lost connection that was not idle: it may have been opened, and lost, for another session. It is replaced once. */
  #replacedNew: TransactionConnection | undefined
  #isClosed = false
  #isGiven = false
  #hasEnded = false
  #savepoints = 0
  /** The callbacks of its session. A property, because a WeakMap costs more for each request. */
  session: { afterCommit(callback: () => unknown): void } | undefined
  /** Whether it is committed after those of other databases. */
  commitsLast = false
  /** Queries, flushes and savepoints, which COMMIT waits for. */
  readonly pending = new PendingCounter()
  /** Statements on the connection, which ROLLBACK waits for. Not savepoints: the work in them may never end. */
  readonly statements = new PendingCounter(this.pending)
  /** The last statement, where a dialect sends one at a time: the next one waits for it. */
  lastStatement: Promise<unknown> | undefined
  /** Whether rows were written, which an implicit commit would keep. */
  hasWritten = false
  /** Whether a statement was sent that may write, also one that alters tables. */
  mayHaveWritten = false
  /** The first statement that the database has refused. All later ones are refused; a rollback to a savepoint clears it. */
  failure: Failure | undefined
  /** Why the transaction must be rolled back, even if the handler has caught the error. */
  rollbackReason: Failure | undefined
  /** A statement of the program has ended the transaction: later statements would each be committed by themselves. */
  endedBy: TransactionEndedError | undefined
  /** Whether the handler has called session.rollback(). */
  rollbackRequested = false
  /** Run when the session has ended, each in a session of its own; also what was queued in a savepoint that was rolled back. */
  readonly afterEnd: (() => Promise<unknown>)[] = []
  /** How the session ended: 'committed' or 'rolled back'. From then on every query is refused. */
  ended: string | undefined
  /** When the session ended, by {@link now}. */
  endedAt: number | undefined
  /** Whether COMMIT has succeeded. */
  isKept = false

  constructor(sequelize: Sequelize, dialect: Dialect, needs: TransactionNeeds, owner: TransactionOwner) {
    super(sequelize, { readOnly: needs.readOnly === true })
    this.dialect = dialect
    this.#needs = needs
    this.owner = owner
    this.observer = owner.observer
    this.direct = directSender(sequelize, dialect)
  }

  /** Read by Sequelize before each statement: resolves to the connection of the driver, once the transaction has begun. */
  get connection(): Promise<unknown> {
    return this.#acquire(undefined).then((connection) => {
      const waiting = connection.prepare()
      return waiting ? waiting.then(() => connection.raw) : connection.raw
    })
  }

  // Sequelize's own methods clear the connection when they have ended a transaction.
  set connection(_: unknown) {}

  /** Whether COMMIT or ROLLBACK was sent. Not `finished`: on a deadlock of MySQL, Sequelize sets it before the connection is released. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The limit of what its statements may reach; undefined for none. */
  get boundary(): UnitBoundary | undefined {
    return this.#needs.boundary
  }

  /** Whether any query was started. */
  get used(): boolean {
    return this.#acquiring !== undefined
  }

  /** Whether BEGIN was sent, or is sent with the next statement. */
  get hasBegun(): boolean {
    return this.#connection?.hasBegun === true
  }

  /** Whether this transaction, or one around it, has taken a connection, or waits for one. */
  get holdsConnection(): boolean {
    return (this.used && !this.#hasEnded) || this.owner.outer?.holdsConnection === true
  }

  /** @throws SecondConnectionError if this transaction would need a connection while a session around the calling code holds one. */
  assertOnlyConnection(): void {
    if (this.used) return
    const current = this.owner.current()
    if (this.owner.outer?.holdsConnection || (current !== this && current?.holdsConnection))
      throw markQueryError(new SecondConnectionError('A session needs a connection inside another session'), {
        sequelize: this.sequelize,
        onUnhandled() {},
      })
  }

  /** See Session#readOneSnapshot(). Does nothing on databases whose transactions always read one snapshot. */
  readOneSnapshot(): void {
    const { snapshotIsolation } = this.dialect
    const { reader, isolation } = this.#needs
    if (snapshotIsolation !== undefined && !this.used && reader && isolation === undefined)
      this.#needs = { ...this.#needs, isolation: snapshotIsolation }
  }

  /**
   * Called before each statement, which is sent to {@link connection} then: takes the connection, and lets it begin the transaction.
   *
   * @param next undefined if it is not known.
   * @returns a promise if the statement has to wait.
   */
  prepare(next?: NextStatement): Promise<unknown> | undefined {
    // The program may do with it what is not known here.
    const known = this.#isGiven && next?.readsAlone ? { ...next, readsAlone: false } : next
    return this.#connection
      ? this.#connection.prepare(known)
      : this.#acquire(known).then((connection) => connection.prepare(known))
  }

  #acquire(first: NextStatement | undefined): Promise<TransactionConnection> {
    if (this.#acquiring) return this.#acquiring
    try {
      this.assertOnlyConnection()
      const { ready } = this.owner
      return (this.#acquiring = ready ? ready().then(() => this.#open(first)) : this.#open(first))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #open(first: NextStatement | undefined): Promise<TransactionConnection> {
    const { observer, boundary } = this.#needs
    const needs = boundary ? { ...this.#needs, settings: boundary.settings() } : this.#needs
    const acquiring = this.dialect.acquire(this.sequelize, needs)
    return (observer ? observer.acquired(acquiring) : acquiring).then((connection) => {
      const beginning = connection.begin(first)
      if (beginning) return this.#whenBegun(connection, beginning, first)
      return (this.#connection = connection)
    })
  }

  async #whenBegun(
    connection: TransactionConnection,
    beginning: Promise<void>,
    first: NextStatement | undefined,
  ): Promise<TransactionConnection> {
    this.#beginning = connection
    try {
      await beginning
    } catch (error) {
      await connection.destroy().catch(() => {}) // the error of BEGIN is the one to report
      if (!this.#isClosed && this.#isLost(error) && this.#isReplaceable(connection)) return this.#open(first)
      throw error
    }
    this.#beginning = undefined
    return (this.#connection = connection)
  }

  #isLost(error: unknown): boolean {
    return this.dialect.isLost(error) || isLostConnection(error)
  }

  #isReplaceable(connection: TransactionConnection): boolean {
    return connection.wasIdle || (this.#replacedNew ??= connection) === connection
  }

  /** The connection of the statement that is sent next, for {@link replaceLost}. */
  get currentConnection(): TransactionConnection | undefined {
    return this.#connection
  }

  /**
   * Forgets the connection if it was lost before BEGIN is known to be executed: nothing of the transaction was but, possibly, a read in the same
   * message, or without BEGIN. It is sent a second time then, and no third time. Returns whether the statement that failed with the error is to be sent
   * again, on another one. Synchronous, so that statements that were sent at once are sent again in their order.
   */
  replaceLost(connection: TransactionConnection | undefined, error: unknown): boolean {
    if (this.#hasEnded || !connection || connection.isBegun) return false
    if (!this.#isLost(error) || !this.#isReplaceable(connection)) return false
    if (this.#connection === connection) {
      this.#connection = undefined
      this.#acquiring = undefined
      this.#needs = { ...this.#needs, beginsApart: true }
      connection.destroy().catch(() => {}) // it is closed already
    }
    return true
  }

  /** Called when the program is given the transaction. */
  give(): Transaction {
    this.#isGiven = true
    return asTransaction(this)
  }

  /** A number that no other savepoint of this transaction has. */
  nextSavepoint(): number {
    return ++this.#savepoints
  }

  get #prepared(): TransactionConnection {
    if (this.#connection) return this.#connection
    throw new Error('The transaction has no connection: call prepare() before each statement.')
  }

  get #raw(): object {
    return this.#prepared.raw
  }

  /** Called after a statement that made the database commit. */
  beginAgain(): Promise<void> {
    return this.#prepared.beginAgain()
  }

  /** Sends a statement about the transaction itself, such as SAVEPOINT. Call {@link prepare} first. */
  command(sql: string): Promise<unknown> {
    return this.#prepared.command(sql)
  }

  /** Executes a compiled statement. Call {@link prepare} first. */
  send<T>(statement: CompiledStatement<T>, direct: SendDirect, settle: Settle<T>): void {
    const { sql, values, form, read, instance } = statement
    const connection = this.#raw
    const query = instance && (() => writeQuery(this.sequelize, connection, instance))
    const request = { connection, text: sql, values, form, query }
    sendThen(this.sequelize, direct, request, read, settle)
  }

  /** The rows of raw SQL. Call {@link prepare} first. */
  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { values, varies } = statement
    const { direct } = this
    if (!direct) return this.#rowsThroughSequelize(statement)
    const request = {
      connection: this.#raw,
      text: toPlaceholders(statement, this.dialect),
      values: values.length > 0 ? values : undefined,
      form: varies ? ('varying' as const) : ('constant' as const),
    }
    return sendDirectly(this.sequelize, direct, request, ({ rows }) => asRows<Row>(rows))
  }

  async #rowsThroughSequelize<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { sql, bind } = toBound(statement)
    // Sequelize drops the rows of INSERT ... RETURNING on SQLite. The comment keeps it from seeing the INSERT.
    const result = await this.query(`/* sql */ ${sql}`, { bind, type: QueryTypes.RAW, raw: true })
    const rows: unknown = Array.isArray(result) ? result[0] : undefined
    return Array.isArray(rows) ? asRows<Row>(rows) : []
  }

  /** Opens a cursor for a statement. Call {@link prepare} first. @throws TypeError for a database without cursors. */
  openCursor(statement: CursorStatement): Promise<Cursor> {
    const { openCursor } = this.dialect
    if (openCursor) return openCursor(this.sequelize, this.#raw, statement)
    throw new TypeError(`Rows cannot be read in batches from ${this.sequelize.getDialect()}.`)
  }

  /** Executes a plain query of a model or of sequelize.query(). Call {@link prepare} first. */
  query(sql: string, options: QueryOptions, bind = options.bind): Promise<unknown> {
    return plainQuery(this.sequelize, this.dialect, { connection: this.#raw, text: sql, bind, options })
  }

  /** Refuses all further queries. */
  end(how: 'committed' | 'rolled back'): void {
    this.ended = how
    this.endedAt ??= now()
  }

  /** @throws the error because of which the transaction must be rolled back. */
  assertAlive(): void {
    if (this.rollbackReason) throw this.rollbackReason.error
    // A statement of the program has ended it: the session cannot be committed then, either.
    if (this.endedBy) throw (this.rollbackReason = { error: this.endedBy }).error
  }

  /** @throws the error because of which the transaction must be rolled back, CommitFailedError after a failed statement. */
  assertCommittable(): void {
    if (this.rollbackReason) throw this.rollbackReason.error
    if (this.failure) throw new CommitFailedError(this.failure.error)
    this.assertOpen()
  }

  /** @throws TransactionControlError if a statement of the program has ended the transaction. */
  assertOpen(): void {
    if (this.hasBegun && this.#connection?.isOpen === false)
      throw new TransactionControlError('A statement ended the transaction')
  }

  /** @throws StatementRefusedError after a failed statement. */
  assertNoFailure(): void {
    if (this.failure) throw new StatementRefusedError(this.failure.error)
  }

  /** Refuses all later statements, as PostgreSQL does, so that a handler behaves alike on all databases. */
  fail(error: unknown, isOfDatabase = false): void {
    this.failure ??= { error, isOfDatabase }
  }

  /** Waits for everything that is pending, and for what that starts. Undefined if nothing is. */
  settle(): Promise<void> | undefined {
    if (this.pending.isEmpty) return undefined
    return new Promise((resolve) => {
      // A model validates and runs hooks before its query is counted: without a turn of the event loop an unawaited query would be missed.
      const check = () => (this.pending.isEmpty ? resolve() : void this.pending.empty().then(() => setImmediate(check)))
      check()
    })
  }

  /** Refuses all further queries and waits for the running statements. Resolves to false if some still run after {@link GRACE}. */
  async stop(): Promise<boolean> {
    this.end('rolled back')
    if (this.statements.isEmpty) return true
    return endsWithin(this.statements.empty(), GRACE)
  }

  /** Commits, and releases the connection. @param token receives the position of the commit. @throws what endTransaction() throws. */
  sendCommit(token?: ClientToken): Promise<void> | undefined {
    return this.#end('commit', token)
  }

  /** Rolls back, and releases the connection. @throws the error of ROLLBACK; the connection is closed then. */
  sendRollback(): Promise<void> | undefined {
    return this.#end('rollback')
  }

  #end(end: TransactionEnd, token?: ClientToken): Promise<void> | undefined {
    if (this.#hasEnded) throw new Error(`The transaction has already ended with ${this.finished}.`)
    this.#hasEnded = true
    this.finished = end
    return this.#connection
      ? this.#endOn(this.#connection, end, token)
      : this.#acquiring?.then((connection) => this.#endOn(connection, end, token))
  }

  #endOn(connection: TransactionConnection, end: TransactionEnd, token?: ClientToken): Promise<void> | undefined {
    return connection.hasBegun
      ? endTransaction(connection, end, this.dialect, this.#needs, token)
      : releaseConnection(connection, this.#needs.endTimeout)
  }

  /** Closes the connection while a statement is running, which makes the database roll back. */
  closeConnection(): void {
    this.#hasEnded = this.#isClosed = true
    this.finished = 'rollback'
    if (this.hasBegun) this.#needs.observer?.ended('rollback')
    // A server that does not answer BEGIN would keep the connection from the pool for ever. On SQLite it is another session that is waited for.
    const connection = this.#connection ?? (this.#needs.endTimeout ? this.#beginning : undefined)
    if (connection) return void connection.destroy().catch(() => {}) // it is closed already
    // It still waits for a connection, on which nothing but BEGIN will have been sent: it is kept.
    this.#acquiring?.then((acquired) => this.#endOn(acquired, 'rollback')).catch(() => {}) // there is no connection, or it is closed
  }

  /** Called by hooks of models and by other libraries: the same as session.afterCommit(). */
  override afterCommit(hook: (transaction: Transaction) => unknown): void {
    this.session?.afterCommit(() => hook(asTransaction(this)))
  }

  /** Only the session commits its transaction. @throws TransactionControlError always. */
  override commit(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.commit()'))
  }

  /** Only the session rolls its transaction back. @throws TransactionControlError always. */
  override rollback(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.rollback()'))
  }

  /** Called by Sequelize for a transaction that it has created, to begin it; this one begins with its first query. */
  override async prepareEnvironment(): Promise<void> {}
}

// The program declares the type of its rows with sql<Row>`...`; SQL has no types to check it against.
function asRows<Row>(rows: unknown[]): Row[] {
  return rows as Row[]
}
