import type { Sequelize } from 'sequelize'
import type { Report, Unit } from '../../core/bracket.js'
import { codeOf, type Dialect, type TransactionNeeds } from '../dialect.js'
import { CommitUnknownError, ReadOnlyError, StaleSnapshotError } from '../errors.js'
import { LazyTransaction } from './lazy-transaction.js'
import type { Session, SessionState } from './session.js'
import { enterScope, TransactionScope } from './transaction-scope.js'

export interface UnitOptions extends TransactionNeeds {
  /** How many times conflicting work may be run again. */
  readonly retry: number
}

/** How PostgreSQL, MySQL and SQLite refuse a write in a read-only transaction. */
const REFUSED_WRITES: ReadonlySet<string> = new Set([
  '25006',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'SQLITE_READONLY',
])

/** The session's side of the bracket: see di/bracket.ts for the order of these steps. */
export class SessionUnit implements Unit {
  readonly session: Session
  readonly #sequelize: Sequelize
  readonly #transaction: LazyTransaction
  readonly #state: SessionState
  readonly #options: UnitOptions
  readonly #dialect: Dialect
  #stale: unknown
  #conflict = false
  #kept = false

  constructor(sequelize: Sequelize, dialect: Dialect, SessionClass: typeof Session, options: UnitOptions) {
    this.#sequelize = sequelize
    this.#options = options
    this.#dialect = dialect
    this.#transaction = new LazyTransaction(sequelize, dialect, options)
    this.#state = {
      level: TransactionScope.of(sequelize, this.#transaction, {
        onError: (error) => this.#noted(error),
        isUndoing: (error) => dialect.isUndoing(error),
        isConsequence: (error) => dialect.isConsequence?.(error) === true,
        isCommitting: (sql) => dialect.isCommitting?.(sql) === true,
        oneAtATime: dialect.oneAtATime,
        sendsAhead: dialect.sendsAhead === true,
      }),
      keeps: true,
    }
    this.session = new SessionClass(sequelize, this.#state)
    this.#transaction.session = this.session
    this.#transaction.register = (callback) => this.session.afterCommit(callback)
  }

  #noted(error: unknown): unknown {
    if (this.#options.reader && this.#dialect.isStale(error)) this.#stale = error
    if (this.#dialect.isConflict(error)) this.#conflict = true
    return this.#options.readOnly && REFUSED_WRITES.has(codeOf(error)) ? new ReadOnlyError(error) : error
  }

  get hasKept(): boolean {
    return this.#kept
  }

  enter<T>(work: () => Promise<T>): Promise<T> {
    return enterScope(this.#sequelize, this.#state.level, work)
  }

  async settle(): Promise<void> {
    const { level } = this.#state
    await level.settle()
    while (level.writer.changes.length > 0) {
      await this.enter(() => level.flush())
      await level.settle()
    }
  }

  async commit(): Promise<void> {
    // The handler may have caught the error; what it read is old all the same.
    if (this.#stale !== undefined) throw new StaleSnapshotError(this.#stale)
    const { level, keeps } = this.#state
    if (keeps) level.assertKept()
    level.end(keeps ? 'committed' : 'rolled back')
    await (keeps ? this.#transaction.keep() : this.#transaction.undo())
    this.#kept = keeps && this.#transaction.used
  }

  async rollback(): Promise<void> {
    if (this.#transaction.hasEnded) return
    if (!(await this.#state.level.abandon())) return this.#transaction.cut()
    // A failed ROLLBACK has closed the connection, which undoes the work as well.
    await this.#transaction.undo().catch(() => {})
  }

  committed(report: Report): Promise<void> | undefined {
    const { callbacks } = this.#state.level
    return this.#state.keeps && callbacks.length > 0 ? this.#announce(callbacks, report) : undefined
  }

  async #announce(callbacks: TransactionScope['callbacks'], report: Report): Promise<void> {
    for (const callback of callbacks) {
      try {
        await callback()
      } catch (cause) {
        report(new Error('An afterCommit callback failed. What was committed is kept.', { cause }))
      }
    }
  }

  /**
   * A GET that began as a reader and could not go on to write is run again as a writer, once. Work that others were in the way of
   * is run again as often as it was declared to be; the handler may have turned the database's error into one of its own.
   */
  retryAfter(error: unknown, attempt: number): number | undefined {
    if (error instanceof CommitUnknownError) return undefined // it may have been kept
    if (this.#stale !== undefined && attempt === 0) return 0
    const conflict = this.#conflict || this.#dialect.isConflict(error)
    return conflict && attempt < this.#options.retry ? jitter(attempt) : undefined
  }
}

/** Milliseconds, "full jitter": anything up to a bound that doubles with each attempt. Source: M. Brooker, Exponential Backoff And Jitter, 2015. */
function jitter(attempt: number): number {
  return Math.random() * Math.min(200, 5 * 2 ** attempt)
}
