import { BaseError } from 'sequelize'
import { nextTurn, type PendingCounter } from '../../../core/promises.js'
import type { NextStatement, TransactionConnection } from '../../connection.js'
import type { DirectResult, Settle } from '../../direct-statement.js'
import { StatementRefusedError } from '../../errors.js'
import type { ObservedStatement } from '../../events/session-observer.js'
import { isOfDatabase, withStackOfHere } from '../../sequelize/query.js'
import type { StatementSource } from '../../statements/statement-source.js'
import { markQueryError, type QueryOwner } from '../unhandled-queries.js'
import type { SessionTransaction } from './session-transaction.js'

/** Whether the transaction continues after an error. */
export type ContinuesAfter = (error: unknown) => boolean

/** A statement of a scope. */
export interface Statement<T> extends NextStatement {
  /** Called when it is its turn. @throws the error of a statement that is refused. */
  readonly check?: (() => void) | undefined
  send(connection: TransactionConnection, settle: Settle<T>): void
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

/**
 * The connection was lost before it could execute BEGIN. The statement is sent again after this: the driver calls back in the asynchronous context of the request
 * that has opened the connection, which may hold another one.
 */
const LOST = Symbol('lost')

/**
 * One statement, from its turn to its answer. If its connection is lost before BEGIN is known to be executed, it is sent again on another one.
 *
 * A promise costs about a microsecond in a tracked asynchronous context, so this file creates as few as possible.
 */
export class StatementRun<T> implements Settle<T> {
  readonly #scope: Scope
  readonly #transaction: SessionTransaction
  readonly #statement: Statement<T>
  /** Undefined if no one listens. */
  readonly #observed: ObservedStatement | undefined
  /** The failure that the transaction had when the statement was started. */
  readonly #failedBefore: SessionTransaction['failure']
  #connection: TransactionConnection | undefined
  /** Whether the statement was given to the driver. */
  #isSent = false
  #resolve: (value: T) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(scope: Scope, statement: Statement<T>) {
    const { transaction } = scope
    const { sql, source, kind, isSavepoint = false } = statement
    this.#scope = scope
    this.#transaction = transaction
    this.#statement = statement
    this.#observed = transaction.observer?.statement(sql, isSavepoint, source)
    this.#failedBefore = transaction.failure
    if (!isSavepoint) transaction.tables?.add(sql, source, kind)
  }

  /** Runs it in its turn, on a connection that has begun the transaction. @throws the error that the database would give it. */
  run(): Promise<T> {
    const transaction = this.#transaction
    this.#statement.counter.enter()
    const answer = this.#newAnswer()
    const previous = transaction.dialect.oneAtATime ? transaction.lastStatement : undefined // its own caller gets its error
    if (previous) {
      const start = () => this.#start()
      previous.then(start, start)
    } else this.#start()
    const answered = this.#end(answer)
    if (transaction.dialect.oneAtATime) transaction.lastStatement = answered
    return answered
  }

  #newAnswer(): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  #end(answer: Promise<T>): Promise<T> {
    return answer.then(
      (value) => this.#succeeded(value),
      (raised: unknown) => (raised === LOST ? this.#sendAgain() : this.#failed(raised)),
    )
  }

  #sendAgain(): Promise<T> {
    const answer = this.#newAnswer()
    this.#start()
    return this.#end(answer)
  }

  #start(): void {
    const transaction = this.#transaction
    try {
      this.#assertAccepted()
      if (this.#statement.kind === 'write') transaction.hasWritten = transaction.mayHaveWritten = true
      this.#statement.check?.()
      if (transaction.taken) this.#sendOn(transaction.taken)
      else transaction.acquire(this.#statement).then((taken) => this.#afterWait(taken), this.#reject)
    } catch (error) {
      this.#reject(error)
    }
  }

  #afterWait(connection: TransactionConnection, isPrepared = false): void {
    try {
      this.#assertAccepted()
      this.#sendOn(connection, isPrepared)
    } catch (error) {
      this.#reject(error)
    }
  }

  #sendOn(connection: TransactionConnection, isPrepared = false): void {
    const statement = this.#statement
    // What the program does with a transaction that it was given is not known here.
    const readsAlone = statement.readsAlone && !this.#transaction.isGiven
    const next = readsAlone === statement.readsAlone ? statement : { ...statement, readsAlone }
    const waiting = isPrepared ? undefined : connection.prepare(next)
    if (waiting) return void waiting.then(() => this.#afterWait(connection, true), this.#reject)
    this.#isSent = true
    this.#connection = connection
    this.#observed?.sent()
    statement.send(connection, this)
  }

  /** Called with the rows, as are the two following methods with the answer. */
  received(result: DirectResult): void {
    this.#observed?.received(result)
  }

  resolve(value: T): void {
    this.#observed?.answered(value)
    this.#resolve(value)
  }

  reject(error: unknown): void {
    this.#observed?.failed(error)
    this.#reject(this.#transaction.replaceLost(this.#connection, error) ? LOST : error)
  }

  #succeeded(value: T): T {
    const { failure } = this.#transaction
    if (failure && !this.#failedBefore && this.#isUndone(failure)) return this.#fail(failure.error)
    this.#statement.counter.leave()
    return value
  }

  // The error of a read that was sent without the transaction, or before it was known to have begun, after the statement that failed: in the transaction it
  // would have failed, too.
  #isUndone({ isOfDatabase }: NonNullable<SessionTransaction['failure']>): boolean {
    return isOfDatabase === true && !this.#transaction.taken?.isBegun
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
    const { failure } = this.#transaction
    if (!failure) return
    throw this.#failedBefore ? new StatementRefusedError(failure.error) : failure.error
  }

  // With pipelining, statements sent after a failing one fail too ("transaction is aborted"). Report the first statement's error instead.
  async #causeOf(error: unknown): Promise<unknown> {
    await nextTurn()
    return this.#transaction.failure?.error ?? error
  }
}
