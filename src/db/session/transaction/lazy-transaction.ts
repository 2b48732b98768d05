import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import type { ClientToken } from '../../../core/client-token.js'
import type {
  Cursor,
  CursorStatement,
  Dialect,
  FirstStatement,
  Lease,
  SendDirect,
  TransactionEnd,
  TransactionNeeds,
} from '../../dialect.js'
import type { UnitBoundary } from '../../boundary.js'
import { SecondConnectionError, TransactionControlError } from '../../errors.js'
import { asTransaction } from '../../sequelize/internals.js'
import { TransactionBase } from '../../sequelize/transaction-base.js'
import {
  directSender,
  writeQuery,
  plainQuery,
  type QueryOptions,
  sendDirectly,
  sendThen,
  type Settle,
} from '../../sequelize/query.js'
import type { CompiledStatement } from '../../statements/compiled/compiled-select.js'
import { type Sql, toBound, toPlaceholders } from '../../statements/statement.js'
import { markQueryError } from '../unhandled-queries.js'
import { LeasedConnection } from './leased-connection.js'

/** Other transactions of the same database and the same request. */
export interface TransactionsAround {
  /** That of the session inside which this one was opened. */
  readonly outer: LazyTransaction | undefined
  /** That of the session that the calling code runs in. */
  current(): LazyTransaction | undefined
}

interface SessionOfTransaction {
  /** Queues a callback to be called after COMMIT. */
  afterCommit(callback: () => unknown): void
}

/**
 * A Sequelize transaction that takes a connection and sends BEGIN with its first query. Sequelize awaits `transaction.connection` before each
 * statement; here that is a promise created on first use. A transaction without queries costs nothing, and one whose statements read the same
 * without it is never begun.
 */
export class LazyTransaction extends TransactionBase {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  readonly #leased: LeasedConnection
  readonly #around: TransactionsAround
  /** The session of this transaction. A property, because a WeakMap costs more for each request. */
  session: SessionOfTransaction | undefined
  #isGiven = false
  #savepoints = 0
  #hasEnded = false

  /** @param ready resolves when a connection may be taken; undefined for at once. */
  constructor(
    sequelize: Sequelize,
    dialect: Dialect,
    needs: TransactionNeeds,
    around: TransactionsAround,
    ready?: () => Promise<void>,
  ) {
    super(sequelize, { readOnly: needs.readOnly === true })
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#leased = new LeasedConnection(sequelize, dialect, needs, ready)
    this.#around = around
  }

  /** Read by Sequelize before each statement: resolves to the connection, once the transaction has begun. */
  get connection(): Promise<unknown> {
    return this.#afterCheck(() => this.#leased.begun()).then(({ connection }) => connection)
  }

  // Sequelize's own methods clear the connection when they have ended a transaction.
  set connection(_: unknown) {}

  /** Whether COMMIT or ROLLBACK was sent. Not `finished`: on a deadlock of MySQL, Sequelize sets it before the connection is released. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether it is committed after those of other databases. */
  commitsLast = false

  /** What its statements may reach; undefined for no limit. */
  get boundary(): UnitBoundary | undefined {
    return this.#leased.needs.boundary
  }

  /** Whether any query was started. */
  get used(): boolean {
    return this.#leased.isRequested
  }

  /** Whether BEGIN was sent, or is sent with the next statement. */
  get hasBegun(): boolean {
    return this.#leased.hasBegun
  }

  /** Whether this transaction, or one around it, has taken a connection, or waits for one. */
  get holdsConnection(): boolean {
    return (this.used && !this.#hasEnded) || this.#around.outer?.holdsConnection === true
  }

  /** @throws SecondConnectionError if this transaction would need a connection while a session around the calling code holds one. */
  assertOnlyConnection(): void {
    if (this.used) return
    const current = this.#around.current()
    if (this.#around.outer?.holdsConnection || (current !== this && current?.holdsConnection))
      throw markQueryError(new SecondConnectionError('A session needs a connection inside another session'), {
        sequelize: this.#sequelize,
        onUnhandled() {},
      })
  }

  #afterCheck(acquire: () => Promise<Lease>): Promise<Lease> {
    try {
      this.assertOnlyConnection()
      return acquire()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** See Session#readOneSnapshot(). Does nothing on databases whose transactions always read one snapshot. */
  readOneSnapshot(): void {
    const { snapshotIsolation } = this.#dialect
    const { reader, isolation } = this.#leased.needs
    if (snapshotIsolation !== undefined && !this.used && reader && isolation === undefined)
      this.#leased.isolate(snapshotIsolation)
  }

  /**
   * Called before each statement of the session: begins the transaction, and waits where the dialect has to.
   *
   * @param kind of a statement with which the transaction may begin.
   */
  beforeStatement(sql: string, kind?: FirstStatement['kind']): Promise<unknown> | undefined {
    const leased = this.#leased
    const prepare = (lease: Lease) => leased.begin(lease).beforeStatement?.(sql)
    if (leased.lease) return prepare(leased.lease)
    return this.#afterCheck(() => leased.acquire(kind && { sql, kind })).then(prepare)
  }

  /** Called before a statement that reads plain columns of a table, each time the same rows in a transaction or outside of one. */
  beforeRead(sql: string): Promise<unknown> | undefined {
    const leased = this.#leased
    const { reader, isolation, boundary, beginsApart } = leased.needs
    if (leased.hasBegun || this.#isGiven || !reader || isolation !== undefined || boundary || beginsApart)
      return this.beforeStatement(sql, 'read')
    const prepare = (lease: Lease) => (lease.readsAlone?.() ? undefined : this.beforeStatement(sql))
    return leased.lease
      ? prepare(leased.lease)
      : this.#afterCheck(() => leased.acquire({ sql, kind: 'read' })).then(prepare)
  }

  /** Called when the program is given the transaction: it may do with it what is not known here. */
  give(): Transaction {
    this.#isGiven = true
    return asTransaction(this)
  }

  /** A number that no other savepoint of this transaction has. */
  nextSavepoint(): number {
    return ++this.#savepoints
  }

  /** The connection of the statement that is sent next, for {@link replaceLost}. */
  get lease(): Lease | undefined {
    return this.#leased.lease
  }

  /** Whether a statement that failed because its connection was lost is to be sent again. See LeasedConnection#replaceLost(). */
  replaceLost(lease: Lease | undefined, error: unknown): boolean {
    return !this.#hasEnded && this.#leased.replaceLost(lease, error)
  }

  /** Called after a statement that made the database commit. */
  beginAgain(): Promise<void> {
    return this.#leased.beginAgain()
  }

  /** Sends a statement about the transaction itself, such as SAVEPOINT. */
  command(sql: string): Promise<unknown> {
    return this.#leased.command(sql)
  }

  /** Sends statements to the driver; undefined if they have to take Sequelize's query path. */
  get directSender(): SendDirect | undefined {
    return directSender(this.#sequelize, this.#dialect)
  }

  /** Executes a compiled statement. Call {@link beforeStatement} first. */
  read<T>(statement: CompiledStatement<T>, send: SendDirect, settle: Settle<T>): void {
    const { sql, values, form, read, instance } = statement
    const connection = this.#connection
    const query = instance && (() => writeQuery(this.#sequelize, connection, instance))
    const request = { connection, text: sql, values, form, query }
    sendThen(this.#sequelize, send, request, read, settle)
  }

  /** The rows of raw SQL. Call {@link beforeStatement} first. */
  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { values, varies } = statement
    const send = this.directSender
    if (!send) return this.#rowsThroughSequelize(statement)
    const request = {
      connection: this.#connection,
      text: toPlaceholders(statement, this.#dialect),
      values: values.length > 0 ? values : undefined,
      form: varies ? ('varying' as const) : ('constant' as const),
    }
    return sendDirectly(this.#sequelize, send, request, ({ rows }) => asRows<Row>(rows))
  }

  async #rowsThroughSequelize<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { sql, bind } = toBound(statement)
    // Sequelize drops the rows of INSERT ... RETURNING on SQLite. The comment keeps it from seeing the INSERT.
    const result = await this.query(`/* sql */ ${sql}`, { bind, type: QueryTypes.RAW, raw: true })
    const rows: unknown = Array.isArray(result) ? result[0] : undefined
    return Array.isArray(rows) ? asRows<Row>(rows) : []
  }

  /** Opens a cursor for a statement. Call {@link beforeStatement} first. @throws TypeError for a database without cursors. */
  openCursor(statement: CursorStatement): Promise<Cursor> {
    const { openCursor } = this.#dialect
    if (openCursor) return openCursor(this.#sequelize, this.#connection, statement)
    throw new TypeError(`Rows cannot be read in batches from ${this.#sequelize.getDialect()}.`)
  }

  /** Executes a plain query of a model or of sequelize.query(). Call {@link beforeStatement} first. */
  query(sql: string, options: QueryOptions, bind = options.bind): Promise<unknown> {
    return plainQuery(this.#sequelize, this.#dialect, { connection: this.#connection, text: sql, bind, options })
  }

  get #connection(): unknown {
    const { lease } = this.#leased
    if (lease) return lease.connection
    throw new Error('The transaction has not begun: call beforeStatement() before each statement.')
  }

  /** Commits, and releases the connection. @param token receives the position of the commit. @throws what LeasedConnection#end() throws. */
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
    return this.#leased.end(end, token)
  }

  /** Closes the connection while a statement is running, which makes the database roll back. */
  closeConnection(): void {
    this.#hasEnded = true
    this.finished = 'rollback'
    this.#leased.close()
  }

  /** @throws TransactionControlError if a statement of the program has ended the transaction. */
  assertOpen(): void {
    this.#leased.assertOpen()
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
