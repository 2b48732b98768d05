import { type Trace, traceOf } from './trace.js'
import { type TransactionOutcome, WorkRecord } from './work-record.js'

/**
 * What became of one run of a job. `failed`: it runs again later. `lost`: another worker has it. `stopped`: the worker stops, and it runs again. `unknown`:
 * the connection was lost during COMMIT, so that it may be done.
 */
export type JobOutcome = 'done' | 'failed' | 'dead' | 'lost' | 'stopped' | 'unknown'

/** The job that a run is of. */
export interface JobFacts {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly handler: string
  readonly attempt: number
  readonly attempts: number
  readonly waited: number
  readonly traceparent: string | undefined
}

/**
 * What is known of one run of a job. `sequitur.job.start` and `sequitur.job.end` have the same object, and the database events of the run refer to it. It exists
 * only while a subscriber listens.
 */
export class JobRun extends WorkRecord {
  /** `mail.welcome` */
  readonly name: string
  readonly queue: string
  /** Which attempt it is, from 1, and how many there are at most. */
  readonly attempt: number
  readonly attempts: number
  /** Milliseconds since it was due, by the clock of the database. */
  readonly waited: number
  /** The `traceparent` of what added it, such as a request: its span. Undefined if that belongs to no trace. */
  readonly traceparent: string | undefined
  /** Undefined until its end. */
  outcome: JobOutcome | undefined
  /** @internal How long the longest of its transactions was open, in milliseconds. */
  longestTransaction = 0
  #trace: Trace | undefined

  constructor({ id, name, queue, handler, attempt, attempts, waited, traceparent }: JobFacts) {
    super(id)
    this.handler = handler
    this.name = name
    this.queue = queue
    this.attempt = attempt
    this.attempts = attempts
    this.waited = waited
    this.traceparent = traceparent
  }

  /**
   * The trace of the run, as in the log: that of `openTelemetry()`, else that of what added it. Undefined without one. A subscriber of `sequitur.job.start`
   * that traces jobs itself may set it.
   */
  get trace(): Trace | undefined {
    return (this.#trace ??= traceOf({ traceparent: this.traceparent }))
  }

  set trace(trace: Trace | undefined) {
    this.#trace = trace
  }

  /** @internal */
  get title(): string {
    return `The job ${this.name} (${this.handler})`
  }

  /** @internal */
  get place(): string {
    return `job ${this.name}`
  }

  /** @internal */
  override endTransaction(outcome: TransactionOutcome, milliseconds: number): void {
    super.endTransaction(outcome, milliseconds)
    this.longestTransaction = Math.max(this.longestTransaction, milliseconds)
  }
}
