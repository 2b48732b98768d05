import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { programLocation } from './program-location.js'
import { AsyncLocalStorage } from 'node:async_hooks'

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

/**
 * What is known of one request. `sequitur.request.start` and `sequitur.request.end` have the same object, and the database events
 * of the request refer to it, so that subscribers can keep their own data in a WeakMap. It exists only while a subscriber listens.
 */
export class RequestRecord {
  /** The request id, as in the response and the log. */
  readonly id: string
  readonly method: string
  /** Node's request. */
  readonly raw: IncomingMessage
  /** The path as it was sent, without its query. It is the client's text: escape it before you write it somewhere. */
  readonly path: string
  /** The path of the route, with the app's prefix: `/heros/:hero_id`. Undefined before routing, and for requests without a route, such as a 404. */
  route: string | undefined
  /** `HeroController.get`; undefined as long as `route` is. */
  handler: string | undefined
  /** Undefined until the response is sent, and if the connection was closed before its status was sent. */
  status: number | undefined
  /** The size of the response body in bytes, after middleware has changed it. */
  bytes = 0
  /** From the arrival of the headers to the end of the response, or of the connection. 0 until then. */
  milliseconds = 0
  /** Whether the connection was closed before the response was complete. */
  isAborted = false
  /** The error that was thrown or rejected, including the client's mistakes. */
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
  /** `performance.now()` at its arrival. */
  readonly startedAt = performance.now()
  /** @internal Receives the statements of the handler when they were answered. */
  onStatement: ((record: RequestRecord, statement: SentStatement) => void) | undefined
  /** @internal Whether the values of its statements are kept until its end, for their plans. */
  keepsValues = false
  #around: ((work: () => void) => void) | undefined
  #trace: Trace | undefined

  constructor(id: string, raw: IncomingMessage) {
    this.id = id
    this.method = raw.method ?? 'GET'
    this.raw = raw
    this.path = (raw.url ?? '/').split('?', 1)[0] ?? '/'
  }

  /**
   * The trace that the request belongs to, as in the log: that of `openTelemetry()`, else that of the header `traceparent`. Undefined without one. A
   * subscriber of `sequitur.request.start` that traces requests itself may set it.
   */
  get trace(): Trace | undefined {
    return (this.#trace ??= traceOf(this.raw.headers))
  }

  set trace(trace: Trace | undefined) {
    this.#trace = trace
  }

  /** How many times the last run sent its most frequent read, with any values: a high number is an N+1. */
  get repeated(): number {
    return this.queries.repeated
  }

  /**
   * Runs the request inside a function, which must call its argument at once: for contexts other than an `AsyncLocalStorage`, which `bindStore()`
   * cannot enter. Only subscribers of `sequitur.request.start` may call it.
   */
  runIn(around: (work: () => void) => void): void {
    const outer = this.#around
    this.#around = outer ? (work) => outer(() => around(work)) : around
  }

  /** @internal Runs the request. */
  answer(work: () => void): void {
    if (this.#around) this.#around(work)
    else work()
  }

  /** @internal Called when a statement of the handler was answered. */
  addStatement(milliseconds: number): void {
    this.statements++
    this.statementMilliseconds += milliseconds
  }

  /** @internal Called when a transaction of the handler has ended. */
  endTransaction(outcome: TransactionOutcome): void {
    if (this.transaction === undefined || SEVERITY[outcome] > SEVERITY[this.transaction]) this.transaction = outcome
  }

  /** @internal Called before the handler runs again. */
  startAgain(): void {
    this.retries++
    this.queries.clear()
    this.transaction = undefined
  }
}

const SEVERITY: Readonly<Record<TransactionOutcome, number>> = { commit: 0, rollback: 1, unknown: 2 }

/** The limits of the statements of one request. */
export interface QueryLimits {
  /** The most statements. */
  readonly statements: number
  /** The same read, sent this many times, exceeds the limit. */
  readonly repeats: number
}

export const UNLIMITED: QueryLimits = { statements: Infinity, repeats: Infinity }

/** How the statements of a request exceeded their limits. */
export interface Excess {
  /** `statements`: too many of them. `repeats`: the same read was sent again and again. */
  readonly kind: 'statements' | 'repeats'
  readonly count: number
  readonly limit: number
  /** The shape of the read that was repeated. */
  readonly shape: string | undefined
  /** Where the program sends the statement that exceeds the limit: `src/heros.ts:12:20`. Undefined if no frame of the stack is in the program. */
  readonly location: string | undefined
}

interface Read {
  count: number
  /** The location of the statement that reached the limit. */
  location: string | undefined
}

/** Counts the statements of one run of a handler by their shape. */
export class QueryCounter {
  limits: QueryLimits = UNLIMITED
  /** Whether there are {@link excesses}. */
  isExceeded = false
  #total = 0
  #location: string | undefined
  #reads: Map<string, Read> | undefined

  /** Counts a statement that is sent. Call it in the stack of the program that sends it. */
  add(shape: string, isRead: boolean): void {
    if (++this.#total === this.limits.statements + 1) this.#location = this.#exceed()
    if (!isRead) return
    this.#reads ??= new Map()
    const read = this.#reads.get(shape) ?? { count: 0, location: undefined }
    this.#reads.set(shape, read)
    if (++read.count === this.limits.repeats) read.location = this.#exceed()
  }

  #exceed(): string | undefined {
    this.isExceeded = true
    return programLocation()
  }

  /** How many times the most frequent read was sent. */
  get repeated(): number {
    let most = 0
    for (const { count } of this.#reads?.values() ?? []) most = Math.max(most, count)
    return most
  }

  /** The handler runs again. */
  clear(): void {
    this.isExceeded = false
    this.#total = 0
    this.#location = undefined
    this.#reads = undefined
  }

  get excesses(): readonly Excess[] {
    const { statements, repeats } = this.limits
    const excesses: Excess[] = []
    if (this.#total > statements)
      excesses.push({
        kind: 'statements',
        count: this.#total,
        limit: statements,
        shape: undefined,
        location: this.#location,
      })
    for (const [shape, { count, location }] of this.#reads ?? [])
      if (count >= repeats) excesses.push({ kind: 'repeats', count, limit: repeats, shape, location })
    return excesses
  }
}

/** The trace that a request belongs to, as tracing systems name it in hexadecimal digits. */
export interface Trace {
  /** 32 digits. */
  readonly traceId: string
  /** The id of the span of the request, 16 digits. Undefined if only its caller has one. */
  readonly spanId?: string | undefined
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-|$)/

/** The trace that the header `traceparent` names. Undefined without one, and if it is not valid. Source: W3C Trace Context, 3.2. */
export function traceOf({ traceparent }: IncomingHttpHeaders): Trace | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version = 'ff', traceId = '', parentId = '', more] = TRACEPARENT.exec(traceparent) ?? []
  const isValid = version !== 'ff' && !(version === '00' && more === '-') && !isZero(traceId) && !isZero(parentId)
  return isValid ? { traceId } : undefined
}

function isZero(id: string): boolean {
  return /^0*$/.test(id)
}

/**
 * The record of the request whose handler runs without a session, if a subscriber listens. Without a session, only this shows which request a query
 * belongs to.
 */
export const requestWithoutSession = new AsyncLocalStorage<RequestRecord>()
