import type { Transaction } from 'sequelize'
import { endsWithin, PendingCounter } from '../../../core/promises.js'
import type { TransactionConnection } from '../../connection.js'
import { CommitFailedError, TransactionControlError, type TransactionEndedError } from '../../errors.js'
import { asTransaction, TransactionBase } from '../../sequelize/internals.js'

interface Failure {
  readonly error: unknown
  /** Whether the database has reported it. */
  readonly isOfDatabase?: boolean
}

let lastEvent = 0

/** Numbers the beginnings and the ends of sessions: which of two came first. */
export function nextEvent(): number {
  return ++lastEvent
}

/** Milliseconds that a rollback waits for running statements before their connection is closed. */
const GRACE = 1_000

/**
 * What is known of the transaction of a session: what failed, what still runs, and how it ended. To Sequelize it is a transaction that only its session
 * commits, or rolls back.
 */
export abstract class TransactionState extends TransactionBase {
  /** Its connection, when that was taken, and BEGIN answered if it is sent before the first statement. */
  taken: TransactionConnection | undefined
  /** Whether the program has received it: its use is then not known here. */
  isGiven = false
  /** The callbacks of its session. A property, because a WeakMap costs more for each request. */
  session: { afterCommit(callback: () => unknown): void } | undefined
  /** Whether it is committed after those of other databases. */
  commitsLast = false
  /** Queries, flushes and savepoints, which COMMIT waits for. */
  readonly pending = new PendingCounter()
  /** Statements on the connection, which ROLLBACK waits for. Not savepoints: the work in them may never end. */
  readonly statements = new PendingCounter(this.pending)
  /** The last statement, where a dialect sends one at a time: the next one waits for it. */
  lastStatement: Promise<unknown> | undefined
  /** Whether rows were written, which an implicit commit would keep. */
  hasWritten = false
  /** Whether a statement was sent that may write, also one that alters tables. */
  mayHaveWritten = false
  /** The first statement that the database has refused. All later ones are refused; a rollback to a savepoint clears it. */
  failure: Failure | undefined
  /** Why the transaction must be rolled back, even if the handler has caught the error. */
  rollbackReason: Failure | undefined
  /** A statement of the program has ended the transaction: later statements would each be committed by themselves. */
  endedByProgram: TransactionEndedError | undefined
  /** Whether the handler has called session.rollback(). */
  rollbackRequested = false
  /** Run when the session has ended, each in a session of its own; also what was queued in a savepoint that was rolled back. */
  readonly afterEnd: (() => Promise<unknown>)[] = []
  /** Why every query is refused: the session is 'committed' or 'rolled back'. Undefined while it is open. */
  closedAs: string | undefined
  /** The number of {@link close} among the events of {@link nextEvent}. */
  closedAt: number | undefined
  /** Whether COMMIT has succeeded. */
  isKept = false

  /** Refuses all further queries. */
  close(as: 'committed' | 'rolled back'): void {
    this.closedAs = as
    this.closedAt ??= nextEvent()
  }

  /** @throws the error that forces the rollback of the transaction. */
  assertAlive(): void {
    if (this.rollbackReason) throw this.rollbackReason.error
    // A statement of the program has ended it: the session cannot be committed then, either.
    if (this.endedByProgram) throw (this.rollbackReason = { error: this.endedByProgram }).error
  }

  /** @throws the error that forces the rollback of the transaction, CommitFailedError after a failed statement. */
  assertCommittable(): void {
    if (this.rollbackReason) throw this.rollbackReason.error
    if (this.failure) throw new CommitFailedError(this.failure.error)
    if (this.taken?.hasBegun) this.assertOpen()
  }

  /** @throws TransactionControlError if a statement of the program has ended the transaction. */
  assertOpen(): void {
    const { taken } = this
    if (taken?.hasBegun && !taken.isOpen) throw new TransactionControlError('A statement ended the transaction')
  }

  /** Refuses all later statements, as PostgreSQL does, so that a handler behaves alike on all databases. */
  fail(error: unknown, isOfDatabase = false): void {
    this.failure ??= { error, isOfDatabase }
  }

  /** Waits for everything that is pending, and for what that starts. Undefined if nothing is. */
  settle(): Promise<void> | undefined {
    if (this.pending.isEmpty) return undefined
    return new Promise((resolve) => {
      // A model validates and runs hooks before its query is counted: without a turn of the event loop an unawaited query would be missed.
      const check = () => (this.pending.isEmpty ? resolve() : void this.pending.empty().then(() => setImmediate(check)))
      check()
    })
  }

  /** Refuses all further queries and waits for the running statements. Resolves to false if some still run after {@link GRACE}. */
  async stop(): Promise<boolean> {
    this.close('rolled back')
    if (this.statements.isEmpty) return true
    return endsWithin(this.statements.empty(), GRACE)
  }

  /** Called by hooks of models and by other libraries: the same as session.afterCommit(). */
  override afterCommit(hook: (transaction: Transaction) => unknown): void {
    this.session?.afterCommit(() => hook(asTransaction(this)))
  }

  /** Only the session commits its transaction. @throws TransactionControlError always. */
  override commit(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.commit()'))
  }

  /** Only the session rolls its transaction back. @throws TransactionControlError always. */
  override rollback(): Promise<void> {
    return Promise.reject(new TransactionControlError('transaction.rollback()'))
  }

  /** Called by Sequelize for a transaction that it has created, to begin it; this one begins with its first query. */
  override async prepareEnvironment(): Promise<void> {}
}
