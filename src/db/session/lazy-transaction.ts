import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import { type Dialect, isLostConnection, type Lease, type SendDirect, type TransactionNeeds } from '../dialect.js'
import { CommitFailedError, CommitUnknownError, SecondConnectionError, TransactionControlError } from '../errors.js'
import { asTransaction, sequelizeInternals, TransactionBase } from '../sequelize/internals.js'
import { directSender, insertQuery, plainQuery, type QueryOptions, sendDirectly } from '../sequelize/query.js'
import type { CompiledStatement } from '../statements/compiled/compiled-select.js'
import { type Sql, toBound, toNumbered } from '../statements/statement.js'
import { answerWithin, NoAnswerError } from './answer-timeout.js'
import { markQueryError } from './unhandled-queries.js'

/** Other transactions of the same database and the same request. */
export interface TransactionsAround {
  /** That of the session inside which this one was opened. */
  readonly outer: LazyTransaction | undefined
  /** That of the session that the calling code runs in. */
  current(): LazyTransaction | undefined
}

/**
 * A Sequelize transaction that takes a connection and sends BEGIN with its first query. Sequelize awaits `transaction.connection` before each
 * statement; here that is a promise created on first use. A transaction without queries costs nothing.
 */
export class LazyTransaction extends TransactionBase {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  #needs: TransactionNeeds
  readonly #around: TransactionsAround
  #beginning: Promise<Lease> | undefined
  /** The connection, once BEGIN was answered. */
  #lease: Lease | undefined
  /** The session of this transaction. A property, because a WeakMap costs more for each request. */
  session: object | undefined
  /** Queues a callback to be called after COMMIT. */
  onCommit: (callback: () => unknown) => void = () => {}
  #savepoints = 0
  #hasEnded = false
  /** A lost connection that was not idle: it may have been opened, and lost, for another session. One is replaced, so that this has an end. */
  #replacedNew: Lease | undefined

  constructor(sequelize: Sequelize, dialect: Dialect, needs: TransactionNeeds, around: TransactionsAround) {
    super(sequelize, { readOnly: needs.readOnly === true })
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#needs = needs
    this.#around = around
  }

  /** Read by Sequelize before each statement: resolves to the connection, once the transaction has begun. */
  get connection(): Promise<unknown> {
    return this.#begin().then(({ connection }) => connection)
  }

  // Sequelize's own methods clear the connection when they have ended a transaction.
  set connection(_: unknown) {}

  /** Whether COMMIT or ROLLBACK was sent. Not `finished`: on a deadlock of MySQL, Sequelize sets it before the connection is released. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether any query was started. */
  get used(): boolean {
    return this.#beginning !== undefined
  }

  /** Whether this transaction, or one around it, has taken a connection, or waits for one. */
  get holdsConnection(): boolean {
    return (this.#beginning !== undefined && !this.#hasEnded) || this.#around.outer?.holdsConnection === true
  }

  /** @throws SecondConnectionError if this transaction would need a connection while a session around the calling code holds one. */
  assertOnlyConnection(): void {
    if (this.#beginning) return
    const current = this.#around.current()
    if (this.#around.outer?.holdsConnection || (current !== this && current?.holdsConnection))
      throw markQueryError(new SecondConnectionError('A session needs a connection inside another session'), {
        sequelize: this.#sequelize,
        onUnhandled() {},
      })
  }

  /** See Session#readOneSnapshot(). Does nothing on databases whose transactions always read one snapshot. */
  readOneSnapshot(): void {
    const isolation = this.#dialect.snapshotIsolation
    if (isolation === undefined || this.#beginning || !this.#needs.reader || this.#needs.isolation !== undefined) return
    this.#needs = { ...this.#needs, isolation }
  }

  /** Called before each statement of the session: begins the transaction, and waits where the dialect has to. */
  beforeStatement(sql: string): Promise<unknown> | undefined {
    if (this.#lease) return this.#lease.beforeStatement?.(sql)
    return this.#begin().then((lease) => lease.beforeStatement?.(sql))
  }

  /** A number that no other savepoint of this transaction has. */
  nextSavepoint(): number {
    return ++this.#savepoints
  }

  #begin(): Promise<Lease> {
    try {
      this.assertOnlyConnection()
    } catch (error) {
      return Promise.reject(error)
    }
    return (this.#beginning ??= this.#open())
  }

  async #open(): Promise<Lease> {
    const lease = await this.#dialect.lease(this.#sequelize, this.#needs)
    try {
      for (const sql of lease.begin) await this.#send(lease, sql)
    } catch (error) {
      await lease.destroy().catch(() => {}) // the error of BEGIN is the one to report
      if (this.#isLost(error) && this.#isReplaceable(lease)) return this.#open()
      throw error
    }
    return (this.#lease = lease)
  }

  #isLost(error: unknown): boolean {
    return this.#dialect.isLost(error) || isLostConnection(error)
  }

  #isReplaceable(lease: Lease): boolean {
    return lease.wasIdle === true || (this.#replacedNew ??= lease) === lease
  }

  /** The connection of the statement that is sent next, for {@link replaceLost}. */
  get lease(): Lease | undefined {
    return this.#lease
  }

  /**
   * Takes another connection if this one was lost in the pool, before it could execute BEGIN: no statement of the transaction was executed.
   * Returns whether the statement that failed with the error is to be sent again. Synchronous, so that statements that were sent at once are
   * sent again in their order.
   */
  replaceLost(lease: Lease | undefined, error: unknown): boolean {
    if (lease?.hasBegun?.() !== false || this.#hasEnded || !this.#isLost(error) || !this.#isReplaceable(lease))
      return false
    if (this.#lease === lease) {
      this.#lease = undefined
      this.#beginning = undefined
      lease.destroy().catch(() => {}) // it is closed already
    }
    return true
  }

  /** Called after a statement that made the database commit. */
  async beginAgain(): Promise<void> {
    const lease = await this.#begin()
    for (const sql of lease.begin) await this.#send(lease, sql)
  }

  /** Sends a statement about the transaction itself, such as SAVEPOINT. */
  async command(sql: string): Promise<unknown> {
    return this.#send(await this.#begin(), sql)
  }

  #send({ connection }: Lease, sql: string): Promise<unknown> {
    const send = this.directSender
    if (send)
      return sendDirectly(this.#sequelize, send, { connection, text: sql, values: [] }, (result) => [
        result.rows,
        result,
      ])
    const { dialect, options } = sequelizeInternals(this.#sequelize)
    const { logging = false } = options
    return new dialect.Query(connection, this.#sequelize, { logging, type: 'RAW', raw: true }).run(sql)
  }

  /** Sends statements to the driver; undefined if they have to take Sequelize's query path. */
  get directSender(): SendDirect | undefined {
    return directSender(this.#sequelize, this.#dialect)
  }

  /** Executes a compiled statement. Call {@link beforeStatement} first. */
  read<T>({ sql, values, isConstant, read, instance }: CompiledStatement<T>, send: SendDirect): Promise<T> {
    const connection = this.#connection
    const query = instance && (() => insertQuery(this.#sequelize, connection, instance))
    const request = { connection, text: sql, values, isConstant, ...(query && { query }) }
    return sendDirectly(this.#sequelize, send, request, read)
  }

  /** The rows of raw SQL. Call {@link beforeStatement} first. */
  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { values, varies } = statement
    const send = this.directSender
    if (!send) return this.#rowsThroughSequelize(statement)
    const request = { connection: this.#connection, text: toNumbered(statement), values, isConstant: varies !== true }
    return sendDirectly(this.#sequelize, send, request, ({ rows }) => asRows<Row>(rows))
  }

  async #rowsThroughSequelize<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { sql, bind } = toBound(statement)
    // Sequelize drops the rows of INSERT ... RETURNING on SQLite. The comment keeps it from seeing the INSERT.
    const result = await this.query(`/* sql */ ${sql}`, { bind, type: QueryTypes.RAW, raw: true })
    const rows: unknown = Array.isArray(result) ? result[0] : undefined
    return Array.isArray(rows) ? asRows<Row>(rows) : []
  }

  /** Executes a plain query of a model or of sequelize.query(). Call {@link beforeStatement} first. */
  query(sql: string, options: QueryOptions, bind = options.bind): Promise<unknown> {
    return plainQuery(this.#sequelize, this.#dialect, { connection: this.#connection, text: sql, bind, options })
  }

  get #connection(): unknown {
    if (this.#lease) return this.#lease.connection
    throw new Error('The transaction has not begun: call beforeStatement() before each statement.')
  }

  /**
   * Commits and releases the connection.
   *
   * @throws CommitFailedError if the database answered COMMIT with a rollback, CommitUnknownError if it did not answer, else the error of COMMIT.
   */
  sendCommit(): Promise<void> {
    return this.#end('commit', 'COMMIT')
  }

  /** @throws TransactionControlError if a statement of the program has ended the transaction. */
  assertOpen(): void {
    if (this.#lease?.isOpen?.() === false) throw new TransactionControlError('A statement ended the transaction')
  }

  /** Rolls back and releases the connection. @throws the error of ROLLBACK; the connection is closed then. */
  sendRollback(): Promise<void> {
    return this.#end('rollback', 'ROLLBACK')
  }

  /** Called by hooks of models and by other libraries: the same as session.afterCommit(). */
  override afterCommit(hook: (transaction: Transaction) => unknown): void {
    this.onCommit(() => hook(asTransaction(this)))
  }

  /** Only the session commits its transaction. @throws TransactionControlError always. */
  override commit(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.commit()'))
  }

  /** Only the session rolls its transaction back. @throws TransactionControlError always. */
  override rollback(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.rollback()'))
  }

  // A connection whose COMMIT or ROLLBACK failed is in an unknown state, and on SQLite still holds the lock: it is closed.
  async #end(state: 'commit' | 'rollback', sql: string): Promise<void> {
    if (this.#hasEnded) throw new Error(`The transaction has already ended with ${this.finished}.`)
    this.#hasEnded = true
    this.finished = state
    if (!this.#beginning) return
    const lease = this.#lease ?? (await this.#beginning)
    let answer: unknown
    try {
      answer = await answerWithin(this.#needs.endTimeout, sql, this.#send(lease, sql))
    } catch (error) {
      await lease.destroy().catch(() => {}) // the error of COMMIT or ROLLBACK is the one to report
      const isUnknown = error instanceof NoAnswerError || this.#dialect.isLost(error)
      throw state === 'commit' && isUnknown ? new CommitUnknownError(error) : error
    }
    const released = release(lease)
    if (released) await released
    if (state === 'commit' && !this.#dialect.isKept(answer)) throw new CommitFailedError()
  }

  /** Closes the connection while a statement is running, which makes the database roll back. */
  closeConnection(): void {
    this.#hasEnded = true
    this.finished = 'rollback'
    if (this.#lease) return void this.#lease.destroy().catch(() => {}) // it is closed already
    // It still waits for a connection, on which nothing but BEGIN will have been sent: it is kept.
    this.#beginning
      ?.then((lease) =>
        this.#send(lease, 'ROLLBACK').then(
          () => release(lease),
          () => lease.destroy(),
        ),
      )
      .catch(() => {}) // there is no connection
  }

  /** Called by Sequelize for a transaction that it has created, to begin it; this one begins with its first query. */
  override async prepareEnvironment(): Promise<void> {}
}

// The transaction has ended, so that a failure here concerns only the connection: it is closed.
function release(lease: Lease): Promise<void> | undefined {
  const close = () => lease.destroy().catch(() => {})
  try {
    return lease.release()?.catch(close)
  } catch {
    return close()
  }
}

// The program declares the type of its rows with sql<Row>`...`; SQL has no types to check it against.
function asRows<Row>(rows: unknown[]): Row[] {
  return rows as Row[]
}
