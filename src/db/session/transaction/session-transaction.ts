import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { ClientToken } from '../../../core/client-token.js'
import type { UnitBoundary } from '../../boundary.js'
import type { NextStatement, TransactionConnection, TransactionEnd } from '../../connection.js'
import {
  ChangedNeeds,
  type Cursor,
  type CursorStatement,
  type Dialect,
  isLostConnection,
  type TransactionNeeds,
} from '../../dialect.js'
import type { SendDirect } from '../../direct-statement.js'
import { SecondConnectionError } from '../../errors.js'
import type { SessionObserver } from '../../events/session-observer.js'
import { newTableUse, type TableUse } from '../../events/table-use.js'
import { asTransaction } from '../../sequelize/internals.js'
import { hasFastPath, plainQuery, type QueryOptions, sendDirectly } from '../../sequelize/query.js'
import { type Sql, toBound, toPlaceholders } from '../../statements/statement.js'
import type { SentTogether } from '../last-work.js'
import { markQueryError } from '../unhandled-queries.js'
import { endTransaction, releaseConnection } from './end-transaction.js'
import { TransactionState } from './transaction-state.js'

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
  /** When the session began, among the events of {@link nextEvent}. */
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

/**
 * The transaction of one session, with its connection, which it takes with its first statement: Sequelize awaits `transaction.connection` before each one.
 * A transaction without queries costs nothing.
 */
export class SessionTransaction extends TransactionState {
  readonly dialect: Dialect
  readonly owner: TransactionOwner
  /** Undefined if no one listens. */
  readonly observer: SessionObserver | undefined
  /** Sends statements to the driver; undefined if they must take Sequelize's query path. */
  readonly direct: SendDirect | undefined
  declare readonly sequelize: Sequelize
  /** The limit of what its statements may reach; undefined for none. */
  readonly boundary: UnitBoundary | undefined
  /** Undefined if nothing follows tables. */
  readonly tables: TableUse | undefined
  #needs: TransactionNeeds
  #acquiring: Promise<TransactionConnection> | undefined
  /** While BEGIN is not answered. */
  #beginning: TransactionConnection | undefined
  /** A lost connection that was not idle: it may have been opened, and lost, for another session. It is replaced once. */
  #replacedNew: TransactionConnection | undefined
  #isClosed = false
  /** Whether COMMIT or ROLLBACK was sent. Not `finished`: on a deadlock of MySQL, Sequelize sets it before the connection is released. */
  isEndSent = false
  #savepoints = 0
  constructor(sequelize: Sequelize, dialect: Dialect, needs: TransactionNeeds, owner: TransactionOwner) {
    const direct = hasFastPath(sequelize) ? dialect.direct : undefined
    super(sequelize, { readOnly: needs.readOnly === true, isLight: direct !== undefined })
    this.dialect = dialect
    this.boundary = needs.boundary
    this.#needs = needs
    this.owner = owner
    this.observer = owner.observer
    this.tables = newTableUse(sequelize, needs.boundary)
    this.direct = direct
  }

  /** Read by Sequelize before each statement: resolves to the connection of the driver, once the transaction has begun. */
  get connection(): Promise<unknown> {
    return this.acquire(undefined).then((connection) => {
      const waiting = connection.prepare()
      if (!waiting) return connection.raw
      return waiting.then(
        () => connection.raw,
        (error: unknown) => {
          throw this.owner.onError(error)
        },
      )
    })
  }

  // Sequelize's own methods clear the connection when they have ended a transaction.
  set connection(_: unknown) {}

  /** Whether any query was started. */
  get used(): boolean {
    return this.#acquiring !== undefined
  }

  /** Whether BEGIN was sent, or is sent with the next statement. */
  get hasBegun(): boolean {
    return this.taken?.hasBegun === true
  }

  /** Whether statements can be one message with COMMIT, once BEGIN is answered: not without the fast path, nor where one is sent at a time. */
  get maySendWithCommit(): boolean {
    return this.direct !== undefined && !this.dialect.oneAtATime
  }

  /** The connection on which statements can be one message with COMMIT now. */
  get connectionForLast(): { readonly sentCount: number } | undefined {
    const { taken } = this
    return this.maySendWithCommit && taken?.isBegun && taken.sentCount !== undefined
      ? (taken as { readonly sentCount: number })
      : undefined
  }

  /** Whether this transaction, or one around it, has taken a connection, or waits for one. */
  get holdsConnection(): boolean {
    return (this.used && !this.isEndSent) || this.owner.outer?.holdsConnection === true
  }

  /** @throws SecondConnectionError if this transaction would need a connection while a session around the calling code holds one. */
  assertOnlyConnection(): void {
    if (this.#acquiring) return
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
      this.#needs = new ChangedNeeds(this.#needs, { isolation: snapshotIsolation, readsOneSnapshot: true })
  }

  /** The connection, which is taken for the first statement. Call its {@link TransactionConnection.prepare} before each one. */
  acquire(first: NextStatement | undefined): Promise<TransactionConnection> {
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
    const needs = boundary ? new ChangedNeeds(this.#needs, { settings: boundary.settings() }) : this.#needs
    const acquiring = this.dialect.acquire(this.sequelize, needs, this.direct)
    return (observer ? observer.acquired(acquiring) : acquiring).then((connection) => {
      const beginning = connection.begin(first)
      if (beginning) return this.#whenBegun(connection, beginning, first)
      return (this.taken = connection)
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
    return (this.taken = connection)
  }

  #isLost(error: unknown): boolean {
    return this.dialect.isLost(error) || isLostConnection(error)
  }

  #isReplaceable(connection: TransactionConnection): boolean {
    return connection.wasIdle || (this.#replacedNew ??= connection) === connection
  }

  /**
   * Forgets the connection if it was lost before BEGIN is known to be executed: nothing of the transaction was but, possibly, reads that were sent with it,
   * or without BEGIN. They are sent a second time then, and no third time. Returns whether the statement that failed with the error is to be sent
   * again, on another one. Synchronous, so that statements that were sent at once are sent again in their order.
   */
  replaceLost(connection: TransactionConnection | undefined, error: unknown): boolean {
    if (this.isEndSent || !connection || connection.isBegun) return false
    if (!this.#isLost(error) || !this.#isReplaceable(connection)) return false
    if (this.taken === connection) {
      this.taken = undefined
      this.#acquiring = undefined
      this.#needs = new ChangedNeeds(this.#needs, { beginsApart: true })
      connection.destroy().catch(() => {}) // it is closed already
    }
    return true
  }

  /** Called when the program is given the transaction. */
  give(): Transaction {
    this.isGiven = true
    return asTransaction(this)
  }

  /** A number that no other savepoint of this transaction has. */
  nextSavepoint(): number {
    return ++this.#savepoints
  }

  get #prepared(): TransactionConnection {
    if (this.taken) return this.taken
    throw new Error('The transaction has no connection: call acquire() before its first statement.')
  }

  /** Called after a statement that made the database commit. */
  beginAgain(): Promise<void> {
    this.tables?.committed()
    return this.#prepared.beginAgain()
  }

  /** Sends a statement about the transaction itself, such as SAVEPOINT. Call {@link acquire} first. */
  command(sql: string): Promise<unknown> {
    return this.#prepared.command(sql)
  }

  /** The rows of raw SQL. Call {@link acquire} first. */
  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { values, varies } = statement
    const { direct } = this
    if (!direct) return this.#rowsThroughSequelize(statement)
    const request = {
      connection: this.#prepared.raw,
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

  /** Opens a cursor for a statement. Call {@link acquire} first. @throws TypeError for a database without cursors. */
  openCursor(statement: CursorStatement): Promise<Cursor> {
    const { openCursor } = this.dialect
    if (openCursor) return openCursor(this.sequelize, this.#prepared.raw, statement)
    throw new TypeError(`Rows cannot be read in batches from ${this.sequelize.getDialect()}.`)
  }

  /** Executes a plain query of a model or of sequelize.query(). Call {@link acquire} first. */
  query(sql: string, options: QueryOptions, bind = options.bind): Promise<unknown> {
    return plainQuery(this.sequelize, this.dialect, { connection: this.#prepared.raw, text: sql, bind, options })
  }

  /**
   * Ends it, and releases the connection. After an error of ROLLBACK, that is closed.
   *
   * @param token receives the position of the commit.
   * @param closing statements that were sent just before.
   * @throws what endTransaction() throws.
   */
  end(end: TransactionEnd, token?: ClientToken, closing?: SentTogether): Promise<void> | undefined {
    // A read that was sent without the transaction after all had settled: its connection must not be given to another session before it ends.
    if (!this.taken?.hasBegun && !this.statements.isEmpty)
      return this.statements.empty().then(() => this.end(end, token, closing))
    if (this.isEndSent) throw new Error(`The transaction has already ended with ${this.finished}.`)
    this.isEndSent = true
    this.finished = end
    if (end === 'rollback') this.tables?.rolledBack()
    if (this.taken?.hasBegun) return endTransaction(this.taken, end, this.dialect, this.#needs, { token, closing })
    return this.taken
      ? releaseConnection(this.taken, this.#needs.endTimeout)
      : this.#acquiring?.then((connection) => this.#endOn(connection, end, token))
  }

  #endOn(connection: TransactionConnection, end: TransactionEnd, token?: ClientToken): Promise<void> | undefined {
    return connection.hasBegun
      ? endTransaction(connection, end, this.dialect, this.#needs, { token })
      : releaseConnection(connection, this.#needs.endTimeout)
  }

  /** Closes the connection while a statement is running, which makes the database roll back. */
  closeConnection(): void {
    this.isEndSent = this.#isClosed = true
    this.finished = 'rollback'
    this.tables?.rolledBack()
    if (this.hasBegun) this.#needs.observer?.ended('rollback')
    // A server that does not answer BEGIN would keep the connection from the pool forever. On SQLite, the wait is for another session.
    const connection = this.taken ?? (this.#needs.endTimeout ? this.#beginning : undefined)
    if (connection) return void connection.destroy().catch(() => {}) // it is closed already
    // It still waits for a connection, on which nothing but BEGIN will have been sent: it is kept.
    this.#acquiring?.then((acquired) => this.#endOn(acquired, 'rollback')).catch(() => {}) // there is no connection, or it is closed
  }
}

// The program declares the type of its rows with sql<Row>`...`; SQL has no types to check it against.
function asRows<Row>(rows: unknown[]): Row[] {
  return rows as Row[]
}
