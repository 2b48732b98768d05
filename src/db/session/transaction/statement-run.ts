import { BaseError } from 'sequelize'
import { nextTurn } from '../../../core/promises.js'
import type { NextStatement, TransactionConnection } from '../../connection.js'
import type { StatementSource } from '../../statements/statement-source.js'
import { isOfDatabase, type Settle, withStackOfHere } from '../../sequelize/query.js'
import type { PendingCounter } from '../pending-counter.js'
import { markQueryError, type QueryOwner } from '../unhandled-queries.js'
import type { SessionTransaction } from './session-transaction.js'

/** Whether the transaction continues after an error. */
export type ContinuesAfter = (error: unknown) => boolean

/** A statement of a scope. */
export interface Statement<T> extends NextStatement {
  /** Called when it is its turn. @throws the error of a statement that is refused. */
  readonly check?: (() => void) | undefined
  send(settle: Settle<T>): void
  /** Counts it while it runs. */
  readonly counter: PendingCounter
  readonly continuesAfter?: ContinuesAfter | undefined
  readonly isSavepoint?: boolean
  /** The source of the statement, with its values. */
  readonly source?: StatementSource | undefined
}

interface Scope extends QueryOwner {
  readonly transaction: SessionTransaction
  /** @throws when statements are refused. */
  assertOpen(): void
}

/** Runs a statement in its turn, on a connection that has begun the transaction. @throws the error that the database would give it. */
export function runStatement<T>(scope: Scope, statement: Statement<T>): Promise<T> {
  const { transaction } = scope
  if (!transaction.dialect.oneAtATime) return new StatementRun(scope, statement).after(undefined)
  const sent = new StatementRun(scope, statement).after(transaction.lastStatement)
  transaction.lastStatement = sent
  return sent
}

/**
 * One statement, from its turn to its answer. If its connection is lost before BEGIN is known to be executed, it is sent again on another one.
 *
 * A promise costs about a microsecond in a tracked asynchronous context, so this file creates as few as possible.
 */
class StatementRun<T> {
  readonly #scope: Scope
  readonly #transaction: SessionTransaction
  readonly #statement: Statement<T>
  readonly #send: (settle: Settle<T>) => void
  /** The failure that the transaction had when the statement was started. */
  readonly #failedBefore: SessionTransaction['failure']
  #connection: TransactionConnection | undefined
  /** Whether the statement was given to the driver. */
  #isSent = false
  readonly #answer: Promise<T>
  #resolve: (value: T) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(scope: Scope, statement: Statement<T>) {
    const { transaction } = scope
    const { observer } = transaction
    this.#scope = scope
    this.#transaction = transaction
    this.#statement = statement
    const { sql, source, isSavepoint = false } = statement
    const send = (settle: Settle<T>) => statement.send(settle)
    this.#send = observer ? observer.timed(sql, send, isSavepoint, source) : send
    this.#failedBefore = transaction.failure
    this.#answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    statement.counter.enter()
  }

  /** @param previous the statement that has to be answered before; its own caller gets its error. */
  after(previous: Promise<unknown> | undefined): Promise<T> {
    const start = () => this.#start()
    if (previous) previous.then(start, start)
    else this.#start()
    return this.#answer.then(
      (value) => this.#succeeded(value),
      (raised: unknown) => this.#failed(raised),
    )
  }

  #start(): void {
    try {
      this.#assertAccepted()
      this.#statement.check?.()
      const waiting = this.#transaction.prepare(this.#statement)
      if (waiting) waiting.then(() => this.#sendAfterWait(), this.#reject)
      else this.#sendNow()
    } catch (error) {
      this.#reject(error)
    }
  }

  #sendAfterWait(): void {
    try {
      this.#assertAccepted()
      this.#sendNow()
    } catch (error) {
      this.#reject(error)
    }
  }

  #sendNow(): void {
    this.#isSent = true
    this.#connection = this.#transaction.currentConnection
    this.#send({ resolve: this.#resolve, reject: (error) => this.#sendAgainOrReject(error) })
  }

  #sendAgainOrReject(error: unknown): void {
    if (this.#transaction.replaceLost(this.#connection, error)) this.#start()
    else this.#reject(error)
  }

  #succeeded(value: T): T {
    const { failure } = this.#transaction
    if (failure && !this.#failedBefore && this.#isUndone(failure)) return this.#fail(failure.error)
    this.#statement.counter.leave()
    return value
  }

  // Of a read that was sent without the transaction, after the statement that failed: in the transaction it would have failed, too.
  #isUndone({ isOfDatabase }: NonNullable<SessionTransaction['failure']>): boolean {
    return isOfDatabase === true && !this.#transaction.hasBegun
  }

  #failed(raised: unknown): never | Promise<never> {
    const { dialect, failure } = this.#transaction
    // The stack of a driver's callback does not lead to the caller.
    if (raised instanceof BaseError && raised !== failure?.error) withStackOfHere(raised)
    if (!dialect.isConsequence?.(raised)) return this.#fail(raised)
    return this.#causeOf(raised).then((error) => this.#fail(error))
  }

  #fail(error: unknown): never {
    const transaction = this.#transaction
    const { sql, counter, continuesAfter } = this.#statement
    if (this.#isSent && isOfDatabase(error) && continuesAfter?.(error) !== true) transaction.fail(error, true)
    if (transaction.dialect.isUndoing(error)) transaction.rollbackReason ??= { error }
    counter.leave()
    throw markQueryError(transaction.owner.onError(error), this.#scope, sql)
  }

  // A statement that was started before the failed one was answered gets the same error: with pipelining it would have been sent already.
  #assertAccepted(): void {
    this.#scope.assertOpen()
    if (this.#failedBefore) this.#transaction.assertNoFailure()
    else if (this.#transaction.failure) throw this.#transaction.failure.error
  }

  // With pipelining, statements sent after a failing one fail too ("transaction is aborted"). Report the first statement's error instead.
  async #causeOf(error: unknown): Promise<unknown> {
    await nextTurn()
    return this.#transaction.failure?.error ?? error
  }
}
