import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { nextTurn } from '../../core/promises.js'
import { ImplicitCommitError, SessionClosedError, StatementRefusedError, TransactionControlError } from '../errors.js'
import type { StatementSource } from '../statements/statement-source.js'
import { modelOf } from '../sequelize/internals.js'
import type { Settle } from '../sequelize/query.js'
import { laterStatements } from '../sql/later-statements.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import { isKnownWrite, mayWrite } from '../sql/writes.js'
import { deleteStatement } from '../statements/compiled/compiled-delete.js'
import { insertStatement } from '../statements/compiled/compiled-insert.js'
import type { CompiledStatement } from '../statements/compiled/compiled-select.js'
import { updateStatement } from '../statements/compiled/compiled-update.js'
import { ChangeQueue } from './flush.js'
import type { LazyTransaction } from './transaction/lazy-transaction.js'
import type { PendingCounter } from './pending-counter.js'
import { QueryOrder } from './query-order.js'
import { type GoesOn, StatementRunner } from './transaction/statement-runner.js'
import type { TransactionState } from './transaction/transaction-state.js'
import { untilEnd } from './transaction/until-end.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'

/**
 * A session, or a savepoint in it. Every query of a session passes here, in the order of {@link QueryOrder}.
 */
export class TransactionScope implements QueryOwner {
  readonly state: TransactionState
  readonly order: QueryOrder
  #changes: ChangeQueue | undefined
  /** Called after COMMIT, unless this scope was rolled back. */
  readonly afterCommit: (() => unknown)[] = []
  readonly #queryCounters: readonly PendingCounter[]
  readonly #runner: StatementRunner
  #ended: string | undefined

  constructor(state: TransactionState) {
    this.state = state
    this.order = new QueryOrder(state.pending)
    this.#runner = new StatementRunner(state, this)
    this.#queryCounters = [state.pending, state.statements, this.order.running]
  }

  /** The pending changes of this scope. Made when somebody asks for it: most handlers only read. */
  get changes(): ChangeQueue {
    return (this.#changes ??= new ChangeQueue(this))
  }

  get hasChanges(): boolean {
    return this.#changes !== undefined && !this.#changes.isEmpty
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

  get sendsAhead(): boolean {
    return this.state.dialect.sendsAhead === true
  }

  get transaction(): LazyTransaction {
    return this.state.transaction
  }

  /** @throws SessionClosedError after the end; else the error because of which the transaction must be rolled back, if there is one. */
  assertOpen(): void {
    const ended = this.state.ended ?? this.#ended
    if (ended !== undefined) throw markQueryError(new SessionClosedError(ended), this)
    this.state.assertAlive()
    this.state.assertNotEndedByStatement()
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

  /** @throws what the boundary of the unit throws for raw SQL: it counts as a statement that the database has refused. */
  assertWithinBoundary(sql: string): void {
    try {
      this.transaction.boundary?.assertStatement(sql)
    } catch (error) {
      throw this.refuse(error)
    }
  }

  /** An unawaited query failed: the transaction is incomplete, so it must be rolled back. */
  onUnhandled(error: unknown): void {
    this.state.rollbackReason ??= { error }
  }

  /**
   * Executes a query of the program after those that it has to wait for.
   *
   * @param source has its values.
   * @param goesOn whether the transaction goes on after an error of this query. By default all later statements are refused.
   */
  query<T>(sql: string, execute: () => Promise<T>, source: StatementSource, goesOn?: GoesOn): Promise<T> {
    return this.order.query(() => this.#query(sql, execute, source, goesOn))
  }

  #query<T>(sql: string, execute: () => Promise<T>, source: StatementSource, goesOn?: GoesOn): Promise<T> {
    const { state } = this
    const { dialect, sequelize } = state
    const commits = dialect.isCommitting?.(sql) === true
    const mayEnd = !commits && dialect.mayEndTransaction?.(sql, sequelize) === true
    let hadWritten = false
    const prepare = () => {
      const later = laterStatements(sql, sequelize.getDialect())
      const control = [sql, ...later].find(isTransactionControl)
      if (control !== undefined) throw new TransactionControlError(control.trim().slice(0, 40))
      const committing = state.hasWritten ? [sql, ...later].find((text) => dialect.isCommitting?.(text)) : undefined
      if (committing !== undefined) throw new ImplicitCommitError(committing.trim().slice(0, 40))
      hadWritten = state.hasWritten
      if (mayEnd || (!commits && (isKnownWrite(sql) || later.some(isKnownWrite)))) state.hasWritten = true
      state.mayHaveWritten ||= mayWrite(sql) || later.some(mayWrite)
      return state.transaction.beforeStatement(sql)
    }
    const whole = () => {
      if (commits) return execute().finally(() => state.transaction.beginAgain())
      return mayEnd ? untilEnd(state, { sql, hadWritten }, execute) : execute()
    }
    const send = (settle: Settle<T>) => void whole().then(settle.resolve, settle.reject)
    return this.#runner.run({ sql, prepare, send, counters: this.#queryCounters, goesOn, source })
  }

  /** Executes a compiled read. Undefined if Sequelize has to execute it, as for the following methods. */
  read<T>(model: ModelStatic<Model>, compile: () => CompiledStatement<T> | undefined): Promise<T> | undefined {
    const { transaction } = this
    return this.#compiled(model, 'read', compile, ({ sql, readsAlone }) =>
      readsAlone ? transaction.beforeRead(sql) : transaction.beforeStatement(sql),
    )
  }

  /** Executes a compiled read in the transaction, for reads that have to be of one snapshot. */
  readInTransaction<T>(
    model: ModelStatic<Model>,
    compile: () => CompiledStatement<T> | undefined,
  ): Promise<T> | undefined {
    return this.#compiled(model, 'read', compile, ({ sql, readsAlone }) =>
      this.transaction.beforeStatement(sql, readsAlone ? 'read' : undefined),
    )
  }

  /**
   * Inserts a new instance, or updates its row.
   *
   * @param onSent called when the statement was sent.
   */
  save(instance: Model, onSent?: () => void): Promise<Model> | undefined {
    const compile = () => insertStatement(instance) ?? updateStatement(instance)
    return this.#compiled(modelOf(instance), 'write', compile, ({ sql }) => this.#beforeWrite(sql), onSent)
  }

  /** Deletes the row of an instance. */
  destroy(instance: Model, onSent?: () => void): Promise<unknown> | undefined {
    return this.#compiled(
      modelOf(instance),
      'write',
      () => deleteStatement(instance),
      ({ sql }) => this.#beforeWrite(sql),
      onSent,
    )
  }

  // No property with an arrow function: V8 creates functions that are assigned to properties in the old space.
  #beforeWrite(sql: string): Promise<unknown> | undefined {
    const { state } = this
    state.hasWritten = state.mayHaveWritten = true
    return state.transaction.beforeStatement(sql, 'write')
  }

  #compiled<T>(
    model: ModelStatic<Model>,
    kind: 'read' | 'write',
    compile: () => CompiledStatement<T> | undefined,
    prepare: (statement: CompiledStatement<T>) => Promise<unknown> | undefined,
    onSent?: () => void,
  ): Promise<T> | undefined {
    const { transaction } = this
    const sender = model.sequelize === this.sequelize ? transaction.directSender : undefined
    if (sender && transaction.boundary?.allowsCompiled(model, kind) === false) return undefined
    const statement = sender && compile()
    if (!statement) return undefined
    const send = (settle: Settle<T>) => {
      transaction.read(statement, sender, settle)
      onSent?.()
    }
    const { sql } = statement
    return this.order.query(() =>
      this.#runner.run({
        sql,
        prepare: () => prepare(statement),
        send,
        counters: this.#queryCounters,
        source: statement,
      }),
    )
  }

  /** Executes a statement about a savepoint. Refused after the end of the session, when another session may use the connection. */
  async command(sql: string): Promise<void> {
    const { statements, transaction } = this.state
    const prepare = () => transaction.beforeStatement(sql)
    const send = (settle: Settle<unknown>) => void transaction.command(sql).then(settle.resolve, settle.reject)
    await this.#runner.run({ sql, prepare, send, counters: [statements], isSavepoint: true })
  }

  /** Executes the pending changes of this scope. */
  flush(): Promise<void> {
    const { pending } = this.state
    pending.enter()
    return this.changes.flush(() => pending.leave())
  }

  /** Refuses further queries in this scope once the running ones have ended; `end` is 'released' or 'rolled back'. */
  async close(end: string): Promise<void> {
    await nextTurn()
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
  // Not that of a block of MariaDB, which ends no transaction.
  'END(?!\\s+(?:IF|CASE|LOOP|WHILE|REPEAT|FOR)\\b)',
  'ABORT',
  'ROLLBACK(?!\\s+(?:WORK\\s+|TRANSACTION\\s+)?TO\\b)',
  'PREPARE\\s+TRANSACTION',
  // Of MySQL and MariaDB: it commits, and it stays on the connection.
  'SET\\s(?:[^;\'"]*\\W)?(?<!(?<!@)@)AUTOCOMMIT(?=[`\\s]*:?=)',
)
