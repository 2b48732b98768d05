import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { nextTurn, PendingCounter } from '../../core/promises.js'
import { ImplicitCommitError, SessionClosedError, StatementRefusedError, TransactionControlError } from '../errors.js'
import type { StatementSource } from '../statements/statement-source.js'
import { modelOf } from '../sequelize/internals.js'
import { laterStatements } from '../sql/later-statements.js'
import { isTransactionControl } from '../sql/transaction-control.js'
import { isKnownWrite, mayWrite } from '../sql/writes.js'
import { ChangeQueue } from './flush.js'
import { type LastWork, QueuedLastWork } from './last-work.js'
import type { SessionTransaction } from './transaction/session-transaction.js'
import { type ContinuesAfter, type Statement, StatementRun } from './transaction/statement-run.js'
import { untilEnd } from './transaction/until-end.js'
import { markQueryError, type QueryOwner } from './unhandled-queries.js'
import type { CompiledStatement, Settle } from '../direct-statement.js'
import type { NextStatement, TransactionConnection } from '../connection.js'
import { deleteStatement, insertStatement, updateStatement } from '../fast-path/fast-path.js'

/** Executes a compiled statement that reads. @param isLast whether nothing can follow it. It is asked when the statement is sent. By default something can. */
export type ReadCompiled = <T>(statement: CompiledStatement<T>, isLast?: () => boolean) => Promise<T>

/**
 * A session, or a savepoint in it. Every query of a session passes here. A query that is started while a savepoint is open runs after it, because
 * ROLLBACK TO SAVEPOINT would undo the query, too.
 */
export class TransactionScope implements QueryOwner {
  readonly transaction: SessionTransaction
  readonly sequelize: Sequelize
  #changes: ChangeQueue | undefined
  /** Called after COMMIT, unless this scope was rolled back. */
  readonly afterCommit: (() => unknown)[] = []
  readonly afterResponse: (() => Promise<unknown>)[] = []
  /** Executed immediately before COMMIT, unless this scope was rolled back. */
  lastWork: QueuedLastWork | undefined
  /** The running queries of this scope, without those of its savepoints. */
  readonly #running: PendingCounter
  #lastSavepoint: Promise<void> | undefined
  #closedAs: string | undefined

  constructor(transaction: SessionTransaction) {
    this.transaction = transaction
    this.sequelize = transaction.sequelize
    this.#running = new PendingCounter(transaction.statements)
  }

  /** The pending changes of this scope. Created when it is needed: most handlers only read. */
  get changes(): ChangeQueue {
    return (this.#changes ??= new ChangeQueue(this))
  }

  get hasChanges(): boolean {
    return this.#changes !== undefined && !this.#changes.isEmpty
  }

  addLast<T>(work: LastWork<T>, items: readonly T[]): void {
    const queued = (this.lastWork ??= new QueuedLastWork())
    queued.add(work, items)
  }

  get made(): this {
    return this
  }

  make(): this {
    return this
  }

  get route(): string | undefined {
    return this.transaction.owner.route
  }

  /** Whether several statements may be sent at once: together they take one round trip. */
  get sendsAhead(): boolean {
    return this.transaction.dialect.sendsAhead === true
  }

  /** @throws SessionClosedError after the end; else the error that forces the rollback of the transaction, if there is one. */
  assertOpen(): void {
    const closedAs = this.transaction.closedAs ?? this.#closedAs
    if (closedAs !== undefined) throw markQueryError(new SessionClosedError(closedAs), this)
    if (this.transaction.rollbackReason ?? this.transaction.endedByProgram) this.transaction.assertAlive()
  }

  /** @throws SessionClosedError after the end of the session. */
  assertNotEnded(): void {
    const { closedAs } = this.transaction
    if (closedAs !== undefined) throw markQueryError(new SessionClosedError(closedAs), this)
  }

  /** A value was refused before its statement was sent: it counts as a statement that the database has refused. Returns the error to throw. */
  refuse(error: unknown): unknown {
    const { failure } = this.transaction
    if (failure) return markQueryError(new StatementRefusedError(failure.error), this)
    this.transaction.fail(error)
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
    this.transaction.rollbackReason ??= { error }
  }

  /**
   * Executes a query of the program after those that it has to wait for.
   *
   * @param source has its values.
   * @param continuesAfter whether the transaction continues after an error of this query. By default all later statements are refused.
   */
  query<T>(
    sql: string,
    execute: () => Promise<T>,
    source: StatementSource,
    continuesAfter?: ContinuesAfter,
  ): Promise<T> {
    const { transaction } = this
    const { dialect, sequelize } = transaction
    const commits = dialect.isCommitting?.(sql) === true
    const mayEnd = !commits && dialect.mayEndTransaction?.(sql, sequelize) === true
    let hadWritten = false
    const check = () => {
      const later = laterStatements(sql, sequelize.getDialect())
      const control = [sql, ...later].find(isTransactionControl)
      if (control !== undefined) throw new TransactionControlError(control.trim().slice(0, 40))
      const committing = transaction.hasWritten
        ? [sql, ...later].find((text) => dialect.isCommitting?.(text))
        : undefined
      if (committing !== undefined) throw new ImplicitCommitError(committing.trim().slice(0, 40))
      hadWritten = transaction.hasWritten
      if (mayEnd || (!commits && (isKnownWrite(sql) || later.some(isKnownWrite)))) transaction.hasWritten = true
      transaction.mayHaveWritten ||= mayWrite(sql) || later.some(mayWrite)
    }
    const whole = () => {
      if (commits) return execute().finally(() => transaction.beginAgain())
      return mayEnd ? untilEnd(transaction, { sql, hadWritten }, execute) : execute()
    }
    const send = (_: TransactionConnection, settle: Settle<T>) =>
      void whole().then(
        (value) => settle.resolve(value),
        (error) => settle.reject(error),
      )
    return this.#run({ sql, check, send, counter: this.#running, continuesAfter, source })
  }

  #run<T>(statement: Statement<T>): Promise<T> {
    return this.#lastSavepoint
      ? this.#runAfter(this.#lastSavepoint, statement)
      : new StatementRun(this, statement).run()
  }

  async #runAfter<T>(savepoint: Promise<void>, statement: Statement<T>): Promise<T> {
    const { pending } = this.transaction
    pending.enter()
    try {
      await savepoint
      return await new StatementRun(this, statement).run()
    } finally {
      pending.leave()
    }
  }

  /** Executes a compiled read. Undefined if Sequelize must execute it, as for the following methods. */
  read<T>(model: ModelStatic<Model>, compile: () => CompiledStatement<T> | undefined): Promise<T> | undefined {
    const statement = this.#mayCompile(model, 'read') ? compile() : undefined
    return statement && this.#sendRead(statement, true)
  }

  /**
   * Executes compiled reads, as {@link read}.
   *
   * @param seesOneSnapshot whether they must see one snapshot: they are executed in the transaction, except a read that nothing follows.
   */
  reader(model: ModelStatic<Model>, seesOneSnapshot: boolean): ReadCompiled | undefined {
    if (!this.#mayCompile(model, 'read')) return undefined
    if (!seesOneSnapshot) return (statement) => this.#sendRead(statement, true)
    return (statement, isLast) => {
      const isOnly = isLast && (() => this.#hasNothingElse && isLast())
      return this.#sendRead(statement, isOnly !== undefined, isOnly)
    }
  }

  /** Whether one statement is all that runs, and nothing waits for the commit. */
  get #hasNothingElse(): boolean {
    return this.transaction.statements.isSingle && !this.hasChanges && this.lastWork === undefined
  }

  #sendRead<T>(statement: CompiledStatement<T>, mayReadAlone: boolean, isOnly?: () => boolean): Promise<T> {
    const isOfPlainTable = statement.readsAlone === true
    const kind = isOfPlainTable ? 'read' : undefined
    return this.#send(statement, kind, mayReadAlone && isOfPlainTable, isOnly)
  }

  /**
   * Inserts a new instance, or updates its row.
   *
   * @param onSent called when the statement was sent.
   */
  save(instance: Model, onSent?: () => void): Promise<Model> | undefined {
    const model = modelOf(instance)
    if (!this.#mayCompile(model, 'write')) return undefined
    const statement = insertStatement(model, instance) ?? updateStatement(model, instance)
    return statement && this.#send(statement, 'write', false, undefined, onSent)
  }

  /** Deletes the row of an instance. */
  destroy(instance: Model, onSent?: () => void): Promise<unknown> | undefined {
    const statement = this.#mayCompile(modelOf(instance), 'write') ? deleteStatement(instance) : undefined
    return statement && this.#send(statement, 'write', false, undefined, onSent)
  }

  #mayCompile(model: ModelStatic<Model>, kind: 'read' | 'write'): boolean {
    const { direct, boundary } = this.transaction
    return direct !== undefined && model.sequelize === this.sequelize && boundary?.allowsCompiled(model, kind) !== false
  }

  #send<T>(
    statement: CompiledStatement<T>,
    kind: NextStatement['kind'],
    readsAlone: boolean,
    isOnly?: () => boolean,
    onSent?: () => void,
  ): Promise<T> {
    const send = (connection: TransactionConnection, settle: Settle<T>) => {
      connection.send(statement, settle)
      onSent?.()
    }
    // One literal: with a spread, an insert cost an eighth more CPU, and a row by its key a quarter more.
    return this.#run({ sql: statement.sql, kind, readsAlone, isOnly, send, counter: this.#running, source: statement })
  }

  /** Runs the work of a savepoint after the queries and savepoints that were started before it. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const previous = this.#lastSavepoint
    let close: () => void = () => {}
    const closed = new Promise<void>((resolve) => (close = resolve))
    this.#lastSavepoint = closed
    try {
      await previous
      await this.#running.empty()
      return await work()
    } finally {
      if (this.#lastSavepoint === closed) this.#lastSavepoint = undefined
      close()
    }
  }

  /** Executes a statement about a savepoint. Refused after the end of the session, when another session may use the connection. */
  async command(sql: string): Promise<void> {
    const { transaction } = this
    const send = (connection: TransactionConnection, settle: Settle<unknown>) =>
      void connection.command(sql).then(
        (answer) => settle.resolve(answer),
        (error) => settle.reject(error),
      )
    await new StatementRun(this, { sql, send, counter: transaction.statements, isSavepoint: true }).run()
  }

  /** Executes the pending changes of this scope. */
  flush(): Promise<void> {
    const { pending } = this.transaction
    pending.enter()
    return (this.#changes ??= new ChangeQueue(this)).flush(pending)
  }

  /** Refuses further queries in this scope once the running ones have ended. */
  async close(as: 'released' | 'rolled back'): Promise<void> {
    await nextTurn()
    await this.#lastSavepoint
    await this.#running.empty()
    this.#closedAs ??= as
  }
}

/** The scope of last work: that of the program is closed then. */
export class LastScope extends TransactionScope {
  override assertOpen(): void {
    this.transaction.assertAlive()
  }
}
