import { BaseError, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { ImplicitCommitError, SessionClosedError, StatementRefusedError, TransactionControlError } from '../errors.js'
import { modelOf } from '../sequelize/internals.js'
import { isOfDatabase, withStackOfHere } from '../sequelize/query.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import { isKnownWrite, mayWrite } from '../sql/writes.js'
import { insertStatement } from '../statements/compiled/compiled-insert.js'
import type { CompiledStatement } from '../statements/compiled/compiled-select.js'
import { ChangeQueue } from './flush.js'
import type { LazyTransaction } from './lazy-transaction.js'
import type { PendingCounter } from './pending-counter.js'
import { QueryOrder } from './query-order.js'
import type { TransactionState } from './transaction-state.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'

/** Whether the transaction goes on after an error. */
type GoesOn = (error: unknown) => boolean

interface Statement<T> {
  readonly sql: string
  /** Called when it is its turn; may return a promise that it has to wait for. */
  prepare(): Promise<unknown> | undefined
  send(): Promise<T>
  readonly counters: readonly PendingCounter[]
  readonly goesOn?: GoesOn | undefined
}

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
      insert: (instance, onSent) => this.insert(instance, onSent),
      sendsAhead: state.dialect.sendsAhead === true,
    })
  }

  get sequelize(): Sequelize {
    return this.state.sequelize
  }

  get scope(): this {
    return this
  }

  get route(): string | undefined {
    return this.state.route
  }

  get transaction(): LazyTransaction {
    return this.state.transaction
  }

  /** @throws SessionClosedError after the end; else the error because of which the transaction must be rolled back, if there is one. */
  assertOpen(): void {
    const ended = this.state.ended ?? this.#ended
    if (ended !== undefined) throw markQueryError(new SessionClosedError(ended), this)
    this.state.assertAlive()
  }

  /** @throws SessionClosedError after the end of the session. */
  assertNotEnded(): void {
    if (this.state.ended !== undefined) throw markQueryError(new SessionClosedError(this.state.ended), this)
  }

  /** A value was refused before its statement was sent: it counts as a statement that the database has refused. Returns the error to throw. */
  refuse(error: unknown): unknown {
    const { failure } = this.state
    if (failure) return markQueryError(new StatementRefusedError(failure.error), this)
    this.state.fail(error)
    return markQueryError(error, this)
  }

  /** An unawaited query failed: the transaction is incomplete, so it must be rolled back. */
  onUnhandled(error: unknown): void {
    this.state.rollbackReason ??= { error }
  }

  /**
   * Executes a query of the program after those that it has to wait for.
   *
   * @param goesOn whether the transaction goes on after an error of this query. By default all later statements are refused.
   */
  query<T>(sql: string, execute: () => Promise<T>, goesOn?: GoesOn): Promise<T> {
    return this.order.query(() => this.#query(sql, execute, goesOn))
  }

  #query<T>(sql: string, execute: () => Promise<T>, goesOn?: GoesOn): Promise<T> {
    const { state } = this
    const commits = state.dialect.isCommitting?.(sql) === true
    const prepare = () => {
      if (isTransactionControl(sql)) throw new TransactionControlError(sql.trim().slice(0, 40))
      if (commits && state.hasWritten) throw new ImplicitCommitError(sql.trim().slice(0, 40))
      if (!commits && isKnownWrite(sql)) state.hasWritten = true
      state.mayHaveWritten ||= mayWrite(sql)
      return state.transaction.beforeStatement(sql)
    }
    const send = commits ? () => execute().finally(() => state.transaction.beginAgain()) : execute
    return this.#statement({ sql, prepare, send, counters: this.#queryCounters, goesOn })
  }

  /**
   * Executes a compiled statement of a model of this database; undefined if Sequelize has to execute the statement.
   *
   * @param onSent called when the statement was sent.
   */
  executeCompiled<T>(
    model: ModelStatic<Model>,
    compile: () => CompiledStatement<T> | undefined,
    onSent?: () => void,
  ): Promise<T> | undefined {
    const { transaction } = this
    const send = model.sequelize === this.sequelize ? transaction.directSender : undefined
    const statement = send && compile()
    if (!statement) return undefined
    return this.query(statement.sql, () => {
      const answer = transaction.read(statement, send)
      onSent?.()
      return answer
    })
  }

  /** Inserts a new instance; undefined if Sequelize has to save it. */
  insert(instance: Model, onSent?: () => void): Promise<Model> | undefined {
    return this.executeCompiled(modelOf(instance), () => insertStatement(instance), onSent)
  }

  /** Executes a statement about a savepoint. Refused after the end of the session, when another session may use the connection. */
  async command(sql: string): Promise<void> {
    const { statements, transaction } = this.state
    const prepare = () => transaction.beforeStatement(sql)
    await this.#statement({ sql, prepare, send: () => transaction.command(sql), counters: [statements] })
  }

  #statement<T>(statement: Statement<T>): Promise<T> {
    const { state } = this
    const { oneAtATime } = state.dialect
    const sent = this.#send(statement, oneAtATime ? state.lastStatement : undefined)
    if (oneAtATime) state.lastStatement = sent
    return sent
  }

  async #send<T>(
    { sql, prepare, send, counters, goesOn }: Statement<T>,
    previous: Promise<unknown> | undefined,
  ): Promise<T> {
    const { state } = this
    const failedBefore = state.failure
    let isSent = false
    for (const counter of counters) counter.enter()
    try {
      if (previous) await previous.catch(() => {}) // its own caller gets the error
      for (;;) {
        this.#assertAccepted(failedBefore)
        const prepared = prepare()
        if (prepared) {
          await prepared
          this.#assertAccepted(failedBefore)
        }
        isSent = true
        const { lease } = state.transaction
        try {
          return await send()
        } catch (error) {
          if (!state.transaction.replaceLost(lease, error)) throw error
        }
      }
    } catch (raised) {
      // The stack of a driver's callback does not lead to the caller.
      if (raised instanceof BaseError && raised !== state.failure?.error) withStackOfHere(raised)
      const error = state.dialect.isConsequence?.(raised) ? await this.#causeOf(raised) : raised
      if (isSent && isOfDatabase(error) && goesOn?.(error) !== true) state.fail(error)
      if (state.dialect.isUndoing(error)) state.rollbackReason ??= { error }
      throw markQueryError(state.onError(error), this, sql)
    } finally {
      for (const counter of counters) counter.leave()
    }
  }

  // A statement that was started before the failed one was answered gets the same error: with pipelining it would have been sent already.
  #assertAccepted(failedBefore: TransactionState['failure']): void {
    this.assertOpen()
    if (failedBefore) this.state.assertNoFailure()
    else if (this.state.failure) throw this.state.failure.error
  }

  // With pipelining, statements sent after a failing one fail too ("transaction is aborted"). Report the first statement's error instead.
  async #causeOf(error: unknown): Promise<unknown> {
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

function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
