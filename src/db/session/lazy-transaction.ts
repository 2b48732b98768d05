import { type Model, QueryTypes, type Sequelize, Transaction } from 'sequelize'
import type { Dialect, Lease, SendDirect, TransactionNeeds } from '../dialect.js'
import { CommitFailedError, CommitUnknownError, TransactionControlError } from '../errors.js'
import { asTransaction, sequelizeInternals, TransactionBase } from '../sequelize/internals.js'
import { directSender, plainQuery, type QueryOptions, sendDirectly } from '../sequelize/query.js'
import type { KeyQuery } from '../statements/find-by-key.js'
import { type Sql, toBound, toNumbered } from '../statements/statement.js'
import { answerWithin, NoAnswerError } from './answer-timeout.js'

/**
 * A Sequelize transaction that takes a connection and sends BEGIN with its first query. Sequelize awaits `transaction.connection` before each
 * statement; here that is a promise created on first use. A transaction without queries costs nothing.
 */
export class LazyTransaction extends TransactionBase {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  #needs: TransactionNeeds
  #beginning: Promise<Lease> | undefined
  /** The connection, once BEGIN was answered. */
  #lease: Lease | undefined
  /** The session of this transaction. A property, because a WeakMap costs more for each request. */
  session: object | undefined
  /** Queues a callback to be called after COMMIT. */
  onCommit: (callback: () => unknown) => void = () => {}
  #savepoints = 0
  #hasEnded = false

  constructor(sequelize: Sequelize, dialect: Dialect, needs: TransactionNeeds) {
    super(sequelize, { readOnly: needs.readOnly === true })
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#needs = needs
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

  /** Whether no other session can write until this one, or the one around it, has ended. */
  get holdsTurn(): boolean {
    const holds = !this.#hasEnded && this.#lease?.holdsTurn?.() === true
    return holds || this.#needs.outer?.holdsTurn === true
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
    return (this.#beginning ??= this.#open())
  }

  async #open(): Promise<Lease> {
    const lease = await this.#dialect.lease(this.#sequelize, this.#needs)
    try {
      for (const sql of lease.begin) await this.#send(lease, sql)
    } catch (error) {
      await lease.destroy().catch(() => {}) // the error of BEGIN is the one to report
      throw error
    }
    return (this.#lease = lease)
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

  /** Reads a row by its primary key. Call {@link beforeStatement} first. */
  findByKey<M extends Model>({ sql, values, build }: KeyQuery<M>, send: SendDirect): Promise<M | null> {
    const request = { connection: this.#connection, text: sql, values }
    return sendDirectly(this.#sequelize, send, request, ({ rows }) => build(rows))
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
    if (this.#lease?.isOpen?.() === false)
      return Promise.reject(new TransactionControlError('A statement ended the transaction'))
    return this.#end('commit', 'COMMIT')
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
    this.#beginning?.then((lease) => lease.destroy()).catch(() => {}) // there is no connection, or it is closed already
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
