import { BaseError, type Sequelize } from 'sequelize'
import { ImplicitCommitError, SessionClosedError, TransactionControlError } from '../errors.js'
import { withStackOfHere } from '../sequelize/query.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import { ChangeQueue } from './flush.js'
import type { LazyTransaction } from './lazy-transaction.js'
import type { PendingCounter } from './pending-counter.js'
import { QueryOrder } from './query-order.js'
import type { TransactionState } from './transaction-state.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'

/**
 * A session, or a savepoint in it. Every query of a session passes here, in the order of {@link QueryOrder}.
 *
 * A promise costs about a microsecond in a tracked asynchronous context, so this file creates as few as possible.
 */
export class TransactionScope implements QueryOwner {
  readonly state: TransactionState
  readonly order: QueryOrder
  /** The pending changes of this scope. */
  readonly changes: ChangeQueue
  /** Called after COMMIT, unless this scope was rolled back. */
  readonly afterCommit: (() => unknown)[] = []
  readonly #queryCounters: readonly PendingCounter[]
  #ended: string | undefined

  constructor(state: TransactionState) {
    this.state = state
    this.order = new QueryOrder(state.pending)
    this.#queryCounters = [state.pending, state.statements, this.order.running]
    this.changes = new ChangeQueue({
      assertOpen: () => this.assertOpen(),
      sendsAhead: state.dialect.sendsAhead === true,
    })
  }

  get sequelize(): Sequelize {
    return this.state.sequelize
  }

  get transaction(): LazyTransaction {
    return this.state.transaction
  }

  /** @throws SessionClosedError after the end; else the error because of which the transaction must be rolled back, if there is one. */
  assertOpen(): void {
    const ended = this.state.ended ?? this.#ended
    if (ended !== undefined) throw markQueryError(new SessionClosedError(ended), this)
    this.state.assertCommittable()
  }

  /** An unawaited query failed: the transaction is incomplete, so it must be rolled back. */
  onUnhandled(error: unknown): void {
    this.state.rollbackReason ??= { error }
  }

  /** Executes a query of the program after those that it has to wait for. */
  query<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    return this.order.query(() => this.#query(sql, execute))
  }

  #query<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    const { state } = this
    const commits = state.dialect.isCommitting?.(sql) === true
    const prepare = () => {
      if (isTransactionControl(sql)) throw new TransactionControlError(sql.trim().slice(0, 40))
      if (commits && state.hasWritten) throw new ImplicitCommitError(sql.trim().slice(0, 40))
      if (!commits && isWrite(sql)) state.hasWritten = true
      return state.transaction.beforeStatement(sql)
    }
    const send = commits ? () => execute().finally(() => state.transaction.beginAgain()) : execute
    return this.#statement(prepare, send, this.#queryCounters)
  }

  /** Executes a statement about a savepoint. Refused after the end of the session, when another session may use the connection. */
  async command(sql: string): Promise<void> {
    const { statements, transaction } = this.state
    const prepare = () => undefined
    await this.#statement(prepare, () => transaction.command(sql), [statements])
  }

  #statement<T>(
    prepare: () => Promise<unknown> | undefined,
    execute: () => Promise<T>,
    counters: readonly PendingCounter[],
  ): Promise<T> {
    const { state } = this
    const { oneAtATime } = state.dialect
    const sent = this.#send(prepare, execute, counters, oneAtATime ? state.lastStatement : undefined)
    if (oneAtATime) state.lastStatement = sent
    return sent
  }

  async #send<T>(
    prepare: () => Promise<unknown> | undefined,
    execute: () => Promise<T>,
    counters: readonly PendingCounter[],
    previous: Promise<unknown> | undefined,
  ): Promise<T> {
    const { state } = this
    let failedBefore: TransactionState['failure']
    for (const counter of counters) counter.enter()
    try {
      this.assertOpen()
      if (previous) await previous.catch(() => {}) // its own caller gets the error
      const prepared = prepare()
      if (prepared) await prepared
      this.assertOpen()
      failedBefore = state.failure
      return await execute()
    } catch (raised) {
      if (raised instanceof BaseError) withStackOfHere(raised) // the stack of a driver's callback does not lead to the caller
      const error = state.dialect.isConsequence?.(raised) ? await this.#causeOf(raised, failedBefore) : raised
      state.failure ??= { error }
      if (state.dialect.isUndoing(error)) state.rollbackReason ??= { error }
      throw markQueryError(state.onError(error), this)
    } finally {
      for (const counter of counters) counter.leave()
    }
  }

  // With pipelining, statements sent after a failing one fail too ("transaction is aborted"). Report the first statement's error instead.
  async #causeOf(error: unknown, failedBefore: TransactionState['failure']): Promise<unknown> {
    if (failedBefore) return error
    await nextLoopTurn()
    return this.state.failure?.error ?? error
  }

  /** Executes the pending changes of this scope. */
  async flush(): Promise<void> {
    const { pending } = this.state
    pending.enter()
    try {
      await this.changes.flush()
    } finally {
      pending.leave()
    }
  }

  /** Refuses further queries in this scope once the running ones have ended; `end` is 'released' or 'rolled back'. */
  async close(end: string): Promise<void> {
    await nextLoopTurn()
    await this.order.lastSavepoint
    await this.order.running.empty()
    this.#ended ??= end
  }
}

/** Statements that begin or end a transaction. Those about savepoints are allowed in a session. */
const isTransactionControl = startsWithKeyword(
  'BEGIN',
  'START\\s+TRANSACTION',
  'COMMIT',
  'END',
  'ABORT',
  'ROLLBACK(?!\\s+(?:WORK\\s+|TRANSACTION\\s+)?TO\\b)',
  'PREPARE\\s+TRANSACTION',
)

const isWrite = startsWithKeyword('INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'LOAD', 'CALL', 'WITH')

function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
