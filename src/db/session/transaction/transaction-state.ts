import type { Sequelize } from 'sequelize'
import { endsWithin } from '../../../core/promises.js'
import type { Dialect } from '../../dialect.js'
import type { SessionObserver } from '../../events/session-observer.js'
import { CommitFailedError, StatementRefusedError, type TransactionEndedError } from '../../errors.js'
import type { LazyTransaction } from './lazy-transaction.js'
import { PendingCounter } from '../pending-counter.js'

interface Failure {
  readonly error: unknown
  /** Whether the database has reported it. */
  readonly isOfDatabase?: boolean
}

/** A unit of work whose session only reads, in one snapshot. */
export interface ReaderUnit {
  /** Runs the work in the session. @throws the error of the work. */
  run<R>(work: () => Promise<R>, report: (error: unknown) => void): Promise<R>
  /** Rolls back at once: the connection of a statement that is running is closed. */
  abandon(): void
}

/** The session of a state. */
export interface StateOwner {
  /** Called with the error of each failed query; returns the error to throw. */
  onError(error: unknown): unknown
  /** For the log: the route of the handler; undefined outside of requests. */
  readonly route: string | undefined
  readonly observer: SessionObserver | undefined
  /** The same for all sessions that were opened for one: its callbacks, and what reads on after it. */
  readonly family: object
  /** When the session began, by {@link now}. */
  readonly begunAt: number
  /** A unit for what reads on after this session has ended. */
  newReader(): ReaderUnit
}

let time = 0

/** Counts the beginnings and the ends of sessions: which of two sessions began first, or ended. */
export function now(): number {
  return ++time
}

/** What all scopes of one transaction share: which statements are running, what failed, and how it ended. */
export class TransactionState {
  readonly sequelize: Sequelize
  readonly transaction: LazyTransaction
  readonly dialect: Dialect
  readonly #owner: StateOwner
  /** Undefined if nobody listens. */
  readonly observer: SessionObserver | undefined
  /** Queries, flushes and savepoints, which COMMIT waits for. */
  readonly pending = new PendingCounter()
  /** Statements on the connection, which ROLLBACK waits for. Not savepoints: the work in them may never end. */
  readonly statements = new PendingCounter()
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
  endedBy: TransactionEndedError | undefined
  /** Whether the handler has called session.rollback(). */
  rollbackRequested = false
  /** Run when the session has ended, each in a session of its own; also what was queued in a savepoint that was rolled back. */
  readonly afterEnd: (() => Promise<unknown>)[] = []
  /** How the session ended: 'committed' or 'rolled back'. From then on every query is refused. */
  ended: string | undefined
  /** When the session ended, by {@link now}. */
  endedAt: number | undefined
  /** Whether COMMIT has succeeded. */
  isKept = false

  constructor(sequelize: Sequelize, transaction: LazyTransaction, dialect: Dialect, owner: StateOwner) {
    this.sequelize = sequelize
    this.transaction = transaction
    this.dialect = dialect
    this.#owner = owner
    this.observer = owner.observer
  }

  get family(): object {
    return this.#owner.family
  }

  get begunAt(): number {
    return this.#owner.begunAt
  }

  /** Refuses all further queries. */
  end(how: 'committed' | 'rolled back'): void {
    this.ended = how
    this.endedAt ??= now()
  }

  get route(): string | undefined {
    return this.#owner.route
  }

  /** A unit for what reads on after this session has ended. */
  newReader(): ReaderUnit {
    return this.#owner.newReader()
  }

  /** Called with the error of each failed query; returns the error to throw. */
  onError(error: unknown): unknown {
    return this.#owner.onError(error)
  }

  /** @throws the error because of which the transaction must be rolled back. */
  assertAlive(): void {
    if (this.rollbackReason) throw this.rollbackReason.error
  }

  /** @throws TransactionEndedError if a statement of the program has ended the transaction; the session cannot be committed then, either. */
  assertNotEndedByStatement(): void {
    if (this.endedBy) throw (this.rollbackReason ??= { error: this.endedBy }).error
  }

  /** @throws the error because of which the transaction must be rolled back, CommitFailedError after a failed statement. */
  assertCommittable(): void {
    this.assertAlive()
    if (this.failure) throw new CommitFailedError(this.failure.error)
  }

  /** @throws StatementRefusedError after a failed statement. */
  assertNoFailure(): void {
    if (this.failure) throw new StatementRefusedError(this.failure.error)
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
    this.end('rolled back')
    if (this.statements.isEmpty) return true
    return endsWithin(this.statements.empty(), GRACE)
  }
}

/** Milliseconds that a rollback waits for running statements before their connection is closed. */
const GRACE = 1_000
