import { AsyncLocalStorage } from 'node:async_hooks'
import { QueryCounter } from './query-counter.js'

/** How a transaction ended. `unknown`: the connection was lost while COMMIT was sent, so that the work may have been saved. */
export type TransactionOutcome = 'commit' | 'rollback' | 'unknown'

/** A statement that was answered. */
export interface SentStatement {
  /** As it was sent, with placeholders for bound values. It has the literals that the program, or Sequelize, wrote into it. */
  readonly sql: string
  /** The text with `?` for every literal, bounded in length: the same for all statements that differ only in their values. Computed when it is read. */
  readonly shape: string
  /** From sending it to the answer. */
  readonly milliseconds: number
  /** How many rows it returned; undefined if the driver does not report it. */
  readonly rows: number | undefined
}

/** What is known of one request, or of one run of a job. */
export abstract class WorkRecord {
  readonly id: string
  /** `HeroController.get` */
  handler: string | undefined
  /** Until its end. 0 until then. */
  milliseconds = 0
  /** What was thrown or rejected. */
  error: unknown
  /** How many statements the handler sent, in all of its runs, without BEGIN, COMMIT and savepoints. */
  statements = 0
  /** The sum of their times. Statements that run at the same time all count. */
  statementMilliseconds = 0
  /** @internal Counts the statements of the last run by their shape. */
  readonly queries = new QueryCounter()
  /** How many times the handler was run again, such as after a conflict with another transaction. */
  retries = 0
  /** How the transaction of the last run ended. Undefined if none was begun. Of several databases, the worst. */
  transaction: TransactionOutcome | undefined
  /** `performance.now()` at its beginning. */
  readonly startedAt = performance.now()
  /** @internal Receives the statements of the handler when they were answered. */
  onStatement: ((record: WorkRecord, statement: SentStatement) => void) | undefined
  /** @internal Whether the values of its statements are kept until its end, for their plans. */
  keepsValues = false
  /** @internal Whether its statements are its own. False while a job is completed. */
  isCounting = true
  #around: ((work: () => void) => void) | undefined

  constructor(id: string) {
    this.id = id
  }

  /** @internal For messages: `GET /heros (HeroController.list)`. */
  abstract get title(): string

  /** @internal For metrics and events: the path of a route, or `job mail.welcome`. */
  abstract get place(): string | undefined

  /** How many times the last run sent its most frequent read, with any values: a high number is an N+1. */
  get repeated(): number {
    return this.queries.repeated
  }

  /**
   * Runs it inside a function, which must call its argument at once: for contexts other than an `AsyncLocalStorage`, which `bindStore()` cannot enter.
   * Only subscribers of its start may call it.
   */
  runIn(around: (work: () => void) => void): void {
    const outer = this.#around
    this.#around = outer ? (work) => outer(() => around(work)) : around
  }

  /** @internal Runs it. */
  answer(work: () => void): void {
    if (this.#around) this.#around(work)
    else work()
  }

  /** @internal Called when a statement of the handler was answered. */
  addStatement(milliseconds: number): void {
    this.statements++
    this.statementMilliseconds += milliseconds
  }

  /** @internal Called when a transaction of the handler has ended. @param _milliseconds since BEGIN. */
  endTransaction(outcome: TransactionOutcome, _milliseconds: number): void {
    if (this.transaction === undefined || SEVERITY[outcome] > SEVERITY[this.transaction]) this.transaction = outcome
  }

  /** @internal Called before the handler runs again. */
  startAgain(): void {
    this.retries++
    this.queries.clear()
    this.transaction = undefined
    this.isCounting = true
  }
}

const SEVERITY: Readonly<Record<TransactionOutcome, number>> = { commit: 0, rollback: 1, unknown: 2 }

/**
 * The record of the request, or job, whose handler runs without a session, if a subscriber listens. Without a session, only this shows which one a query
 * belongs to.
 */
export const recordWithoutSession = new AsyncLocalStorage<WorkRecord>()
