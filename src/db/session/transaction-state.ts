import type { Sequelize } from 'sequelize'
import type { Dialect } from '../dialect.js'
import type { LazyTransaction } from './lazy-transaction.js'
import { PendingCounter } from './pending-counter.js'

interface Failure {
  readonly error: unknown
}

/** What all scopes of one transaction share: which statements are running, what failed, and how it ended. */
export class TransactionState {
  readonly sequelize: Sequelize
  readonly transaction: LazyTransaction
  readonly dialect: Dialect
  /** Called with the error of each failed query; returns the error to throw. */
  readonly onError: (error: unknown) => unknown
  /** Queries, flushes and savepoints, which COMMIT waits for. */
  readonly pending = new PendingCounter()
  /** Statements on the connection, which ROLLBACK waits for. Not savepoints: the work in them may never end. */
  readonly statements = new PendingCounter()
  /** The last statement, where a dialect sends one at a time: the next one waits for it. */
  lastStatement: Promise<unknown> | undefined
  /** Whether rows may have been written, which an implicit commit would keep. */
  hasWritten = false
  /** The first failed statement, after which the database may refuse all others; a rollback to a savepoint clears it. */
  failure: Failure | undefined
  /** Why the transaction must be rolled back, even if the handler has caught the error. */
  rollbackReason: Failure | undefined
  /** Whether the handler has called session.rollback(). */
  rollbackRequested = false
  /** How the session ended: 'committed' or 'rolled back'. From then on every query is refused. */
  ended: string | undefined

  constructor(
    sequelize: Sequelize,
    transaction: LazyTransaction,
    dialect: Dialect,
    onError: (error: unknown) => unknown,
  ) {
    this.sequelize = sequelize
    this.transaction = transaction
    this.dialect = dialect
    this.onError = onError
  }

  /** @throws the error because of which the transaction must be rolled back. */
  assertCommittable(): void {
    if (this.rollbackReason) throw this.rollbackReason.error
  }

  /** Waits for everything that is pending, and for what that starts. */
  settle(): Promise<void> {
    // A model validates and runs hooks before its query is counted: without a turn of the event loop an unawaited query would be missed.
    return new Promise((resolve) => {
      const check = () => (this.pending.isEmpty ? resolve() : void this.pending.empty().then(() => setImmediate(check)))
      setImmediate(check)
    })
  }

  /** Refuses all further queries and waits for the running statements. Resolves to false if some still run after {@link GRACE}. */
  async stop(): Promise<boolean> {
    this.ended = 'rolled back'
    if (this.statements.isEmpty) return true
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<false>((resolve) => (timer = setTimeout(resolve, GRACE, false)))
    const stopped = this.statements.empty().then(() => true)
    try {
      return await Promise.race([stopped, tooLate])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Milliseconds that a rollback waits for running statements before their connection is closed. */
const GRACE = 1_000
