import type { Sequelize } from 'sequelize'
import type { ClientToken } from '../../../core/client-token.js'
import {
  type Dialect,
  type DirectResult,
  type FirstStatement,
  isLostConnection,
  type Lease,
  type TransactionEnd,
  type TransactionNeeds,
} from '../../dialect.js'
import { CommitFailedError, CommitUnknownError, TransactionControlError } from '../../errors.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { directSender, sendThen, type Settle } from '../../sequelize/query.js'
import { answerWithin, NoAnswerError } from './answer-timeout.js'
import { readPositionBehindCommit, type SendPosition } from './commit-position.js'

const END_SQL = { commit: 'COMMIT', rollback: 'ROLLBACK' } as const

/** The connection of one transaction: taken from the pool when it is needed, then begun, ended and released. */
export class LeasedConnection {
  readonly #sequelize: Sequelize
  readonly #dialect: Dialect
  #needs: TransactionNeeds
  readonly #ready: (() => Promise<void>) | undefined
  #opening: Promise<Lease> | undefined
  /** The lease, once the connection is there and what `begin` lists was answered. */
  #lease: Lease | undefined
  #hasBegun = false
  /** The lease while what `begin` lists is not answered. */
  #beginning: Lease | undefined
  #isClosed = false
  /** A lost connection that was not idle: it may have been opened, and lost, for another session. One is replaced, so that this has an end. */
  #replacedNew: Lease | undefined

  /** @param ready resolves when it may be taken; undefined for at once. */
  constructor(
    sequelize: Sequelize,
    dialect: Dialect,
    needs: TransactionNeeds,
    ready: (() => Promise<void>) | undefined,
  ) {
    this.#sequelize = sequelize
    this.#dialect = dialect
    this.#needs = needs
    this.#ready = ready
  }

  get needs(): TransactionNeeds {
    return this.#needs
  }

  /** Begins the transaction with this isolation level. Call it before {@link acquire}. */
  isolate(isolation: string): void {
    this.#needs = { ...this.#needs, isolation }
  }

  get lease(): Lease | undefined {
    return this.#lease
  }

  /** Whether the connection was requested from the pool. */
  get isRequested(): boolean {
    return this.#opening !== undefined
  }

  /** Whether BEGIN was sent, or is sent with the next statement. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Takes the connection. @param first the statement that is sent first, if the transaction may begin with it. */
  acquire(first?: FirstStatement): Promise<Lease> {
    return (this.#opening ??= this.#ready ? this.#ready().then(() => this.#open(first)) : this.#open(first))
  }

  /** Takes the connection, and begins the transaction. */
  begun(): Promise<Lease> {
    return this.acquire().then((lease) => this.begin(lease))
  }

  /** Begins the transaction, if it has not begun, at the latest with the next statement. */
  begin(lease: Lease): Lease {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      lease.beginWithNextStatement?.()
      this.#needs.observer?.begun(this.#needs)
    }
    return lease
  }

  #open(first: FirstStatement | undefined): Promise<Lease> {
    const { observer, boundary } = this.#needs
    const needs = boundary ? { ...this.#needs, settings: boundary.settings() } : this.#needs
    const leasing = this.#dialect.lease(this.#sequelize, needs)
    return (observer ? observer.acquired(leasing) : leasing).then((lease) => {
      this.#hasBegun = lease.beginWithNextStatement === undefined
      if (lease.begin.length > 0 && !lease.wasBegun) return this.#sendBegin(lease, first)
      if (this.#hasBegun) observer?.begun(this.#needs) // it was begun when the connection was released
      return (this.#lease = lease)
    })
  }

  async #sendBegin(lease: Lease, first: FirstStatement | undefined): Promise<Lease> {
    this.#beginning = lease
    try {
      if (!first || !lease.beginsWith?.(first)) {
        if (lease.sendBegin) await lease.sendBegin()
        else for (const sql of lease.begin) await this.#send(lease, sql)
      }
    } catch (error) {
      await lease.destroy().catch(() => {}) // the error of BEGIN is the one to report
      if (!this.#isClosed && this.#isLost(error) && this.#isReplaceable(lease)) return this.#open(first)
      throw error
    }
    this.#needs.observer?.begun(this.#needs)
    this.#beginning = undefined
    return (this.#lease = lease)
  }

  #isLost(error: unknown): boolean {
    return this.#dialect.isLost(error) || isLostConnection(error)
  }

  #isReplaceable(lease: Lease): boolean {
    return lease.wasIdle === true || (this.#replacedNew ??= lease) === lease
  }

  /**
   * Forgets the connection if it was lost before BEGIN is known to be executed: nothing of the transaction was but, possibly, a read in the same
   * message, or without BEGIN. It is sent a second time then, and no third time. Returns whether the statement that failed with the error is to be sent again, on
   * another one. Synchronous, so that statements that were sent at once are sent again in their order.
   */
  replaceLost(lease: Lease | undefined, error: unknown): boolean {
    if (lease?.hasBegun?.() !== false || !this.#isLost(error) || !this.#isReplaceable(lease)) return false
    if (this.#lease === lease) {
      this.#hasBegun = false
      this.#lease = undefined
      this.#opening = undefined
      this.#needs = { ...this.#needs, beginsApart: true }
      lease.destroy().catch(() => {}) // it is closed already
    }
    return true
  }

  /** Called after a statement that made the database commit. */
  async beginAgain(): Promise<void> {
    const lease = await this.begun()
    this.#needs.observer?.ended('commit')
    for (const sql of lease.begin) await this.#send(lease, sql)
    this.#needs.observer?.begun(this.#needs)
  }

  /** Sends a statement about the transaction itself, such as SAVEPOINT. */
  async command(sql: string): Promise<unknown> {
    return this.#send(await this.begun(), sql)
  }

  #send(lease: Lease, sql: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#sendStatement(lease, sql, { resolve, reject }))
  }

  #sendStatement({ connection }: Lease, sql: string, settle: Settle<unknown>): void {
    const send = directSender(this.#sequelize, this.#dialect)
    if (send) return sendThen(this.#sequelize, send, { connection, text: sql, values: [] }, asSequelizeReturns, settle)
    const { dialect, options } = sequelizeInternals(this.#sequelize)
    const { logging = false } = options
    const query = new dialect.Query(connection, this.#sequelize, { logging, type: 'RAW', raw: true })
    query.run(sql).then(settle.resolve, settle.reject)
  }

  /** @throws TransactionControlError if a statement of the program has ended the transaction. */
  assertOpen(): void {
    if (this.#hasBegun && this.#lease?.isOpen?.() === false)
      throw new TransactionControlError('A statement ended the transaction')
  }

  /**
   * Ends the transaction, and releases the connection. Undefined if nothing has to be waited for.
   *
   * @param token receives the position of the commit.
   * @throws CommitFailedError if the database answered COMMIT with a rollback, CommitUnknownError if it did not answer, else the error of the statement.
   */
  end(end: TransactionEnd, token?: ClientToken): Promise<void> | undefined {
    const sendEnd = (lease: Lease) => (this.#hasBegun ? this.#sendEnd(lease, end, token) : this.#release(lease))
    return this.#lease ? sendEnd(this.#lease) : this.#opening?.then(sendEnd)
  }

  // Not an async function: its promises would cost every request time.
  #sendEnd(lease: Lease, end: TransactionEnd, token: ClientToken | undefined): Promise<void> {
    const sql = END_SQL[end]
    return new Promise((resolve, reject) => {
      const { endTimeout, observer } = this.#needs
      const sentAt = observer ? performance.now() : 0
      let sendPosition: SendPosition | undefined
      const answered = (answer: unknown) => {
        const refusal = end === 'commit' && !this.#dialect.isKept(answer) ? new CommitFailedError() : undefined
        observer?.ended(refusal ? 'rollback' : end, sentAt, refusal)
        const finish = () => (refusal ? reject(refusal) : resolve())
        // After a BEGIN that failed, the connection is not known to be usable.
        const released =
          lease.hasBegun?.() === false
            ? lease.destroy().catch(() => {})
            : (sendPosition?.(refusal === undefined) ?? this.#release(lease))
        if (released) void released.then(finish)
        else finish()
      }
      const failed = (raised: unknown) => {
        const isUnknown = end === 'commit' && (raised instanceof NoAnswerError || this.#dialect.isLost(raised))
        const error = isUnknown ? new CommitUnknownError(raised) : raised
        observer?.ended(isUnknown ? 'unknown' : 'rollback', sentAt, error)
        void rejectAfterClose(lease, error, reject)
      }
      const settle = answerWithin(endTimeout, sql, { resolve: answered, reject: failed })
      try {
        if (lease.end) lease.end(end).then(settle.resolve, settle.reject)
        else this.#sendStatement(lease, sql, settle)
        if (token) sendPosition = readPositionBehindCommit(this.#dialect, lease, token, () => this.#release(lease))
      } catch (error) {
        settle.reject(error) // of the program's logging
      }
    })
  }

  // The transaction has ended, so that a failure here concerns only the connection: it is closed.
  #release(lease: Lease): Promise<void> | undefined {
    const close = () => lease.destroy().catch(() => {})
    try {
      const releasing = lease.release()
      if (!releasing) return undefined
      return new Promise<void>((resolve, reject) => {
        const settle = answerWithin(this.#needs.endTimeout, 'The end of a transaction', { resolve, reject })
        releasing.then(settle.resolve, settle.reject)
      }).catch(close)
    } catch {
      return close()
    }
  }

  /** Closes the connection while a statement is running, which makes the database roll back. */
  close(): void {
    this.#isClosed = true
    if (this.#hasBegun) this.#needs.observer?.ended('rollback')
    // A server that does not answer BEGIN would keep the connection from the pool for ever. On SQLite it is another session that is waited for.
    const lease = this.#lease ?? (this.#needs.endTimeout ? this.#beginning : undefined)
    if (lease) return void lease.destroy().catch(() => {}) // it is closed already
    // It still waits for a connection, on which nothing but BEGIN will have been sent: it is kept.
    this.#opening
      ?.then((lease) => {
        if (!this.#hasBegun) return this.#release(lease)
        const rolledBack = lease.end ? lease.end('rollback') : this.#send(lease, 'ROLLBACK')
        return rolledBack.then(
          () => this.#release(lease),
          () => lease.destroy(),
        )
      })
      .catch(() => {}) // there is no connection
  }
}

// The connection is in an unknown state, and on SQLite still holds the lock.
async function rejectAfterClose(lease: Lease, error: unknown, reject: (error: unknown) => void): Promise<void> {
  await lease.destroy().catch(() => {}) // the error of COMMIT or ROLLBACK is the one to report
  reject(error)
}

/** As Sequelize's query() returns it for a statement without rows: see Dialect#isKept(). */
function asSequelizeReturns(result: DirectResult): unknown {
  return [result.rows, result]
}
