import type { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import type { JobRun } from './job-run.js'
import type { Excess } from './query-counter.js'
import type { RequestRecord } from './request-record.js'
import type { SentStatement, TransactionOutcome } from './work-record.js'

/*
 * The channels of node:diagnostics_channel that this package publishes to, and what it publishes. docs/observability.md documents them: their names and
 * properties are part of the public interface.
 */

/** A channel of node:diagnostics_channel with the type of its messages. */
export interface EventChannel<Message> {
  /** Whether it is worth making a message. */
  readonly hasSubscribers: boolean
  publish(message: Message): void
  /** Publishes the message, and runs the work in the stores that subscribers have bound. */
  runStores<R>(message: Message, work: () => R): R
  subscribe(listener: (message: Message, name: string | symbol) => void): void
  unsubscribe(listener: (message: Message, name: string | symbol) => void): void
  bindStore<T>(store: AsyncLocalStorage<T>, transform?: (message: Message) => T): void
}

/** The connections of a pool at this moment. */
export interface PoolFacts {
  /** `primary` and `replicas` of a server; `writer` and `readers` of an SQLite file, of which a database in memory has only the first. */
  readonly name: 'primary' | 'replicas' | 'writer' | 'readers'
  /** The most that it opens. */
  readonly max: number
  readonly used: number
  readonly idle: number
  /** How many wait for a connection. */
  readonly waiting: number
}

/** A database, as events name it. */
export interface DatabaseFacts {
  /** For messages: the URL without its password. */
  readonly description: string
  /** `sqlite`, `postgres`, `mysql` or `mariadb`. */
  readonly dialect: string
  /** The name of the database; of SQLite its file. */
  readonly name: string
  /** The host of the server; undefined for SQLite. */
  readonly host: string | undefined
  readonly port: number | undefined
  /** Its pools, as they are when it is called. */
  pools(): readonly PoolFacts[]
}

/** The common properties of all events of a database. */
export interface DatabaseEvent {
  readonly database: DatabaseFacts
  /** The same object in all events of one session, and in no others: a key for a WeakMap. */
  readonly session: object
  /** Undefined for work outside of requests, such as that of `withSession()`, and of jobs. */
  readonly request: RequestRecord | undefined
  /** The path of its route. */
  readonly route: string | undefined
  /** The run of a job that it belongs to; undefined outside of jobs. */
  readonly job: JobRun | undefined
}

/** A request whose inputs do not fit their declarations. */
export interface InputRefused {
  readonly request: RequestRecord
  readonly status: number
  /** Where the issues are: `{ in: 'query', path: '/limit' }`. Without the values, and without the messages, which may contain them. */
  readonly issues: readonly { readonly in: string; readonly path: string }[]
}

/** BEGIN was sent, or is sent with the next statement. */
export interface TransactionBegun extends DatabaseEvent {
  /** In upper case, as in SQL; undefined for that of the database. */
  readonly isolation: string | undefined
  readonly readOnly: boolean
}

/** COMMIT or ROLLBACK was answered. */
export interface TransactionEnded extends DatabaseEvent {
  readonly outcome: TransactionOutcome
  /** From BEGIN to the answer to COMMIT or ROLLBACK. */
  readonly milliseconds: number
  /** From sending COMMIT or ROLLBACK to the answer. */
  readonly endMilliseconds: number
  /** Why COMMIT or ROLLBACK failed. Undefined for a rollback that has succeeded: `request.error` has its reason. */
  readonly error: unknown
}

/** The work will run again, in a new transaction. */
export interface TransactionRetried extends DatabaseEvent {
  /** The number of the run that failed; the first is 0. */
  readonly attempt: number
  /** Until the next run. */
  readonly delayMilliseconds: number
  readonly error: unknown
}

/** A transaction has got its connection from the pool, or has not. */
export interface ConnectionAcquired extends DatabaseEvent {
  /** How long it waited. */
  readonly milliseconds: number
  /** Why there is none; undefined if there is one. */
  readonly error: unknown
}

/** A statement was answered. Published in the asynchronous context of its caller. */
export interface StatementEnded extends DatabaseEvent, SentStatement {
  /** Whether it is about a savepoint. Those are not counted in `request.statements`. */
  readonly isSavepoint: boolean
  readonly error: unknown
}

/** A session has got its turn to write to an SQLite file, or has not. */
export interface SqliteWriterTurn extends DatabaseEvent {
  /** How long it waited. */
  readonly milliseconds: number
  /** How many sessions were waiting when it came. */
  readonly queue: number
  /** Why it has not got it; undefined if it has. */
  readonly error: unknown
}

/** The statements of a request, or a job, have exceeded their budget: one message for each limit and each statement. */
export interface BudgetExceeded extends Excess {
  /** Undefined for a job. */
  readonly request: RequestRecord | undefined
  readonly route: string | undefined
  /** Undefined for a request. */
  readonly job: JobRun | undefined
}

/** A job was added, and committed. */
export interface JobAdded {
  readonly id: string
  /** `mail.welcome` */
  readonly name: string
  readonly queue: string
  /** What added it, as a `traceparent`: the span of the request, or of the job. Undefined without a trace. */
  readonly traceparent: string | undefined
}

/** An app begins to close, or is closed. */
export interface Shutdown {
  /** `draining`: new requests are refused. `closed`: everything is closed. */
  readonly state: 'draining' | 'closed'
  /** How many requests still run. */
  readonly requests: number
}

/** The messages of each channel, by its name. */
export interface EventMessages {
  readonly 'sequitur.request.start': RequestRecord
  readonly 'sequitur.request.end': RequestRecord
  readonly 'sequitur.input.refused': InputRefused
  readonly 'sequitur.transaction.begin': TransactionBegun
  readonly 'sequitur.transaction.end': TransactionEnded
  readonly 'sequitur.transaction.retry': TransactionRetried
  readonly 'sequitur.connection.acquired': ConnectionAcquired
  readonly 'sequitur.statement': StatementEnded
  readonly 'sequitur.sqlite.writer': SqliteWriterTurn
  readonly 'sequitur.budget.exceeded': BudgetExceeded
  readonly 'sequitur.job.added': JobAdded
  readonly 'sequitur.job.start': JobRun
  readonly 'sequitur.job.end': JobRun
  readonly 'sequitur.shutdown': Shutdown
}

// Node's types know no channel whose messages and stores have types of their own.
function eventChannel<Name extends keyof EventMessages>(name: Name): EventChannel<EventMessages[Name]> {
  return channel(name) as unknown as EventChannel<EventMessages[Name]>
}

export const requestStart = eventChannel('sequitur.request.start')
export const requestEnd = eventChannel('sequitur.request.end')
export const inputRefused = eventChannel('sequitur.input.refused')
export const transactionBegin = eventChannel('sequitur.transaction.begin')
export const transactionEnd = eventChannel('sequitur.transaction.end')
export const transactionRetry = eventChannel('sequitur.transaction.retry')
export const connectionAcquired = eventChannel('sequitur.connection.acquired')
export const statementEnd = eventChannel('sequitur.statement')
export const sqliteWriter = eventChannel('sequitur.sqlite.writer')
export const budgetExceeded = eventChannel('sequitur.budget.exceeded')
export const jobAdded = eventChannel('sequitur.job.added')
export const jobStart = eventChannel('sequitur.job.start')
export const jobEnd = eventChannel('sequitur.job.end')
export const shutdown = eventChannel('sequitur.shutdown')

/** The channels of what happens in databases. */
const DATABASE_CHANNELS = [
  statementEnd,
  transactionEnd,
  transactionBegin,
  transactionRetry,
  connectionAcquired,
  sqliteWriter,
]

/** The channels of all that refers to a request. */
export const REQUEST_CHANNELS = [requestStart, requestEnd, inputRefused, budgetExceeded, ...DATABASE_CHANNELS]

/** The channels of all that refers to the run of a job. */
export const JOB_CHANNELS = [jobStart, jobEnd, budgetExceeded, ...DATABASE_CHANNELS]

/** Whether something listens to what happens in databases. */
export function isDatabaseObserved(): boolean {
  for (const { hasSubscribers } of DATABASE_CHANNELS) if (hasSubscribers) return true
  return false
}
