import { type Model, QueryTypes, type Sequelize, Transaction } from 'sequelize'
import type { Dialect, Lease, SendDirect, TransactionNeeds } from '../dialect.js'
import { CommitFailedError, CommitUnknownError, TransactionControlError } from '../errors.js'
import type { KeyQuery } from '../statements/find-by-key.js'
import { directSender, plainQuery, type QueryOptions, sendDirectly } from '../sequelize/query.js'
import { asTransaction, sequelizeInternals, TransactionBase } from '../sequelize/internals.js'
import { type Sql, toBound, toNumbered } from '../statements/statement.js'

/**
 * A Sequelize transaction that takes its connection and sends BEGIN with the first query: Sequelize awaits `transaction.connection`
 * before each statement, and here that is a promise made on first use. A transaction without queries costs nothing.
 */
export class LazyTransaction extends TransactionBase {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  #needs: TransactionNeeds
  #lease: Promise<Lease> | undefined
  /** The same, as soon as it has begun. */
  #begun: Lease | undefined
  /** The session that works in it. Kept here, not in a WeakMap, which would be asked and cleaned for each request. */
  session: unknown
  /** Takes what is to be run once COMMIT has succeeded. */
  register: (callback: () => unknown) => void = () => {}
  #savepoints = 0
  #ended = false

  constructor(sequelize: Sequelize, dialect: Dialect, needs: TransactionNeeds) {
    super(sequelize, { readOnly: needs.readOnly === true })
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#needs = needs
  }

  /** What Sequelize awaits before each statement: the connection, once the transaction has begun. */
  get connection(): Promise<unknown> {
    return this.#begin().then(({ connection }) => connection)
  }

  // Sequelize's own methods take the connection away when they have ended a transaction.
  set connection(_: unknown) {}

  /** Whether its end was sent. Not `finished`: on a deadlock of MySQL Sequelize writes that before the connection is given back. */
  get hasEnded(): boolean {
    return this.#ended
  }

  /** Whether any query was made. */
  get used(): boolean {
    return this.#lease !== undefined
  }

  /** Whether other sessions cannot write until this one, or one that it is opened inside of, has ended. */
  get holdsTurn(): boolean {
    const holds = !this.#ended && this.#begun?.holdsTurn?.() === true
    return holds || this.#needs.outer?.holdsTurn === true
  }

  /** A reader that has read nothing yet sees one snapshot from now on, where the database would give each statement its own. */
  readOneSnapshot(): void {
    const isolation = this.#dialect.snapshotIsolation
    if (isolation === undefined || this.#lease || !this.#needs.reader || this.#needs.isolation !== undefined) return
    this.#needs = { ...this.#needs, isolation }
  }

  /** Before each statement of the session: begins, and waits for its turn, where that is needed. */
  beforeStatement(sql: string): Promise<unknown> | undefined {
    if (this.#begun) return this.#begun.beforeStatement?.(sql)
    return this.#begin().then((lease) => lease.beforeStatement?.(sql))
  }

  /** A number that no other savepoint of this transaction has. */
  nextSavepoint(): number {
    return ++this.#savepoints
  }

  #begin(): Promise<Lease> {
    return (this.#lease ??= this.#open())
  }

  async #open(): Promise<Lease> {
    const lease = await this.#dialect.lease(this.#sequelize, this.#needs)
    try {
      for (const sql of lease.begin) await this.#send(lease, sql)
    } catch (error) {
      await lease.destroy().catch(() => {}) // what went wrong first is what matters
      throw error
    }
    return (this.#begun = lease)
  }

  /** After a statement that made the database commit. */
  async beginAgain(): Promise<void> {
    const lease = await this.#begin()
    for (const sql of lease.begin) await this.#send(lease, sql)
  }

  /** A statement about the transaction itself, past Sequelize's query path. */
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

  /** What sends statements past Sequelize, where that can be done. */
  get directSender(): SendDirect | undefined {
    return directSender(this.#sequelize, this.#dialect)
  }

  /** A row by its key, sent past Sequelize. Like {@link query} after {@link beforeStatement}. */
  read<M extends Model>({ text, values, build }: KeyQuery<M>, send: SendDirect): Promise<M | null> {
    const request = { connection: this.#connection, text, values }
    return sendDirectly(this.#sequelize, send, request, ({ rows }) => build(rows))
  }

  /** The rows of a text, in the shortest way that there is. Like {@link query} after {@link beforeStatement}. */
  rows<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { values, varies } = statement
    const send = this.directSender
    if (!send) return this.#rowsThroughSequelize(statement)
    const request = { connection: this.#connection, text: toNumbered(statement), values, isConstant: varies !== true }
    return sendDirectly(this.#sequelize, send, request, ({ rows }) => rows as Row[])
  }

  async #rowsThroughSequelize<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { text, bind } = toBound(statement)
    // The comment hides a leading INSERT from Sequelize, which on SQLite would throw away what RETURNING gives.
    const [rows] = (await this.query(`/* sql */ ${text}`, { bind, type: QueryTypes.RAW, raw: true })) as [unknown]
    return Array.isArray(rows) ? (rows as Row[]) : []
  }

  /** A plain query of a model or of Sequelize's query(), after {@link beforeStatement}. */
  query(text: string, options: QueryOptions, bind = options.bind): Promise<unknown> {
    return plainQuery(this.#sequelize, this.#dialect, { connection: this.#connection, text, bind, options })
  }

  get #connection(): unknown {
    return (this.#begun as Lease).connection
  }

  /**
   * @throws CommitFailedError when the database answers that nothing was kept, CommitUnknownError when it never answered; else whatever made COMMIT fail.
   */
  keep(): Promise<void> {
    if (this.#begun?.isOpen?.() === false)
      return Promise.reject(new TransactionControlError('A statement ended the transaction'))
    return this.#end('commit', 'COMMIT')
  }

  undo(): Promise<void> {
    return this.#end('rollback', 'ROLLBACK')
  }

  /** What models' hooks and other libraries call: the same as the session's own. */
  override afterCommit(hook: (transaction: Transaction) => unknown): void {
    this.register(() => hook(asTransaction(this)))
  }

  /** Not for programs: the session ends its transaction. @throws TransactionControlError always. */
  override commit(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.commit()'))
  }

  /** Not for programs: the session ends its transaction. @throws TransactionControlError always. */
  override rollback(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.rollback()'))
  }

  // A connection whose COMMIT or ROLLBACK failed is in an unknown state, and on SQLite still holds the lock: it is destroyed.
  async #end(state: 'commit' | 'rollback', sql: string): Promise<void> {
    if (this.#ended) throw new Error(`The transaction has already ended with ${this.finished}.`)
    this.#ended = true
    this.finished = state
    if (!this.#lease) return
    const lease = this.#begun ?? (await this.#lease)
    let answer: unknown
    try {
      answer = await within(this.#needs.endTimeout, sql, this.#send(lease, sql))
    } catch (error) {
      await lease.destroy().catch(() => {}) // what went wrong first is what matters
      const isUnknown = error instanceof NoAnswerError || this.#dialect.isLost(error)
      throw state === 'commit' && isUnknown ? new CommitUnknownError(error) : error
    }
    const given = giveBack(lease)
    if (given) await given
    if (state === 'commit' && !this.#dialect.isKept(answer)) throw new CommitFailedError()
  }

  /** Ends without a word: closes the connection under a statement that does not come to its end, which undoes the work. */
  cut(): void {
    this.#ended = true
    this.finished = 'rollback'
    this.#lease?.then((lease) => lease.destroy()).catch(() => {}) // no connection was had, or it is closed already
  }

  /** Called by Sequelize for a transaction that it began; this one begins by itself. */
  override async prepareEnvironment(): Promise<void> {}
}

// The work is done, well or badly: a connection that cannot be given back is closed, and is nobody's error.
function giveBack(lease: Lease): Promise<void> | undefined {
  const close = () => lease.destroy().catch(() => {})
  try {
    return lease.release()?.catch(close)
  } catch {
    return close()
  }
}

/** The server, or the network to it, has fallen silent. */
class NoAnswerError extends Error {
  override name = 'NoAnswerError'

  constructor(sql: string, milliseconds: number) {
    super(`${sql} was not answered within ${milliseconds} ms.`)
  }
}

// A network that swallows everything breaks no connection for many minutes.
function within<T>(milliseconds: number | undefined, sql: string, answer: Promise<T>): Promise<T> {
  if (!milliseconds) return answer
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoAnswerError(sql, milliseconds)), milliseconds)
    const settle = (then: () => void) => (clearTimeout(timer), then())
    answer.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error as Error)),
    )
  })
}
