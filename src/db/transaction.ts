import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import type { Dialect, Lease, TransactionNeeds } from './dialect.js'
import { CommitFailedError, CommitUnknownError, TransactionControlError } from './errors.js'
import { directly, insideOf, plainQuery } from './query.js'
import { type Sql, toBound, toNumbered } from './statement.js'

// Sequelize's types leave out the constructor and what its query path reads of a transaction.
const SequelizeTransaction = Transaction as unknown as new (
  sequelize: Sequelize,
  options: object,
) => Transaction & { finished?: string; connection?: unknown; parent?: Transaction | null }

/**
 * A Sequelize transaction that takes its connection and sends BEGIN with the first query: Sequelize awaits `transaction.connection`
 * before each statement, and here that is a promise made on first use. A transaction without queries costs nothing.
 */
export class LazyTransaction extends SequelizeTransaction {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  #needs: TransactionNeeds
  #lease: Promise<Lease> | undefined
  #savepoints = 0
  #ended = false

  constructor(sequelize: Sequelize, dialect: Dialect, needs: TransactionNeeds) {
    super(sequelize, { readOnly: needs.readOnly === true })
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#needs = needs
    // An own property: the constructor of Sequelize's class leaves none, but its methods assign one.
    Object.defineProperty(this, 'connection', {
      get: () => this.ready(),
      set() {},
    })
  }

  /** Whether its end was sent. Not `finished`: on a deadlock of MySQL Sequelize writes that before the connection is given back. */
  get hasEnded(): boolean {
    return this.#ended
  }

  /** Whether any query was made. */
  get used(): boolean {
    return this.#lease !== undefined
  }

  /** The connection, once the transaction has begun. */
  async ready(): Promise<unknown> {
    return (await this.#begun()).connection
  }

  /** A reader that has read nothing yet sees one snapshot from now on, where the database would give each statement its own. */
  readOneSnapshot(): void {
    const isolation = this.#dialect.snapshotIsolation
    if (isolation === undefined || this.#lease || !this.#needs.reader || this.#needs.isolation !== undefined) return
    this.#needs = { ...this.#needs, isolation }
  }

  /** Before each statement of the session. */
  async beforeStatement(sql: string): Promise<void> {
    const lease = await this.#begun()
    await lease.beforeStatement?.(sql)
  }

  /** A number that no other savepoint of this transaction has. */
  nextSavepoint(): number {
    return ++this.#savepoints
  }

  #begun(): Promise<Lease> {
    return (this.#lease ??= this.#begin())
  }

  async #begin(): Promise<Lease> {
    const lease = await this.#dialect.lease(this.#sequelize, this.#needs)
    try {
      for (const sql of lease.begin) await this.#send(lease, sql)
    } catch (error) {
      await lease.destroy().catch(() => {}) // what went wrong first is what matters
      throw error
    }
    return lease
  }

  /** A statement about the transaction itself, past Sequelize's query path. */
  async command(sql: string): Promise<unknown> {
    return this.#send(await this.#begun(), sql)
  }

  async #send(lease: Lease, sql: string): Promise<unknown> {
    const send = directly(this.#sequelize, this.#dialect)
    if (send) {
      const result = await send(lease.connection, sql, [])
      return [result.rows, result]
    }
    const { dialect, options } = insideOf(this.#sequelize)
    const { logging = false } = options
    return new dialect.Query(lease.connection, this.#sequelize, { logging, type: 'RAW', raw: true }).run(sql)
  }

  /** The rows of a text, in the shortest way that there is. */
  async rows<Row>(statement: Sql<Row>): Promise<unknown> {
    const send = directly(this.#sequelize, this.#dialect)
    if (send) return (await send(await this.ready(), toNumbered(statement), statement.values)).rows
    const { text, bind } = toBound(statement)
    // The comment hides a leading INSERT from Sequelize, which on SQLite would throw away what RETURNING gives.
    const options = { bind, type: QueryTypes.RAW, raw: true }
    const [rows] = (await plainQuery(this.#sequelize, `/* sql */ ${text}`, options, this)) as [unknown]
    return rows
  }

  /**
   * @throws CommitFailedError when the database answers that nothing was kept, CommitUnknownError when it never answered; else whatever made COMMIT fail.
   */
  async keep(): Promise<void> {
    if ((await this.#lease)?.isOpen?.() === false)
      throw new TransactionControlError('A statement ended the transaction')
    const answer = await this.#end('commit', 'COMMIT').catch((error: unknown) => {
      throw this.#dialect.isLost(error) ? new CommitUnknownError(error) : error
    })
    if (answer !== undefined && !this.#dialect.isKept(answer)) throw new CommitFailedError()
  }

  async undo(): Promise<void> {
    await this.#end('rollback', 'ROLLBACK')
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
  async #end(state: 'commit' | 'rollback', sql: string): Promise<unknown> {
    if (this.#ended) throw new Error(`The transaction has already ended with ${this.finished}.`)
    this.#ended = true
    this.finished = state
    if (!this.#lease) return undefined
    const lease = await this.#lease
    const answer = await this.#send(lease, sql).catch(async (error: unknown) => {
      await lease.destroy().catch(() => {}) // what went wrong first is what matters
      throw error
    })
    await giveBack(lease)
    return answer
  }

  /** Ends without a word: closes the connection under a statement that does not come to its end, which undoes the work. */
  cut(): void {
    this.#ended = true
    this.finished = 'rollback'
    this.#lease?.then((lease) => lease.destroy()).catch(() => {}) // no connection was had, or it is closed already
  }

  /** Called by Sequelize for a transaction that it began; this one begins by itself. */
  async prepareEnvironment(): Promise<void> {}
}

// The work is done, well or badly: a connection that cannot be given back is closed, and is nobody's error.
async function giveBack(lease: Lease): Promise<void> {
  try {
    await lease.release()
  } catch {
    await lease.destroy().catch(() => {})
  }
}
