import type { Sequelize } from 'sequelize'
import type { Report, Unit } from '../../core/bracket.js'
import { codeOf, type Dialect, type TransactionNeeds } from '../dialect.js'
import { CommitUnknownError, ReadOnlyError, StaleSnapshotError } from '../errors.js'
import { enterScope } from './current-scope.js'
import { LazyTransaction } from './lazy-transaction.js'
import type { Session } from './session.js'
import { TransactionScope } from './transaction-scope.js'
import { TransactionState } from './transaction-state.js'

export interface SessionUnitOptions extends TransactionNeeds {
  /** How many times the work may be run again after a conflict. */
  readonly retry: number
}

/** How PostgreSQL, MySQL and SQLite refuse a write in a read-only transaction. */
const REFUSED_WRITES: ReadonlySet<string> = new Set([
  '25006',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'SQLITE_READONLY',
])

/** A session as a unit of work: core/bracket.ts calls these methods, in this order, around a handler. */
export class SessionUnit implements Unit {
  readonly session: Session
  readonly #transaction: LazyTransaction
  readonly #state: TransactionState
  readonly #scope: TransactionScope
  readonly #options: SessionUnitOptions
  readonly #dialect: Dialect
  #staleError: unknown
  #hasConflict = false
  #hasCommitted = false

  constructor(sequelize: Sequelize, dialect: Dialect, SessionClass: typeof Session, options: SessionUnitOptions) {
    this.#options = options
    this.#dialect = dialect
    this.#transaction = new LazyTransaction(sequelize, dialect, options)
    this.#state = new TransactionState(sequelize, this.#transaction, dialect, (error) => this.#onQueryError(error))
    this.#scope = new TransactionScope(this.#state)
    this.session = new SessionClass(this.#scope)
    this.#transaction.session = this.session
    this.#transaction.onCommit = (callback) => this.session.afterCommit(callback)
  }

  #onQueryError(error: unknown): unknown {
    if (this.#options.reader && this.#dialect.isStale(error)) this.#staleError = error
    if (this.#dialect.isConflict(error)) this.#hasConflict = true
    return this.#options.readOnly && REFUSED_WRITES.has(codeOf(error)) ? new ReadOnlyError(error) : error
  }

  get hasKept(): boolean {
    return this.#hasCommitted
  }

  enter<T>(work: () => Promise<T>): Promise<T> {
    return enterScope(this.#scope, work)
  }

  async settle(): Promise<void> {
    await this.#state.settle()
    while (!this.#scope.changes.isEmpty) {
      await this.enter(() => this.#scope.flush())
      await this.#state.settle()
    }
  }

  async commit(): Promise<void> {
    // Also if the handler has caught the error: what it has read is outdated.
    if (this.#staleError !== undefined) throw new StaleSnapshotError(this.#staleError)
    const commits = !this.#state.rollbackRequested
    if (commits) this.#state.assertCommittable()
    this.#state.ended = commits ? 'committed' : 'rolled back'
    await (commits ? this.#transaction.sendCommit() : this.#transaction.sendRollback())
    this.#hasCommitted = commits && this.#transaction.used
  }

  async rollback(): Promise<void> {
    if (this.#transaction.hasEnded) return
    if (!(await this.#state.stop())) return this.#transaction.closeConnection()
    // If ROLLBACK fails, the connection is closed, which also undoes the work.
    await this.#transaction.sendRollback().catch(() => {})
  }

  committed(report: Report): Promise<void> | undefined {
    const { afterCommit } = this.#scope
    return !this.#state.rollbackRequested && afterCommit.length > 0 ? callAll(afterCommit, report) : undefined
  }

  /**
   * A GET that started as a reader, and whose snapshot is too old to write on, is run again as a writer, once. After a conflict the work is run
   * again up to `retry` times, also if the handler has caught the database's error and thrown another.
   */
  retryAfter(error: unknown, attempt: number): number | undefined {
    if (error instanceof CommitUnknownError) return undefined // the work may have been committed
    if (this.#staleError !== undefined && attempt === 0) return 0
    const isConflict = this.#hasConflict || this.#dialect.isConflict(error)
    return isConflict && attempt < this.#options.retry ? jitter(attempt) : undefined
  }
}

async function callAll(callbacks: TransactionScope['afterCommit'], report: Report): Promise<void> {
  for (const callback of callbacks) {
    try {
      await callback()
    } catch (cause) {
      report(new Error('An afterCommit callback failed. The transaction was committed before.', { cause }))
    }
  }
}

/** Milliseconds, "full jitter": anything up to a bound that doubles with each attempt. Source: M. Brooker, Exponential Backoff And Jitter, 2015. */
function jitter(attempt: number): number {
  return Math.random() * Math.min(200, 5 * 2 ** attempt)
}
