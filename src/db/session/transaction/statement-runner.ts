import { BaseError } from 'sequelize'
import { nextTurn } from '../../../core/promises.js'
import type { StatementSource } from '../../statements/statement-source.js'
import { isOfDatabase, type Settle, withStackOfHere } from '../../sequelize/query.js'
import type { PendingCounter } from '../pending-counter.js'
import { markQueryError, type QueryOwner } from '../unhandled-queries.js'
import type { TransactionState } from './transaction-state.js'

/** Whether the transaction goes on after an error. */
export type GoesOn = (error: unknown) => boolean

export interface Statement<T> {
  readonly sql: string
  /** Called when it is its turn; may return a promise that it has to wait for. */
  prepare(): Promise<unknown> | undefined
  send(settle: Settle<T>): void
  readonly counters: readonly PendingCounter[]
  readonly goesOn?: GoesOn | undefined
  readonly isSavepoint?: boolean
  /** Has its values. */
  readonly source?: StatementSource | undefined
}

interface Progress {
  /** Whether the statement was given to the driver. */
  isSent: boolean
}

interface Scope extends QueryOwner {
  /** @throws when statements are refused. */
  assertOpen(): void
}

/**
 * Runs the statements of one scope of a transaction: in their order, on a connection that is there, and with the errors that the database would give them.
 *
 * A promise costs about a microsecond in a tracked asynchronous context, so this file creates as few as possible.
 */
export class StatementRunner {
  readonly #state: TransactionState
  readonly #owner: Scope

  constructor(state: TransactionState, owner: Scope) {
    this.#state = state
    this.#owner = owner
  }

  run<T>(statement: Statement<T>): Promise<T> {
    const state = this.#state
    const { oneAtATime } = state.dialect
    const sent = this.#send(statement, oneAtATime ? state.lastStatement : undefined)
    if (oneAtATime) state.lastStatement = sent
    return sent
  }

  #send<T>(statement: Statement<T>, previous: Promise<unknown> | undefined): Promise<T> {
    const state = this.#state
    const { sql, prepare, counters, isSavepoint = false } = statement
    const { observer } = state
    const send = observer ? observer.timed(sql, statement.send, isSavepoint, statement.source) : statement.send
    const failedBefore = state.failure
    const progress = { isSent: false }
    for (const counter of counters) counter.enter()
    const answer = new Promise<T>((resolve, reject) => {
      const sendNow = () => {
        progress.isSent = true
        const { lease } = state.transaction
        const retry = (error: unknown) => (state.transaction.replaceLost(lease, error) ? start() : reject(error))
        send({ resolve, reject: retry })
      }
      const start = () =>
        attempt(reject, () => {
          this.#assertAccepted(failedBefore)
          const prepared = prepare()
          if (!prepared) return sendNow()
          prepared.then(() => attempt(reject, () => (this.#assertAccepted(failedBefore), sendNow())), reject)
        })
      if (previous) previous.then(start, start) // its own caller gets its error
      else start()
    })
    return answer.then(
      (value) => {
        if (!failedBefore && state.failure && this.#isUndone(state.failure))
          return this.#fail(state.failure.error, statement, progress)
        for (const counter of counters) counter.leave()
        return value
      },
      (raised: unknown) => this.#failed(raised, statement, progress),
    )
  }

  #failed<T>(raised: unknown, statement: Statement<T>, progress: Progress): never | Promise<never> {
    const { dialect, failure } = this.#state
    // The stack of a driver's callback does not lead to the caller.
    if (raised instanceof BaseError && raised !== failure?.error) withStackOfHere(raised)
    if (!dialect.isConsequence?.(raised)) return this.#fail(raised, statement, progress)
    return this.#causeOf(raised).then((error) => this.#fail(error, statement, progress))
  }

  #fail<T>(error: unknown, { sql, counters, goesOn }: Statement<T>, { isSent }: Progress): never {
    const state = this.#state
    if (isSent && isOfDatabase(error) && goesOn?.(error) !== true) state.fail(error, true)
    if (state.dialect.isUndoing(error)) state.rollbackReason ??= { error }
    for (const counter of counters) counter.leave()
    throw markQueryError(state.onError(error), this.#owner, sql)
  }

  // A statement that was started before the failed one was answered gets the same error: with pipelining it would have been sent already.
  #assertAccepted(failedBefore: TransactionState['failure']): void {
    this.#owner.assertOpen()
    if (failedBefore) this.#state.assertNoFailure()
    else if (this.#state.failure) throw this.#state.failure.error
  }

  // Of a read that was sent without the transaction, after the statement that failed: in the transaction it would have failed, too.
  #isUndone(failure: NonNullable<TransactionState['failure']>): boolean {
    return failure.isOfDatabase === true && !this.#state.transaction.hasBegun
  }

  // With pipelining, statements sent after a failing one fail too ("transaction is aborted"). Report the first statement's error instead.
  async #causeOf(error: unknown): Promise<unknown> {
    await nextTurn()
    return this.#state.failure?.error ?? error
  }
}

function attempt(reject: (error: unknown) => void, work: () => void): void {
  try {
    work()
  } catch (error) {
    reject(error)
  }
}
